"""Data of noise in the shapes of the data sets, and the settings of trainings on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tsdg import methods
from tsdg.data.windows import WindowedDataset, write

AUGMENT = {"functions": ["mean_shift", "scaling", "masking"]}


@dataclass(frozen=True)
class Shape:
    """A data set's shape: domains, channels, window length, classes."""

    backbone: str
    domains: int
    channels: int
    length: int
    classes: int
    width: int | None = None


SHAPES = {
    "bearings": Shape("bearings", 8, 1, 4096, 10),
    "hhar": Shape("har", 12, 3, 128, 6),
    "mimic": Shape("har", 4, 11, 24, 2, width=32),
    "mimic-128": Shape("har", 4, 11, 24, 2),
    "toy": Shape("toy", 4, 2, 24, 2),
}


def noise(shape: Shape, folder: Path, windows: int = 100, stride: int | None = None) -> WindowedDataset:
    """A prepared data set of noise, so many windows of each domain; without a stride they adjoin."""
    rng = np.random.default_rng(0)
    names = [chr(65 + d) for d in range(shape.domains)]
    stride = stride or shape.length
    samples = (windows - 1) * stride + shape.length
    starts = samples * np.arange(shape.domains)[:, None] + stride * np.arange(windows)
    table = pd.DataFrame(
        {
            "start": starts.ravel(),
            "length": shape.length,
            "label": rng.integers(0, shape.classes, starts.size),
            "domain": np.repeat(names, windows),
            "recording": np.repeat(names, windows),
        }
    )
    card = {
        "name": "noise",
        "classes": [str(k) for k in range(shape.classes)],
        "channels": [str(c) for c in range(shape.channels)],
        "domains": {name: {} for name in names},
        "window": {"length": shape.length, "stride": stride},
    }
    recordings = (rng.standard_normal((samples, shape.channels), dtype=np.float32) for _ in names)
    write(folder, recordings, windows=table, card=card)
    return WindowedDataset.load(folder)


def settings(
    method: str, shape: Shape, domains: Sequence[str], *, iterations: int, evaluate_every: int
) -> dict[str, Any]:
    """A training's configuration: ours with augmentation, clusters the two halves of the domains."""
    clusters = {name: 2 * i // len(domains) for i, name in enumerate(domains)}
    return {
        "method": method, "forward": None, "options": {}, "backbone": shape.backbone, "width": shape.width,
        "domains": list(domains),
        "augment": AUGMENT if "ours" in method else None, "split": "random", "validation_fraction": 0.2,
        "clusters": clusters if methods.get(method).uses_clusters else None,
        "iterations": iterations, "evaluate_every": evaluate_every, "batch_size": 32, "learning_rate": 1e-3,
        "weight_decay": 5e-5, "decay_at": 0.8, "decay": 0.1,
    }  # fmt: skip


def published(method: str) -> dict[str, float]:
    """A method's published hyperparameters."""
    return {name: d.default for name, d in methods.get(method).search.items()}
