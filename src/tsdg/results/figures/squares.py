"""A page of square diagrams, one a target and variant: targets across, variants down."""

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tsdg.results.figures.style import LINE, PAGE, plain, write_below
from tsdg.study.layout import Layout, Panel

COLUMNS = 8


class Square(NamedTuple):
    """A diagram, and whether it is the first of its line and the last of its column."""

    panel: Panel
    target: str
    variant: str
    ax: Axes
    first: bool
    last: bool


def squares(
    layout: Layout, text: Sequence[str], *, legend: Sequence[Artist], left: float = 0.62, below: float = 0.5
) -> tuple[Figure, list[Square]]:
    """Lay out the page: titles, row labels, legend, and lines of text at the foot.

    Parameters
    ----------
    layout : Layout
        Its labels and titles are plain, see `tsdg.results.figures.style.plain`.
    text, legend : sequence
    left, below : float
        Room for labels, inches.
    """
    places = layout.places
    blocks = [places[k : k + COLUMNS] for k in range(0, len(places), COLUMNS)]
    columns = max(map(len, blocks))
    gap, between, top = 0.06, 0.34 + max(0.0, below - 0.5), 0.25  # inches
    side = min(1.3, (PAGE - left - 0.1 - gap * (columns - 1)) / columns)
    block = len(layout.rows) * (side + gap) + between
    foot = LINE * len(text) + below
    height = top + len(blocks) * block - between + foot
    several = len(layout.panels) > 1
    figure = Figure(figsize=(PAGE, height))
    found = []
    for b, members in enumerate(blocks):
        for k, (panel, target) in enumerate(members):
            for r, variant in enumerate(layout.rows):
                x, y = left + k * (side + gap), height - top - b * block - r * (side + gap) - side
                ax = figure.add_axes((x / PAGE, y / height, side / PAGE, side / height))
                if r == 0:
                    title = f"{panel.title} {target}" if several else target
                    ax.set_title(textwrap.fill(plain(title), 24), pad=3)
                if k == 0:
                    ax.set_ylabel(textwrap.fill(layout.labels[variant], 14), labelpad=1)
                found.append(Square(panel, target, variant, ax, k == 0, r == len(layout.rows) - 1))
    figure.legend(
        handles=list(legend),
        loc="lower center",
        ncols=4,
        bbox_to_anchor=(0.5, (LINE * len(text) + 0.1) / height),
    )
    write_below(figure, text)
    return figure, found
