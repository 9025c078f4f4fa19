"""Which classes fail on the target, and whether the target's own batch statistics would save them.

A trained network is evaluated as always, by the running averages of its sources' batches, and once more
by statistics of the target: all its windows as one batch, minibatches of all classes, or one class's windows
at a time, as of a machine that is in one state. ::

    python docs/experiments/target_statistics.py --data results/data/bearings --targets A E --seeds 0 1

The confusion of each training is added to the csv, the number of windows of each pair of classes; what stands
there already is not trained again.
"""

from itertools import product

import numpy as np
import pandas as pd
import torch
import trainings
from compare import over_targets
from seeds import show
from tqdm import tqdm

from tsdg.learning.inputs import Windows
from tsdg.runs.training import Trainer
from tsdg.study.run import Run

KEYS = ["dataset", "variant", "target", "seed"]
STATISTICS = ("sources", "target", "minibatch", "class")


def batches(statistics: str, labels: torch.Tensor, size: int) -> list[torch.Tensor]:
    """Windows that go through the network together."""
    if statistics == "class":
        return [torch.nonzero(labels == label).flatten() for label in labels.unique()]
    if statistics == "minibatch":
        order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
        return list(order.split(size))
    return list(torch.arange(len(labels)).split(256 if statistics == "sources" else len(labels)))


@torch.no_grad()
def predicted(trainer: Trainer, statistics: str) -> tuple[np.ndarray, np.ndarray]:
    """Predicted and true classes of the target's windows."""
    (sources,) = trainer.sources
    rows = torch.from_numpy(sources.evaluation[str(sources.target)])
    labels = trainer.windows.labels[rows]
    network = trainer.method.network.train(statistics != "sources")
    guesses = torch.empty_like(labels)
    for batch in batches(statistics, labels, trainer.config["batch_size"]):
        guesses[batch] = network(trainer.windows[rows[None, batch]][0])[0].argmax(-1)
    return guesses.numpy(), labels.numpy()


def confusion(trainer: Trainer, statistics: str) -> pd.DataFrame:
    """Windows of each pair of true and predicted class."""
    guesses, labels = predicted(trainer, statistics)
    names = np.array(trainer.dataset.card["classes"])
    pairs = pd.DataFrame({"label": names[labels], "predicted": names[guesses]})
    return pairs.value_counts(sort=False).rename("windows").reset_index().assign(statistics=statistics)


def recall(table: pd.DataFrame) -> pd.DataFrame:
    """Share of each class's windows that are right, and of all windows, in percent."""
    group = [*KEYS, "statistics"]
    counts = table.assign(right=table["windows"].where(table["label"] == table["predicted"], 0))
    of_class, of_all = (
        counts.groupby(keys)[["right", "windows"]].sum() for keys in ([*group, "label"], group)
    )
    share = 100 * of_class["right"] / of_class["windows"]
    return share.unstack().assign(all=100 * of_all["right"] / of_all["windows"]).reset_index()


def main() -> None:
    parser = trainings.parser(__doc__, "target_statistics.csv")
    parser.add_argument("--variants", nargs="+", default=["erm"])
    parser.add_argument("--targets", nargs="+", required=True)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    options = parser.parse_args()
    study, name, dataset = trainings.opened(options)
    wanted = product([name], options.variants, options.targets, options.seeds)
    for _, variant, target, seed in tqdm(trainings.missing(options.out, KEYS, wanted)):
        run = Run(name, variant, target, seed, "fixed")
        trainer = Trainer(
            dataset, Windows(dataset), study.config(name, variant),
            targets=[target], seeds=[seed], hparams=[study.hparams(run)],
        )  # fmt: skip
        trainer.train()
        table = pd.concat([confusion(trainer, statistics) for statistics in STATISTICS])
        table = table.assign(dataset=name, variant=variant, target=target, seed=seed)
        columns = [*KEYS, "statistics", "label", "predicted", "windows"]
        trainings.add(table[columns], options.out)
    table = recall(pd.read_csv(options.out))
    show("right of each class (%)", table)
    named = table.assign(variant=table["variant"] + ", " + table["statistics"], all=table["all"] / 100)
    show("right of all windows (%)", over_targets(named, "all"))


if __name__ == "__main__":
    main()
