"""The training of one toy run, until the sources are learned well enough, and what is measured then.

Every variant stops at about the same source risk, so that their target risks and divergences compare. Each
seed has data, initial weights and minibatches of its own, the same for every variant.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch import Tensor

import tsdg
from tsdg import methods
from tsdg.data.toy import CHANNELS, CLASSES, LENGTH, SOURCES, TARGET, fingerprint, generate
from tsdg.learning import metrics, networks
from tsdg.methods.base import Method
from tsdg.runs.fingerprint import training_fingerprint
from tsdg.runs.machine import machine
from tsdg.runs.writing import FORMAT
from tsdg.streams import numpy_stream, torch_stream
from tsdg.study.run import Run
from tsdg.toy.divergence import mean_divergence

CHECK_EVERY = 10
PART = 50  # samples that a core's cache holds all the way through the network

Record = dict[str, Any]


def train(run: Run, config: Mapping[str, Any], hparams: Mapping[str, float]) -> Record:
    """Train a run and return its record.

    Every `CHECK_EVERY` iterations the error rate on each whole source set is measured, by the network as it
    would be used (running averages in batch normalization). Training ends when the mean over sources is below
    ``config["risk_threshold"]``, or after ``config["iterations"]``.

    Returns
    -------
    dict
        A run record. Beside its usual contents ``stopped_at`` is the iteration that met the threshold, or
        None, and ``divergence`` has each source's H-divergence to the target, on the features of the network
        then. The only checkpoint is that of the end; its ``validation`` is on the whole source sets, which
        here are what the network learned from. Losses are those of the batches at the checks.
    """
    data = generate(run.seed)
    x = torch.from_numpy(np.stack([data[name].x for name in SOURCES]))
    y = torch.from_numpy(np.stack([data[name].y for name in SOURCES]))
    method = _method(run, config, hparams)
    streams = [numpy_stream(run.seed, "batches", name) for name in SOURCES]
    domains = torch.arange(len(SOURCES)).unsqueeze(1)
    log: dict[str, list] = {"iteration": [], "source_risk": []}
    stopped_at = diverged_at = None
    clock = time.perf_counter()
    for iteration in range(1, config["iterations"] + 1):
        drawn = [stream.integers(0, x.shape[1], config["batch_size"]) for stream in streams]
        index = torch.from_numpy(np.stack(drawn))
        losses = method.update(x[domains, index].unsqueeze(0), y[domains, index].unsqueeze(0))
        if not losses["loss"].isfinite():
            diverged_at = iteration
            break
        if iteration % CHECK_EVERY == 0 or iteration == config["iterations"]:
            risk = float(np.mean([_error(method, *source) for source in zip(x, y, strict=True)]))
            log["iteration"].append(iteration)
            log["source_risk"].append(risk)
            for name, value in losses.items():
                log.setdefault(name, []).append(float(value))
            if risk < config["risk_threshold"]:
                stopped_at = iteration
                break
    seconds = (time.perf_counter() - clock) / iteration
    record: Record = {
        "format": FORMAT,
        "status": "finished" if diverged_at is None else "diverged",
        "run": asdict(run),
        "config": dict(config),
        "hparams": dict(hparams),
        "sources": list(SOURCES),
        "classes": list(CLASSES),
        "data": {"fingerprint": fingerprint(data), "simulated": True},
        "code": {"version": tsdg.__version__, "fingerprint": training_fingerprint(config, "toy.train")},
        "machine": machine(torch.device("cpu")),
        "timing": {"seconds_per_iteration": seconds, "runs_at_once": 1},
        "checkpoints": [],
        "losses": log,
    }
    if diverged_at is not None:
        return record | {"diverged_at": diverged_at}
    features = {name: _features(method, torch.from_numpy(samples.x)) for name, samples in data.items()}
    scores = {name: _scores(method, features[name], samples.y) for name, samples in data.items()}
    target = scores.pop(TARGET)
    checkpoint = {"iteration": iteration, "validation": scores, "target": target}
    return record | {
        "stopped_at": stopped_at,
        "checkpoints": [checkpoint],
        "divergence": _divergences({name: z.numpy() for name, z in features.items()}, run.seed),
    }


def _method(run: Run, config: Mapping[str, Any], hparams: Mapping[str, float]) -> Method:
    network = networks.build(
        "toy",
        channels=len(CHANNELS),
        length=LENGTH,
        classes=len(CLASSES),
        generators=[torch_stream(run.seed, "weights")],
    )
    clusters = config["clusters"]
    return methods.build(
        config["method"],
        network=network,
        domains=len(SOURCES),
        classes=len(CLASSES),
        hparams=hparams,
        iterations=config["iterations"],
        forward=config["forward"],
        seeds=[run.seed],
        clusters=clusters and torch.tensor([[clusters[name] for name in SOURCES]]),
        learning_rate=config["learning_rate"],
        weight_decay=config["weight_decay"],
        decay_at=config["decay_at"],
        decay=config["decay"],
        **config["options"],
    )


@torch.no_grad()
def _features(method: Method, x: Tensor) -> Tensor:
    method.eval()
    return torch.cat([method.network.featurizer(part.unsqueeze(0))[0] for part in x.split(PART)])


@torch.no_grad()
def _logits(method: Method, z: Tensor) -> Tensor:
    return method.predict(z.unsqueeze(0))[0]


def _error(method: Method, x: Tensor, y: Tensor) -> float:
    return float((_logits(method, _features(method, x)).argmax(-1) != y).double().mean())


def _scores(method: Method, z: Tensor, y: np.ndarray) -> dict[str, Any]:
    return metrics.evaluate(_logits(method, z).double().softmax(-1).numpy(), y)


def _divergences(features: Mapping[str, np.ndarray], seed: int) -> dict[str, dict[str, Any]]:
    """H-divergence between each source and the target: of each split, and their mean."""
    found = {}
    for name in SOURCES:
        generator = numpy_stream(seed, "divergence", name)
        value, splits = mean_divergence(features[name], features[TARGET], generator)
        found[name] = {"value": value, "splits": [asdict(split) for split in splits]}
    return found
