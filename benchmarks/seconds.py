"""Seconds of an iteration on each network, and of a fit: ``python benchmarks/seconds.py``.

Writes ``src/tsdg/runs/seconds.csv``, of which `tsdg plan` has the hours of what was never trained: processor
time of one core. The probe that they are scaled by elsewhere stands in the first row, measured in between.
"""

import argparse
import csv
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from backbones import seconds, training
from noise import SHAPES, Shape, noise, settings

from tsdg.learning.backbones.options import DEFAULTS
from tsdg.learning.inputs import Windows
from tsdg.runs.estimation import Fitting
from tsdg.runs.expected import COLUMNS, FEATURES, PROBE
from tsdg.runs.machine import keep_freed_memory
from tsdg.runs.speed import probe

FILE = Path(__file__).parent.parent / "src/tsdg/runs/seconds.csv"
LONG, SHORT = Shape("bearings", 5, 1, 4096, 10), Shape("har", 5, 6, 128, 6)
PATIENTS = SHAPES["mimic"]
NETWORKS: list[tuple[Shape, dict[str, Any]]] = [
    (LONG, {"backbone": "bearings"}),
    (LONG, {"backbone": "wdcnn"}),
    (LONG, {"backbone": "tcn", "stride": 16}),
    (LONG, {"backbone": "transformer", "patch": 64}),
    (LONG, {"backbone": "resnet1d", "stride": 16}),
    (LONG, {"backbone": "inception", "stride": 16}),
    (LONG, {"backbone": "har", "input": "spectrum"}),
    (LONG, {"backbone": "har", "input": "spectrogram"}),
    (SHORT, {"backbone": "har"}),
    (SHORT, {"backbone": "tcn"}),
    (SHORT, {"backbone": "transformer"}),
    (SHORT, {"backbone": "resnet1d"}),
    (SHORT, {"backbone": "inception"}),
    (SHORT, {"backbone": "har", "input": "spectrum"}),
    (SHORT, {"backbone": "har", "input": "spectrogram"}),
    (PATIENTS, {"backbone": "har", "width": 32}),
    (SHAPES["toy"], {"backbone": "toy"}),
]
ESTIMATORS: list[tuple[Shape, str, Any]] = [
    (LONG, "sklearn.linear_model.LogisticRegression", "spectrum"),
    (LONG, "sklearn.ensemble.RandomForestClassifier", "spectrum"),
    (SHORT, "sklearn.linear_model.LogisticRegression", ["statistics", "spectrum"]),
    (SHORT, "sklearn.ensemble.RandomForestClassifier", "spectrum"),
]
WINDOWS = 500  # of a domain, for estimators


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=5, help="turns of each")
    parser.add_argument("--iterations", type=int, default=3, help="of a turn")
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()
    rows, probes = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number, (shape, network) in enumerate(NETWORKS):
            dataset = noise(shape, Path(folder) / f"network{number}")
            _, updates = training(dataset, shape, network)
            seconds(updates, 2)
            taken = statistics.median(seconds(updates, options.iterations) for _ in range(options.blocks))
            probes.append(probe())
            given = DEFAULTS[network["backbone"]] | network
            steps = shape.length // (given.get("stride") or given.get("patch") or 1)
            sizes = given.get("width") or 1, steps, (shape.domains - 1) * 32
            rows.append((network["backbone"], network.get("input", "raw"), *sizes, f"{taken:.4g}"))
            print(*rows[-1], probes[-1], flush=True)
        for number, (shape, name, features) in enumerate(ESTIMATORS):
            dataset = noise(shape, Path(folder) / f"estimator{number}", WINDOWS)
            config = settings("erm", shape, dataset.domains, iterations=1, evaluate_every=1) | {
                "method": "estimator", "estimator": name, "arguments": {}, "features": features,
                "random_filter": None, "standardize": None,
            }  # fmt: skip
            start = time.process_time()
            Fitting(dataset, Windows(dataset), config, target="A", seed=0, hparams={}).train()
            taken = time.process_time() - start
            probes.append(probe())
            sizes = 1, shape.channels * shape.length, (shape.domains - 1) * WINDOWS
            rows.append((name.rpartition(".")[2], FEATURES, *sizes, f"{taken:.4g}"))
            print(*rows[-1], probes[-1], flush=True)
    first = (PROBE, "", 1, 1, 1, f"{statistics.median(probes):.4g}")
    with options.out.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, first, *rows])


if __name__ == "__main__":
    main()
