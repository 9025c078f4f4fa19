"""How time and memory grow with runs in a process, source domains and windows: a small plot.

``python benchmarks/growth.py``. Each point is a process of its own, so that its peak memory is its own.
"""

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import torch
from noise import SHAPES, noise, settings

from tsdg.runs.machine import keep_freed_memory
from tsdg.runs.training import choose_device, train
from tsdg.study.run import Run

BASE = {"runs": 1, "domains": 7, "windows": 4_000}
AXES = {"runs": [1, 4, 16, 64], "domains": [3, 7, 11], "windows": [4_000, 32_000, 320_000]}
TITLES = {"runs": "runs in a process", "domains": "source domains", "windows": "windows"}
STRIDE = 290  # of the Bearings' windows


def measure(folder: Path, runs: int, domains: int, windows: int, iterations: int) -> dict[str, float]:
    """Train by ERM; set-up and evaluation are no part of the time of an iteration."""
    torch.set_num_threads(1)
    keep_freed_memory()
    device = choose_device("auto")
    shape = replace(SHAPES["bearings"], domains=domains + 1)
    dataset = noise(shape, folder, windows // shape.domains, STRIDE)
    config = settings("erm", shape, dataset.domains, iterations=iterations, evaluate_every=iterations)
    config["validation_fraction"] = 0.01
    some = [Run("noise", "erm", dataset.domains[0], seed, "fixed") for seed in range(runs)]
    train(dataset, some[:1], config | {"iterations": 2}, [{}], device=device)  # what costs only once
    found = train(dataset, some, config, [{}] * runs, device=device)
    an_iteration = sum(record["timing"]["seconds_per_iteration"] for record in found)
    if device.type == "cuda":
        an_iteration /= runs  # of all at once
        memory = torch.cuda.max_memory_allocated() / 2**20
    else:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": an_iteration / runs, "megabytes": memory}


def plot(points: list[dict], path: Path) -> None:
    """Time of a run's iteration and peak memory over each axis."""
    from matplotlib.figure import Figure

    from tsdg.results.figures import BASELINE, COLUMN, OURS, style

    rows = (("ms a run and iteration", "seconds", 1000, BASELINE), ("peak memory (MB)", "megabytes", 1, OURS))
    with style():
        figure = Figure(figsize=(2 * COLUMN, 2.6), layout="constrained")
        axes = figure.subplots(len(rows), len(AXES), sharex="col", sharey="row")
        for line, (label, key, scale, color) in zip(axes, rows, strict=True):
            for ax, (axis, values) in zip(line, AXES.items(), strict=True):
                series = {p[axis]: p[key] * scale for p in points if p["axis"] == axis}
                ax.plot(values, [series[v] for v in values], "o-", color=color, markersize=3.2)
                ax.set(xscale="log")
                ax.set_xticks(values, [f"{v:,}" for v in values])
                ax.minorticks_off()
                ax.grid(axis="y")
            line[0].set_ylabel(label)
            line[0].set_ylim(bottom=0)
        for ax, axis in zip(axes[-1], AXES, strict=True):
            ax.set_xlabel(TITLES[axis])
        figure.savefig(path, dpi=200)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=20, help="of each point")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/growth.png"))
    parser.add_argument("--point", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.point:
            point = json.loads(options.point)
            print(json.dumps(measure(Path(folder) / "noise", **point)))
            return
    points = []
    print(f"{platform.node()}: {platform.machine()}, torch {torch.__version__}")
    print("| runs | source domains | windows | ms a run and iteration | peak MB |\n|---|---|---|---|---|")
    for axis, values in AXES.items():
        for value in values:
            point = {**BASE, axis: value}
            text = json.dumps({**point, "iterations": options.iterations})
            call = subprocess.run(
                [sys.executable, __file__, "--point", text], capture_output=True, text=True, check=True
            )
            points.append({**point, "axis": axis, **json.loads(call.stdout)})
            last = points[-1]
            print(
                f"| {last['runs']} | {last['domains']} | {last['windows']:,} | {1000 * last['seconds']:.1f} "
                f"| {last['megabytes']:,.0f} |",
                flush=True,
            )
    plot(points, options.out)


if __name__ == "__main__":
    main()
