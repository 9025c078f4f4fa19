"""Records taken over by edited code, after some of their runs gave the same numbers once more.

An edit may change the fingerprint of the code and yet no number. Of every variant whose records are outdated
by their code alone, some runs are trained again, up to their first evaluation. Where all that they recorded
until then agrees, the records are stamped with the new fingerprint, and so is what Snakemake knows of them:
nothing runs again. What an edit changes later in a training is not seen, unless whole runs are trained.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import torch
from threadpoolctl import threadpool_limits

from tsdg import methods
from tsdg.data import toy
from tsdg.data.integrity import load_checked
from tsdg.errors import InputError
from tsdg.files import atomic
from tsdg.methods import estimators
from tsdg.methods.plugins import blamed
from tsdg.runs import estimation, training
from tsdg.runs.compact import compacted, expanded
from tsdg.runs.current import STAGING, CurrentRecords
from tsdg.runs.provenance import check_idle, is_known, replace_param
from tsdg.runs.recipe import Recipe
from tsdg.runs.record import Record, read
from tsdg.runs.writing import plain, sealed
from tsdg.study.run import Run, run_path

SAME = ("device", "device_name", "torch", "numpy", "threads")  # of two machines that give the same bits
LOSSES, ACCURACIES = 0.01, 0.05  # tolerance on other machines: relative, of the first losses; absolute

Tree = dict[str, Any]


class Outdated(NamedTuple):
    """A record that is outdated by its code alone.

    Attributes
    ----------
    path : Path
    run : Run
    record : Record
    recipe : Recipe
        What would be trained today.
    """

    path: Path
    run: Run
    record: Record
    recipe: Recipe

    @property
    def code(self) -> str:
        """Fingerprint of the code that it was trained by."""
        return self.record.code.fingerprint

    @property
    def first(self) -> int:
        """Iteration of the first evaluation or, without one, of the last losses."""
        evaluated = [checkpoint.iteration for checkpoint in self.record.checkpoints]
        return [*evaluated, *(int(step or 0) for step in self.record.losses["iteration"][::-1]), 0][0]

    def contents(self) -> Tree:
        """All of it."""
        return json.loads(self.path.read_bytes())


def adopt(
    runs: Iterable[Run],
    found: CurrentRecords,
    toy_train: Callable[[Run, Mapping[str, Any], Mapping[str, float]], Tree],
    *,
    size: int = 2,
    whole: bool = False,
    dry_run: bool = False,
    root: Path = Path(),
    say: Callable[[str], None] = print,
) -> str:
    """Stamp the records of some runs that are outdated by their code alone, if a sample agrees.

    Parameters
    ----------
    runs : iterable of Run
    found : CurrentRecords
    toy_train : callable
        `tsdg.toy.train.train`.
    size : int
        Runs that are trained again, of each variant.
    whole : bool
        Train them to the end, not to the first evaluation.
    dry_run : bool
        Change nothing.
    root : Path
        Where Snakemake works.
    say : callable
        Gets a line for each run that agrees.

    Returns
    -------
    str
        What was done.

    Raises
    ------
    InputError
        A run gives other numbers: nothing is changed.
    """
    check_idle(root)
    records = outdated(runs, found)
    if not records:
        return "no record is outdated by its code alone"
    known = sum(is_known(root, one.path) for one in records)
    chosen = sample(records, size)
    for number, one in enumerate(chosen, start=1):
        clock = perf_counter()
        until = None if whole else one.first
        agreed, problem = compared(one.contents(), _trained(one, found, toy_train, until), until)
        if problem:
            raise InputError(
                f"{one.path}: {problem}. Nothing is adopted: undo the edit if it should change no number, or "
                "let the same snakemake command train again"
            )
        say(f"{number} of {len(chosen)}: {one.path}: {agreed} ({perf_counter() - clock:.1f} s)")
    what = f"{len(records)} records, {known} of them known to Snakemake"
    if dry_run:
        return f"{what}, can be adopted; nothing is changed"
    check_idle(root)
    for one in records:
        stamp(one, root)
    return f"{what}, are adopted"


def outdated(runs: Iterable[Run], found: CurrentRecords) -> list[Outdated]:
    """Records of some runs, and those kept for them, that are outdated by their code alone.

    Damaged ones are left to others.
    """
    records = []
    for run in dict.fromkeys(runs):
        for path in (found.runs / run_path(run), found.runs / STAGING / run_path(run)):
            if not path.exists():
                continue
            try:
                record = read(path, run)
            except InputError:
                continue
            today, recorded = found.recipes.of(run), record.recipe
            if today.code != recorded.code and not today.difference(replace(recorded, code=today.code)):
                records.append(Outdated(path, run, record, today))
    return records


def sample(records: Iterable[Outdated], size: int) -> list[Outdated]:
    """So many records of each variant and code, spread over targets, seeds and draws."""
    alike: dict[tuple[str, str, str], list[Outdated]] = {}
    for one in records:
        alike.setdefault((one.run.dataset, one.run.variant, one.code), []).append(one)
    chosen: list[Outdated] = []
    for number, group in enumerate(alike.values()):
        group.sort(key=lambda one: one.run)
        step = max(1, len(group) // size)
        chosen += group[number % step :: step][:size]
    return chosen


def _trained(
    one: Outdated, found: CurrentRecords, toy_train: Callable[..., Tree], until: int | None
) -> Mapping[str, Any]:
    """The record of a run trained again, on the device of the first time if it is there."""
    run, config, hparams = one.run, one.recipe.config, one.recipe.hparams
    machine = one.contents()["machine"]
    threads = machine.get("threads", 1)
    torch.set_num_threads(threads)
    if run.dataset == toy.NAME:
        return toy_train(run, config, hparams)
    folder = found.data / found.recipes.study.prepared(run.dataset)
    prepared = load_checked(folder)
    groups = found.recipes.study.groups(run.dataset, [run.target])
    if config["method"] == estimators.METHOD:
        with threadpool_limits(threads):
            return estimation.train(prepared, [run], config, [hparams], folder=folder, groups=groups)[0]
    device = "cuda" if machine["device"] == "cuda" and torch.cuda.is_available() else "cpu"
    with blamed(methods.get(config["method"]), config["method"]):
        return training.train(prepared, [run], config, [hparams], device=device, until=until, groups=groups)[
            0
        ]


def compared(old: Mapping[str, Any], new: Mapping[str, Any], until: int | None) -> tuple[str, str | None]:
    """In what two records agree up to an iteration, and the first number in which they do not, in words.

    All numbers must be equal if the records were made alike, on machines of one kind. Otherwise the losses of
    the first interval and the accuracies must be close. A metric that records did not hold then is no
    difference.
    """
    ours, theirs = _numbers(_as_read(old), until), _numbers(_as_read(new), until)
    equal = old["timing"]["runs_at_once"] == new["timing"]["runs_at_once"] == 1 and all(
        old["machine"].get(key) == new["machine"][key] for key in SAME
    )
    other = "" if equal else ", on another kind of machine"
    steps = old["losses"]["iteration"]
    for place in sorted(ours.keys() | theirs.keys()):
        step, name = place
        if name.startswith("losses.") and step not in steps:
            continue  # an interval that ends where the training was stopped
        if place not in ours and name.startswith(("validation.", "target.")):
            continue
        if place not in ours or place not in theirs:
            return "", f"{name} at iteration {step} is {'new' if place in theirs else 'no longer there'}"
        a, b = ours[place], theirs[place]
        if not (a == b if equal else _is_close(name, a, b, is_first=step in steps[:1])):
            return "", f"{name} at iteration {step} was {a!r} and is {b!r}{other}"
    end = max(step for step, _ in ours)
    return f"as it was up to iteration {end}, {'to the bit' if equal else 'nearly'}{other}", None


def _as_read(record: Mapping[str, Any]) -> Tree:
    """A record, or what a file of any format holds, with the digits that files hold today."""
    return expanded(compacted(expanded(plain(record))))


def _is_close(name: str, a: Any, b: Any, *, is_first: bool) -> bool:
    """Whether two values are close enough for two kinds of machines; most are not compared."""
    if name.startswith("losses.") and is_first and a is not None and b is not None:
        return math.isclose(a, b, rel_tol=LOSSES, abs_tol=1e-3)
    if name.endswith(".accuracy"):
        return abs(a - b) <= ACCURACIES
    return True


def _numbers(record: Tree, until: int | None) -> dict[tuple[int, str], Any]:
    """What a record holds of its training up to an iteration, by iteration and name."""
    losses = dict(record["losses"])
    steps = losses.pop("iteration")
    found = {
        (step, f"losses.{name}"): value
        for name, values in losses.items()
        for step, value in zip(steps, values, strict=True)
    }
    for checkpoint in record["checkpoints"]:
        step = checkpoint["iteration"]
        found |= {(step, name): value for name, value in _leaves(checkpoint) if "probabilities" not in name}
    for update in record.get("neighbours", []):  # of the update before which so many iterations were done
        found |= {(update["iteration"] + 1, f"neighbours.{name}"): of for name, of in update["of"].items()}
    end = record["checkpoints"][-1]["iteration"] if record["checkpoints"] else 0
    found |= {(end, f"divergence.{name}"): value for name, value in _leaves(record.get("divergence", {}))}
    for name in ("diverged_at", "stopped_at"):
        if record.get(name) is not None:
            found[record[name], name] = record[name]
    return {(step, name): value for (step, name), value in found.items() if until is None or step <= until}


def _leaves(tree: Any) -> Iterator[tuple[str, Any]]:
    """Values inside of a tree, each with the keys that lead to it."""
    if isinstance(tree, dict | list):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            for name, leaf in _leaves(value):
                yield f"{key}.{name}".rstrip("."), leaf
    else:
        yield "", tree


def stamp(one: Outdated, root: Path) -> None:
    """Have a record be of today's code, and first what Snakemake knows of it: a kill in between is no harm.

    The record keeps by what code it was trained, and its time: what is made of it need not be made again.
    """
    replace_param(root, one.path, one.code, one.recipe.code)
    contents, times = one.contents(), one.path.stat()
    contents["code"] = {"adopted_from": one.code, **contents["code"], "fingerprint": one.recipe.code}
    with atomic(one.path) as temporary:
        temporary.write_text(sealed(contents), encoding="utf-8")
        os.utime(temporary, ns=(times.st_atime_ns, times.st_mtime_ns))
