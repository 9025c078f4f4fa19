"""A page of small diagrams, one a target and one for the average, that share rows and axis."""

import math
import textwrap
from collections.abc import Sequence
from itertools import accumulate

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tsdg.results.figures.style import FAINT, LINE, PAGE, plain, text_width, wrapped, write_below
from tsdg.study.layout import AVERAGE, Layout, Panel, parted

COLUMNS = 5
TITLE = 24  # letters of a line of a title


def facets(
    layout: Layout,
    rows: Sequence[str],
    *,
    xlabel: str,
    legend: Sequence[Artist],
    remarks: Sequence[str],
) -> tuple[Figure, list[tuple[Panel, str, Axes]]]:
    """Lay out the page: titles, row labels, dashed lines between groups of rows, legend, remarks at the foot.

    Parameters
    ----------
    layout : Layout
    rows : sequence of str
        Variants, from the top; row k is at y = k.
    xlabel : str
    legend : sequence of Artist
    remarks : sequence of str
        Sentences.

    Returns
    -------
    Figure, and for each diagram its panel of the layout, its target (or "Average") and its axes.
    """
    places = [(panel, target) for panel in layout.panels for target in panel.shown]
    several = len(layout.panels) > 1
    columns = min(COLUMNS, len(places))
    lines = math.ceil(len(places) / columns)
    titles = {(panel.dataset, target): _title(panel, target, several) for panel, target in places}
    titled = 0.11 * max(title.count("\n") for title in titles.values())  # lines beyond the first
    text = wrapped(remarks)
    foot = LINE * len(text) + 0.72  # axis label and legend
    panel_height, gap = 0.2 + 0.125 * len(rows), 0.35 + titled
    height = lines * (panel_height + gap) + foot
    figure = Figure(figsize=(PAGE, height))
    axes = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat[len(places) :]:
        ax.set_visible(False)
    drawn = [(panel, target, ax) for (panel, target), ax in zip(places, axes.flat, strict=False)]
    groups = parted(rows, layout.ours, layout.baselines)
    for panel, target, ax in drawn:
        ax.set_title(titles[panel.dataset, target])
        for above in accumulate(map(len, groups[:-1])):
            ax.axhline(above - 0.5, color=FAINT, linewidth=0.6, linestyle=(0, (4, 3)))
        ax.set_yticks(range(len(rows)), [layout.labels[row] for row in rows])
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x")
    for column in range(columns):
        lowest = axes[(len(places) - 1 - column) // columns, column]
        lowest.set_xlabel(xlabel)
        lowest.tick_params(labelbottom=True)
    left = 0.15 + max(text_width(layout.labels[row]) for row in rows)
    figure.subplots_adjust(left=left / PAGE, right=0.98, wspace=0.1, hspace=gap / panel_height)
    figure.subplots_adjust(top=1 - (0.25 + titled) / height, bottom=foot / height)
    figure.legend(
        handles=legend,
        loc="lower center",
        ncols=4,
        bbox_to_anchor=(0.5, (LINE * len(text) + 0.08) / height),
    )
    write_below(figure, text)
    return figure, drawn


def _title(panel: Panel, target: str, several: bool) -> str:
    """What a diagram is called, in lines."""
    name = "average" if target == AVERAGE else f"target {plain(target)}"
    text = f"{panel.title}, {name}" if several else name[0].upper() + name[1:]
    return textwrap.fill(text, TITLE)
