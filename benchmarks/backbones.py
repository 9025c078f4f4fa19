"""CPU time of an iteration of ERM on each backbone over that on the paper's, with its number of parameters.

All take turns in one process and one thread, so that a machine whose speed drifts favours none; a few sources
are enough, since the cost goes with the windows of a batch.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from noise import Shape, noise, settings

from tsdg.data.windows import WindowedDataset
from tsdg.learning.batches import minibatches
from tsdg.learning.inputs import Windows
from tsdg.runs.machine import keep_freed_memory
from tsdg.runs.training import Trainer

SHAPES = {"bearings": Shape("bearings", 4, 1, 4096, 10), "hapt": Shape("har", 4, 6, 128, 6)}
NETWORKS: dict[str, list[dict[str, Any]]] = {
    "bearings": [
        {"backbone": "bearings"},
        {"backbone": "wdcnn"},
        {"backbone": "tcn", "stride": 16},
        {"backbone": "transformer", "patch": 64},
        {"backbone": "resnet1d", "stride": 16},
        {"backbone": "inception", "stride": 16},
    ],
    "hapt": [
        {"backbone": "har"},
        {"backbone": "tcn"},
        {"backbone": "transformer"},
        {"backbone": "resnet1d"},
        {"backbone": "inception"},
        {"backbone": "har", "norm": "layer"},
        {"backbone": "har", "norm": "instance"},
    ],
}


def training(dataset: WindowedDataset, shape: Shape, network: dict[str, Any]) -> tuple[Trainer, Iterator]:
    """A training of ERM for ever, and its updates."""
    config = settings("erm", shape, dataset.domains, iterations=3000, evaluate_every=300) | network
    trainer = Trainer(dataset, Windows(dataset, "cpu"), config, targets=["A"], seeds=[0], hparams=[{}])
    batches = minibatches(
        trainer.windows, trainer.sources, trainer.seeds, iterations=10**9, batch_size=32, augmentation=None
    )
    return trainer, (trainer.method.update(x, y) for x, y in batches)


def seconds(updates: Iterator, iterations: int) -> float:
    """CPU time of an iteration, the mean over so many."""
    start = time.process_time()
    for _ in range(iterations):
        next(updates)
    return (time.process_time() - start) / iterations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=5, help="turns of each")
    parser.add_argument("--iterations", type=int, default=2, help="iterations of a turn")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    options = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()
    print("| shape | backbone | parameters | time over the paper's | range |\n|---|---|---|---|---|")
    for name in options.shapes:
        shape = SHAPES[name]
        with tempfile.TemporaryDirectory() as folder:
            dataset = noise(shape, Path(folder) / "noise")
            loops = [training(dataset, shape, network) for network in NETWORKS[name]]
            for _, updates in loops:
                seconds(updates, 1)
            times = [
                [seconds(updates, options.iterations) for _, updates in loops] for _ in range(options.blocks)
            ]
        for place, (network, (trainer, _)) in enumerate(zip(NETWORKS[name], loops, strict=True)):
            ratios = sorted(turn[place] / turn[0] for turn in times)
            parameters = sum(p[0].numel() for p in trainer.method.network.parameters())
            words = ", ".join(str(v) if k == "backbone" else f"{k} {v}" for k, v in network.items())
            print(
                f"| {name} | {words} | {parameters:,} | {statistics.median(ratios):.2f} "
                f"| {ratios[0]:.2f} to {ratios[-1]:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
