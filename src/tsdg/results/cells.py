"""What a cell of a table prints."""

import math
from typing import Any, NamedTuple

from tsdg.results.best import marked
from tsdg.results.numbers import is_partial
from tsdg.study.layout import OVER_TARGETS, Panel
from tsdg.study.metric import METRICS


class Column(NamedTuple):
    """A column of numbers."""

    panel: Panel
    target: str
    metric: str


def printed(cell: Any, place: int | None) -> str:
    """A row of `tsdg.results.numbers.summarise` as LaTeX: its mean, marked by its place, or why not."""
    if math.isnan(cell.mean):
        return "div." if cell.diverged and not cell.missing and cell.target not in OVER_TARGETS else "--"
    number = marked(METRICS[cell.metric].printed(cell.mean), place)
    return number + (r"$^\dagger$" if is_partial(cell) else "")
