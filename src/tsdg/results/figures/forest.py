"""Does a variant beat a baseline? Differences of accuracy, paired by seed, with their intervals."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from tsdg.results.captions import notes, simulated
from tsdg.results.figures.facets import Facet, facets, shown
from tsdg.results.figures.style import BASELINE, FAINT, OURS, PAGE, save, stamp, style, unparsed
from tsdg.results.numbers import CONFIDENCE, margin
from tsdg.results.selected import shown_runs
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

    The axis shows every seed; an interval that reaches beyond it ends in an arrow.

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
    if (counts < 2).any():
        remarks.append("One seed alone has no interval.")
    with style():
        figure, diagrams = facets(
            layout,
            others,
            places,
            width=width,
            xlabels=[f"points above {label}"] * len(places),
            legend=_legend(layout),
            remarks=[*remarks, *notes(selected, layout)],
        )
        ends = _range(table.loc[table["target"].isin([place.target for place, _ in diagrams]), "difference"])
        for place, ax in diagrams:
            here = (table["dataset"] == place.panel.dataset) & (table["target"] == place.target)
            ax.set_xlim(*ends)
            _differences(ax, table[here], others, layout)
        return save(figure, out_folder, name, stamp=stamp(simulated(selected, layout), layout))


def _range(differences: pd.Series) -> tuple[float, float]:
    """From the lowest to the highest with a margin, zero and a point to either side in it."""
    low, high = min([*differences, -1.0]), max([*differences, 1.0])
    margin = 0.06 * (high - low)
    return low - margin, high + margin


def _differences(ax: Axes, table: pd.DataFrame, rows: list[str], layout: Layout) -> None:
    ax.axvline(0, color="#333333", linewidth=0.8)
    left, right = ax.get_xlim()
    for y, variant in enumerate(rows):
        color = OURS if variant in layout.ours else BASELINE
        values = table.loc[table["variant"] == variant, "difference"].to_numpy()
        if not len(values):
            place = ax.get_yaxis_transform()
            ax.text(0.02, y, "missing", transform=place, color=FAINT, va="center", style="italic")
            continue
        ax.plot(values, [y + 0.24] * len(values), "o", color=color, markersize=2.6, alpha=0.35, mew=0)
        low, high = interval(values)
        if math.isnan(low):
            continue
        ax.plot([max(low, left), min(high, right)], [y, y], color=color, linewidth=1.2)
        for edge, beyond, marker in ((left, low < left, "<"), (right, high > right, ">")):
            if beyond:
                ax.plot(edge, y, marker, color=color, markersize=4, clip_on=False, mew=0)
        ax.plot(values.mean(), y, "|", color=color, markersize=6, mew=1.4)


def _legend(layout: Layout) -> list[Line2D]:
    def line(color: str, label: str) -> Line2D:
        return Line2D([], [], color=color, label=label, linewidth=1.2, marker="|", markersize=6, mew=1.4)

    handles = [
        Line2D([], [], color=FAINT, label="one seed", linestyle="", marker="o", markersize=2.6),
        line(BASELINE, "mean and its 95% interval"),
    ]
    return [*handles, line(OURS, "ours")] if layout.ours else handles
