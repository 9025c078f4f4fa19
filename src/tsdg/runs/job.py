"""A training job: the runs of one call, what of them is done already, and where their records go."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from threadpoolctl import threadpool_limits

from tsdg import methods
from tsdg.data.describe import untaught
from tsdg.data.integrity import load_checked
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.files import link, obstacle
from tsdg.learning.sources import Groups
from tsdg.methods import estimators
from tsdg.methods.plugins import blamed
from tsdg.runs import estimation
from tsdg.runs.current import STAGING
from tsdg.runs.domains import check_domains
from tsdg.runs.kept import remove_empty
from tsdg.runs.losses import LOG_EVERY
from tsdg.runs.machine import keep_freed_memory
from tsdg.runs.pace import duration
from tsdg.runs.recipe import Recipes
from tsdg.runs.record import read, typed
from tsdg.runs.training import Progress, choose_device, source_accuracy, train
from tsdg.runs.writing import plain, write
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study
from tsdg.study.targets import Target


def train_job(
    study: Study,
    data: Path,
    *,
    variant: str,
    targets: Sequence[str],
    seeds: Sequence[int],
    draws: Sequence[int | str],
    out: Path,
    dataset: str | None = None,
    device: str | None = None,
    threads: int = 1,
    force: bool = False,
    keep: bool = False,
) -> list[Path]:
    """Train every target, seed and draw of a variant that has no valid record yet; options as `Job`'s.

    Returns
    -------
    list of Path
        The records.
    """
    prepared = load_checked(data)
    name = dataset or prepared.card["name"]
    if (trained := study.reading(variant).variant) != variant:
        raise InputError(
            f"variant {variant} has the trainings of {trained}, of which it shows more: train that"
        )
    config = study.config(name, variant)
    check_domains(study, name, prepared, data)
    held_out = [study.target(name, target) for target in targets]
    _check_windows(held_out, prepared)
    groups = study.groups(name, targets)
    _check_classes(prepared, groups)
    recipes = Recipes(study, {study.prepared(name): prepared.fingerprint})
    runs = [Run(name, variant, target.name, *rest) for target in held_out for rest in product(seeds, draws)]
    job = Job(runs, recipes, out, force=force, keep=keep)
    if job.missing:
        _say_untaught(held_out, config["domains"], prepared)
    if job.missing and config["method"] == estimators.METHOD:
        _fit(job, config, prepared, data, threads, groups)
    elif job.missing:
        _train(job, config, prepared, _device(device or study.params["device"], threads), groups)
    return job.finish()


def _train(
    job: Job, config: Mapping[str, Any], prepared: WindowedDataset, device: torch.device, groups: Groups
) -> None:
    """Train the networks of the runs that are missing."""
    runs, method, iterations = job.missing, config["method"], config["iterations"]
    print(
        f"{runs[0].variant} on {device.type}: {len(runs)} run(s) of {iterations} iterations, "
        f"evaluated every {config['evaluate_every']}; records go to {job.out}",
        flush=True,
    )
    at_once = len(runs) if device.type == "cuda" else 1
    with blamed(methods.get(method), method), Report(len(runs), iterations, at_once) as progress:

        def finished(run: Run, record: Mapping[str, Any]) -> None:
            job.keep(run, record)
            progress.end_run()

        train(
            prepared, runs, config, [job.recipes.of(run).hparams for run in runs],
            device=device, progress=progress, finished=finished, groups=groups,
        )  # fmt: skip


def _fit(
    job: Job,
    config: Mapping[str, Any],
    prepared: WindowedDataset,
    folder: Path,
    threads: int,
    groups: Groups,
) -> None:
    """Fit an estimator for each run that is missing, on the CPU."""
    runs = job.missing
    _device("cpu", threads)
    print(
        f"{runs[0].variant}, {config['estimator']}, on cpu: {len(runs)} run(s); records go to {job.out}",
        flush=True,
    )
    with threadpool_limits(threads), Report(len(runs), 1) as progress:
        estimation.train(
            prepared, runs, config, [job.recipes.of(run).hparams for run in runs],
            folder=folder, progress=progress, finished=job.keep, groups=groups,
        )  # fmt: skip


def _check_classes(prepared: WindowedDataset, groups: Groups) -> None:
    """Raise `InputError` unless a group that is held out has windows of each class."""
    for target, domains in groups.items():
        counts = [prepared.card["counts"].get(domain, {}) for domain in domains]
        for label in prepared.classes:
            if not any(of_class.get(label) for of_class in counts):
                raise InputError(
                    f"target {target!r} has no window of class {label!r}, so that its numbers could not "
                    "stand beside the other targets'; hold out other groups, or leave the class out"
                )


def _say_untaught(targets: Iterable[Target], domains: Sequence[str], prepared: WindowedDataset) -> None:
    for target in targets:
        sources = [domain for domain in domains if domain not in target.domains]
        if names := untaught(prepared.card, sources):
            print(
                f"target {target.name}: no source has a window of class {', '.join(names)}, so that nothing "
                "teaches it",
                flush=True,
            )


def _check_windows(targets: Iterable[Target], prepared: WindowedDataset) -> None:
    there = set(prepared.windows["domain"])
    for target in targets:
        if there.isdisjoint(target.domains):
            raise InputError(
                f"target {target.name!r} has no window in the prepared data set {prepared.card['name']!r}; "
                "leave the domain out, or prepare the data set with windows of it"
            )


def _device(name: str, threads: int) -> torch.device:
    """The device, made ready."""
    chosen = choose_device(name)
    if chosen.type == "cpu":
        torch.set_num_threads(threads)
        keep_freed_memory()
    return chosen


class Job:
    """Some runs, and where the valid record of each lies.

    Those of several runs are kept in a folder of their own and go to their places when all are done: a killed
    job finds them there when it is called again.

    Parameters
    ----------
    runs : iterable of Run
    recipes : Recipes
    out : Path
        Folder of records.
    force : bool
        Take no record for valid.
    keep : bool
        Leave the records their names in the folder of the kept, see `tsdg.runs.kept`.

    Raises
    ------
    InputError
        There is no place for a record.
    """

    def __init__(
        self, runs: Iterable[Run], recipes: Recipes, out: Path, *, force: bool = False, keep: bool = False
    ):
        self.runs = list(dict.fromkeys(runs))
        self.recipes, self.out, self.force = recipes, out, force
        self.kept, self.keeps = out / STAGING, keep
        self.folders = {run: self._find(run) for run in self.runs}
        for path in (
            folder / run_path(run)
            for run in self.missing
            for folder in ((self.out, self.kept) if self.staged else (self.out,))
        ):
            if problem := obstacle(path):
                raise InputError(
                    f"{path}: the record could not be written, since {problem}: put that right, or choose "
                    "another folder; nothing was trained"
                )
        if recorded := len(self.runs) - len(self.missing):
            print(f"{recorded} of {len(self.runs)} runs are recorded already", flush=True)

    @property
    def missing(self) -> list[Run]:
        """Runs without a valid record."""
        return [run for run, folder in self.folders.items() if folder is None]

    @property
    def staged(self) -> bool:
        """Whether records wait among the kept until all are done."""
        return self.keeps or len(self.runs) > 1

    def keep(self, run: Run, record: Mapping[str, Any]) -> None:
        """Write the record of a run that is done.

        Raises
        ------
        ValueError
            `tsdg.runs.record.read` would refuse it.
        """
        typed(plain(record))
        folder = self._find(run)  # the same job, cancelled on a cluster and still ending, may be faster
        if folder is None:
            folder = self.kept if self.staged else self.out
            write(folder / run_path(run), record)
        self.folders[run] = folder

    def finish(self) -> list[Path]:
        """Put what was kept in its place, say what diverged, and return the records' paths."""
        paths = [self.out / run_path(run) for run in self.runs]
        for run, path in zip(self.runs, paths, strict=True):
            if self.folders[run] == self.kept:
                try:
                    link(self.kept / run_path(run), path)
                except FileNotFoundError:
                    if not path.exists():  # else the same job, left over from a killed Snakemake, was faster
                        raise
                if not self.keeps:
                    (self.kept / run_path(run)).unlink(missing_ok=True)
        remove_empty(self.kept, self.runs)
        for path in paths:
            if diverged_at := read(path).diverged_at:
                print(f"{path}: diverged at iteration {diverged_at}; selection ranks it last", flush=True)
        return paths

    def _find(self, run: Run) -> Path | None:
        """The folder with a record of exactly this run's recipe."""
        return next((folder for folder in (self.out, self.kept) if self._is_valid(folder, run)), None)

    def _is_valid(self, folder: Path, run: Run) -> bool:
        try:
            record = read(folder / run_path(run), run)
        except InputError:
            return False
        return not self.force and self.recipes.of(run).difference(record.recipe) is None


class Report(Progress):
    """A progress bar on a terminal, one line a checkpoint in a log, with the run's name and the time left.

    Parameters
    ----------
    runs : int
    iterations : int
        Of each run.
    at_once : int
        How many of the runs train at once.
    """

    def __init__(self, runs: int, iterations: int, at_once: int = 1):
        from tqdm import tqdm

        self.runs, self.iterations, self.at_once, self.ended = runs, iterations, at_once, 0
        self.bar = tqdm(total=runs * iterations, unit="it", disable=None, smoothing=0.05)
        self.done, self.total, self.start = 0, runs * iterations, perf_counter()

    def __enter__(self) -> Report:
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()

    def advance(self, iterations: int) -> None:
        self.bar.update(iterations)
        self.done += iterations

    def end_run(self) -> None:
        """A run is over: what it left out, where it ended early, is not to be done."""
        self.ended += 1
        skipped = self.ended * self.iterations - self.done
        if skipped > 0:
            self.total = self.bar.total = self.runs * self.iterations - skipped

    def checkpoint(self, name: str, checkpoint: Mapping[str, Any]) -> None:
        scores = f"source validation {100 * source_accuracy(checkpoint):.1f} %"
        if target := checkpoint.get("target"):
            scores += f", target {100 * target['accuracy']:.1f} %, ECE {100 * target['ece']:.1f} %"
        at = f" iteration {checkpoint['iteration']}" if self.iterations > 1 else ""  # estimators have one
        self.bar.write(f"{name}{at}: {scores}{self._left(checkpoint['iteration'])}", file=sys.stdout)
        sys.stdout.flush()

    def _left(self, iteration: int) -> str:
        """The time that the rest of the job will take from an iteration on, if it goes on as before."""
        since = 0 if iteration == self.iterations else iteration % LOG_EVERY  # `advance` was called last
        done = self.done + since * self.at_once
        if not done or done >= self.total:
            return ""
        return f", {duration((perf_counter() - self.start) / done * (self.total - done))} left"
