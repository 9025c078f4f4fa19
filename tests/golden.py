"""Selected runs of a small table with chosen accuracies, and its layout."""

from dataclasses import replace

import layouts
from layouts import panel
from synthetic_records import grid, save
from tsdg.results.selection import select
from tsdg.study.run import Run

ONE_SEED = replace(layouts.PAPER, seeds=1)
GOLDEN = {
    ("erm", "P"): (0.70, 0.72, 0.74),
    ("erm", "Q"): (0.50, 0.60, 0.70),
    ("irm", "P"): (0.80, 0.80, 0.80),
    ("irm", "Q"): (0.10, 0.10, 0.10),
    ("ours", "P"): (0.8001, 0.8001, 0.8001),
    ("ours", "Q"): (0.90, 0.91, 0.92),
}


def layout(rows=("ours", "erm", "irm"), targets="PQ", metrics=("accuracy", "ece"), panels=None, **changes):
    names = {"erm": "ERM", "ours": "Ours_{λ}"}
    defaults = {
        "labels": {row: label for row, label in names.items() if row in rows},
        "ours": ["ours"],
        "caption": "Toy.",
    }
    return layouts.layout(rows, *(panels or [panel("toy", targets, metrics)]), **defaults | changes)


def selected(folder, accuracies, seeds=3, **facts):
    """Runs of one draw: {(variant, target): one accuracy a seed; None: diverged; absent seeds: missing}."""
    runs = grid(
        dict.fromkeys(v for v, _ in accuracies), dict.fromkeys(t for _, t in accuracies), range(seeds), [0]
    )
    for (variant, target), values in accuracies.items():
        for seed, value in enumerate(values):
            run = Run("toy", variant, target, seed, 0)
            save(folder, run, ((100, 0.5, value or 0, 0.1),), diverged=value is None, **facts)
    return select(runs, folder)
