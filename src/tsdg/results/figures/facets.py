"""A page of small diagrams, one a target and one for the average, that share their rows."""

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import AutoMinorLocator, MaxNLocator

from tsdg.results.figures.foot import Foot
from tsdg.results.figures.style import (
    FAINT,
    HIGHEST,
    LINE,
    PAGE,
    QUIET,
    apart,
    fitted,
    most_lines,
    plain,
    text_width,
)
from tsdg.study.layout import AVERAGE, Layout, Panel
from tsdg.study.metric import METRICS

ALL = "All targets"  # together, where a target's name stands
MOST, NARROWEST = 5, 0.75  # diagrams side by side; width of one, inches
ALONE = "Averages alone: diagrams of all targets are higher than a page. In a page's width they are drawn."
LABELS = 0.4  # of the figure's width, that row labels take at most
BETWEEN, RIGHT = 0.2, 0.12  # diagrams; the last one and the edge, inches


class Facet(NamedTuple):
    """What a diagram shows: a metric on a target, or on average over targets, of a panel."""

    panel: Panel
    target: str
    metric: str

    def title(self, layout: Layout) -> str:
        """What it is called: the target with what it is, and the metric if it is not the panel's leading."""
        known = {entry.partition(": ")[0]: entry for entry in self.panel.legend}
        name = plain(self.target)
        text = known.get(name, f"target {name}")
        if self.target in (AVERAGE, ALL):
            text = self.target.lower()
        if self.metric != self.panel.leading:
            text += f", {METRICS[self.metric].label}"
        if len(layout.panels) > 1:
            return f"{self.panel.title}, {text}"
        return text[0].upper() + text[1:]


def shown(panel: Panel, *, averages: bool) -> list[str]:
    """The targets of a panel that have a diagram, the average last."""
    return [AVERAGE] if averages else panel.shown


def facets(
    layout: Layout,
    rows: Sequence[str],
    places: Sequence[Facet],
    *,
    width: float = PAGE,
    xlabels: Sequence[str],
    legend: Sequence[Artist],
    remarks: Sequence[str],
) -> tuple[Figure, list[tuple[Facet, Axes]]]:
    """Lay out the page: titles, row labels, dashed lines between groups of rows, legend, remarks at the foot.

    What is narrower than a page and would be higher has averages alone, and says so.

    Parameters
    ----------
    layout : Layout
    rows : sequence of str
        Variants, from the top; row k is at y = k.
    places : sequence of Facet
    width : float
        Of the figure in inches.
    xlabels : sequence of str
        One of each place.
    legend : sequence of Artist
    remarks : sequence of str
        Sentences.

    Returns
    -------
    Figure, and the axes of each place that is there.
    """
    labels = fitted((layout.labels[row] for row in rows), LABELS * width)
    left = 0.12 + max(text_width(line) for label in labels for line in label.split("\n"))
    room = width - left - RIGHT
    columns = max(1, min(MOST, len(places), int((room + BETWEEN) / (NARROWEST + BETWEEN))))
    lines = math.ceil(len(places) / columns)
    columns = math.ceil(len(places) / lines)
    side = (room - BETWEEN * (columns - 1)) / columns
    titles = fitted((place.title(layout) for place in places), side + BETWEEN / 2)
    foot = Foot(width, remarks, legend)
    titled = 0.08 + LINE * most_lines(titles)
    high = 0.08 + (0.02 + 0.11 * apart(labels)) * len(rows)
    named = fitted(xlabels, side + BETWEEN)
    ticks, worded = 0.2, LINE * most_lines(named)
    ends = [  # of a column, or of a metric in it
        k + columns >= len(places) or places[k + columns].metric != place.metric
        for k, place in enumerate(places)
    ]
    gap = titled + ticks + worded * any(ends[: len(places) - columns])
    height = lines * (high + gap) - (gap - titled - ticks) + worded + 0.06 + foot.height
    targets = [place for place in places if place.target != AVERAGE]
    if targets and width < PAGE and height > HIGHEST:
        kept = [pair for pair in zip(places, xlabels, strict=True) if pair[0] not in targets]
        return facets(
            layout,
            rows,
            [place for place, _ in kept],
            width=width,
            xlabels=[name for _, name in kept],
            legend=legend,
            remarks=[*remarks, ALONE],
        )
    figure = Figure(figsize=(width, height))
    drawn = []
    for k in range(len(places)):
        line, column = divmod(k, columns)
        x, y = left + column * (side + BETWEEN), height - titled - line * (high + gap) - high
        ax = figure.add_axes((x / width, y / height, side / width, high / height))
        ax.set_title(titles[k], pad=3)
        ax.set_yticks(range(len(rows)), labels if column == 0 else [""] * len(rows))
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.xaxis.set_major_locator(
            MaxNLocator(5 if side > 1.2 else 4 if side > 0.8 else 3, steps=[1, 2, 2.5, 5, 10])
        )
        ax.xaxis.set_minor_locator(AutoMinorLocator(2))
        ax.grid(axis="x", which="both")
        if ends[k]:
            ax.set_xlabel(named[k], labelpad=1)
        _part(ax, layout, rows)
        drawn.append((places[k], ax))
    foot.write(figure)
    return figure, drawn


def say(ax: Axes, y: int, why: str) -> None:
    """Say in a row of a diagram why nothing is drawn in it."""
    place = ax.get_yaxis_transform()
    behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}  # so that no line goes through it
    ax.text(0.02, y, why, transform=place, color=QUIET, va="center", style="italic", bbox=behind, zorder=4)


def _part(ax: Axes, layout: Layout, rows: Sequence[str]) -> None:
    """Lines between the groups of rows."""
    groups = [len(set(group) & set(rows)) for group in layout.groups]
    for above in list(accumulate(filter(None, groups)))[:-1]:
        ax.axhline(above - 0.5, color=FAINT, linewidth=0.6, linestyle=(0, (4, 3)))
