"""What each step is worth on held-out bearings: how one trains, and what goes in. ::

    python docs/experiments/steps.py

The numbers are those of the csv files in docs/data.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

DATA, IMAGES = Path(__file__).parents[1] / "data", Path(__file__).parents[1] / "images"
TARGETS = {
    "A": ("A (drive end, no load)", "#1b6ca8", "o"),
    "E": ("E (fan end, no load)", "#58a6d6", "s"),
    "location=fan end": ("sensor: fan end", "#c1440e", "^"),
    "location=drive end": ("sensor: drive end", "#e0a03c", "v"),
}
TRAINING = {
    "ERM": "erm",
    "and augmentation": "erm-augment",
    "and consistency\n(ours, learned)": "ours-learned",
    "its weights\naveraged": "ours-learned-averaged",
    "its seeds\nas an ensemble": "ours-learned-ensemble",
}
NETWORKS = {
    "network:\nraw windows": "erm",
    "spectra": "erm-spectrum",
    "spectra,\nrandom filter": "erm-spectrum-filter",
}
LINEAR = {
    "linear:\nplain spectrum": "plain-logistic",
    "and envelope": "impacts-logistic",
    "whitened,\nrandom filter": "transfer-logistic",
    "and modulation": "modulation-logistic",
    "less the mean\nof its windows": "modulation-logistic-centred",
}


def of_tables() -> pd.Series:
    """Accuracy (%) by variant and target, of the study's tables: means over seeds."""
    names = ("bearings_sensor_levels", "generalizes_domain", "generalizes_sensor")
    table = pd.concat(pd.read_csv(DATA / f"{name}.csv") for name in names).query("metric == 'accuracy'")
    return table.drop_duplicates(["variant", "target"]).set_index(["variant", "target"])["mean"]


def of_records() -> pd.Series:
    """The same, of single runs of 1,000 iterations."""
    runs = pd.read_csv(DATA / "shifts.csv").query("dataset == 'bearings' and iterations == 1000")
    return 100 * runs.groupby(["variant", "target"])["accuracy"].mean()


def main() -> None:
    known = of_tables().combine_first(of_records())
    figure, axes = plt.subplots(
        1, 2, figsize=(7.2, 3.4), layout="constrained", sharey=True, width_ratios=(5, 8)
    )
    panels = (
        ("How one trains a network", list(TARGETS), [TRAINING]),
        ("What goes in, a sensor held out", list(TARGETS)[2:], [NETWORKS, LINEAR]),
    )
    for ax, (title, targets, parts) in zip(axes, panels, strict=True):
        for target in targets:
            label, colour, marker = TARGETS[target]
            at = 0
            for steps in parts:
                values = [known.get((variant, target), float("nan")) for variant in steps.values()]
                ax.plot(range(at, at + len(steps)), values, marker=marker, color=colour, label=label)
                at, label = at + len(steps), "_"
        names = [name for steps in parts for name in steps]
        ax.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor", fontsize=7)
        ax.axhline(10, color="0.6", linewidth=1, linestyle=":")
        ax.set_title(title, fontsize=9)
        ax.grid(axis="y", color="0.92")
    axes[0].set(ylim=(0, 102), ylabel="Accuracy (%; dotted: chance)")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, fontsize=7, frameon=False
    )
    figure.savefig(IMAGES / "steps.png", dpi=150)


if __name__ == "__main__":
    main()
