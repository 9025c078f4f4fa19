"""A page of small square diagrams: a line of them a variant, a column a target."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tsdg.results.figures.facets import ALL, Facet
from tsdg.results.figures.foot import Foot
from tsdg.results.figures.style import HIGHEST, LINE, PAGE, QUIET, STAMP, fitted, most_lines
from tsdg.results.selected import gap
from tsdg.study.layout import Layout, Panel

T = TypeVar("T")
TOGETHER = "Targets together, of the seeds that have all of them: diagrams of each are higher than a page."
NARROWEST, WIDEST, GAP = 0.68, 1.3, 0.15  # a diagram, and between two, inches


class Cell(NamedTuple):
    """A diagram: its place, its axes, whether it is the first of its line, and the last of its column.

    `label` is its variant, in lines as long as the diagram is high.
    """

    panel: Panel
    target: str
    variant: str
    ax: Axes
    first: bool
    last: bool
    label: str


def over_targets(
    found: Mapping[tuple[str, str, str], Mapping[int, T]], layout: Layout
) -> dict[tuple[str, str, str], dict[int, list[T]]]:
    """What there is of each data set, variant and target by seed, of `ALL` targets: of seeds with each.

    Nothing where each panel has one target.
    """
    whole: dict[tuple[str, str, str], dict[int, list[T]]] = {}
    several = len(layout.places) > len(layout.panels)
    for panel in layout.panels if several else ():
        for variant in layout.rows:
            parts = [found.get((panel.dataset, variant, target), {}) for target in panel.targets]
            seeds = sorted(set.intersection(*map(set, parts)))
            if seeds:
                whole[panel.dataset, variant, ALL] = {seed: [part[seed] for part in parts] for seed in seeds}
    return whole


def squares(
    layout: Layout,
    remarks: Callable[[bool], Sequence[str]],
    *,
    width: float = PAGE,
    legend: Sequence[Artist],
    widest: float = WIDEST,
    left: float = 0.62,
    above: float = 0.19,
    below: float = 0.36,
) -> tuple[Figure, list[Cell]]:
    """Lay out the page: what each target is above its column, legend and remarks at the foot.

    Where that is higher than a page, there is one column a panel, of `ALL` its targets, which the foot says.

    Parameters
    ----------
    layout : Layout
        Its rows from above, its targets from the left.
    remarks : callable
        Sentences, of whether targets are together.
    width : float
        Of the page.
    legend : sequence of Artist
    widest : float
        That a diagram is, if the page is high enough for it.
    left, above, below : float
        Room for the words of the first of a line, of every diagram, and of the last of a column; all in
        inches.
    """
    together = layout.places[0][1] == ALL
    foot = Foot(width, [*[TOGETHER] * together, *remarks(together)], legend)
    places = [Facet(panel, target, panel.leading) for panel, target in layout.places]
    names = [layout.labels[row] for row in layout.rows]
    given, left = left, left + LINE * max(0, most_lines(fitted(names, NARROWEST + above / 2)) - 2)
    columns = max(1, min(len(places), int((width - left - 0.1 + GAP) / (NARROWEST + GAP))))
    columns = math.ceil(len(places) / math.ceil(len(places) / columns))
    lines, rows = math.ceil(len(places) / columns), len(layout.rows)
    room = (width - left - 0.1 - GAP * (columns - 1)) / columns
    high = (HIGHEST - STAMP - foot.height) / lines - 2 * LINE - 0.08 - below  # for a column of diagrams
    side = min(room, max(min(widest, high / rows - above), NARROWEST))
    titles = fitted((place.title(layout) for place in places), side + 0.4 * GAP)
    labels = fitted(names, side + above / 2)
    titled = LINE * most_lines(titles)
    block = titled + 0.08 + rows * (side + above) + below
    height = lines * block + foot.height
    if height > HIGHEST and not together and len(places) > len(layout.panels):
        panels = tuple(replace(panel, targets=(ALL,)) for panel in layout.panels)
        return squares(
            replace(layout, panels=panels),
            remarks,
            width=width,
            legend=legend,
            widest=widest,
            left=given,
            above=above,
            below=below,
        )
    start = left + (width - 0.1 - left - columns * side - GAP * (columns - 1)) / 2
    figure, cells = Figure(figsize=(width, height)), []
    for k, place in enumerate(places):
        line, column = divmod(k, columns)
        x, top = start + column * (side + GAP), height - line * block - titled - 0.08
        middle = (x + side / 2) / width
        figure.text(middle, top / height, titles[k], ha="center", va="bottom", linespacing=1.1)
        for r, variant in enumerate(layout.rows):
            y = top - (r + 1) * (side + above)
            ax = figure.add_axes((x / width, y / height, side / width, side / height))
            last = r == rows - 1
            cells.append(Cell(place.panel, place.target, variant, ax, column == 0, last, labels[r]))
    foot.write(figure)
    return figure, cells


def say_gap(cell: Cell, selected: pd.DataFrame, layout: Layout) -> None:
    """Say in a diagram why there is nothing to draw in it."""
    targets = {panel.dataset: panel.targets for panel in layout.panels}[cell.panel.dataset]
    why = gap(selected, cell.panel.dataset, targets if cell.target == ALL else [cell.target], [cell.variant])
    place = cell.ax.transAxes
    cell.ax.text(0.5, 0.5, why, transform=place, ha="center", va="center", color=QUIET, style="italic")
