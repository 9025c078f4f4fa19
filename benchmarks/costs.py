"""What an iteration of each method costs over one of ERM: ``python benchmarks/costs.py``.

Writes ``src/tsdg/methods/costs.csv``, from which `tsdg methods` makes ``docs/methods.md``: CPU time on one
thread, without augmentation, published hyperparameters. Blocks of iterations of both are taken alternately.
"""

import argparse
import csv
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from noise import SHAPES, noise
from run import ours

from tsdg.methods import METHODS

COSTS = Path(__file__).parent.parent / "src/tsdg/methods/costs.csv"
COLUMNS = ("shape", "method", "ratio", "low", "high")


def seconds(steps: Iterator[object], iterations: int) -> float:
    """CPU time of so many iterations."""
    start = time.process_time()
    for _ in range(iterations):
        next(steps)
    return time.process_time() - start


def ratios(steps: Iterator[object], erm: Iterator[object], iterations: int, blocks: int) -> list[float]:
    """Cost of an iteration over one of ERM, block by block, in order of size."""
    found = []
    for block in range(blocks + 1):  # the first warms both up
        order = (steps, erm) if block % 2 == 0 else (erm, steps)
        times = {id(loop): seconds(loop, iterations) for loop in order}
        found.append(times[id(steps)] / times[id(erm)])
    return sorted(found[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=9, help="pairs of blocks of each method")
    parser.add_argument("--iterations", type=int, default=4, help="of a block")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=["bearings", "mimic"])
    parser.add_argument("--out", type=Path, default=COSTS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for shape in options.shapes:
        with tempfile.TemporaryDirectory() as folder:
            dataset = noise(SHAPES[shape], Path(folder) / "noise")
            for method in METHODS:
                steps, erm = (ours(dataset, SHAPES[shape], name, augment=False) for name in (method, "erm"))
                found = ratios(steps, erm, options.iterations, options.blocks)
                rows.append(
                    (
                        shape,
                        method,
                        *(f"{value:.2f}" for value in (statistics.median(found), found[0], found[-1])),
                    )
                )
                print(*rows[-1], flush=True)
    with options.out.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
