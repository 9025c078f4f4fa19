"""Layouts of tables for tests."""

from tsdg.study.layout import Layout, Panel, Protocol

PAPER = Protocol("paper", seeds=3, draws=20, iterations=3000)


def panel(
    dataset,
    targets,
    metrics=("accuracy",),
    *,
    title=None,
    average_only=False,
    paper=None,
    groups=None,
    legend=(),
):
    return Panel(
        dataset,
        title or dataset,
        tuple(targets),
        tuple(metrics),
        average_only,
        paper,
        dict(groups or {}),
        tuple(legend),
    )


def layout(
    rows,
    *panels,
    labels=None,
    baselines=(),
    ours=(),
    protocol=PAPER,
    caption="Some.",
    arrange="beneath",
    settled=(),
    style=None,
):
    """A row without a label is printed as it is called."""
    labels = {row: row for row in rows} | (labels or {})
    return Layout(
        tuple(rows), labels, panels, protocol, caption, tuple(baselines), tuple(ours), arrange,
        tuple(settled), style,
    )  # fmt: skip
