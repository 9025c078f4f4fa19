"""Accuracy by what is held out: records become a csv, and the csv a figure. ::

    python docs/experiments/shifts.py results/runs

A row is a training or fit at fixed hyperparameters: its last checkpoint, and the mean of its weights where it
had one. Rows that the csv has already stay. Without folders, the figure alone is made anew.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from tsdg.runs.record import read

DATA, IMAGES = Path(__file__).parents[1] / "data", Path(__file__).parents[1] / "images"
KEYS = ["dataset", "variant", "target", "seed", "iterations"]
ROWS = {
    "spectrum-logistic": ("Spectrum, logistic", "#1b6ca8", "o"),
    "transfer-logistic": ("Whitened, random filter, logistic", "#58a6d6", "s"),
    "modulation-logistic": ("The same and modulation, logistic", "#2a9d6f", "D"),
    "both-logistic": ("Statistics and spectrum, logistic", "#8a8a8a", "P"),
    "erm": ("ERM, network on raw windows", "#c1440e", "^"),
    "ours-learned": ("Ours (learned), network on raw windows", "#e0a03c", "v"),
}
QUESTIONS = [
    "a domain\n(A and E)",
    "a load",
    "a sensor",
    "bearings\n(3 classes)",
    "three people\n(6 activities)",
]
REDUCED = 1000  # iterations of the networks that are drawn; people: 500
CHANCE = [10, 10, 10, 100 / 3, 100 / 6]


def collected(folders: list[Path]) -> pd.DataFrame:
    """A row for each finished record below the folders."""
    rows = []
    for path in sorted(path for folder in folders for path in folder.glob("*/**/fixed.json")):
        record = read(path)
        run, last = record.run, record.checkpoints[-1]
        rows.append(
            {
                **{key: getattr(run, key) for key in ("dataset", "variant", "target", "seed")},
                "iterations": last.iteration,
                "accuracy": last.target.accuracy,
                "macro_f1": last.target.macro_f1,
                "ece": last.target.ece,
                "validation_accuracy": last.source_accuracy,
                "averaged_accuracy": last.averaged.target.accuracy if last.averaged else None,
            }
        )
    return pd.DataFrame(rows)


def question(row: pd.Series) -> int | None:
    """Which of `QUESTIONS` a row answers, if any."""
    if row["dataset"] in ("bearings-size", "hapt"):
        return 3 if row["dataset"] == "bearings-size" else 4
    if row["dataset"] == "bearings":
        return {"A": 0, "E": 0, "load": 1, "location": 2}.get(row["target"].split("=")[0])
    return None


def draw(table: pd.DataFrame) -> plt.Figure:
    """Each target's mean over seeds as a small mark, their mean as a large one."""
    figure, axes = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
    table = table.assign(question=table.apply(question, axis=1))
    by_target = table.groupby(["variant", "question", "target"])["accuracy"].mean() * 100
    for place, (variant, (label, colour, marker)) in enumerate(ROWS.items()):
        for at in range(len(QUESTIONS)):
            if (variant, at) not in by_target.index.droplevel("target"):
                continue
            values, x = by_target[variant, at], at + (place - 2.5) * 0.15
            axes.plot(np.full(len(values), x), values, marker, color=colour, alpha=0.45, markersize=4)
            axes.plot(x, values.mean(), marker, color=colour, markersize=9, label=label)
    for at, chance in enumerate(CHANCE):
        axes.hlines(chance, at - 0.45, at + 0.45, color="0.6", linewidth=1, linestyle=":")
    axes.set(ylim=(0, 103), ylabel="Accuracy on what is held out (%)", xlim=(-0.5, len(QUESTIONS) - 0.5))
    axes.set_xticks(range(len(QUESTIONS)), QUESTIONS)
    axes.grid(axis="y", color="0.92")
    axes.set_xlabel("Held out (dotted: chance)")
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    figure.legend(once.values(), once.keys(), fontsize=7, loc="outside upper center", ncols=3, frameon=False)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="*", help="folders of records")
    options = parser.parse_args()
    path = DATA / "shifts.csv"
    known = [pd.read_csv(path)] if path.exists() else []
    table = pd.concat([*known, collected(options.folders)]).drop_duplicates(KEYS, keep="last")
    table = table.sort_values(KEYS).round(4)
    table.to_csv(path, index=False)
    draw(table[table["iterations"] <= REDUCED]).savefig(IMAGES / "shifts.png", dpi=150)


if __name__ == "__main__":
    main()
