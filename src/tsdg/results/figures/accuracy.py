"""Accuracy on each target, from the same selected runs and layout as a table."""

import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from tsdg.results.captions import legend, notes
from tsdg.results.figures.facets import facets
from tsdg.results.figures.style import BASELINE, FAINT, OURS, PAPER, save, style, unparsed
from tsdg.results.numbers import summarise
from tsdg.results.paper import compare
from tsdg.study.layout import Layout, joined
from tsdg.study.metric import METRICS


def accuracy_by_target(
    selected: pd.DataFrame, layout: Layout, out_folder: str | Path, name: str
) -> list[Path]:
    """Accuracy on each target and on average, a dot a variant with the standard deviation over seeds.

    A table that leads with another metric, such as AUC, has that one drawn.

    The paper's printed numbers are hollow diamonds; a variant without a result says why. What the table's
    caption must say of protocol, data and gaps stands below.

    Parameters
    ----------
    selected, layout
        As for `tsdg.results.tables.render`; of the metrics `Panel.leading` is drawn.

    Returns
    -------
    list of Path
        ``{name}.pdf``, ``{name}.png``.
    """
    layout = joined([layout])
    panels = tuple(replace(panel, metrics=(panel.leading,)) for panel in layout.panels)
    layout = unparsed(replace(layout, panels=panels))
    headings = dict.fromkeys(METRICS[panel.leading].heading for panel in panels)
    summary = summarise(selected, layout)
    paper = compare(summary, layout)
    with style():
        figure, places = facets(
            layout,
            layout.rows,
            xlabel=" / ".join(headings),
            legend=_legend(layout, bool(paper["paper"].notna().any())),
            remarks=[*legend(layout), *notes(selected, layout)],
        )
        for panel, target, ax in places:
            here = (summary["dataset"] == panel.dataset) & (summary["target"] == target)
            there = (paper["dataset"] == panel.dataset) & (paper["target"] == target)
            _dots(ax, summary[here], paper[there], layout)
        return save(figure, out_folder, name)


def _dots(ax: Axes, summary: pd.DataFrame, paper: pd.DataFrame, layout: Layout) -> None:
    for y, row in enumerate(summary.itertuples()):
        color = OURS if row.variant in layout.ours else BASELINE
        if math.isnan(row.mean):
            why = "diverged" if row.diverged and not row.missing else "missing"
            place = ax.get_yaxis_transform()
            ax.text(0.02, y, why, transform=place, color=FAINT, va="center", style="italic", fontsize=6)
            continue
        if not math.isnan(row.std):
            ax.plot([row.mean - row.std, row.mean + row.std], [y, y], color=color, linewidth=1.2, alpha=0.6)
        ax.plot(row.mean, y, "o", color=color, markersize=3.2)
    places = {variant: y for y, variant in enumerate(summary["variant"])}
    known = paper[paper["paper"].notna()]
    ax.plot(known["paper"], known["variant"].map(places), "D", mfc="none", mec=PAPER, mew=0.7, markersize=4)


def _legend(layout: Layout, paper: bool) -> list[Line2D]:
    def dots(color: str, label: str) -> Line2D:
        return Line2D([], [], color=color, label=label, linewidth=1.2, marker="o", markersize=3.2)

    handles = [dots(BASELINE, "mean ± standard deviation over seeds")]
    if layout.ours:
        handles.append(dots(OURS, "the same, ours"))
    if paper:
        diamond = Line2D([], [], color=PAPER, label="printed in the paper", linestyle="", marker="D")
        diamond.set(markersize=4, markerfacecolor="none", markeredgewidth=0.7)
        handles.append(diamond)
    return handles
