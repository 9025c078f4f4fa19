"""What a cell of a table prints."""

import math
from typing import Any, NamedTuple

from tsdg.results.best import marked
from tsdg.results.numbers import margin
from tsdg.study.layout import OVER_TARGETS, Panel
from tsdg.study.metric import METRICS


class Column(NamedTuple):
    """A column of numbers."""

    panel: Panel
    target: str
    metric: str


def printed(cell: Any, place: int | None, *, intervals: bool = False) -> str:
    """A row of `tsdg.results.numbers.summarise` as LaTeX: its mean, marked by its place, or why not.

    With its interval, if it has one and that is asked for.
    """
    if math.isnan(cell.mean):
        return "div." if cell.diverged and not cell.missing and cell.target not in OVER_TARGETS else "--"
    metric = METRICS[cell.metric]
    number = marked(metric.printed(cell.mean), place) + (r"$^\dagger$" if cell.partial else "")
    half = margin(cell.std, cell.n) if intervals else math.nan
    return number if math.isnan(half) else rf"{number} {{\scriptsize $\pm$ {metric.printed(half)}}}"
