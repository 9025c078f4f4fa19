"""A tiny prepared data set that a network learns in seconds, and the settings of a study of it."""

import json

import numpy as np
import pandas as pd

from tsdg.data.integrity import fingerprint
from tsdg.data.windows import WindowedDataset, checksum, window_starts, write

LENGTH, STRIDE = 12, 6
SAMPLES = {"A": 180, "B": 216, "C": 150, "D": 186}  # of a recording; the domains differ in size

PARAMS = {
    "seed": 0,
    "protocol": "small",
    "checkpoint": "last",
    "runs_per_job": 1,
    "device": "cpu",
    "protocols": {
        "small": {"seeds": 1, "draws": "fixed", "iterations": 6, "evaluate_every": 6},
        "large": {"seeds": 2, "draws": 3},
    },
    "training": {
        "iterations": 40,
        "evaluate_every": 20,
        "batch_size": 8,
        "learning_rate": 0.001,
        "weight_decay": 5.0e-5,
        "decay_at": 0.8,
        "decay": 0.1,
        "validation_fraction": 0.2,
    },
    "datasets": {
        "tiny": {
            "kind": "bearings",
            "raw": "nowhere",
            "source": "official",
            "backbone": "har",
            "split": "random",
            "domains": {
                "A": {"site": "north", "load": 0},
                "B": {"site": "north", "load": 1},
                "C": {"site": "south", "load": 0},
                "D": {"site": "south", "load": 1},
            },
            "clusters": ["site"],
            "augmentation": {"functions": ["mean_shift", "scaling", "masking"], "statistics": "window"},
        }
    },
    "variants": {
        "erm": {"label": "ERM", "method": "erm"},
        "vrex": {"label": "V-REx", "method": "vrex"},
        "ours-metadata": {"label": "Ours (metadata)", "method": "ours-metadata", "augment": True},
        "ours-learned": {
            "label": "Ours (learned)",
            "method": "ours-learned",
            "augment": True,
            "options": {"every": 4},
        },
    },
    "tables": {
        "tiny": {
            "dataset": "tiny",
            "rows": ["erm", "ours-learned"],
            "ours": ["ours-learned"],
            "targets": ["A", "D"],
            "metrics": ["accuracy", "ece"],
            "caption": "Tiny.",
        }
    },
}

LINE = {
    "label": "Logistic",
    "method": "estimator",
    "estimator": "sklearn.linear_model.LogisticRegression",
    "features": ["statistics", {"spectrum": {"level": "plain"}}],
}

FIGURES = {
    "figures": {
        "gains": {"kind": "forest", "tables": ["tiny"], "baseline": "erm", "caption": "Gains."},
        "near": {"kind": "neighbours", "tables": ["tiny"], "variant": "ours-learned", "caption": "Near."},
    },
    "ranking": {"tables": ["tiny"], "metric": "accuracy"},
}

TOY = {
    "seeds": 2,
    "iterations": 20,
    "risk_threshold": 0.2,
    "ours": ["ours"],
    "variants": {
        "erm": {"label": "ERM", "method": "erm"},
        "ours": {
            "label": "Ours, {A, B} aligned",
            "method": "ours-metadata",
            "clusters": [["A", "B"], ["C"]],
            "hparams": {"lambda": 1},
        },
    },
}


def write_tiny(folder, changed=()):
    """Slow against fast waves on two channels; domains differ in amplitude, phase and offset.

    The signals of `changed` domains are others, of the same shape.
    """
    recordings, rows, offset = [], [], 0
    for index, (domain, samples) in enumerate(SAMPLES.items()):
        for label in (0, 1):
            rng = np.random.default_rng([index, label])
            phase = (0.4, 1.6)[label] * np.arange(samples) + index
            signal = (1 + 0.2 * index) * np.stack([np.sin(phase), np.cos(phase)], 1) + 0.1 * index
            signal += rng.normal(scale=0.3, size=signal.shape)
            recordings.append((-3 * signal if domain in changed else signal).astype(np.float32))
            rows += [
                (offset + start, LENGTH, label, domain, f"{domain}{label}")
                for start in window_starts(LENGTH, STRIDE, samples)
            ]
            offset += samples
    windows = pd.DataFrame(rows, columns=["start", "length", "label", "domain", "recording"])
    card = {
        "name": "tiny",
        "classes": ["slow", "fast"],
        "channels": ["x", "y"],
        "window": {"length": LENGTH, "stride": STRIDE},
        "domains": PARAMS["datasets"]["tiny"]["domains"],
    }
    write(folder, iter(recordings), windows=windows, card=card)
    return folder


def without(folder, domain, label=None):
    """The same data set with no window of a domain, or none of its label, as if prepared so."""
    windows = pd.read_parquet(folder / "windows.parquet")
    gone = (windows["domain"] == domain) & (label is None or windows["label"] == label)
    windows[~gone].to_parquet(folder / "windows.parquet")
    card = json.loads((folder / "card.json").read_text())
    names = card["classes"] if label is None else [card["classes"][label]]
    card["counts"][domain] |= dict.fromkeys(names, 0)
    (folder / "card.json").write_text(json.dumps(card))
    card["fingerprint"] = fingerprint(WindowedDataset.load(folder))
    card["checksum"] = checksum(card)
    (folder / "card.json").write_text(json.dumps(card))
    return folder
