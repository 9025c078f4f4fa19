"""Ratios to the plain loop of `plain.py`, measured in turn in one process: ``make bench``.

Every pair of figures comes from blocks of iterations taken alternately, so that a machine whose speed
drifts does not favour one; the median of the blocks' ratios is printed.
"""

import argparse
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import plain
import torch

from tsdg import methods, records
from tsdg.batches import Windows, minibatches
from tsdg.data.windows import WindowedDataset, write
from tsdg.job import keep_freed_memory
from tsdg.train import Pack, Progress


@dataclass(frozen=True)
class Shape:
    """A data set's shape: domains, channels, window length, classes."""

    backbone: str
    domains: int
    channels: int
    length: int
    classes: int


SHAPES = {
    "bearings": Shape("bearings", 8, 1, 4096, 10),
    "hhar": Shape("har", 12, 3, 128, 6),
    "mimic": Shape("har", 4, 11, 24, 2),
}


def noise(shape: Shape, folder: Path, windows: int = 100) -> WindowedDataset:
    """A prepared data set of noise."""
    rng = np.random.default_rng(0)
    names = [chr(65 + d) for d in range(shape.domains)]
    table = pd.DataFrame(
        {
            "start": np.arange(shape.domains * windows) * shape.length,
            "length": shape.length,
            "label": rng.integers(0, shape.classes, shape.domains * windows),
            "domain": np.repeat(names, windows),
            "recording": np.repeat(names, windows),
        }
    )
    card = {
        "name": "noise",
        "classes": [str(k) for k in range(shape.classes)],
        "channels": [str(c) for c in range(shape.channels)],
        "domains": {name: {} for name in names},
        "window": {"length": shape.length, "stride": shape.length},
    }
    recordings = (rng.normal(size=(windows * shape.length, shape.channels)).astype(np.float32) for _ in names)
    write(folder, recordings, windows=table, card=card)
    return WindowedDataset.load(folder)


def ours(dataset: WindowedDataset, shape: Shape, variant: str, device: str) -> Iterator[object]:
    """Train a method of the package for ever, an update an iteration."""
    augment = {"functions": ["mean_shift", "scaling", "masking"]} if variant.startswith("ours") else None
    config = {
        "method": variant, "forward": None, "options": {}, "augment": augment, "clusters": None,
        "backbone": shape.backbone, "domains": dataset.domains, "split": "random", "validation_fraction": 0.2,
        "iterations": 3000, "batch_size": 32, "learning_rate": 1e-3, "weight_decay": 5e-5, "decay_at": 0.8,
        "decay": 0.1, "evaluate_every": 300,
    }  # fmt: skip
    run = records.Run("noise", variant, "A", 0, "fixed")
    hparams = {name: d.default for name, d in methods.get(variant).search.items()}
    pack = Pack(dataset, Windows(dataset, device), [run], config, [hparams], Progress())
    batches = minibatches(
        pack.windows,
        pack.sources,
        pack.seeds,
        iterations=10**9,
        batch_size=32,
        augmentation=pack.augmentation,
    )
    for x, y in batches:
        yield pack.method.update(x, y)


def ratio(first: Iterator[object], second: Iterator[object], iterations: int, blocks: int) -> list[float]:
    """Time of an iteration of the first over one of the second, block by block."""

    def seconds(step: Callable[[], object]) -> float:
        start = time.perf_counter()
        for _ in range(iterations):
            step()
        return (time.perf_counter() - start) / iterations

    steps = [first.__next__, second.__next__]
    for step in steps:
        step()
        step()
    ratios = []
    for block in range(blocks):
        order = (0, 1) if block % 2 == 0 else (1, 0)
        times = {i: seconds(steps[i]) for i in order}
        ratios.append(times[0] / times[1])
    return sorted(ratios)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=9, help="pairs of blocks")
    options = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()
    print(f"{platform.node()}: {platform.machine()}, torch {torch.__version__}, 1 thread")
    print("| measure | median ratio | range |\n|---|---|---|")

    def show(name: str, ratios: list[float]) -> None:
        middle = statistics.median(ratios)
        print(f"| {name} | {middle:.2f} | {ratios[0]:.2f} to {ratios[-1]:.2f} |", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        for name, shape in SHAPES.items():
            dataset = noise(shape, Path(folder) / name)
            network = plain.bearings if shape.backbone == "bearings" else plain.har
            loop = plain.training(dataset, network(shape.channels, shape.classes), dataset.domains[1:])
            iterations = 2 if name == "hhar" else 8
            found = ratio(loop, ours(dataset, shape, "erm", "cpu"), iterations, options.blocks)
            show(f"{name}, ERM: plain loop's time over ours", found)
            pair = (ours(dataset, shape, "ours-learned", "cpu"), ours(dataset, shape, "erm", "cpu"))
            show(f"{name}: Ours (learned) over ERM", ratio(*pair, iterations, options.blocks))


if __name__ == "__main__":
    main()
