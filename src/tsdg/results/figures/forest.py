"""Does a variant beat a baseline? Differences of accuracy, paired by seed, with their intervals."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.markers import CARETLEFT, CARETRIGHT

from tsdg.results.captions import notes, simulated
from tsdg.results.figures.facets import Facet, facets, say, shown
from tsdg.results.figures.style import BASELINE, FAINT, PAGE, look, looks, save, stamp, style, unparsed
from tsdg.results.numbers import CONFIDENCE, margin
from tsdg.results.selected import gap, shown_runs
from tsdg.study.layout import AVERAGE, Layout


def paired_differences(selected: pd.DataFrame, layout: Layout, baseline: str) -> pd.DataFrame:
    """Accuracy of every variant less that of the baseline, in points, of the same seed.

    Parameters
    ----------
    selected, layout
        As for `tsdg.results.tables.render`.
    baseline : str
        One of the layout's rows.

    Returns
    -------
    DataFrame
        ``dataset, variant, target, seed, difference``, a row for each other variant and each seed that both
        have. The "Average" is over targets, of the seeds that have all of them.
    """
    runs = shown_runs(selected, layout)
    keys = ["dataset", "target", "seed"]
    wide = runs.pivot(index=keys, columns="variant", values="accuracy").reindex(columns=list(layout.rows))
    differences = 100 * wide.drop(columns=baseline).sub(wide[baseline], axis=0)
    table = differences.reset_index().melt(keys, value_name="difference").dropna(ignore_index=True)
    averages = []
    for panel in layout.panels:
        own = table[table["dataset"] == panel.dataset]
        by_target = own.pivot(index=["variant", "seed"], columns="target", values="difference")
        mean = by_target.reindex(columns=list(panel.targets)).dropna().mean(axis=1).rename("difference")
        averages.append(mean.reset_index().assign(dataset=panel.dataset, target=AVERAGE))
    return pd.concat([table, *averages], ignore_index=True)


def interval(values: np.ndarray, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Student's interval of the mean; NaN for fewer than two values."""
    if len(values) < 2:
        return math.nan, math.nan
    half = margin(values.std(ddof=1), len(values), confidence)
    return values.mean() - half, values.mean() + half


def draw(
    selected: pd.DataFrame,
    layout: Layout,
    runs: str | Path,
    out_folder: str | Path,
    name: str,
    *,
    baseline: str,
    width: float = PAGE,
    averages: bool = False,
) -> list[Path]:
    """Draw `paired_differences`: every seed a faint dot, the mean with its 95% interval.

    The axis shows every seed; an interval that reaches beyond it ends in an arrow. One seed alone, of which
    there is no interval, is hollow.

    Parameters
    ----------
    averages : bool
        Whether targets have no diagram of their own.
    """
    layout = unparsed(layout)
    table = paired_differences(selected, layout, baseline)
    others = [row for row in layout.rows if row != baseline]
    places = [
        Facet(panel, target, "accuracy")
        for panel in layout.panels
        for target in shown(panel, averages=averages)
    ]
    drawn = table[table["target"].isin([place.target for place in places])]
    counts = drawn.groupby(["dataset", "variant", "target"])["seed"].count()
    label = layout.labels[baseline]
    remarks = [f"Difference to {label} of the same seed and target, in percentage points of accuracy."]
    if (counts > 1).any():
        remarks.append("An interval that ends in an arrow goes on.")
    with style():
        figure, diagrams = facets(
            layout,
            others,
            places,
            width=width,
            xlabels=[f"points above {label}"] * len(places),
            legend=_legend(layout, others, counts),
            remarks=[*remarks, *notes(selected, layout)],
        )
        ends = _range(table.loc[table["target"].isin([place.target for place, _ in diagrams]), "difference"])
        for place, ax in diagrams:
            here = (table["dataset"] == place.panel.dataset) & (table["target"] == place.target)
            ax.set_xlim(*ends)
            targets = place.panel.targets if place.target == AVERAGE else [place.target]
            why = {row: gap(selected, place.panel.dataset, targets, {row, baseline}) for row in others}
            _differences(ax, table[here], why, layout)
        return save(figure, out_folder, name, stamp=stamp(simulated(selected, layout), layout))


def _range(differences: pd.Series) -> tuple[float, float]:
    """From the lowest to the highest with a margin, zero and a point to either side in it."""
    low, high = min([*differences, -1.0]), max([*differences, 1.0])
    margin = 0.06 * (high - low)
    return low - margin, high + margin


def _differences(ax: Axes, table: pd.DataFrame, why: Mapping[str, str], layout: Layout) -> None:
    """Of each row the differences, or why there are none."""
    ax.axvline(0, color="#333333", linewidth=0.8)
    left, right = ax.get_xlim()
    for y, variant in enumerate(why):
        color, marker, _ = look(variant, layout)
        values = table.loc[table["variant"] == variant, "difference"].to_numpy()
        if not len(values):
            say(ax, y, why[variant])
            continue
        if len(values) == 1:
            ax.plot(values, [y], marker, color=color, markersize=3.4, mfc="white", mew=0.9)
            continue
        ax.plot(values, [y + 0.24] * len(values), marker, color=color, markersize=2.6, alpha=0.45, mew=0)
        low, high = interval(values)
        ax.plot([max(low, left), min(high, right)], [y, y], color=color, linewidth=1.2)
        for edge, beyond, end in ((left, low < left, CARETLEFT), (right, high > right, CARETRIGHT)):
            if beyond:
                ax.plot(edge, y, marker=end, color=color, markersize=4, mew=0)
        ax.plot(values.mean(), y, marker, color=color, markersize=3.2)


def _legend(layout: Layout, rows: Sequence[str], counts: pd.Series) -> list[Line2D]:
    def points(color: str, marker: str, label: str, size: float = 3.2, width: float = 0) -> Line2D:
        return Line2D([], [], color=color, marker=marker, label=label, ms=size, linewidth=width)

    handles = []
    if (counts > 1).any():
        handles.append(points(FAINT, "o", "one seed", 2.6))
        handles.append(points(BASELINE, "o", "mean and its 95% interval", width=1.2))
    if (counts == 1).any():
        alone = points(BASELINE, "o", "one seed alone", 3.4)
        alone.set(markerfacecolor="white", markeredgewidth=0.9)
        handles.append(alone)
    others = looks([row for row in rows if row in (*layout.ours, *layout.baselines)], layout)
    return [*handles, *(points(*other) for other in others)]
