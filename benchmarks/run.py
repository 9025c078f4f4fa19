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
from pathlib import Path

import plain
import torch
from noise import SHAPES, Shape, noise, published, settings

from tsdg import records
from tsdg.batches import Windows, minibatches
from tsdg.data.windows import WindowedDataset
from tsdg.job import keep_freed_memory
from tsdg.train import Pack, Progress


def ours(dataset: WindowedDataset, shape: Shape, variant: str, device: str) -> Iterator[object]:
    """Train a method of the package for ever, an update an iteration."""
    run = records.Run("noise", variant, "A", 0, "fixed")
    config = settings(variant, shape, dataset.domains, iterations=3000, evaluate_every=300)
    pack = Pack(dataset, Windows(dataset, device), [run], config, [published(variant)], Progress())
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
