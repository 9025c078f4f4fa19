"""A GPU's rows of the log: packs over single runs, against the memory's bound, and equal to runs alone.

``python benchmarks/gpu.py`` takes about five minutes on a data centre's GPU, and ``--device cpu --runs 2
--iterations 2`` shows that it works where there is none.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import plain
import torch
from noise import SHAPES, noise, published, settings

from tsdg import methods
from tsdg.data.windows import WindowedDataset
from tsdg.learning.batches import minibatches
from tsdg.learning.inputs import Windows
from tsdg.runs.training import Trainer
from tsdg.study.run import Run


class Bench:
    """Packs of the Bearings' shape on a device."""

    def __init__(self, folder: Path, device: str):
        self.dataset: WindowedDataset = noise(SHAPES["bearings"], folder)
        self.windows = Windows(self.dataset, device)
        self.device = device

    def pack(self, method: str, runs: Sequence[Run], iterations: int) -> Trainer:
        """Runs of a method with its published hyperparameters."""
        shape, domains = SHAPES["bearings"], self.dataset.domains
        config = settings(method, shape, domains, iterations=iterations, evaluate_every=iterations)
        return Trainer(
            self.dataset, self.windows, config,
            targets=[run.target for run in runs],
            seeds=[run.seed for run in runs],
            hparams=[published(method)] * len(runs),
        )  # fmt: skip

    def runs(self, method: str, number: int) -> list[Run]:
        """So many runs: every target, then the next seed."""
        domains = self.dataset.domains
        return [
            Run("noise", method, domains[i % len(domains)], i // len(domains), "fixed") for i in range(number)
        ]

    def seconds(self, method: str, number: int, iterations: int, graph: bool = True) -> float:
        """Time of an iteration of a pack, warmed up."""
        warm = min(20, iterations)
        pack = self.pack(method, self.runs(method, number), warm + iterations)
        if not graph:
            pack.method.perform = pack.method.step
        batches = minibatches(
            self.windows, pack.sources, pack.seeds,
            iterations=warm + iterations, batch_size=32, augmentation=pack.augmentation,
        )  # fmt: skip
        for done, (x, y) in enumerate(batches):
            if done == warm:
                self.wait()
                begin = time.perf_counter()
            pack.method.update(x, y)
        self.wait()
        return (time.perf_counter() - begin) / iterations

    def plain_seconds(self, iterations: int) -> float:
        """Time of an iteration of the plain loop on the same device."""
        loop = plain.training(self.dataset, plain.bearings(1, 10), self.dataset.domains[1:], self.device)
        for _ in range(min(20, iterations)):
            next(loop)
        self.wait()
        begin = time.perf_counter()
        for _ in range(iterations):
            next(loop)
        self.wait()
        return (time.perf_counter() - begin) / iterations

    def copied(self) -> float:
        """Bytes a second that a copy reads and writes."""
        source = torch.empty(2**28, device=self.device)
        copy = torch.empty_like(source)
        copy.copy_(source)
        self.wait()
        begin = time.perf_counter()
        for _ in range(10):
            copy.copy_(source)
        self.wait()
        return 10 * 2 * source.nbytes / (time.perf_counter() - begin)

    def moved(self) -> int:
        """Bytes that a run's iteration must move if each operation reads and writes memory once.

        A normalized layer's values are moved 14 times. Forth: the convolution writes; statistics, then
        normalization read; it writes; the next convolution reads. Back: that writes a gradient; gradient and
        values are read for the sums, and again for the result, which is written; both products of the
        convolution read it, and one the layer's values. Without normalization it is 10.
        """
        length, samples, total = 4096, 32 * (len(self.dataset.domains) - 1), 0
        for kernel, stride, normalized in ((64, 2, 1), *[(3, 2, 1)] * 3, (3, 2, 0), (8, 1, 0)):
            length = (length + 2 - kernel) // stride + 1
            total += 4 * samples * 8 * length * (14 if normalized else 10)
        return total + 2 * 4 * samples * 4096

    def wait(self) -> None:
        """Until the device has done all it was given."""
        if self.device == "cuda":
            torch.cuda.synchronize()

    def differences(self, method: str, number: int, iterations: int) -> tuple[float, bool]:
        """Largest relative difference of a loss between pack and alone, and whether a pack repeats itself."""
        runs = self.runs(method, number)
        packed, again = (self.pack(method, runs, iterations).train() for _ in range(2))
        same = all(a.losses == b.losses for a, b in zip(packed, again, strict=True))
        worst = 0.0
        for i in (0, number - 1):
            alone = self.pack(method, runs[i : i + 1], iterations).train()[0]
            pairs = zip(packed[i].losses["loss"], alone.losses["loss"], strict=True)
            worst = max(worst, *(abs(a - b) / abs(b) for a, b in pairs))
        return worst, same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--runs", type=int, nargs="+", default=[48, 96], help="sizes of packs")
    parser.add_argument("--iterations", type=int, default=60)
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("PyTorch finds no GPU here")
    torch.set_float32_matmul_precision("high")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder) / "noise", options.device)
        name = torch.cuda.get_device_name() if options.device == "cuda" else "CPU"
        bound = bench.moved() / bench.copied()
        print(f"{name}, torch {torch.__version__}; memory's bound {1e6 * bound:.0f} microseconds a run")
        print(f"plain loop: {1000 * bench.plain_seconds(options.iterations):.2f} ms an iteration", flush=True)
        print("| Bearings | ms an iteration | microseconds a run | over one at a time | of the bound |")
        print("|---|---|---|---|---|")
        for method in ("erm", "ours-learned"):
            eager = bench.seconds(method, 1, options.iterations, graph=False)
            print(f"| {method}, 1 run, no graph | {1000 * eager:.2f} | {1e6 * eager:.0f} | | |", flush=True)
            one = bench.seconds(method, 1, options.iterations)
            for number in (1, *options.runs):
                all_at_once = one if number == 1 else bench.seconds(method, number, options.iterations)
                each = all_at_once / number
                print(
                    f"| {method}, {number} run(s) | {1000 * all_at_once:.2f} | {1e6 * each:.0f} | "
                    f"{one / each:.1f} | {bound / each:.0%} |",
                    flush=True,
                )
        print("\n| method | pack against alone: loss, relative | a pack repeats itself |\n|---|---|---|")
        for method in methods.METHODS:
            worst, same = bench.differences(method, min(8, max(options.runs)), min(25, options.iterations))
            print(f"| {method} | {worst:.0e} | {'to the bit' if same else 'no'} |", flush=True)


if __name__ == "__main__":
    main()
