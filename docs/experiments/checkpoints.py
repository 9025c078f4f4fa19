"""Every checkpoint of every record in a folder as one table, a csv. ::

    python docs/experiments/checkpoints.py results/runs/bearings --out docs/data/bearings_checkpoints.csv

``validation_accuracy`` is the mean over the source domains; ``cross_entropy`` and ``consistency``, not yet
multiplied by λ, are parts of the loss there. A diverged run has the checkpoints before it.
"""

import argparse
from dataclasses import asdict
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from tsdg.runs.record import Record, read

SHOWN = ("accuracy", "ece")
LOSSES = ("cross_entropy", "consistency")


def rows(record: Record) -> list[dict]:
    """A row for each checkpoint."""
    seconds, losses = record.timing.seconds_per_iteration, record.losses
    return [
        {
            **asdict(record.run),
            "iteration": checkpoint.iteration,
            **{metric: getattr(checkpoint.target, metric) for metric in SHOWN},
            "validation_accuracy": checkpoint.source_accuracy,
            **{
                name: losses[name][losses["iteration"].index(checkpoint.iteration)]
                for name in LOSSES
                if name in losses
            },
            "status": record.status,
            "seconds": seconds * checkpoint.iteration,
        }
        for checkpoint in record.checkpoints
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path, help="folder with records in it, at any depth")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    paths = sorted(options.runs.rglob("seed*/*.json"))
    if not paths:
        parser.error(f"{options.runs} has no records (seed*/*.json)")
    table = pd.DataFrame([row for path in tqdm(paths) for row in rows(read(path))])
    options.out.parent.mkdir(parents=True, exist_ok=True)
    table.round(6).to_csv(options.out, index=False, lineterminator="\n")
    print(f"{options.out}: {len(paths)} runs, {len(table)} checkpoints")


if __name__ == "__main__":
    main()
