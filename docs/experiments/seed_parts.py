"""What of a seed makes it good or bad: the split, the minibatches, the initial weights, or nothing at all.

Each is drawn anew for every given number while the others keep seed 0. "rounding" draws nothing: it makes all
initial weights larger by so many of their last digits in binary. ::

    python docs/experiments/seed_parts.py --data results/data/bearings --target E --numbers 1 2 3 4 5

A row for each training is added to the csv; what stands there already is not trained again. At the end it
says how much accuracy moves with each part alone.
"""

from itertools import product

import pandas as pd
import torch
import trainings
from tqdm import tqdm

from tsdg.data.windows import WindowedDataset
from tsdg.learning.inputs import Windows
from tsdg.runs.training import Trainer, source_accuracy
from tsdg.study.run import Run
from tsdg.study.study import Study

PARTS = ("split", "batches", "weights", "rounding")
DIGIT = 2.0**-23  # the last of a 32-bit float, relative
KEYS = ["variant", "target", "part", "number"]


class Parted(Trainer):
    """A run whose split, batches (with augmentation), weights and rounding have seeds of their own."""

    def __init__(self, study: Study, dataset: WindowedDataset, run: Run, seeds: dict[str, int]):
        config, hparams = study.config(run.dataset, run.variant), study.hparams(run)
        super().__init__(
            dataset, Windows(dataset), config, targets=[run.target], seeds=[run.seed], hparams=[hparams]
        )
        self.seeds = [seeds["weights"]]
        self.method = self._method()
        with torch.no_grad():
            for weight in self.method.network.parameters():
                weight.mul_(1 + DIGIT * seeds["rounding"])
        self.seeds = [seeds["batches"]]
        self.augmentation = self._augmentation()


def main() -> None:
    parser = trainings.parser(__doc__, "seed_parts.csv")
    parser.add_argument("--variant", default="erm")
    parser.add_argument("--target", required=True)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--numbers", nargs="+", type=int, default=[1, 2, 3, 4, 5], help="seeds of the part")
    options = parser.parse_args()
    study, name, dataset = trainings.opened(options)
    wanted = product([options.variant], [options.target], options.parts, options.numbers)
    for variant, target, part, number in tqdm(trainings.missing(options.out, KEYS, wanted)):
        seeds = {**dict.fromkeys(PARTS, 0), part: number}
        run = Run(name, variant, target, seeds["split"], "fixed")
        last = Parted(study, dataset, run, seeds).train()[0].checkpoints[-1]
        row = {
            **dict(zip(KEYS, (variant, target, part, number), strict=True)),
            "accuracy": last["target"]["accuracy"],
            "ece": last["target"]["ece"],
            "validation_accuracy": source_accuracy(last),
        }
        trainings.add(pd.DataFrame([row]), options.out)
    print(summary(pd.read_csv(options.out)).to_string(index=False, float_format="%.1f"))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy in percent over the seeds of each part: number, mean, standard deviation, range."""
    percent = table.assign(accuracy=100 * table["accuracy"])
    groups = percent.groupby(["variant", "target", "part"], sort=False)["accuracy"]
    return groups.agg(["count", "mean", "std", "min", "max"]).reset_index()


if __name__ == "__main__":
    main()
