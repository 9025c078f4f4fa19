"""Methods over targets, and differences between methods with the interval that targets and seeds allow.

Reads what `checkpoints.py` wrote, prints tables in Markdown and draws the methods that have every target. ::

    python docs/experiments/compare.py docs/data/bearings_checkpoints.csv \\
        --pairs ours-learned:erm erm-augment:erm --figure docs/images/bearings_targets.png

A data set other than `bearings` is named before its variant: ``bearings-blocked/erm:erm``.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats
from seeds import BASE, last, named, show

from tsdg.results.figures.forest import interval
from tsdg.results.figures.style import BASELINE, OURS, PAGE, style


def over_targets(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean over seeds in percent, a row a variant and a column a target.

    Three seeds or more show their standard deviation, two or more their number. The average is that of the
    targets' means, for variants that have every target.
    """
    groups = runs.groupby(["variant", "target"], sort=False)[metric]
    means = 100 * groups.mean().unstack()
    spreads, counts = 100 * groups.std().unstack(), groups.count().unstack()
    targets = sorted(means.columns)
    rows = []
    for variant in means.index:
        row = {"variant": variant}
        for target in targets:
            mean, spread, count = (table.loc[variant, target] for table in (means, spreads, counts))
            if np.isnan(mean):
                row[target] = ""
            elif count < 3:
                row[target] = f"{mean:.1f}" + (f" ({count:.0f})" if count > 1 else "")
            else:
                row[target] = f"{mean:.1f} ± {spread:.1f} ({count:.0f})"
        row["Average"] = f"{means.loc[variant, targets].mean(skipna=False):.1f}".replace("nan", "")
        rows.append(row)
    return pd.DataFrame(rows)


def welch(first: np.ndarray, second: np.ndarray) -> str:
    """95% interval of a difference of means, Welch's; empty where a group has one value."""
    if min(len(first), len(second)) < 2:
        return ""
    low, high = stats.ttest_ind(first, second, equal_var=False).confidence_interval()
    return f" ({low:.1f} to {high:.1f})"


def differences(runs: pd.DataFrame, pairs: list[tuple[str, str]], metric: str) -> pd.DataFrame:
    """Points by which the first of a pair is above the second, of their means over seeds.

    In brackets, the target's 95% interval by Welch; for the average, that of the mean over the targets that
    both have, by Student over targets.
    """
    values = runs.groupby(["variant", "target"])[metric].apply(lambda part: 100 * part.to_numpy())
    rows = []
    for pair in pairs:
        first, second = (values.loc[variant] for variant in pair)
        row = {"difference": " less ".join(pair)}
        found = {}
        for target in sorted(runs["target"].unique()):
            row[target] = ""
            if target in first.index and target in second.index:
                a, b = first[target], second[target]
                found[target] = a.mean() - b.mean()
                row[target] = f"{found[target]:.1f}" + welch(a, b)
        points = np.array(list(found.values()))
        low, high = interval(points)
        row["mean"] = f"{points.mean():.1f} ({low:.1f} to {high:.1f}; {len(points)})"
        rows.append(row)
    return pd.DataFrame(rows)


def together(means: pd.DataFrame) -> pd.DataFrame:
    """Whether variants (rows) differ over targets (columns): Friedman's test, and shares of the variance.

    What targets and variants do not explain as a sum is left: interaction, and the spread over seeds.
    """
    values = means.to_numpy()
    deviation = ((values - values.mean()) ** 2).sum()
    shares = {
        name: values.shape[axis] * ((values.mean(axis) - values.mean()) ** 2).sum() / deviation
        for axis, name in enumerate(("targets", "variants"))
    }
    test = stats.friedmanchisquare(*values)
    row = {"variants": len(means), "targets": means.shape[1], "p (Friedman)": f"{test.pvalue:.2f}"}
    row |= {f"share of {name}": f"{share:.0%}" for name, share in shares.items()}
    return pd.DataFrame([row | {"share left": f"{1 - sum(shares.values()):.0%}"}])


def target_means(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean over seeds in percent, a row a variant that has every target."""
    return 100 * runs.groupby(["variant", "target"])[metric].mean().unstack().dropna()


def draw(runs: pd.DataFrame, path: Path) -> None:
    """A row a variant, from the best average down: each target's mean as its letter, their average a bar."""
    means = target_means(runs, "accuracy")
    means = means.loc[means.mean(axis=1).sort_values(ascending=False, kind="stable").index]
    with style():
        figure = Figure(figsize=(PAGE, 0.5 + 0.19 * len(means)), layout="constrained")
        ax = figure.subplots()
        for y, (variant, row) in enumerate(means.iterrows()):
            color = OURS if str(variant).startswith("ours") else BASELINE
            ax.plot(row.mean(), y, "|", color=color, markersize=11, mew=2)
            for target, mean in row.items():
                ax.text(mean, y, str(target), ha="center", va="center", color=color)
        ax.set(xlabel="accuracy (%)", xlim=(0, 101), ylim=(len(means) - 0.5, -0.5))
        ax.set_yticks(range(len(means)), means.index)
        ax.grid(axis="x")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=200)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoints", type=Path)
    parser.add_argument("--pairs", nargs="*", default=[], metavar="VARIANT:VARIANT")
    parser.add_argument("--together", nargs="*", default=[], metavar="VARIANT", help="three or more")
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    runs = named(last(pd.read_csv(options.checkpoints)))
    for metric in ("accuracy", "ece"):
        show(f"{metric} on the target (%)", over_targets(runs, metric))
        if options.pairs:
            pairs = [tuple(pair.split(":")) for pair in options.pairs]
            show(f"{metric}: differences (points)", differences(runs, pairs, metric))
        if options.together:
            among = runs[runs["variant"].isin(options.together)]
            show(f"{metric}: do they differ?", together(target_means(among, metric)))
    if options.figure:
        draw(runs[runs["dataset"] == BASE], options.figure)


if __name__ == "__main__":
    main()
