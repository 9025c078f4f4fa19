"""A page of small square diagrams: a line of them a variant, a column a target."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tsdg.results.figures.facets import Facet
from tsdg.results.figures.foot import Foot
from tsdg.results.figures.style import HIGHEST, LINE, PAGE, QUIET, STAMP, fitted, most_lines
from tsdg.study.layout import Layout, Panel

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


def squares(
    layout: Layout,
    remarks: Sequence[str],
    *,
    width: float = PAGE,
    legend: Sequence[Artist],
    widest: float = WIDEST,
    left: float = 0.62,
    above: float = 0.19,
    below: float = 0.36,
) -> tuple[Figure, list[Cell]]:
    """Lay out the page: what each target is above its column, legend and remarks at the foot.

    Parameters
    ----------
    layout : Layout
        Its rows from above, its targets from the left.
    remarks : sequence of str
        Sentences.
    width : float
        Of the page.
    legend : sequence of Artist
    widest : float
        That a diagram is, if the page is high enough for it.
    left, above, below : float
        Room for the words of the first of a line, of every diagram, and of the last of a column; all in
        inches.
    """
    foot = Foot(width, remarks, legend)
    places = [Facet(panel, target, panel.leading) for panel, target in layout.places]
    names = [layout.labels[row] for row in layout.rows]
    left += LINE * max(0, most_lines(fitted(names, NARROWEST + LINE)) - 2)
    columns = max(1, min(len(places), int((width - left - 0.1 + GAP) / (NARROWEST + GAP))))
    columns = math.ceil(len(places) / math.ceil(len(places) / columns))
    lines, rows = math.ceil(len(places) / columns), len(layout.rows)
    room = (width - left - 0.1 - GAP * (columns - 1)) / columns
    high = (HIGHEST - STAMP - foot.height) / lines - 2 * LINE - 0.08 - below  # for a column of diagrams
    side = min(room, max(min(widest, high / rows - above), WIDEST))
    titles = fitted((place.title(layout) for place in places), side + 0.4 * GAP)
    labels = fitted(names, side + LINE)
    titled = LINE * most_lines(titles)
    block = titled + 0.08 + rows * (side + above) + below
    height = lines * block + foot.height
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


def say_missing(ax: Axes) -> None:
    """Say of a diagram that there is nothing to draw in it."""
    ax.text(
        0.5, 0.5, "missing", transform=ax.transAxes, ha="center", va="center", color=QUIET, style="italic"
    )
