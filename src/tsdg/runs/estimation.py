"""Runs of an estimator: features of windows, fitted once, recorded as a training of one iteration."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning import metrics
from tsdg.learning.centring import NONE, centres
from tsdg.learning.features import Features
from tsdg.learning.inputs import CONSTANT, Windows
from tsdg.learning.random_filter import RandomFilter
from tsdg.learning.sources import NO_GROUPS, Groups, Sources
from tsdg.methods.estimators import WINDOWS, Estimator
from tsdg.runs.feature_cache import cached, in_blocks
from tsdg.runs.probabilities import kept, kept_windows
from tsdg.runs.training import Checkpoint, Progress, Record, Result, recorded, training_seed
from tsdg.streams import numpy_stream
from tsdg.study.run import Run


def train(
    dataset: WindowedDataset,
    runs: Sequence[Run],
    config: Mapping[str, Any],
    hparams: Sequence[Mapping[str, float]],
    *,
    folder: Path | None = None,
    progress: Progress | None = None,
    finished: Callable[[Run, Record], None] = lambda run, record: None,
    groups: Groups = NO_GROUPS,
) -> list[Record]:
    """Fit an estimator for each run and return the records, as `tsdg.runs.training.train` does.

    Parameters
    ----------
    folder : Path, optional
        Of the prepared data set, where features of all windows are kept. Default: each run computes its own.
    """
    windows = Windows(dataset)
    records: list[Record] = []
    for run, values in zip(runs, hparams, strict=True):
        fitting = Fitting(
            dataset, windows, config,
            target=run.target, seed=training_seed(run, config), split=run.seed, hparams=values,
            folder=folder, groups=groups,
        )  # fmt: skip
        result = fitting.train(progress, run.words)
        records.append(recorded(run, config, values, fitting.dataset, "cpu", result))
        finished(run, records[-1])
    return records


class Fitting:
    """One run of an estimator.

    Features are standardized by those of the training windows and of their filtered copies. Each is of one
    channel, whose scale changes it by a factor or summand: of a data set's `standardize` they need no more
    than that it fills missing values. Before, they are centred domain by domain where the configuration says
    so, see `tsdg.learning.centring`; its ``reference`` is a class that is then neither learned nor evaluated.

    Parameters
    ----------
    dataset : WindowedDataset
    windows : Windows
        The same data set's windows, in main memory.
    config : mapping
        See `tsdg.study.study.Study.config`.
    target : str or None
        What is held out, or None: then every domain is a source.
    seed : int
    hparams : mapping
    split : int, optional
        Seed of the split into training and validation. Default: the same seed.
    folder : Path, optional
        See `train`.
    groups : mapping
        The domains of a target that is a group.
    """

    def __init__(
        self,
        dataset: WindowedDataset,
        windows: Windows,
        config: Mapping[str, Any],
        *,
        target: str | None,
        seed: int,
        hparams: Mapping[str, float],
        split: int | None = None,
        folder: Path | None = None,
        groups: Groups = NO_GROUPS,
    ):
        if config.get("reference"):
            dataset = dataset.without(config["reference"])
        self.dataset, self.config, self.seed = dataset, config, seed
        self.sources = Sources(
            dataset, config.get("domains") or dataset.domains, target,
            seed=seed if split is None else split, fraction=config["validation_fraction"],
            method=config["split"], groups=groups, least=1,
        )  # fmt: skip
        self.rate = dataset.card.get("sampling_rate")
        self.features = None if config["features"] == WINDOWS else Features(config["features"], self.rate)
        self.windows = windows
        if config["standardize"] and (windows.incomplete or self.features is None):
            self.windows = windows.standardized([self.sources])
        self.estimator = Estimator(config["estimator"], config["arguments"], hparams, seed=seed)
        self.whole = None
        if folder and self.features and not windows.incomplete:
            self.whole = cached(dataset, folder, config["features"], self.read)
        self.centres = centres(config.get("center", NONE), self.sources, self.computed)
        self.mean: np.ndarray | float = 0.0
        self.deviation: np.ndarray | float = 1.0

    def train(self, progress: Progress | None = None, name: str = "run") -> Result:
        """Fit and evaluate; `name` is what the run is called in the progress."""
        progress = progress or Progress()
        clock = time.perf_counter()
        x, y = self._training()
        if self.features:
            self.mean, self.deviation = _scales(x)
            x -= self.mean
            x /= self.deviation
        self.estimator.fit(x, y, len(self.dataset.classes))
        seconds = time.perf_counter() - clock
        progress.advance(1)
        checkpoint = self.evaluate()
        progress.checkpoint(name, checkpoint)
        return Result(
            sources=self.sources.names, checkpoints=[checkpoint], losses={"iteration": []},
            diverged_at=None, kept={}, seconds=seconds, at_once=1,
            windows=kept_windows(self.sources.evaluation, self.labels) if "keep" in self.config else None,
        )  # fmt: skip

    def evaluate(self) -> Checkpoint:
        """Metrics on each source's validation windows and, if there is one, on the whole target."""
        scored = {
            domain: (self.probabilities(domain, rows), self.labels(rows))
            for domain, rows in self.sources.evaluation.items()
        }
        held_out = {domain: scored[domain] for domain in self.sources.held_out}
        validation = {domain: scored[domain] for domain in self.sources.names}
        checkpoint = {"iteration": 1, **metrics.evaluate_all(validation, self.sources.target, held_out)}
        return checkpoint | ({"probabilities": kept(scored)} if "keep" in self.config else {})

    def probabilities(self, domain: str, rows: np.ndarray) -> np.ndarray:
        """Class probabilities ``(N, K)`` of a domain's rows of the windows table."""
        x = self.inputs(domain, rows)
        return self.estimator.probabilities((x - self.mean) / self.deviation if self.features else x)

    def labels(self, rows: np.ndarray) -> np.ndarray:
        """Labels ``(N,)`` of rows of the windows table."""
        return self.dataset.windows["label"].to_numpy(np.int64)[rows]

    def inputs(self, domain: str, rows: np.ndarray) -> np.ndarray:
        """Features ``(N, F)``, centred and not standardized, or windows ``(N, C, T)``, of a domain's rows."""
        x = self.computed(rows)
        return x - self.centres[domain] if self.centres else x

    def computed(self, rows: np.ndarray) -> np.ndarray:
        """Features ``(N, F)`` as they are, or windows ``(N, C, T)``, of rows of the windows table."""
        if self.features is None:
            return self.read(rows)
        return self.whole[rows] if self.whole is not None else in_blocks(self.features, self.read, rows)

    def read(self, rows: np.ndarray) -> np.ndarray:
        """Windows ``(N, C, T)`` of rows of the windows table."""
        return self.windows[torch.from_numpy(rows)[None]][0][0].numpy()

    def _training(self) -> tuple[np.ndarray, np.ndarray]:
        """Inputs and labels of the training windows and, with a filter, of their filtered copies."""
        inputs, labels = [], []
        for domain, rows in self.sources.train.items():
            of_domain = [self.inputs(domain, rows), *self._filtered(domain, rows)]
            inputs += of_domain
            labels += [self.labels(rows)] * len(of_domain)
        return np.concatenate(inputs), np.concatenate(labels)

    def _filtered(self, domain: str, rows: np.ndarray) -> list[np.ndarray]:
        """Inputs of randomly filtered copies of a domain's windows, by a stream of the domain's own."""
        if not self.config["random_filter"]:
            return []
        settings = dict(self.config["random_filter"])
        copies = settings.pop("copies", 1)
        _check_filter(settings, self.dataset.card["window"]["length"], self.rate or 1.0)
        filtering = RandomFilter(self.dataset.card["window"]["length"], rate=self.rate, **settings)
        stream = numpy_stream(self.seed, "random_filter", domain)

        def filtered(x: np.ndarray) -> np.ndarray:
            x = filtering(x, stream.standard_normal((len(x), filtering.weights)))
            if not self.features:
                return x.astype(np.float32)
            return self.features(x) - self.centres[domain] if self.centres else self.features(x)

        return [in_blocks(filtered, self.read, rows) for _ in range(copies)]


def _check_filter(settings: Mapping[str, float], length: int, rate: float) -> None:
    """Raise `InputError` unless windows can have such a filter, whose gains are finite."""
    if not 0 <= settings.get("deviation", 0) <= 10:
        raise InputError(
            f"random_filter.deviation: {settings['deviation']}: give a number of nepers from 0 to 10"
        )
    if "smoothness" in settings and not rate / length <= settings["smoothness"] <= rate / 2:
        raise InputError(
            f"random_filter.smoothness: {settings['smoothness']}: give a number from {rate / length:g}, what "
            f"a window tells apart, to {rate / 2:g}, half the sampling rate"
        )


def _scales(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation ``(F,)`` of features; the deviation of a constant one is 1."""
    mean, deviation = x.mean(0), x.std(0)
    return mean, np.where(deviation > CONSTANT * np.abs(mean), deviation, 1.0)
