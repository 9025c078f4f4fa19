"""Laws that every training method keeps.

The package's own methods are tested by them, and a class from outside by `tsdg check-method`. A law takes a
`tsdg.methods.subject.Subject`, and raises `BrokenLaw` with what was seen and what to do.
"""

from __future__ import annotations

import inspect
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
import torch
from torch import Tensor

from tsdg import methods
from tsdg.errors import InputError
from tsdg.methods.base import LossesError
from tsdg.methods.plugins import told
from tsdg.methods.search import draw
from tsdg.methods.subject import (
    CLASSES,
    DOMAINS,
    ITERATIONS,
    NUMBERS,
    RUNS,
    SAMPLES,
    Subject,
    Trained,
    batch,
)

TOLERANCE = 1e-10
OTHER_SEED = (0, 9, 2)  # of run 1
FORWARD = ("joint", "per_domain")


class BrokenLaw(Exception):  # noqa: N818 - what a method breaks
    """A law that a method does not keep, and how that was seen."""


# ------------------------------------------------------------------------------------- laws of every setting


def losses_are_values_of_runs(subject: Subject) -> None:
    """`losses` has ``loss`` and, of everything in it, a floating-point value of each run."""
    try:
        trained = subject.train()
    except LossesError as error:
        raise BrokenLaw(error.what) from None
    if wrong := [name for name in trained.losses[0] if not isinstance(name, str)]:
        raise BrokenLaw(f"a key of `losses` is {wrong[0]!r}; give each component a text as its name")


def packed_is_alone(subject: Subject) -> None:
    """A run has the same losses and weights in a pack and alone."""
    packed = subject.train()
    for r in RUNS:
        _same(
            packed, subject.train((r,)), ("in a pack", "alone"), TOLERANCE,
            remedy="reduce over the trailing axes alone, never over the first, which is that of the runs",
        )  # fmt: skip


def divergence_is_alone(subject: Subject) -> None:
    """A run that diverges says so, and leaves the others of its pack as they are."""

    def infinite(iteration: int) -> tuple[Tensor, Tensor]:
        x, y = batch(iteration)
        if iteration > 0:
            x[1, 0, 0] = torch.inf
        return x, y

    beside = subject.train(batches=infinite)
    if beside.losses[-1]["loss"][1].isfinite():
        raise BrokenLaw("a run with infinite input has a finite 'loss': a divergence must not be hidden")
    _same(
        beside, subject.train((0, 2)), ("beside a run that diverges", "without it"), 1e-12,
        remedy="compute nothing from the values of several runs",
    )  # fmt: skip


def numbers_repeat(subject: Subject) -> None:
    """The same seeds give the same numbers to the bit, whatever else in the process draws at random."""
    with _global_seed(1):
        first = subject.train()
    with _global_seed(2):
        second = subject.train()
    _same(
        first, second, ("once", "again with the same seeds"), tolerance=0,
        remedy="draw from `self.streams` in `draws`, never from torch.rand or numpy.random",
    )  # fmt: skip


def draws_are_of_runs(subject: Subject) -> None:
    """Each run draws from a stream of its own seed: another seed changes its draws and no other run."""
    mine, other = subject.build(), subject.build(seeds=OTHER_SEED)
    changed, names = False, set()
    for _ in range(20):
        drawn, theirs = mine.draws(SAMPLES), other.draws(SAMPLES)
        names |= set(drawn)
        for name, value in drawn.items():
            if not isinstance(value, Tensor) or value.shape[:1] != (len(RUNS),):
                raise BrokenLaw(f"{name!r} of `draws` is no tensor whose first axis is that of the runs")
            same = [torch.equal(value[r], theirs[name][r]) for r in RUNS]
            if not (same[0] and same[2]):
                raise BrokenLaw(f"{name!r} of `draws` changes with the seed of another run")
            changed = changed or not same[1]
    if names and not changed:
        raise BrokenLaw("`draws` are the same for another seed: draw from `self.streams`")
    _same(
        subject.train(), subject.train(seeds=OTHER_SEED), ("beside one seed", "beside another"), TOLERANCE,
        remedy="draw for each run from its own of `self.streams`", runs=(0, 2),
    )  # fmt: skip


def evaluation_changes_nothing(subject: Subject) -> None:
    """Evaluating has no part in training, repeats, and is the same in a pack and alone."""
    x = batch(ITERATIONS)[0].flatten(1, 2)
    evaluated = subject.train(after=lambda method: method.logits(x))
    _same(
        evaluated, subject.train(), ("with evaluations", "without"), tolerance=0,
        remedy="what `predict` changes, no update may read",
    )  # fmt: skip
    logits, wanted = evaluated.method.logits(x), (len(RUNS), x.shape[1], CLASSES)
    if logits.shape != wanted:
        raise BrokenLaw(f"the logits of an evaluation have shape {tuple(logits.shape)}, not {wanted}")
    if not torch.equal(logits, evaluated.method.logits(x)):
        raise BrokenLaw("the logits of the same windows differ when they are asked for again")
    for r in RUNS:
        alone = subject.train((r,)).method.logits(x[r : r + 1])
        if not torch.allclose(logits[r], alone[0], rtol=TOLERANCE, atol=TOLERANCE):
            raise BrokenLaw(f"the logits of run {r} are others in a pack than alone")


def poor_batches_stay_finite(subject: Subject) -> None:
    """Losses and weights stay finite where a batch lacks classes, domains or samples."""
    for situation, (domains, size, labels) in POOR.items():
        try:
            method = subject.build(domains=domains)
        except InputError:  # so few domains are refused
            continue
        for iteration in range(2):
            x, y = batch(iteration, domains=domains, size=size)
            for name, value in method.update(x, labels(y)).items():
                if not value.isfinite().all():
                    raise BrokenLaw(f"{situation}: {name!r} is {value.tolist()}")
        for name, value in method.state_dict().items():
            if not value.isfinite().all():
                raise BrokenLaw(f"{situation}: {name} is no longer finite")


POOR: dict[str, tuple[int, int, Callable[[Tensor], Tensor]]] = {
    "a domain lacks a class": (
        DOMAINS, SAMPLES, lambda y: torch.cat([y[:, :1].clamp(max=CLASSES - 2), y[:, 1:]], dim=1),
    ),
    "two domains": (2, SAMPLES, lambda y: y),
    "one class only": (DOMAINS, SAMPLES, torch.zeros_like),
    "batches of two": (DOMAINS, 2, lambda y: y),
    "two domains without a common class": (
        2, SAMPLES, lambda y: torch.arange(2).view(1, 2, 1).expand_as(y).contiguous(),
    ),
}  # fmt: skip


def kept_is_json(subject: Subject) -> None:
    """What the record keeps of the training can be written as JSON."""
    method = subject.train().method
    for r in RUNS:
        kept = method.kept(r, [f"domain {d}" for d in range(DOMAINS)])
        try:
            fine = isinstance(kept, dict) and json.loads(json.dumps(kept, allow_nan=False)) == kept
        except (TypeError, ValueError):
            fine = False
        if not fine:
            raise BrokenLaw(f"`kept` gives {kept!r:.60}, which is no dictionary of texts, numbers and lists")


# ------------------------------------------------------------------------------------------ laws of a method


def forward_counts(subject: Subject) -> None:
    """Batch normalization joint and per domain both train, and give different numbers."""
    if not _differ(*(replace(subject, forward=forward) for forward in FORWARD)):
        raise BrokenLaw(
            "`forward` makes no difference: let the training batch pass `self.features`, which follows it"
        )


def hyperparameters_count(subject: Subject) -> None:
    """Every hyperparameter is finite in all draws, and changes a training in some settings."""
    search = methods.declaration(subject.name).search
    for name, distribution in search.items():
        drawn = [draw(search, number, seed=0, method=subject.name)[name] for number in range(20)]
        if not np.isfinite(drawn).all():
            raise BrokenLaw(f"hyperparameter {name!r}: a draw of {distribution} is not finite")
        low, high = distribution.ends
        values = (low, high) if low != high else (low, 2 * low + 1)
        if not any(_counts(choice, name, values) for choice in subject.choices()):
            raise BrokenLaw(
                f"hyperparameter {name!r}: {values[0]:g} and {values[1]:g} give the same numbers in "
                f"{ITERATIONS} iterations: use `self.hparams[{name!r}]`, or leave it out of `search`"
            )


def options_count(subject: Subject) -> None:
    """Every value of an option trains, and any two of them give different numbers in some settings."""
    for option, values in methods.declaration(subject.name).options.items():
        for first, second in combinations(NUMBERS if values is int else values, 2):
            pairs = (
                (choice.choosing({option: first}), choice.choosing({option: second}))
                for choice in subject.choices()
            )
            if not any(one and other and _differ(one, other) for one, other in pairs):
                raise BrokenLaw(
                    f"option {option!r}: {first!r} and {second!r} give the same numbers in "
                    f"{ITERATIONS} iterations"
                )


Law = Callable[[Subject], None]
OF_SETTINGS: dict[str, Law] = {
    "losses are a value of each run": losses_are_values_of_runs,
    "a run is the same in a pack and alone": packed_is_alone,
    "a run that diverges leaves the others as they are": divergence_is_alone,
    "the same seeds give the same numbers": numbers_repeat,
    "each run draws from the stream of its own seed": draws_are_of_runs,
    "evaluation changes nothing": evaluation_changes_nothing,
    "poor batches stay finite": poor_batches_stay_finite,
    "what the record keeps is JSON": kept_is_json,
}
OF_METHODS: dict[str, Law] = {
    "joint and per-domain batch normalization both train": forward_counts,
    "every hyperparameter counts": hyperparameters_count,
    "every option counts": options_count,
}


@dataclass(frozen=True)
class Verdict:
    """Whether a law is kept: `problem` says how it is not. A law may also not have been tried."""

    law: str
    problem: str | None = None
    tried: bool = True

    def __str__(self) -> str:
        if not self.tried:
            return f"not tried: {self.law}"
        return f"passed: {self.law}" if self.problem is None else f"FAILED: {self.law}\n    {self.problem}"


def verdicts(name: str) -> Iterator[Verdict]:
    """Try all laws on a method, with each value of its options and both modes of batch normalization.

    Where losses are no values of the runs, no other law is tried.
    """
    subject = Subject.drawn(name)
    modes = [None, *(mode for mode in FORWARD if mode != methods.declaration(name).forward_default)]
    settings = [replace(choice, forward=mode) for mode in modes for choice in subject.choices()]
    senseless = False
    for law, keeps in (OF_SETTINGS | OF_METHODS).items():
        if senseless:
            yield Verdict(law, tried=False)
            continue
        problems = (_problem(keeps, tried) for tried in (settings if law in OF_SETTINGS else [subject]))
        problem = next(filter(None, problems), None)
        senseless = problem is not None and keeps is losses_are_values_of_runs
        yield Verdict(law, problem)


def _problem(keeps: Law, subject: Subject) -> str | None:
    try:
        keeps(subject)
    except BrokenLaw as broken:
        words = str(broken)
    except Exception as error:
        words = told(error, inspect.getfile(methods.get(subject.name)))
    else:
        return None
    return f"{words} (with {subject})" if str(subject) else words


def _counts(subject: Subject, name: str, values: tuple[float, float]) -> bool:
    """Whether a hyperparameter changes a training, the others at their defaults, least or greatest values.

    Of four sources, where three show no difference: a share of them may be what the values tell apart.
    """
    search = methods.declaration(subject.name).search
    settings = (
        {key: distribution.default for key, distribution in search.items()},
        *({key: distribution.ends[end] for key, distribution in search.items()} for end in (0, 1)),
    )
    for domains, others in product((DOMAINS, DOMAINS + 1), settings):
        pair = ({key: [value] for key, value in {**others, name: value}.items()} for value in values)
        if _differ(*(replace(subject, hparams=hparams, domains=domains) for hparams in pair)):
            return True
    return False


def _differ(first: Subject, second: Subject) -> bool:
    """Whether run 0 trains to other numbers."""
    one, other = (subject.train((0,)).state for subject in (first, second))
    return any(not torch.equal(one[name].nan_to_num(), other[name].nan_to_num()) for name in one)


def _same(
    first: Trained,
    second: Trained,
    where: tuple[str, str],
    tolerance: float,
    remedy: str,
    runs: Sequence[int] | None = None,
) -> None:
    """Raise `BrokenLaw` unless runs, by default all that both have, have the same losses and state."""

    def compare(when: str, ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor]) -> None:
        for run in runs or [run for run in first.runs if run in second.runs]:
            for name, values in ours.items():
                one, other = values[first.runs.index(run)], theirs[name][second.runs.index(run)]
                if not torch.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True):
                    far = (one - other).abs().argmax()
                    numbers = (f"{float(part.flatten()[far]):.9g}" for part in (one, other))
                    here, there = (f"{number} {which}" for number, which in zip(numbers, where, strict=True))
                    raise BrokenLaw(f"{name!r} of a run is {here} and {there}, {when}: {remedy}")

    for iteration, (ours, theirs) in enumerate(zip(first.losses, second.losses, strict=True)):
        compare(f"at iteration {iteration}", ours, theirs)
    compare(f"after {ITERATIONS} iterations", first.state, second.state)


@contextmanager
def _global_seed(seed: int) -> Iterator[None]:
    """The generators that a whole process shares, seeded, and afterwards as they were."""
    python, numpy = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        np.random.seed(seed)
        random.seed(seed)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)
