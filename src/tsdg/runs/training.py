"""Training: runs of one data set and variant, trained together and recorded apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
import torch

import tsdg
from tsdg import methods
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning import adaptation, metrics, networks
from tsdg.learning.augment import Augmentation
from tsdg.learning.averaging import AveragedNetwork
from tsdg.learning.batches import minibatches
from tsdg.learning.centring import centring_rows
from tsdg.learning.cuda_graphs import GraphedStep
from tsdg.learning.inputs import Windows
from tsdg.learning.network_inputs import CentredInput
from tsdg.learning.sources import NO_GROUPS, Groups, Sources
from tsdg.methods.base import Method
from tsdg.runs.fingerprint import training_fingerprint
from tsdg.runs.losses import LOG_EVERY, LossLog
from tsdg.runs.machine import machine
from tsdg.runs.probabilities import drop_superseded, kept, kept_windows
from tsdg.runs.writing import FORMAT
from tsdg.streams import numpy_stream, torch_stream
from tsdg.study.run import Run, draw_name

EVALUATION_WINDOWS = 256
STATISTICS_BATCHES = 20  # that batch statistics of averaged weights are estimated on
AVERAGING = ("averaging",)  # what the names of their streams begin with

Record = dict[str, Any]
Checkpoint = dict[str, Any]


class Progress:
    """What a training tells about itself; the command line shows it."""

    def advance(self, iterations: int) -> None:
        """So many more iterations, times runs, are done."""

    def checkpoint(self, name: str, checkpoint: Mapping[str, Any]) -> None:
        """The training of this name was evaluated; without a target it has no scores of one."""


def source_accuracy(checkpoint: Mapping[str, Any]) -> float:
    """Validation accuracy of a checkpoint, the mean over the source domains."""
    return fmean(scores["accuracy"] for scores in checkpoint["validation"].values())


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
    until: int | None = None,
    groups: Groups = NO_GROUPS,
) -> list[Record]:
    """Train runs and return their records.

    On a GPU the runs of a pack with equally many sources train at once; on a CPU, where that is slower, one
    after another. Either way a run's result depends on its own seed, target and draw alone.

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
    until : int, optional
        The last iteration, of trainings that are as long as ``config`` says and end before.
    groups : mapping
        The domains of each target that is a group.
    """
    device = torch.device(device)
    windows = Windows(dataset, device)
    records: dict[int, Record] = {}
    for places in _packs(runs, groups) if device.type == "cuda" else ([place] for place in range(len(runs))):
        pack, values = [runs[place] for place in places], [hparams[place] for place in places]
        trainer = Trainer(
            dataset, windows, config, targets=[run.target for run in pack],
            seeds=[training_seed(run, config) for run in pack], splits=[run.seed for run in pack],
            hparams=values, groups=groups,
        )  # fmt: skip
        for r, result in enumerate(trainer.train(progress, [run.words for run in pack], until)):
            record = recorded(pack[r], config, values[r], trainer.dataset, device, result)
            finished(pack[r], record)
            records[places[r]] = record
    return [records[place] for place in range(len(runs))]


def training_seed(run: Run, config: Mapping[str, Any]) -> int:
    """What a run's weights, batches and augmentation follow from: its seed, or one of its draw's own.

    The split into training and validation always follows from the run's seed.
    """
    if config.get("seeds") != "by draw":
        return run.seed
    return int(numpy_stream(run.seed, "training", draw_name(run.draw)).integers(2**31))


def _packs(runs: Sequence[Run], groups: Groups) -> list[list[int]]:
    """Places of runs with equally many sources, which have one shape."""
    alike: dict[int, list[int]] = {}
    for place, run in enumerate(runs):
        alike.setdefault(len(groups.get(run.target, (run.target,))), []).append(place)
    return list(alike.values())


@dataclass(frozen=True)
class Result:
    """What a training came to.

    Attributes
    ----------
    sources : list of str
    checkpoints : list of dict
        ``iteration`` and what `tsdg.learning.metrics.evaluate_all` says. Where weights are averaged
        ``averaged`` has the same of their mean.
    losses : dict of str to list
        See `tsdg.runs.losses.LossLog.of_run`.
    diverged_at : int or None
    kept : dict
        See `tsdg.methods.base.Method.kept`.
    seconds : float
        Of an iteration, without evaluations, in which `at_once` runs took part.
    at_once : int
    windows : dict, optional
        The windows whose probabilities checkpoints keep, see `tsdg.runs.probabilities`.
    """

    sources: list[str]
    checkpoints: list[Checkpoint]
    losses: dict[str, list]
    diverged_at: int | None
    kept: dict[str, Any]
    seconds: float
    at_once: int
    windows: dict[str, Any] | None = None


class Trainer:
    """R runs of one variant that train at once.

    Parameters
    ----------
    dataset : WindowedDataset
    windows : Windows
        The same data set's windows on the training device.
    config : mapping
        See `train`.
    targets : sequence of R str or None
        What each run holds out, or None for all of them: then every domain is a source.
    seeds : sequence of R int
    hparams : sequence of R mappings
    splits : sequence of R int, optional
        Seeds of the split into training and validation. Default: the same seeds.
    groups : mapping
        The domains of each target that is a group; all runs have equally many sources.
    """

    def __init__(
        self,
        dataset: WindowedDataset,
        windows: Windows,
        config: Mapping[str, Any],
        *,
        targets: Sequence[str | None],
        seeds: Sequence[int],
        hparams: Sequence[Mapping[str, float]],
        splits: Sequence[int] | None = None,
        groups: Groups = NO_GROUPS,
    ):
        if config.get("reference"):
            dataset = dataset.without(config["reference"])
            windows = windows.labelled(dataset)
        self.dataset, self.windows, self.config = dataset, windows, config
        self.seeds, self.hparams = list(seeds), hparams
        self.device = torch.device(windows.device)
        self.sources = [
            Sources(
                dataset, config.get("domains") or dataset.domains, target,
                seed=seed, fraction=config["validation_fraction"], method=config["split"],
                groups=groups, least=methods.get(config["method"]).least_sources,
            )
            for target, seed in zip(targets, splits or seeds, strict=True)
        ]  # fmt: skip
        if config.get("standardize"):
            self.windows = windows.standardized(self.sources)
        elif windows.incomplete:
            raise InputError(
                f"the prepared data set {dataset.card['name']!r} has missing values; "
                "give it `standardize: sources` in params.yaml, which fills them"
            )
        self.before = self._before()
        self.method = self._method()
        if self.device.type == "cuda":
            self.method.perform = GraphedStep(self.method.step, self.method.phase)
        self.augmentation = self._augmentation()
        self.adapt = config.get("adapt", [])
        adaptation.check(self.method.network, self.adapt)
        if self.adapt and (self.method.embeds_domain or type(self.method).predict is not Method.predict):
            raise InputError(
                f"adapt: method {config['method']!r} looks at other windows of the domain itself; leave "
                "`adapt` out"
            )
        self.averaged = AveragedNetwork(self.method.network) if config.get("average") else None

    def _before(self) -> CentredInput | None:
        """What the network sees of windows, where that depends on their domain."""
        config, card = self.config, self.dataset.card
        if "center" not in config:
            return None
        before = networks.INPUTS[config["input"]](len(card["channels"]), card["window"]["length"])
        before = before.to(self.device)
        by_run = [centring_rows(config["center"], run) for run in self.sources]
        means = [
            self._domain_mean(before, [rows[name] for rows, name in zip(by_run, names, strict=True)])
            for names in zip(*([*run.names, *run.held_out] for run in self.sources), strict=True)
        ]
        return CentredInput(before, torch.stack(means, dim=1))

    @torch.no_grad()
    def _domain_mean(self, before: networks.NetworkInput, rows: Sequence[np.ndarray]) -> torch.Tensor:
        """Mean ``(R, C', T')`` over windows of each run."""
        index, valid = self._padded(rows)
        total = torch.zeros((len(rows), before.channels, before.length), dtype=torch.float64)
        total = total.to(self.device)
        for part, weight in zip(*(both.split(EVALUATION_WINDOWS, 1) for both in (index, valid)), strict=True):
            total += torch.einsum("rnct,rn->rct", before(self.windows[part][0]).double(), weight.double())
        return total / valid.sum(1)[:, None, None]

    def _method(self) -> Method:
        config, card = self.config, self.dataset.card
        method = methods.get(config["method"])
        before = self.before and self.before.before
        network = networks.build(
            config["backbone"],
            channels=before.channels if before else len(card["channels"]),
            length=before.length if before else card["window"]["length"],
            classes=len(card["classes"]),
            generators=[torch_stream(seed, "weights") for seed in self.seeds],
            embedding=method.embeds_domain,
            input="raw" if before else config.get("input", "raw"),
            **networks.options(config),
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
            domains_per_batch=config.get("domains_per_batch"),
            **config["options"],
        )

    def _augmentation(self, purpose: Sequence[str] = ()) -> Augmentation | None:
        if not self.config["augment"]:
            return None
        names = [run.names for run in self.sources]
        card = self.dataset.card
        return Augmentation(
            self.seeds, names, **self.config["augment"],
            length=card["window"]["length"], channels=len(card["channels"]), rate=card.get("sampling_rate"),
            device=self.device, purpose=purpose,
        )  # fmt: skip

    def train(
        self,
        progress: Progress | None = None,
        names: Sequence[str] | None = None,
        until: int | None = None,
    ) -> list[Result]:
        """Train to the end.

        Parameters
        ----------
        progress : Progress, optional
        names : sequence of R str, optional
            What the runs are called there.
        until : int, optional
            See `train`.
        """
        runs = len(self.seeds)
        progress, names = progress or Progress(), names or [f"run {r}" for r in range(runs)]
        iterations, every = until or self.config["iterations"], self.config["evaluate_every"]
        self.iterations = iterations
        log = LossLog(runs, self.device)
        checkpoints: list[list[Checkpoint]] = [[] for _ in range(runs)]
        training = 0.0
        clock = time.perf_counter()
        batches = self._batches(iterations, self.augmentation)
        for iteration, (x, y, *present) in enumerate(batches, start=1):
            log.add(iteration, self.method.update(x, y, None, *present))
            if self.averaged and iteration > self.config["average"]["from"] * self.config["iterations"]:
                self.averaged.add(self.method.network)
            if iteration % LOG_EVERY == 0 or iteration == iterations:
                progress.advance((iteration - log.last) * runs)
                log.close(iteration)
                if log.all_diverged():
                    break
            if iteration % every == 0 or iteration == iterations:
                self._synchronize()
                training += time.perf_counter() - clock
                for r, checkpoint in enumerate(self.evaluate(iteration)):
                    if log.diverged_at(r) is None:
                        checkpoints[r].append(checkpoint)
                        progress.checkpoint(names[r], checkpoint)
                        averaged = [one["averaged"] for one in checkpoints[r] if "averaged" in one]
                        for reported in (checkpoints[r], averaged):
                            drop_superseded(reported, source_accuracy)
                clock = time.perf_counter()
        return [
            Result(
                sources=sources.names,
                checkpoints=checkpoints[r],
                losses=log.of_run(r),
                diverged_at=log.diverged_at(r),
                kept=self.method.kept(r, sources.names),
                seconds=training / iteration,
                at_once=runs,
                windows=kept_windows(sources.evaluation, self._labels) if "keep" in self.config else None,
            )
            for r, sources in enumerate(self.sources)
        ]

    def _batches(
        self, iterations: int, augmentation: Augmentation | None, purpose: Sequence[str] = ()
    ) -> Iterator[tuple[torch.Tensor, ...]]:
        """Batches as the network sees them."""
        drawn = minibatches(
            self.windows, self.sources, self.seeds,
            iterations=iterations, batch_size=self.config["batch_size"], augmentation=augmentation,
            domains=self.config.get("domains_per_batch"), purpose=purpose,
        )  # fmt: skip
        for x, y, *present in drawn:
            yield self.before(x, *present) if self.before else x, y, *present

    def _labels(self, rows: np.ndarray) -> np.ndarray:
        return self.windows.labels[torch.from_numpy(rows).to(self.device)].cpu().numpy()

    def _synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def evaluate(self, iteration: int) -> list[Checkpoint]:
        """Metrics of each run on each source's validation windows and, if it has one, on the whole target.

        Those of its averaged weights, once there are some, are beneath ``averaged``. Those on the target of
        the network adapted to it, at the end of the training, are beneath ``adapted``.
        """
        checkpoints = [{"iteration": iteration, **scores} for scores in self._scores()]
        if self.adapt and iteration == self.iterations:
            temperatures = [checkpoint["temperature"] for checkpoint in checkpoints]
            for checkpoint, scores in zip(checkpoints, self._adapted(temperatures), strict=True):
                checkpoint["adapted"] = scores
        if self.averaged and self.averaged.count:
            augmentation = self._augmentation(AVERAGING)
            batches = self._batches(STATISTICS_BATCHES, augmentation, AVERAGING)
            self.averaged.estimate(batches, self.method.per_domain)
            trained, self.method.network = self.method.network, self.averaged.network
            for checkpoint, scores in zip(checkpoints, self._scores(), strict=True):
                checkpoint["averaged"] = scores
            self.method.network = trained
        return checkpoints

    def _scores(self) -> list[dict[str, Any]]:
        """What a checkpoint says of each run, by the network that the method has."""
        validation: list[dict[str, tuple[np.ndarray, np.ndarray]]] = [{} for _ in self.sources]
        for d in range(self.method.domains):
            names = [run.names[d] for run in self.sources]
            for of_run, name, scored in zip(validation, names, self._probabilities(names), strict=True):
                of_run[name] = scored
        held_out: list[dict[str, tuple[np.ndarray, np.ndarray]]] = [{} for _ in self.sources]
        for d in range(max(len(run.held_out) for run in self.sources)):
            names = [run.held_out[d] for run in self.sources]
            for of_run, name, scored in zip(held_out, names, self._probabilities(names), strict=True):
                of_run[name] = scored
        return [
            metrics.evaluate_all(own, run.target, others) | self._kept(own | others)
            for own, run, others in zip(validation, self.sources, held_out, strict=True)
        ]

    def _kept(self, scored: metrics.Scored) -> dict[str, Any]:
        return {"probabilities": kept(scored)} if "keep" in self.config else {}

    @torch.no_grad()
    def _probabilities(self, domains: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Class probabilities and labels of one domain of each run; a diverged run has uniform ones."""
        rows = [run.evaluation[name] for run, name in zip(self.sources, domains, strict=True)]
        index, valid = self._padded(rows)
        self.method.eval()
        featurizer = self.method.network.featurizer
        features = torch.cat(
            [featurizer(self._seen(part, domains)) for part in index.split(EVALUATION_WINDOWS, dim=1)], dim=1
        )
        probabilities = self.method.predict(features, valid).double().softmax(-1)
        numbers = torch.nan_to_num(probabilities, nan=1 / self.method.classes).cpu().numpy()
        labels = self.windows.labels[index].cpu().numpy()
        return [
            (known[: len(row)], true[: len(row)])
            for known, true, row in zip(numbers, labels, rows, strict=True)
        ]

    def _adapted(self, temperatures: Sequence[float]) -> list[dict[str, Any]]:
        """Metrics of each run on its target, each of whose domains the network is adapted to by itself.

        Their temperature is that of the network as it was trained.
        """
        adapted: list[dict[str, Any]] = [{} for _ in self.sources]
        for name in adaptation.names(self.adapt):
            way, _, order = name.partition(", ")
            held_out: list[dict[str, tuple[np.ndarray, np.ndarray]]] = [{} for _ in self.sources]
            for d in range(max(len(run.held_out) for run in self.sources)):
                domains = [run.held_out[d] for run in self.sources]
                for of_run, domain, scored in zip(
                    held_out, domains, self._by(way, order, domains), strict=True
                ):
                    of_run[domain] = scored
            for own, run, scores, temperature in zip(
                adapted, self.sources, held_out, temperatures, strict=True
            ):
                if run.target is not None:
                    own[name] = metrics.evaluate_target(run.target, scores, temperature)
        return adapted

    @torch.no_grad()
    def _by(self, way: str, order: str, domains: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Class probabilities and labels of one held-out domain of each run, of the adapted network."""
        rows = [
            self._ordered(run.evaluation[name], order, seed, name)
            for run, seed, name in zip(self.sources, self.seeds, domains, strict=True)
        ]
        network, (index, valid) = self.method.network, self._padded(rows)
        self.method.eval()

        def seen(part: torch.Tensor) -> torch.Tensor:
            return self._seen(part, domains)

        if way == adaptation.ALL:
            z = adaptation.features_by_all(network, seen, index, valid, EVALUATION_WINDOWS)
        elif way == adaptation.T3A:
            z = torch.cat([network.featurizer(seen(part)) for part in index.split(EVALUATION_WINDOWS, 1)], 1)
        else:
            share = adaptation.SHARE if way == adaptation.BLEND else 1.0
            z = adaptation.features_by_batches(network, seen, index, valid, share)
        found = []
        for r, row in enumerate(rows):
            own = z[r, : len(row)]
            logits = (
                adaptation.t3a(own, adaptation.of_run(network.classifier, r))
                if way == adaptation.T3A
                else self.method.predict(z)[r, : len(row)]
            )
            probabilities = torch.nan_to_num(logits.double().softmax(-1), nan=1 / self.method.classes)
            found.append(
                (probabilities.cpu().numpy(), self.windows.labels[index[r, : len(row)]].cpu().numpy())
            )
        return found

    def _ordered(self, rows: np.ndarray, order: str, seed: int, name: str) -> np.ndarray:
        """Rows of a domain in the order in which they come."""
        if order == adaptation.SHUFFLED:
            return numpy_stream(seed, "adaptation", name).permutation(rows)
        if order == adaptation.BY_CLASS:
            return rows[np.argsort(self.dataset.windows["label"].to_numpy()[rows], kind="stable")]
        return rows

    def _padded(self, rows: Sequence[np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows of each run as one index ``(R, N)``, and where it is not filled up."""
        longest = max(len(row) for row in rows)
        index = torch.from_numpy(np.stack([np.resize(row, longest) for row in rows])).to(self.device)
        valid = torch.stack([torch.arange(longest) < len(row) for row in rows]).to(self.device)
        return index, valid

    def _seen(self, index: torch.Tensor, domains: Sequence[str]) -> torch.Tensor:
        """What the network sees of windows of one domain of each run."""
        x = self.windows[index][0]
        if self.before is None:
            return x
        places = [
            [*run.names, *run.held_out].index(name) for run, name in zip(self.sources, domains, strict=True)
        ]
        return self.before(x.unsqueeze(1), torch.tensor(places, device=self.device).unsqueeze(1)).squeeze(1)


def recorded(
    run: Run,
    config: Mapping[str, Any],
    hparams: Mapping[str, float],
    dataset: WindowedDataset,
    device: torch.device | str,
    result: Result,
) -> Record:
    """The record of a run from what its training came to."""
    card = dataset.card
    record: Record = {
        "format": FORMAT,
        "status": "finished" if result.diverged_at is None else "diverged",
        "run": {
            "dataset": run.dataset, "variant": run.variant, "target": run.target,
            "seed": run.seed, "draw": run.draw,
        },
        "config": dict(config),
        "hparams": dict(hparams),
        "sources": result.sources,
        "classes": card["classes"],
        "data": {"fingerprint": card["fingerprint"], "simulated": card.get("simulated", False)},
        "code": {"version": tsdg.__version__, "fingerprint": training_fingerprint(config)},
        "machine": machine(torch.device(device)),
        "timing": {"seconds_per_iteration": result.seconds, "runs_at_once": result.at_once},
        "checkpoints": result.checkpoints,
        "losses": result.losses,
    }  # fmt: skip
    if result.diverged_at is not None:
        record["diverged_at"] = result.diverged_at
    if result.windows is not None:
        record["windows"] = result.windows
    if taken := sorted(record.keys() & result.kept.keys()):
        raise InputError(
            f"method {config['method']!r}: `kept` has {taken[0]!r}, a field that every record has; rename it"
        )
    return record | result.kept
