"""What tables need before they can be made: runs, jobs and hours, and what of it is done."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from tsdg.data import toy
from tsdg.data.kinds import KINDS
from tsdg.data.windows import CARD, WindowedDataset, write
from tsdg.errors import InputError, nearest
from tsdg.learning.backbones.options import OPTIONS
from tsdg.methods import estimators
from tsdg.runs.current import CurrentRecords
from tsdg.runs.expected import Expected
from tsdg.runs.pace import duration
from tsdg.study.jobs import TrainingJob, training_jobs
from tsdg.study.run import Run
from tsdg.study.study import Study

if TYPE_CHECKING:
    import torch

START = 6.0  # seconds of a job before it trains
SYNTHETIC_WINDOWS = 200  # of a domain
WARM_UP, MEASURED = 2, 7  # iterations of a probe, or blocks of them
TOTAL = "in all"

Rates = dict[tuple[str, str], float]


class Plan(NamedTuple):
    """The plan as text and number.

    Attributes
    ----------
    table : pandas.DataFrame
        A row for each table and one for all: ``runs``, of them ``done``, ``to_train``, ``jobs``, ``hours`` of
        one core or GPU.
    estimated : list of str
        Data sets and variants whose seconds of an iteration nothing here has measured.
    """

    table: pd.DataFrame
    estimated: list[str]


def chosen_tables(study: Study, names: Iterable[str]) -> dict[str, list[Run]]:
    """Runs by table. `names` may be paths of results; without names, all tables and the toy study.

    Raises
    ------
    InputError
        A name is no table.
    """
    known = study.wanted
    wanted = list(dict.fromkeys(Path(name).stem for name in names)) or list(known)
    for name in wanted:
        if name not in known:
            raise InputError(f"{name!r} is not a table{nearest(name, known)}; there are {', '.join(known)}")
    return {name: known[name] for name in wanted}


def plan(
    study: Study,
    tables: dict[str, list[Run]],
    found: CurrentRecords,
    probed: Rates | None = None,
    expected: Callable[[Run], float] | None = None,
) -> Plan:
    """Count what some tables need.

    A job trains those of its runs that have no current record, in its place or kept.

    Parameters
    ----------
    study : Study
    tables : mapping
        Runs by table.
    found : CurrentRecords
    probed : mapping, optional
        Seconds of an iteration of one run by (data set, variant), which go before those of records: the
        medians of all that have the same network and batch.
    expected : callable, optional
        Seconds of an iteration of a run of the others, see `tsdg.runs.expected`, which is the default.
    """
    expected = expected or Expected(study, found)
    wanted = dict.fromkeys(run for runs in tables.values() for run in runs)
    done, rates = _recorded(study, wanted, found)
    rates |= probed or {}
    todo = [job for job in training_jobs(study) if any(run in wanted and run not in done for run in job.runs)]
    missing = {
        job: [run for run in job.runs if run not in done and (run in wanted or not _is_done(found, run))]
        for job in todo
    }
    kinds = {job: (job.runs[0].dataset, job.runs[0].variant) for job in todo}
    iterations = {kind: study.config(*kind)["iterations"] for kind in dict.fromkeys(kinds.values())}
    estimated = [" ".join(kind) for kind in iterations if kind not in rates]
    seconds = {
        job: START + len(missing[job]) * iterations[kind] * (rates.get(kind) or expected(job.runs[0]))
        for job, kind in kinds.items()
    }
    rows = []
    for name, runs in [*tables.items(), (TOTAL, list(wanted))]:
        own = set(runs)
        lacking = own - done
        jobs = [job for job in todo if not lacking.isdisjoint(job.runs)]
        to_train = sum(len(missing[job]) for job in jobs)
        hours = sum(seconds[job] for job in jobs) / 3600
        rows.append((name, len(own), len(own & done), to_train, len(jobs), hours))
    columns = ["table", "runs", "done", "to_train", "jobs", "hours"]
    return Plan(pd.DataFrame(rows, columns=columns), estimated)


def _recorded(study: Study, runs: Iterable[Run], found: CurrentRecords) -> tuple[set[Run], Rates]:
    """The runs with a current record, and what records say of the seconds of an iteration."""
    done: set[Run] = set()
    seconds: dict[tuple[str, str], list[float]] = {}
    configs: dict[tuple[str, str], dict] = {}
    for run in runs:
        try:
            current, placed = found.look(run)
        except InputError:
            continue
        if current:
            done.add(run)
        if not placed:
            continue
        key = run.dataset, run.variant
        if key not in configs:
            configs[key] = study.config(*key)
        if all(
            placed.config.get(k) == configs[key].get(k)
            for k in ("method", "backbone", *OPTIONS, "input", "batch_size", "estimator", "features")
        ):
            timing = placed.timing
            seconds.setdefault(key, []).append(timing.seconds_per_iteration / timing.runs_at_once)
    return done, {key: median(values) for key, values in seconds.items()}


def _is_done(found: CurrentRecords, run: Run) -> bool:
    try:
        return found.find(run) is not None
    except InputError:
        return False


def probed_rates(
    study: Study,
    tables: dict[str, list[Run]],
    data: Path,
    device: str,
    say: Callable[[str], None],
    params: Path = Path("params.yaml"),
) -> Rates:
    """Seconds of an iteration, a run, by training a few iterations of every variant on this machine.

    On a GPU as many runs at once as a job of the study has. Where a data set is not prepared, its windows
    are noise of the same shape. The toy study is not probed: it ends when it has learned enough.
    """
    import torch

    from tsdg.runs.machine import keep_freed_memory
    from tsdg.runs.training import choose_device

    chosen = choose_device(device)
    torch.set_num_threads(1)  # as a job
    keep_freed_memory()
    jobs: dict[tuple[str, str], TrainingJob] = {}
    for job in training_jobs(study):
        jobs.setdefault((job.runs[0].dataset, job.runs[0].variant), job)
    rates: Rates = {}
    with tempfile.TemporaryDirectory(prefix="tsdg-probe-") as scratch:
        for dataset, variant in dict.fromkeys(
            (run.dataset, run.variant) for runs in tables.values() for run in runs if run.dataset != toy.NAME
        ):
            folder = data / study.prepared(dataset)
            if not (folder / CARD).exists():
                folder = _synthetic(study, study.prepared(dataset), Path(scratch), params)
            runs = jobs[dataset, variant].runs if chosen.type == "cuda" else jobs[dataset, variant].runs[:1]
            if not rates:
                _iteration(study, folder, runs[:1], chosen)  # the first loads much of PyTorch
            rates[dataset, variant] = _iteration(study, folder, runs, chosen) / len(runs)
            source = "" if folder.parent == data else " (synthetic windows)"
            say(f"{dataset} {variant}: {rates[dataset, variant]:.3g} s an iteration of one run{source}")
    return rates


def _iteration(study: Study, folder: Path, runs: Sequence[Run], device: torch.device) -> float:
    """Seconds of an iteration of a job's runs, from one update to the next: the median after a warm-up."""
    import torch

    from tsdg.learning.inputs import Windows
    from tsdg.runs.estimation import Fitting
    from tsdg.runs.training import Trainer

    on_gpu = device.type == "cuda"
    block = 10 if on_gpu else 1  # iterations between two looks at the clock, for which a GPU has to wait
    iterations = (WARM_UP + MEASURED) * block
    config = study.config(runs[0].dataset, runs[0].variant)
    dataset = WindowedDataset.load(folder)
    groups = study.groups(runs[0].dataset, [run.target for run in runs])
    if config["method"] == estimators.METHOD:
        first = runs[0]
        fitting = Fitting(
            dataset, Windows(dataset), config,
            target=first.target, seed=first.seed, hparams=study.hparams(first), groups=groups,
        )  # fmt: skip
        return fitting.train().seconds * len(runs)
    config |= {"iterations": iterations, "evaluate_every": iterations}
    trainer = Trainer(
        dataset, Windows(dataset, device), config,
        targets=[run.target for run in runs],
        seeds=[run.seed for run in runs],
        hparams=[study.hparams(run) for run in runs],
        groups=groups,
    )  # fmt: skip
    update, clock, seen = trainer.method.update, list[float](), 0

    def timed(*batch: Any) -> Any:
        nonlocal seen
        losses = update(*batch)
        seen += 1
        if seen % block == 0:
            if on_gpu:
                torch.cuda.synchronize(device)
            clock.append(perf_counter())
        return losses

    trainer.method.update = timed  # type: ignore[method-assign, assignment]
    trainer.train()
    return median(np.diff(clock)[WARM_UP - 1 :].tolist()) / block


def _synthetic(study: Study, dataset: str, scratch: Path, params: Path) -> Path:
    """Noise in the shape of a data set that is not prepared; `params` is the study's file."""
    folder = scratch / dataset
    if (folder / CARD).exists():
        return folder
    entry = study.dataset(dataset)
    shape = KINDS[entry["kind"]].shape_of(entry)
    if shape is None:
        file = "" if params == Path("params.yaml") else f" --configfile {params}"
        raise InputError(
            f"data set {dataset!r} is not prepared, and a kind {entry['kind']!r} says nothing of its shape: "
            f"first `snakemake{file} --cores 1 results/data/{dataset}/card.json`"
        )
    channels, length, classes = shape.channels, shape.length, shape.classes
    rng = np.random.default_rng(0)
    samples = length + SYNTHETIC_WINDOWS - 1
    rows = [
        (number * samples + start, length, start % classes, domain, domain)
        for number, domain in enumerate(entry["domains"])
        for start in range(SYNTHETIC_WINDOWS)
    ]
    card = {
        "name": dataset,
        "classes": [str(label) for label in range(classes)],
        "channels": [str(channel) for channel in range(channels)],
        "window": {"length": length, "stride": 1},
        "domains": entry["domains"],
    }
    windows = pd.DataFrame(rows, columns=["start", "length", "label", "domain", "recording"])
    signals = (rng.normal(size=(samples, channels)).astype(np.float32) for _ in entry["domains"])
    write(folder, signals, windows=windows, card=card)
    return folder


def text(planned: Plan, at_once: int) -> str:
    """The plan for people, with the time of so many jobs at once."""
    seconds = planned.table["hours"] * 3600
    shown = planned.table.drop(columns="hours").rename(columns={"to_train": "to train"})
    lines = shown.assign(time=seconds.map(duration)).to_string(index=False).splitlines()
    whole = duration(seconds.iloc[-1] / at_once)
    lines += [f"Times are of one core or one GPU; {at_once} at a time take {whole}."]
    if planned.estimated:
        names = ", ".join(planned.estimated[:3]) + (", ..." if len(planned.estimated) > 3 else "")
        lines += [
            f"Nothing of {names} was trained yet: their times are of a core, by those that come with tsdg, "
            "scaled to this machine's speed. --probe measures here, on a GPU too."
        ]
    return "\n".join(lines)
