"""A training job: the runs of one call, what of them is done already, and where their records go."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import torch

from tsdg import methods
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError, nearest
from tsdg.methods.plugins import blamed
from tsdg.runs import record as records
from tsdg.runs.current import STAGING, is_current
from tsdg.runs.machine import keep_freed_memory
from tsdg.runs.training import Progress, choose_device, train
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study


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
) -> list[Path]:
    """Train every target, seed and draw of a variant that has no valid record yet.

    Finished records wait in a folder of their own and move to their places when all of the job are done: a
    killed job finds them there when it is called again.

    Returns
    -------
    list of Path
        The records.
    """
    prepared = WindowedDataset.load(data)
    name = dataset or prepared.card["name"]
    config = study.config(name, variant)
    for target in targets:
        if target not in config["domains"]:
            raise InputError(
                f"target {target!r} is not a domain of {name}{nearest(target, config['domains'])}; "
                f"there are {', '.join(config['domains'])}"
            )
    runs = list(dict.fromkeys(Run(name, variant, *rest) for rest in product(targets, seeds, draws)))
    out.mkdir(parents=True, exist_ok=True)
    hparams = {run: study.hparams(run) for run in runs}

    def valid(run: Run, folder: Path) -> bool:
        return not force and _is_current(folder, run, config, hparams[run], prepared)

    def place(run: Run) -> Path | None:
        return next((folder for folder in (out, out / STAGING) if valid(run, folder)), None)

    places = {run: place(run) for run in runs}
    missing = [run for run in runs if places[run] is None]
    if len(missing) < len(runs):
        print(f"{len(runs) - len(missing)} of {len(runs)} runs are recorded already", flush=True)
    if missing:
        chosen = choose_device(device or study.params["device"])
        if chosen.type == "cpu":
            torch.set_num_threads(threads)
            keep_freed_memory()
        print(
            f"{variant} on {chosen.type}: {len(missing)} run(s) of {config['iterations']} iterations, "
            f"evaluated every {config['evaluate_every']}; records go to {out}",
            flush=True,
        )
        staging = out / STAGING if len(runs) > 1 else out

        def finished(run: Run, record: Mapping[str, Any]) -> None:
            places[run] = place(run)  # the same job, cancelled on a cluster and still ending, may be faster
            if places[run] is None:
                records.write(staging / run_path(run), record)
                places[run] = staging

        method = config["method"]
        with blamed(methods.get(method), method), Report(len(missing), config["iterations"]) as progress:
            train(
                prepared, missing, config, [hparams[run] for run in missing],
                device=chosen, progress=progress, finished=finished,
            )  # fmt: skip
    paths = [out / run_path(run) for run in runs]
    for run, path in zip(runs, paths, strict=True):
        if places[run] == out / STAGING:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                (out / STAGING / run_path(run)).replace(path)
            except FileNotFoundError:
                if not path.exists():  # otherwise the same job, left over from a killed Snakemake, was faster
                    raise
    _remove_empty(out / STAGING, runs)
    for path in paths:
        if diverged_at := records.read(path).get("diverged_at"):
            print(f"{path}: diverged at iteration {diverged_at}; selection ranks it last")
    return paths


def _remove_empty(staging: Path, runs: Sequence[Run]) -> None:
    """Remove the staging folders of some runs where nothing is left; other jobs may be doing the same."""
    for run in runs:
        for folder in (staging / run_path(run)).parents:
            try:
                folder.rmdir()
            except FileNotFoundError:
                pass
            except OSError:  # not empty
                break
            if folder == staging:
                break


def _is_current(
    folder: Path,
    run: Run,
    config: Mapping[str, Any],
    hparams: Mapping[str, float],
    prepared: WindowedDataset,
) -> bool:
    """Whether there is a record of this run with exactly this configuration, data and code."""
    path = folder / run_path(run)
    try:
        record = records.read(path)
        records.check_run(path, record, run)
    except InputError:
        return False
    return is_current(record, config, hparams, prepared.fingerprint)


class Report(Progress):
    """A progress bar on a terminal, one line a checkpoint in a log, which starts with the run's name."""

    def __init__(self, runs: int, iterations: int):
        from tqdm import tqdm

        self.bar = tqdm(total=runs * iterations, unit="it", disable=None, smoothing=0.05)

    def __enter__(self) -> Report:
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()

    def advance(self, iterations: int) -> None:
        self.bar.update(iterations)

    def checkpoint(self, name: str, checkpoint: Mapping[str, Any]) -> None:
        scores = f"source validation {100 * records.source_accuracy(checkpoint):.1f} %"
        if target := checkpoint.get("target"):
            scores += f", target {100 * target['accuracy']:.1f} %, ECE {100 * target['ece']:.1f} %"
        self.bar.write(f"{name} iteration {checkpoint['iteration']}: {scores}", file=sys.stdout)
        sys.stdout.flush()
