"""What of a seed makes it good or bad: the split, the minibatches, the initial weights, or nothing at all.

Each is drawn anew for every given number while the others keep seed 0. "rounding" draws nothing: it makes all
initial weights larger by so many of their last digits in binary. ::

    python docs/experiments/seed_parts.py --data results/data/bearings --target E --numbers 1 2 3 4 5

A row for each training is added to the csv; what stands there already is not trained again. At the end it
says how much accuracy moves with each part alone.
"""

import argparse
from pathlib import Path

import pandas as pd
import torch
from tqdm import tqdm

from tsdg.batches import Windows
from tsdg.data.windows import WindowedDataset
from tsdg.memory import keep_freed_memory
from tsdg.records import Run, source_accuracy
from tsdg.study import Study
from tsdg.train import Pack, Progress

PARTS = ("split", "batches", "weights", "rounding")
DIGIT = 2.0**-23  # the last of a 32-bit float, relative
KEYS = ["variant", "target", "part", "number"]


class Parted(Pack):
    """A run whose split, batches (with augmentation), weights and rounding have seeds of their own."""

    def __init__(
        self, study: Study, dataset: WindowedDataset, variant: str, target: str, seeds: dict[str, int]
    ):
        name = dataset.card["name"]
        run = Run(name, variant, target, seeds["split"], "fixed")
        config, hparams = study.config(name, variant), study.hparams(run)
        super().__init__(dataset, Windows(dataset), [run], config, [hparams], Progress())
        self.seeds = [seeds["weights"]]
        self.method = self._method()
        with torch.no_grad():
            for weight in self.method.network.parameters():
                weight *= 1 + DIGIT * seeds["rounding"]
        self.seeds = [seeds["batches"]]
        self.augmentation = self._augmentation()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--params", type=Path, default=Path("params.yaml"))
    parser.add_argument("--data", type=Path, required=True, help="folder of the prepared data set")
    parser.add_argument("--variant", default="erm")
    parser.add_argument("--target", required=True)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--numbers", nargs="+", type=int, default=[1, 2, 3, 4, 5], help="seeds of the part")
    parser.add_argument("--set", action="append", default=[], help="as for tsdg train")
    parser.add_argument("--out", type=Path, default=Path("seed_parts.csv"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()
    study, dataset = Study.load(options.params, options.set), WindowedDataset.load(options.data)
    done = pd.read_csv(options.out) if options.out.exists() else pd.DataFrame(columns=KEYS)
    wanted = [(options.variant, options.target, part, n) for part in options.parts for n in options.numbers]
    missing = [row for row in wanted if row not in set(done[KEYS].itertuples(index=False, name=None))]
    for variant, target, part, number in tqdm(missing):
        seeds = {**dict.fromkeys(PARTS, 0), part: number}
        last = Parted(study, dataset, variant, target, seeds).train()[0]["checkpoints"][-1]
        row = {
            **dict(zip(KEYS, (variant, target, part, number), strict=True)),
            "accuracy": last["target"]["accuracy"],
            "ece": last["target"]["ece"],
            "validation_accuracy": source_accuracy(last),
        }
        pd.DataFrame([row]).to_csv(options.out, mode="a", header=not options.out.exists(), index=False)
    print(summary(pd.read_csv(options.out)).to_string(index=False, float_format="%.1f"))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy in percent over the seeds of each part: number, mean, standard deviation, range."""
    percent = table.assign(accuracy=100 * table["accuracy"])
    groups = percent.groupby(["variant", "target", "part"], sort=False)["accuracy"]
    return groups.agg(["count", "mean", "std", "min", "max"]).reset_index()


if __name__ == "__main__":
    main()
