"""Accuracy, or the table's own metric, on each target, from the same selected runs and layout as a table."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from tsdg.results.captions import notes, simulated
from tsdg.results.figures.facets import Facet, facets, shown
from tsdg.results.figures.style import (
    BASELINE,
    DASHES,
    FAINT,
    OURS,
    PAGE,
    PAPER,
    QUIET,
    save,
    stamp,
    style,
    unparsed,
)
from tsdg.results.numbers import summarise
from tsdg.results.paper import compare
from tsdg.results.reading import read_records
from tsdg.results.selected import shown_runs
from tsdg.study.layout import AVERAGE, Layout, joined
from tsdg.study.metric import METRICS

GUESS = (0, (1, 1.5))  # the dashes of its line
ERROR = "ece"  # drawn beside, on average over the targets


def chances(selected: pd.DataFrame, layout: Layout, runs: str | Path) -> dict[tuple[str, str], float]:
    """What a metric is, in its unit, where classes are guessed with equal probabilities.

    Returns
    -------
    dict
        By data set and metric; of those whose value does not hang on how many windows a class has.
    """
    found: dict[tuple[str, str], float] = {}
    first = shown_runs(selected, layout).drop_duplicates("dataset")
    for row, record, _ in read_records(first, runs):
        of_class = 100 / len(record.classes)
        found |= {(row.dataset, "accuracy"): of_class, (row.dataset, "balanced_accuracy"): of_class}
        found[row.dataset, "auc"] = 50.0
    return found


def draw(
    selected: pd.DataFrame,
    layout: Layout,
    runs: str | Path,
    out_folder: str | Path,
    name: str,
    *,
    width: float = PAGE,
    averages: bool = False,
) -> list[Path]:
    """Draw each panel's leading metric on each target and on average, and the average ECE beside.

    A dot is a variant, a line its standard deviation over seeds, cut at 0 and 100%. Across the rows stand
    what guessing gives (`chances`) and, from its own row on, the mean of each baseline. Of recordings that
    are not simulated, hollow diamonds are the paper's printed numbers. A variant without a result says why.
    What the table's caption must say of protocol, data and gaps stands below.

    Parameters
    ----------
    selected, layout
        As for `tsdg.results.tables.render`.
    averages : bool
        Whether targets have no diagram of their own.

    Returns
    -------
    list of Path
        ``{name}.pdf``, ``{name}.png``.
    """
    layout = unparsed(joined([layout]))
    unreal = simulated(selected, layout)
    leading = {panel.dataset: panel.leading for panel in layout.panels}
    beside = [panel for panel in layout.panels if ERROR in panel.metrics]
    places = [Facet(p, t, p.leading) for p in layout.panels for t in shown(p, averages=averages)]
    places += [Facet(panel, AVERAGE, ERROR) for panel in beside]
    first = replace(layout, panels=tuple(replace(p, metrics=(p.leading,)) for p in layout.panels))
    summary = summarise(selected, first)
    if beside:
        second = replace(layout, panels=tuple(replace(p, metrics=(ERROR,)) for p in beside))
        summary = pd.concat([summary, summarise(selected, second)], ignore_index=True)
    paper = compare(summary, layout)
    paper = paper[paper["paper"].notna() & ~paper["dataset"].isin(unreal)]
    chance = chances(selected, layout, runs)
    guesses = [chance[key] for key in leading.items() if key in chance]
    legend = _legend(layout, summary, guesses, paper=len(paper) > 0)
    with style():
        figure, drawn = facets(
            layout,
            layout.rows,
            places,
            width=width,
            xlabels=[METRICS[place.metric].heading for place in places],
            legend=legend,
            remarks=notes(selected, first),
        )
        for place, ax in drawn:
            dataset = place.panel.dataset
            own, printed = (
                table[
                    (table["dataset"] == dataset)
                    & (table["target"] == place.target)
                    & (table["metric"] == place.metric)
                ]
                for table in (summary, paper)
            )
            _across(ax, own, layout)
            _dots(ax, own, printed, layout)
        for metric in dict.fromkeys(place.metric for place, _ in drawn):
            _share_limits([ax for place, ax in drawn if place.metric == metric], metric)
        for place, ax in drawn:
            if (guessed := chance.get((place.panel.dataset, place.metric))) is not None:
                ax.axvline(guessed, color=OURS, linewidth=0.8, linestyle=GUESS)  # none beyond the limits
        return save(figure, out_folder, name, stamp=stamp(unreal, layout))


def _across(ax: Axes, summary: pd.DataFrame, layout: Layout) -> None:
    """What each baseline gives, from its row on through those below."""
    means = dict(zip(summary["variant"], summary["mean"], strict=True))
    for row, dashes in zip(layout.baselines, cycle(DASHES), strict=False):
        if not math.isnan(means[row]):
            y = layout.rows.index(row)
            ax.plot(
                [means[row]] * 2, [y, len(layout.rows) - 0.5], color=QUIET, linewidth=0.6, linestyle=dashes
            )


def _dots(ax: Axes, summary: pd.DataFrame, paper: pd.DataFrame, layout: Layout) -> None:
    for y, row in enumerate(summary.itertuples()):
        if math.isnan(row.mean):
            why = "diverged" if row.diverged and not row.missing else "missing"
            ax.text(
                0.02, y, why, transform=ax.get_yaxis_transform(), color=FAINT, va="center", style="italic"
            )
            continue
        color = _color(row.variant, layout)
        if not math.isnan(row.std):
            ends = [row.mean - row.std, row.mean + row.std]
            if METRICS[row.metric].unit == "%":
                ends = [max(0, ends[0]), min(100, ends[1])]
            ax.plot(ends, [y, y], color=color, linewidth=1.2, alpha=0.6)
        ax.plot(row.mean, y, "o", color=color, markersize=3.2, clip_on=False, zorder=3)
    places = {variant: y for y, variant in enumerate(summary["variant"])}
    ax.plot(paper["paper"], paper["variant"].map(places), "D", mfc="none", mec=PAPER, mew=0.7, markersize=4)


def _color(variant: str, layout: Layout) -> str:
    return OURS if variant in layout.ours else QUIET if variant in layout.baselines else BASELINE


def _share_limits(axes: Sequence[Axes], metric: str) -> None:
    """One range for all diagrams of a metric; a share ends at 0 and 100."""
    ends = [ax.get_xlim() for ax in axes if ax.has_data()]
    if not ends:
        return
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    if METRICS[metric].unit == "%":
        low, high = max(0, low), min(100, high)
    for ax in axes:
        ax.set_xlim(low, high)


def _legend(layout: Layout, summary: pd.DataFrame, guesses: Sequence[float], *, paper: bool) -> list[Artist]:
    def dots(color: str, label: str) -> Line2D:
        return Line2D([], [], color=color, label=label, linewidth=1.2, marker="o", markersize=3.2)

    what = "mean ± standard deviation over seeds" if summary["std"].notna().any() else "mean over seeds"
    handles: list[Artist] = [dots(BASELINE, what)]
    if layout.ours:
        handles.append(dots(OURS, "ours"))
    if layout.baselines:
        handles.append(dots(QUIET, "no network; its mean goes on as a line"))
    if guesses:
        label = f"guessing: {', '.join(f'{guess:.0f}%' for guess in guesses)}"
        handles.append(Line2D([], [], color=OURS, linewidth=0.8, linestyle=GUESS, label=label))
    if paper:
        diamond = Line2D([], [], color=PAPER, label="printed in the paper", linestyle="", marker="D")
        diamond.set(markersize=4, markerfacecolor="none", markeredgewidth=0.7)
        handles.append(diamond)
    return handles
