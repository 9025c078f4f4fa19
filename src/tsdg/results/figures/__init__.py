"""Figures, from the same selected runs and layouts as the tables.

Each kind of `figures` in params.yaml (see `tsdg.study.figure_kinds`) is a module with
``draw(selected, layout, runs, out_folder, name, *, width, **options)``: the selected runs and the layout of
all its tables together, the folder of records, where to write, and how wide in inches. It returns the paths
written.
"""

from collections.abc import Callable
from pathlib import Path

from tsdg.results.figures import accuracy, confusion, forest, neighbours, optimization, reliability, transfer
from tsdg.results.figures.style import BASELINE, COLUMN, FAINT, OURS, PAGE, PAPER, WIDTHS, save, style

DRAW: dict[str, Callable[..., list[Path]]] = {
    "optimization": optimization.draw,
    "neighbours": neighbours.draw,
    "reliability": reliability.draw,
    "confusion": confusion.draw,
    "forest": forest.draw,
    "transfer": transfer.draw,
    "accuracy": accuracy.draw,
}

__all__ = [
    "BASELINE",
    "COLUMN",
    "DRAW",
    "FAINT",
    "OURS",
    "PAGE",
    "PAPER",
    "WIDTHS",
    "save",
    "style",
]
