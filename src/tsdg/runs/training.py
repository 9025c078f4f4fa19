"""The training of a pack: runs of one data set and variant, trained together and recorded apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

import tsdg
from tsdg import methods
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning import metrics, networks
from tsdg.learning.augment import Augmentation
from tsdg.learning.batches import Sources, Windows, minibatches
from tsdg.learning.cuda_graphs import GraphedStep
from tsdg.methods import Method
from tsdg.runs.fingerprint import code_fingerprint
from tsdg.runs.machine import machine
from tsdg.runs.record import FORMAT
from tsdg.streams import torch_stream
from tsdg.study.run import Run

LOG_EVERY = 50
EVALUATION_WINDOWS = 256

Record = dict[str, Any]


class Progress:
    """What a training tells about itself; the command line shows it."""

    def advance(self, iterations: int) -> None:
        """So many more iterations, times runs, are done."""

    def checkpoint(self, run: Run, checkpoint: Mapping[str, Any]) -> None:
        """A run was evaluated."""


def choose_device(name: str) -> torch.device:
    """Device of ``auto``, ``cpu`` or ``cuda``."""
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise InputError("device `cuda` was asked for, but PyTorch finds no GPU: use `--device cpu`")
    return torch.device("cuda" if name == "cuda" or (name == "auto" and available) else "cpu")


def train(
    dataset: WindowedDataset,
    runs: Sequence[Run],
    config: Mapping[str, Any],
    hparams: Sequence[Mapping[str, float]],
    *,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
    finished: Callable[[Run, Record], None] = lambda run, record: None,
) -> list[Record]:
    """Train runs and return their records.

    On a GPU the runs of a pack train at once; on a CPU, where that is slower, one after another. Either
    way a run's result depends on its own seed, target and draw alone.

    Parameters
    ----------
    dataset : WindowedDataset
    runs : sequence of Run
        All of one data set and variant.
    config : mapping
        The variant's resolved configuration, see `tsdg.study.study.Study.config`.
    hparams : sequence of mapping
        The hyperparameters of each run.
    device : torch.device or str
    progress : Progress, optional
    finished : callable, optional
        Called with each run and its record as soon as it is complete.
    """
    device = torch.device(device)
    windows = Windows(dataset, device)
    size = len(runs) if device.type == "cuda" else 1
    records: list[Record] = []
    for start in range(0, len(runs), size):
        pack = slice(start, start + size)
        trainer = Pack(dataset, windows, runs[pack], config, hparams[pack], progress or Progress())
        for run, record in zip(runs[pack], trainer.train(), strict=True):
            finished(run, record)
            records.append(record)
    return records


class Pack:
    """R runs of one variant that train at once.

    Parameters
    ----------
    dataset : WindowedDataset
    windows : Windows
        The same data set's windows on the training device.
    runs, config, hparams, progress
        See `train`.
    """

    def __init__(
        self,
        dataset: WindowedDataset,
        windows: Windows,
        runs: Sequence[Run],
        config: Mapping[str, Any],
        hparams: Sequence[Mapping[str, float]],
        progress: Progress,
    ):
        self.dataset, self.windows, self.runs, self.config = dataset, windows, list(runs), config
        self.hparams, self.progress = hparams, progress
        self.device = torch.device(windows.device)
        domains = config.get("domains") or dataset.domains
        self.sources = [
            Sources(
                dataset, domains, run.target,
                seed=run.seed, fraction=config["validation_fraction"], method=config["split"],
            )
            for run in runs
        ]  # fmt: skip
        if config.get("standardize"):
            self.windows = windows.standardized(self.sources)
        elif windows.incomplete:
            raise InputError(
                f"the prepared data set {dataset.card['name']!r} has missing values; "
                "give it `standardize: sources` in params.yaml, which fills them"
            )
        self.seeds = [run.seed for run in runs]
        self.method = self._method()
        if self.device.type == "cuda":
            self.method.perform = GraphedStep(self.method.step, self.method.phase)
        self.augmentation = self._augmentation()

    def _method(self) -> Method:
        config, card = self.config, self.dataset.card
        method = methods.get(config["method"])
        network = networks.build(
            config["backbone"],
            channels=len(card["channels"]),
            length=card["window"]["length"],
            classes=len(card["classes"]),
            generators=[torch_stream(seed, "weights") for seed in self.seeds],
            embedding=method.embeds_domain,
        ).to(self.device)
        clusters = None
        if config.get("clusters"):
            clusters = torch.tensor(
                [[config["clusters"][name] for name in run.names] for run in self.sources]
            )
        return methods.build(
            config["method"],
            network=network,
            domains=len(self.sources[0].names),
            classes=len(card["classes"]),
            hparams={name: [values[name] for values in self.hparams] for name in method.search},
            iterations=config["iterations"],
            forward=config["forward"],
            seeds=self.seeds,
            clusters=clusters,
            learning_rate=config["learning_rate"],
            weight_decay=config["weight_decay"],
            decay_at=config["decay_at"],
            decay=config["decay"],
            **config["options"],
        )

    def _augmentation(self) -> Augmentation | None:
        if not self.config["augment"]:
            return None
        names = [run.names for run in self.sources]
        return Augmentation(self.seeds, names, **self.config["augment"], device=self.device)

    def train(self) -> list[Record]:
        """Train to the end and return a record for each run."""
        iterations, every = self.config["iterations"], self.config["evaluate_every"]
        log = LossLog(len(self.runs), self.device)
        checkpoints: list[list[dict]] = [[] for _ in self.runs]
        training = 0.0
        clock = time.perf_counter()
        batches = minibatches(
            self.windows, self.sources, self.seeds,
            iterations=iterations, batch_size=self.config["batch_size"], augmentation=self.augmentation,
        )  # fmt: skip
        for iteration, (x, y) in enumerate(batches, start=1):
            log.add(iteration, self.method.update(x, y))
            if iteration % LOG_EVERY == 0 or iteration == iterations:
                self.progress.advance((iteration - log.last) * len(self.runs))
                log.close(iteration)
                if log.all_diverged():
                    break
            if iteration % every == 0 or iteration == iterations:
                self._synchronize()
                training += time.perf_counter() - clock
                for r, checkpoint in enumerate(self.evaluate(iteration)):
                    if log.diverged_at(r) is None:
                        checkpoints[r].append(checkpoint)
                        self.progress.checkpoint(self.runs[r], checkpoint)
                clock = time.perf_counter()
        seconds = training / iteration
        return [self._record(r, log, checkpoints[r], seconds) for r in range(len(self.runs))]

    def _synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def evaluate(self, iteration: int) -> list[dict[str, Any]]:
        """Metrics of each run on every source's validation windows and on the whole target."""
        columns = [
            self._probabilities([run.names[d] for run in self.sources]) for d in range(self.method.domains)
        ]
        columns.append(self._probabilities([run.target for run in self.sources]))
        checkpoints = []
        for r, run in enumerate(self.sources):
            validation = {name: metrics.evaluate(*columns[d][r]) for d, name in enumerate(run.names)}
            probabilities, labels = columns[-1][r]
            target = metrics.evaluate(probabilities, labels)
            target["reliability"] = metrics.reliability(probabilities, labels)
            checkpoints.append({"iteration": iteration, "validation": validation, "target": target})
        return checkpoints

    @torch.no_grad()
    def _probabilities(self, domains: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Class probabilities and labels of one domain of each run; a diverged run has uniform ones."""
        rows = [run.evaluation[name] for run, name in zip(self.sources, domains, strict=True)]
        longest = max(len(row) for row in rows)
        index = torch.from_numpy(np.stack([np.resize(row, longest) for row in rows])).to(self.device)
        valid = torch.stack([torch.arange(longest) < len(row) for row in rows]).to(self.device)
        self.method.eval()
        featurizer = self.method.network.featurizer
        features = torch.cat(
            [featurizer(self.windows[part][0]) for part in index.split(EVALUATION_WINDOWS, dim=1)], dim=1
        )
        probabilities = self.method.predict(features, valid).double().softmax(-1)
        numbers = torch.nan_to_num(probabilities, nan=1 / self.method.classes).cpu().numpy()
        labels = self.windows.labels[index].cpu().numpy()
        return [
            (known[: len(row)], true[: len(row)])
            for known, true, row in zip(numbers, labels, rows, strict=True)
        ]

    def _record(self, r: int, log: LossLog, checkpoints: list[dict], seconds: float) -> Record:
        run, card = self.runs[r], self.dataset.card
        diverged_at = log.diverged_at(r)
        record: Record = {
            "format": FORMAT,
            "status": "finished" if diverged_at is None else "diverged",
            "run": {
                "dataset": run.dataset, "variant": run.variant, "target": run.target,
                "seed": run.seed, "draw": run.draw,
            },
            "config": dict(self.config),
            "hparams": dict(self.hparams[r]),
            "sources": self.sources[r].names,
            "classes": card["classes"],
            "data": {"fingerprint": card["fingerprint"], "simulated": card.get("simulated", False)},
            "code": {"version": tsdg.__version__, "fingerprint": code_fingerprint(self.config["method"])},
            "machine": machine(self.device),
            "timing": {"seconds_per_iteration": seconds, "runs_at_once": len(self.runs)},
            "checkpoints": checkpoints,
            "losses": log.of_run(r),
        }  # fmt: skip
        if diverged_at is not None:
            record["diverged_at"] = diverged_at
        if history := getattr(self.method, "history", None):
            names = self.sources[r].names
            record["neighbours"] = [
                {"iteration": i, "of": {names[d]: names[n] for d, n in enumerate(chosen[r].tolist())}}
                for i, chosen in history
            ]
        return record


class LossLog:
    """Mean of each loss component over every `LOG_EVERY` iterations, and where a run diverged.

    Parameters
    ----------
    runs : int
    device : torch.device
    """

    def __init__(self, runs: int, device: torch.device):
        self.iterations: list[int] = []
        self.entries: list[dict[str, Tensor]] = []
        self.open: dict[str, tuple[Tensor, int]] = {}
        self.first_bad = torch.full((runs,), torch.inf, device=device)

    def add(self, iteration: int, losses: Mapping[str, Tensor]) -> None:
        """Take in the components ``(R,)`` of one iteration."""
        bad = torch.where(losses["loss"].isfinite(), torch.inf, float(iteration))
        self.first_bad = torch.minimum(self.first_bad, bad)
        for name, value in losses.items():
            total, count = self.open.get(name, (torch.zeros_like(value), 0))
            self.open[name] = (total + value, count + 1)

    @property
    def last(self) -> int:
        """Where the last interval ended."""
        return self.iterations[-1] if self.iterations else 0

    def close(self, iteration: int) -> None:
        """End an interval."""
        self.iterations.append(iteration)
        self.entries.append({name: total / count for name, (total, count) in self.open.items()})
        self.open = {}

    def all_diverged(self) -> bool:
        """Whether no run is left."""
        return bool(self.first_bad.isfinite().all())

    def diverged_at(self, r: int) -> int | None:
        """First iteration with a loss that is not finite."""
        first = float(self.first_bad[r])
        return int(first) if first < float("inf") else None

    def of_run(self, r: int) -> dict[str, list]:
        """Iterations and components up to a divergence; ``None`` where one is absent or not finite."""
        end = self.diverged_at(r) or self.last
        kept = [i for i, iteration in enumerate(self.iterations) if iteration < end + LOG_EVERY]

        def value(entry: dict[str, Tensor], name: str) -> float | None:
            number = float(entry[name][r]) if name in entry else float("nan")
            return number if np.isfinite(number) else None

        names = sorted({name for entry in self.entries for name in entry})
        columns = {name: [value(self.entries[i], name) for i in kept] for name in names}
        return {"iteration": [self.iterations[i] for i in kept]} | columns
