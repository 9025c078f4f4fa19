"""What a seed is worth: spread over seeds, differences paired by seed, and how many seeds would show them.

Reads what `checkpoints.py` wrote, prints tables in Markdown and draws every seed's accuracy. ::

    python docs/experiments/seeds.py docs/data/bearings_checkpoints.csv --baseline erm --targets A E \\
        --variants ours-learned ours-metadata --figure docs/images/bearings_seeds.png

A data set other than `bearings` is named before its variant: ``bearings-coin/ours-learned``.
"""

import argparse
import math
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from tsdg.data import paper
from tsdg.results.figures.forest import interval
from tsdg.results.figures.style import BASELINE, COLUMN, OURS, PAPER, style
from tsdg.results.power import seeds_needed

BASE = "bearings"
RUN = ["dataset", "variant", "target", "seed"]
POINTS = (3, 5, 7, 10)


def last(table: pd.DataFrame) -> pd.DataFrame:
    """The last checkpoint of each run."""
    return table.loc[table.groupby(RUN)["iteration"].idxmax()].sort_values(RUN, ignore_index=True)


def named(table: pd.DataFrame) -> pd.DataFrame:
    """With the data set as a part of the variant's name, unless it is `BASE`."""
    prefix = (table["dataset"] + "/").where(table["dataset"] != BASE, "")
    return table.assign(variant=prefix + table["variant"])


def prediction(values: np.ndarray, seeds: int = 3, confidence: float = 0.95) -> tuple[float, float]:
    """Where the mean of so many new seeds lies, as Student's t says; NaN for fewer than two values."""
    if len(values) < 2:
        return math.nan, math.nan
    error = values.std(ddof=1) * math.sqrt(1 / len(values) + 1 / seeds)
    half = stats.t.ppf((1 + confidence) / 2, len(values) - 1) * error
    return values.mean() - half, values.mean() + half


def spread(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean, standard deviation, smallest and largest accuracy over seeds, in percent."""
    rows = []
    for (target, variant), part in runs.groupby(["target", "variant"], sort=False):
        values = 100 * part["accuracy"].to_numpy()
        rows.append(
            {
                "target": target, "variant": variant, "seeds": len(values), "mean": values.mean(),
                "95% interval": "{:.1f} to {:.1f}".format(*interval(values)),
                "mean of three new seeds": "{:.1f} to {:.1f}".format(*prediction(values)),
                "s.d.": 100 * part["accuracy"].std(), "least": values.min(), "most": values.max(),
                "ECE": 100 * part["ece"].mean(),
                "source validation": 100 * part["validation_accuracy"].mean(),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def differences(runs: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Accuracy less the baseline's of the same seed and target, in points."""
    wide = runs.pivot(index=["target", "seed"], columns="variant", values="accuracy")
    rows = []
    for variant in wide.columns.drop(baseline):
        paired = 100 * (wide[variant] - wide[baseline]).dropna()
        for target, part in paired.groupby("target"):
            values = part.to_numpy()
            low, high = interval(values)
            deviation = part.std()
            rows.append(
                {
                    "target": target, "variant": variant, "pairs": len(values), "mean": values.mean(),
                    "95% interval": f"{low:.1f} to {high:.1f}", "s.d.": deviation,
                    "above": f"{(values > 0).sum()} of {len(values)}",
                    **{f"seeds for {p} points": seeds_needed(p, deviation) for p in POINTS},
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def validation_says(table: pd.DataFrame) -> pd.DataFrame:
    """Rank correlation of source validation and target accuracy, over seeds and along training."""
    rows = []
    for (target, variant), part in table.groupby(["target", "variant"], sort=False):
        ends = last(part)
        within = [
            stats.spearmanr(run["validation_accuracy"], run["accuracy"]).statistic
            for _, run in part.groupby("seed")
        ]
        best = part.loc[part.groupby("seed")["validation_accuracy"].idxmax()]
        oracle = part.groupby("seed")["accuracy"].max()
        rows.append(
            {
                "target": target, "variant": variant, "seeds": len(ends),
                "over seeds": stats.spearmanr(ends["validation_accuracy"], ends["accuracy"]).statistic,
                "along training": np.nanmean(within), "last": 100 * ends["accuracy"].mean(),
                "best by validation": 100 * best["accuracy"].mean(), "best of all": 100 * oracle.mean(),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def draw(runs: pd.DataFrame, variants: list[str], targets: list[str], path: Path) -> None:
    """Every seed's accuracy, the mean with its interval, and the paper's number as a diamond."""
    printed = paper.numbers(BASE).set_index(["row", "target", "metric"])["value"]
    with style():
        figure = Figure(figsize=(2 * COLUMN, 0.5 + 0.42 * len(variants)), layout="constrained")
        axes = figure.subplots(1, len(targets), sharey=True, squeeze=False)[0]
        for ax, target in zip(axes, targets, strict=True):
            for y, variant in enumerate(variants):
                row = variant.rpartition("/")[2]
                color = OURS if row.startswith("ours") else BASELINE
                here = (runs["variant"] == variant) & (runs["target"] == target)
                values = 100 * runs.loc[here, "accuracy"].to_numpy()
                ax.plot(
                    values, np.full(len(values), y - 0.18), "o", color=color, markersize=3, alpha=0.45, mew=0
                )
                ax.plot(interval(values), [y + 0.12] * 2, color=color, linewidth=1.2)
                ax.plot(values.mean(), y + 0.12, "|", color=color, markersize=6, mew=1.4)
                if (key := (row, target, "accuracy")) in printed.index:
                    ax.plot(printed[key], y + 0.12, "D", color=PAPER, markersize=3.5, mew=0)
            ax.set(title=f"target {target}", xlabel="accuracy (%)", ylim=(len(variants) - 0.5, -0.5))
            ax.grid(axis="x")
        axes[0].set_yticks(range(len(variants)), variants)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=200)


def show(title: str, table: pd.DataFrame) -> None:
    """Print a table in Markdown."""
    print(f"\n### {title}\n\n| {' | '.join(table.columns)} |\n|{'---|' * len(table.columns)}")
    for row in table.itertuples(index=False):
        print("| " + " | ".join(f"{v:.1f}" if isinstance(v, float) else str(v) for v in row) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoints", type=Path)
    parser.add_argument("--baseline", default="erm")
    parser.add_argument("--variants", nargs="+", required=True)
    parser.add_argument("--targets", nargs="+", required=True)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    table = named(pd.read_csv(options.checkpoints))
    variants = [options.baseline, *options.variants]
    table = table[table["variant"].isin(variants) & table["target"].isin(options.targets)]
    runs = last(table)
    show("Accuracy on the target over seeds (%)", spread(runs))
    show(f"Less {options.baseline} of the same seed (points)", differences(runs, options.baseline))
    show("What source validation says: rank correlations, and accuracy by choice (%)", validation_says(table))
    if options.figure:
        draw(runs, variants, options.targets, options.figure)


if __name__ == "__main__":
    main()
