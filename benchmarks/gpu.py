"""A GPU's rows of the log: packs over single runs, against the memory's bound, and equal to runs alone.

``python benchmarks/gpu.py`` takes about five minutes on a data centre's GPU. With ``--kernels`` it takes some
more: our Triton kernels are checked against PyTorch's operators in every method, and timed. ``--device cpu
--runs 2 --iterations 2`` shows that it works where there is none, ``--device cpu --count`` how much memory an
iteration moves.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import plain
import torch
from noise import SHAPES, noise, published, settings
from torch.utils.flop_counter import FlopCounterMode
from traffic import Traffic

from tsdg import methods
from tsdg.data.windows import WindowedDataset
from tsdg.learning import kernels, layers
from tsdg.learning.batches import minibatches
from tsdg.learning.inputs import Windows
from tsdg.runs.training import Trainer
from tsdg.study.run import Run

COUNTED = 2  # runs: two already take a pack's operators


class Bench:
    """Packs of a data set's shape, by default the Bearings', on a device."""

    def __init__(self, folder: Path, device: str, shape: str = "bearings"):
        self.shape = SHAPES[shape]
        self.dataset: WindowedDataset = noise(self.shape, folder)
        self.windows = Windows(self.dataset, device)
        self.device = device

    def pack(self, method: str, runs: Sequence[Run], iterations: int, fused: bool = False) -> Trainer:
        """Runs of a method with its published hyperparameters; if `fused`, by our kernels."""
        domains = self.dataset.domains
        config = settings(method, self.shape, domains, iterations=iterations, evaluate_every=iterations)
        trainer = Trainer(
            self.dataset, self.windows, config,
            targets=[run.target for run in runs],
            seeds=[run.seed for run in runs],
            hparams=[published(method)] * len(runs),
        )  # fmt: skip
        if fused:
            kernels.use(trainer.method.network)
        return trainer

    def runs(self, method: str, number: int) -> list[Run]:
        """So many runs: every target, then the next seed."""
        domains = self.dataset.domains
        return [
            Run("noise", method, domains[i % len(domains)], i // len(domains), "fixed") for i in range(number)
        ]

    def seconds(
        self, method: str, number: int, iterations: int, graph: bool = True, fused: bool = False
    ) -> float:
        """Time of an iteration of a pack, warmed up."""
        warm = min(20, iterations)
        pack = self.pack(method, self.runs(method, number), warm + iterations, fused)
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

    def counts(self, method: str, fused: bool = False) -> tuple[Traffic, float]:
        """What one iteration of a pack of `COUNTED` runs moves, and the operations of PyTorch's products."""
        pack = self.pack(method, self.runs(method, COUNTED), 1, fused)
        ((x, y),) = minibatches(self.windows, pack.sources, pack.seeds, iterations=1, batch_size=32)
        with FlopCounterMode(display=False) as products, Traffic() as traffic:
            pack.method.step(x, y, pack.method.draws(x.shape[2]))
        return traffic, products.get_total_flops()

    def wait(self) -> None:
        """Until the device has done all it was given."""
        if self.device == "cuda":
            torch.cuda.synchronize()

    def parity(self, method: str, number: int, iterations: int) -> float:
        """Largest relative difference of a loss between a pack by our kernels and by PyTorch's operators."""
        runs = self.runs(method, number)
        ours, theirs = (self.pack(method, runs, iterations, fused).train() for fused in (True, False))
        return max(
            abs(a - b) / abs(b)
            for mine, other in zip(ours, theirs, strict=True)
            for a, b in zip(mine.losses["loss"], other.losses["loss"], strict=True)
        )

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


def counted(bench: Bench, bandwidth: float | None) -> dict[bool, float]:
    """Print what an iteration moves; the seconds that this takes a run at least, with our kernels or not."""
    print("| ERM | operators and kernels | MB a run | microseconds a run, copied | GFLOP a run |")
    print("|---|---|---|---|---|")
    bounds = {}
    for fused in (False, True) if find_spec("triton") else (False,):
        traffic, products = bench.counts("erm", fused)
        moved = traffic.bytes / COUNTED
        bounds[fused] = moved / bandwidth if bandwidth else float("nan")
        name = "our kernels" if fused else "PyTorch's operators"
        time_of = f"{1e6 * bounds[fused]:.0f}" if bandwidth else ""
        done = "" if fused else f"{products / COUNTED / 1e9:.1f}"
        print(f"| {name} | {traffic.calls} | {moved / 1e6:.0f} | {time_of} | {done} |", flush=True)
    return bounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--runs", type=int, nargs="+", default=[48, 96], help="sizes of packs")
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--kernels", action="store_true", help="also check and time our kernels")
    parser.add_argument("--count", action="store_true", help="count memory that is moved, and no more")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("PyTorch finds no GPU here")
    if options.device == "cpu":
        if options.kernels:
            parser.error("--kernels needs a GPU; tests/learning/test_kernels.py proves them on a CPU")
        os.environ["TRITON_INTERPRET"] = "1"  # so that kernels are taken, which are counted and not run
        layers.PART = 1 << 62  # as on a GPU
    torch.set_float32_matmul_precision("high")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder) / "noise", options.device)
        name = torch.cuda.get_device_name() if options.device == "cuda" else "CPU"
        bandwidth = None if options.count else bench.copied()
        print(f"{name}, torch {torch.__version__}")
        for shape in ("hhar", "bearings"):
            print(f"\n{shape}:")
            bounds = counted(Bench(Path(folder) / shape, options.device, shape), bandwidth)
        if options.count:
            return
        print(
            f"\nplain loop: {1000 * bench.plain_seconds(options.iterations):.2f} ms an iteration", flush=True
        )
        print("| Bearings | ms an iteration | microseconds a run | over one at a time | of the bound |")
        print("|---|---|---|---|---|")
        for method in ("erm", "ours-learned"):
            eager = bench.seconds(method, 1, options.iterations, graph=False)
            print(f"| {method}, 1 run, no graph | {1000 * eager:.2f} | {1e6 * eager:.0f} | | |", flush=True)
            one = bench.seconds(method, 1, options.iterations)
            for fused in (False, True) if options.kernels else (False,):
                for number in (1, *options.runs):
                    known = number == 1 and not fused
                    together = (
                        one if known else bench.seconds(method, number, options.iterations, fused=fused)
                    )
                    each = together / number
                    print(
                        f"| {method}, {number} run(s){', our kernels' * fused} | {1000 * together:.2f} | "
                        f"{1e6 * each:.0f} | {one / each:.1f} | {bounds[fused] / each:.0%} |",
                        flush=True,
                    )
        number, iterations = min(8, max(options.runs)), min(25, options.iterations)
        if options.kernels:
            print("\n| method | our kernels against PyTorch's operators: loss, relative |\n|---|---|")
            for method in methods.METHODS:
                print(f"| {method} | {bench.parity(method, number, iterations):.0e} |", flush=True)
        print("\n| method | pack against alone: loss, relative | a pack repeats itself |\n|---|---|---|")
        for method in methods.METHODS:
            worst, same = bench.differences(method, number, iterations)
            print(f"| {method} | {worst:.0e} | {'to the bit' if same else 'no'} |", flush=True)


if __name__ == "__main__":
    main()
