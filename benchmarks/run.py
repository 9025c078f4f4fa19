"""Ratios to the loops of `plain.py`, measured in turn on one thread: ``make bench``.

Each loop trains in a process of its own, as people run it: ours with the memory settings of `tsdg train`,
the plain one with PyTorch's. Every pair of figures comes from blocks of iterations taken alternately, so that
a machine whose speed drifts does not favour one; the median of the blocks' ratios is printed.
"""

import argparse
import multiprocessing
import platform
import statistics
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import plain
import torch
from noise import SHAPES, Shape, noise, published, settings

from tsdg.data.windows import WindowedDataset
from tsdg.learning.batches import minibatches
from tsdg.learning.inputs import Windows
from tsdg.runs.machine import keep_freed_memory
from tsdg.runs.training import Trainer

PLAIN, TUNED = "plain", "tuned"


class Loop:
    """A training that waits in its own process for iterations to be asked of it.

    Parameters
    ----------
    name : str
        `PLAIN`, `TUNED`, or a method of the package.
    shape : str
        One of `SHAPES`.
    """

    def __init__(self, name: str, shape: str):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, name, shape), daemon=True)
        self.process.start()
        theirs.close()
        self.seconds(2)

    def seconds(self, iterations: int) -> float:
        """Time of an iteration, the mean over so many."""
        self.pipe.send(iterations)
        return self.pipe.recv()

    def __enter__(self) -> "Loop":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.join()


def _serve(pipe: Connection, name: str, shape: str) -> None:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        dataset = noise(SHAPES[shape], Path(folder) / "noise")
        loop = {PLAIN: plain_loop, TUNED: tuned_loop}.get(name) or partial(ours, method=name)
        steps = loop(dataset, SHAPES[shape])
        next(steps)
    while True:
        iterations = pipe.recv()
        start = time.process_time()
        for _ in range(iterations):
            next(steps)
        pipe.send((time.process_time() - start) / iterations)


def plain_loop(dataset: WindowedDataset, shape: Shape) -> Iterator[object]:
    """Train by ERM as people write it, for ever, an update an iteration."""
    network = plain.network(shape.backbone, shape.channels, shape.classes, width=shape.width)
    return plain.training(dataset, network, dataset.domains[1:])


def tuned_loop(dataset: WindowedDataset, shape: Shape) -> Iterator[object]:
    """Train by ERM with the best of PyTorch and the memory settings of ours."""
    keep_freed_memory()
    network = plain.network(shape.backbone, shape.channels, shape.classes, plain.FLAT, shape.width)
    return plain.tuned(dataset, network, dataset.domains[1:])


def ours(dataset: WindowedDataset, shape: Shape, method: str, augment: bool = True) -> Iterator[object]:
    """Train a method of the package for ever, an update an iteration; ours with augmentation, unless told."""
    keep_freed_memory()
    config = settings(method, shape, dataset.domains, iterations=3000, evaluate_every=300)
    if not augment:
        config["augment"] = None
    windows = Windows(dataset, "cpu")
    trainer = Trainer(dataset, windows, config, targets=["A"], seeds=[0], hparams=[published(method)])
    batches = minibatches(
        trainer.windows,
        trainer.sources,
        trainer.seeds,
        iterations=10**9,
        batch_size=32,
        augmentation=trainer.augmentation,
    )
    for x, y in batches:
        yield trainer.method.update(x, y)


def ratios(first: Loop, second: Loop, iterations: int, blocks: int) -> list[float]:
    """Time of an iteration of the first over one of the second, block by block."""
    found = []
    for block in range(blocks):
        order = (first, second) if block % 2 == 0 else (second, first)
        times = {loop: loop.seconds(iterations) for loop in order}
        found.append(times[first] / times[second])
    return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=9, help="pairs of blocks")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    options = parser.parse_args()
    print(f"{platform.node()}: {platform.machine()}, torch {torch.__version__}, 1 thread")
    print("| measure | median ratio | range |\n|---|---|---|")

    def show(label: str, first: Loop, second: Loop, iterations: int) -> None:
        found = ratios(first, second, iterations, options.blocks)
        middle = statistics.median(found)
        print(f"| {label} | {middle:.2f} | {found[0]:.2f} to {found[-1]:.2f} |", flush=True)

    for shape in options.shapes:
        iterations = 2 if shape == "hhar" else 8
        with Loop(PLAIN, shape) as reference, Loop("erm", shape) as erm:
            show(f"{shape}, ERM: plain loop's time over ours", reference, erm, iterations)
            with Loop(TUNED, shape) as rival:
                show(f"{shape}, ERM: tuned loop's time over ours", rival, erm, iterations)
            with Loop("ours-learned", shape) as learned:
                show(f"{shape}: Ours (learned) over ERM", learned, erm, iterations)


if __name__ == "__main__":
    main()
