"""What a table answers, in a sentence or two for each of its data sets."""

import math
from typing import Any

import pandas as pd

from tsdg.results.numbers import margin
from tsdg.study.layout import AVERAGE, Layout
from tsdg.study.metric import METRICS


def lead(table: pd.DataFrame, layout: Layout) -> str:
    """Which rows are best on average, of those to which the new domain gives least.

    Parameters
    ----------
    table
        As `tsdg.results.numbers.summarise` returns it.
    layout : Layout
    """
    least, _ = layout.sections[0]
    found = []
    for panel in layout.panels:
        name = panel.leading if panel.leading in panel.metrics else panel.metrics[0]
        here = (table["dataset"] == panel.dataset) & (table["target"] == AVERAGE) & (table["metric"] == name)
        own = table[here & (table["given"] == least.title)].dropna(subset="mean")
        if own.empty or not panel.selection.is_result:
            continue
        metric, count = METRICS[name], len(panel.targets)
        ordered = own.sort_values("mean", ascending=not metric.higher_is_better, kind="stable")
        best, *others = map(_said, ordered.itertuples())
        targets = f"{count} targets that training has" if count > 1 else "the target, which training has"
        over = f"over {targets} not seen"
        start = f"{panel.title}: best" if len(layout.panels) > 1 else "Best"
        found.append(f"{start} average {metric.in_words} {over}: {'; then '.join([best, *others[:1]])}.")
        networks = ordered[~ordered["variant"].isin(layout.baselines)]
        if layout.baselines and len(networks):
            found.append(f"Best network: {_said(next(networks.itertuples()))}.")
    return " ".join(found)


def _said(row: Any) -> str:
    metric, half = METRICS[row.metric], margin(row.std, row.n)
    spread = "" if math.isnan(half) else f" ± {metric.printed(half)}"
    return f"{row.label} {metric.printed(row.mean)}{spread}{f' {metric.unit}' if metric.unit else ''}"
