"""Accuracy, or the table's own metric, on each target, from the same selected runs and layout as a table."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from tsdg.results.captions import notes, simulated
from tsdg.results.figures.facets import Facet, facets, say, shown
from tsdg.results.figures.style import (
    BASELINE,
    DASHES,
    OURS,
    PAGE,
    PAPER,
    QUIET,
    look,
    looks,
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
NEAR = 0.5  # of the range of what is drawn: how far beyond it guessing is in it still
LEAST = 4.0  # percent that a diagram shows, so that ticks are whole numbers
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
    what guessing gives (`chances`; far from all else, it is said beneath) and, from its own row on, the mean
    of each baseline. Of recordings that
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
    guesses = {(key[1], chance[key]) for key in leading.items() if key in chance}
    limits = {}
    for metric in dict.fromkeys(place.metric for place in places):
        of_metric = [place for place in places if place.metric == metric]
        values = [guess for its, guess in guesses if its == metric]
        limits[metric] = _limits(_of(summary, of_metric), _of(paper, of_metric)["paper"], metric, values)
    inside = {(its, guess) for its, guess in guesses if limits[its][0] <= guess <= limits[its][1]}
    beyond = [f"Guessing gives {_percents(guesses - inside)}, beyond what is drawn."]
    remarks = [*beyond * (guesses != inside), *notes(selected, first)]
    legend = _legend(layout, summary, inside, paper=len(paper) > 0)
    with style():
        figure, drawn = facets(
            layout,
            layout.rows,
            places,
            width=width,
            xlabels=[METRICS[place.metric].heading for place in places],
            legend=legend,
            remarks=remarks,
        )
        for place, ax in drawn:
            own, printed = (_of(table, [place]) for table in (summary, paper))
            ax.set_xlim(*limits[place.metric])
            _across(ax, own, layout)
            _dots(ax, own, printed, layout)
            guess = (place.metric, chance.get((place.panel.dataset, place.metric)))
            if guess in inside:
                ax.axvline(guess[1], color=OURS, linewidth=0.8, linestyle=GUESS)
        return save(figure, out_folder, name, stamp=stamp(unreal, layout))


def _of(table: pd.DataFrame, places: Sequence[Facet]) -> pd.DataFrame:
    """What a table has of some diagrams."""
    keys = {(place.panel.dataset, place.target, place.metric) for place in places}
    columns = (table[name] for name in ("dataset", "target", "metric"))
    return table.loc[[key in keys for key in zip(*columns, strict=True)]]


def _percents(guesses: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{guess:.0f}%" for guess in sorted({guess for _, guess in guesses}))


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
            say(ax, y, why)
            continue
        color, marker, _ = look(row.variant, layout)
        if not math.isnan(row.std):
            ends = _cut((row.mean - row.std, row.mean + row.std), row.metric)
            ax.plot(ends, [y, y], color=color, linewidth=1.2, alpha=0.6)
        ax.plot(row.mean, y, marker, color=color, markersize=3.2, clip_on=False, zorder=3)
    places = {variant: y for y, variant in enumerate(summary["variant"])}
    ax.plot(paper["paper"], paper["variant"].map(places), "D", mfc="none", mec=PAPER, mew=0.7, markersize=4)


def _limits(
    summary: pd.DataFrame, paper: pd.Series, metric: str, guesses: Iterable[float]
) -> tuple[float, float]:
    """One range for all diagrams of a metric: all that is drawn, and what guessing gives if that is near."""
    spread = summary["std"].fillna(0)
    values = pd.concat([summary["mean"] - spread, summary["mean"] + spread, paper]).dropna()
    low, high = _cut((values.min(), values.max()), metric) if len(values) else (0.0, 100.0)
    reach = NEAR * max(high - low, 1.0)
    near = [guess for guess in guesses if low - reach <= guess <= high + reach]
    low, high = min([low, *near]), max([high, *near])
    margin = 0.05 * (high - low) or 0.5
    low, high = _cut((low - margin, high + margin), metric)
    if METRICS[metric].unit == "%" and high - low < LEAST:
        low = max(0.0, min(low, high - LEAST))
        high = low + LEAST
    return low, high


def _cut(ends: tuple[float, float], metric: str) -> tuple[float, float]:
    """A range, of which that of a share ends at 0 and 100."""
    return (max(0.0, ends[0]), min(100.0, ends[1])) if METRICS[metric].unit == "%" else ends


def _legend(
    layout: Layout, summary: pd.DataFrame, guesses: Collection[tuple[str, float]], *, paper: bool
) -> list[Artist]:
    def dots(color: str, marker: str, label: str) -> Line2D:
        return Line2D([], [], color=color, label=label, linewidth=1.2, marker=marker, markersize=3.2)

    what = "mean ± standard deviation over seeds" if summary["std"].notna().any() else "mean over seeds"
    handles: list[Artist] = [dots(BASELINE, "o", what)]
    for color, marker, role in looks([*layout.ours, *layout.baselines], layout):
        goes_on = "; its mean goes on as a line" * (role == "no network")
        handles.append(dots(color, marker, role + goes_on))
    if guesses:
        label = f"guessing: {_percents(guesses)}"
        handles.append(Line2D([], [], color=OURS, linewidth=0.8, linestyle=GUESS, label=label))
    if paper:
        diamond = Line2D([], [], color=PAPER, label="printed in the paper", linestyle="", marker="D")
        diamond.set(markersize=4, markerfacecolor="none", markeredgewidth=0.7)
        handles.append(diamond)
    return handles
