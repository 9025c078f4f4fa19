"""Model selection: which draw stands for a variant, by validation on the sources, from run records alone.

For every (data set, variant, target) two rules are applied:

per_seed
    For each seed the draw with the best mean over sources of validation accuracy.
shared
    One draw for all seeds: the best mean of that number over the seeds. A draw that finished for more seeds
    goes before one that finished for fewer, so that no draw wins by the seeds it lacks; a seed in which the
    shared draw is missing or diverged says so.

That validation is accuracy on windows of the sources that training set apart or, where sources are left out
in turn (`tsdg.study.folds`), on each source by the training that left it out.

Ties go to the lower draw number ("fixed" before numbers). A diverged run ranks last: it is selected only
where every draw diverged, and then has no metrics.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import fsum
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd

from tsdg.errors import InputError
from tsdg.results.selected import COLUMNS, TYPES, in_order
from tsdg.runs.record import Checkpoint, Record, read
from tsdg.study.folds import Fold, Folds
from tsdg.study.metric import METRICS
from tsdg.study.run import Run, draw_order, run_path


@dataclass(frozen=True)
class _Outcome:
    """What selection needs of one record."""

    run: Run
    finished: bool
    validation: float
    iteration: int | None
    metrics: dict[str, float | None]
    protocol: str
    iterations: int
    simulated: bool
    fingerprint: str


def select(
    runs: Iterable[Run],
    folder: str | Path,
    *,
    checkpoint: Literal["last", "best"] = "last",
    current: Callable[[Run, Record], bool] = lambda run, record: True,
    settings: Mapping[tuple[str, str], str] = MappingProxyType({}),
    untaught: Mapping[tuple[str, str], str] = MappingProxyType({}),
    one_for_all: bool = True,
    folds: Folds = MappingProxyType({}),
) -> pd.DataFrame:
    """Apply both rules to the records found of the expected runs.

    Parameters
    ----------
    runs
        The expected runs; records of others are ignored, absent records allowed.
    folder
        Where the records lie, each at `run_path` below it.
    checkpoint
        ``last``, or ``best``: the checkpoint of the run with the best mean source-validation accuracy
        (a tie: the earlier).
    current
        Whether a run's record counts. One that does not, such as one of settings that have changed since, is
        as good as absent.
    settings
        What the runs of a data set and variant are selected under, see `tsdg.study.settings.of_table`.
    untaught
        Classes that no source has where a target of a data set is held out, see
        `tsdg.results.untaught.of_table`.
    one_for_all
        Whether the draws of different seeds are the same, so that the second rule has a meaning.
    folds
        The trainings that judge a run in place of its own validation. A run that lacks the record of one is
        as good as absent; one that diverged has accuracy 0.

    Returns
    -------
    DataFrame
        One row for each rule, data set, variant, target and seed, sorted. ``status`` is ``finished``,
        ``diverged`` (no metrics) or ``missing`` (no record; no metrics). Accuracies, ECE and AUC are
        fractions, of so many ``windows`` of the target; ``draws_found`` of ``draws_expected`` records exist,
        ``draws_diverged`` of the found diverged; ``record`` is the selected record's path below `folder`.

    Raises
    ------
    InputError
        A damaged record, one of another run, or records of one variant and target that were made by
        trainings of different length or from different data.
    """
    if checkpoint not in ("last", "best"):
        raise InputError(f"checkpoint {checkpoint!r}: use 'last' or 'best'.")
    rows: list[dict[str, Any]] = []
    for _, group in groupby(sorted(set(runs)), key=lambda run: run.order[:3]):
        expected = list(group)
        outcomes = (_outcome(run, Path(folder), checkpoint, current, folds.get(run, ())) for run in expected)
        found = [outcome for outcome in outcomes if outcome is not None]
        _check_alike(found, Path(folder))
        shared = _shared_draw(found)
        dataset, variant, target = expected[0].dataset, expected[0].variant, expected[0].target
        about = {
            "settings": settings.get((dataset, variant), ""),
            "untaught": untaught.get((dataset, target), ""),
        }
        for seed, members in groupby(expected, key=lambda run: run.seed):
            seed_runs = list(members)
            seed_found = [o for o in found if o.run.seed == seed]
            best = min(seed_found, key=_rank, default=None)
            same = next((o for o in seed_found if o.run.draw == shared), None)
            rows.append(_row("per_seed", seed_runs, seed_found, best) | about)
            if one_for_all:
                rows.append(_row("shared", seed_runs, seed_found, same) | about)
    return in_order(pd.DataFrame(rows, columns=list(COLUMNS)).astype(TYPES))


def _outcome(
    run: Run, folder: Path, checkpoint: str, current: Callable, folds: Sequence[Fold]
) -> _Outcome | None:
    record = _found(run, folder, current)
    judging = [(fold, judge) for fold in folds if (judge := _found(fold.run, folder, current))]
    if record is None or len(judging) < len(folds):
        return None
    config, data = record.config, record.data
    facts = (config["protocol"], config["iterations"], data.simulated, data.fingerprint)
    if not record.finished:
        return _Outcome(run, False, float("nan"), None, dict.fromkeys(METRICS), *facts)
    chosen = _chosen(record, checkpoint)
    validation = chosen.source_accuracy
    if folds:
        validation = fmean(score for pair in judging for score in _left_out(*pair, checkpoint))
    metrics = {name: getattr(chosen.target, name) for name in METRICS} | {"windows": chosen.target.n}
    return _Outcome(run, True, validation, chosen.iteration, metrics, *facts)


def _found(run: Run, folder: Path, current: Callable) -> Record | None:
    path = folder / run_path(run)
    record = read(path, run) if path.exists() else None
    return record if record and current(run, record) else None


def _chosen(record: Record, checkpoint: str) -> Checkpoint:
    best = max(record.checkpoints, key=lambda evaluated: evaluated.source_accuracy)
    return record.checkpoints[-1] if checkpoint == "last" else best


def _left_out(fold: Fold, record: Record, checkpoint: str) -> list[float]:
    """Accuracy on each source that a fold leaves out, and of what it holds out on nothing else."""
    if not record.finished:
        return [0.0] * len(fold.left_out)
    scores = _chosen(record, checkpoint).target.domains
    if lacking := [domain for domain in fold.left_out if domain not in scores]:
        raise InputError(
            f"{run_path(fold.run)}: the record has no accuracy on {', '.join(lacking)}, by which "
            "hyperparameters are judged; delete it and train it again"
        )
    return [scores[domain].accuracy for domain in fold.left_out]


def _rank(outcome: _Outcome) -> tuple:
    """Smallest is best."""
    return (
        not outcome.finished,
        -outcome.validation if outcome.finished else 0.0,
        draw_order(outcome.run.draw),
    )


def _shared_draw(found: Sequence[_Outcome]) -> int | str | None:
    finished: dict[int | str, list[float]] = {o.run.draw: [] for o in found}
    for outcome in found:
        if outcome.finished:
            finished[outcome.run.draw].append(outcome.validation)

    def rank(draw: int | str) -> tuple:
        values = finished[draw]
        return -len(values), -fsum(values) / max(len(values), 1), draw_order(draw)

    return min(finished, key=rank, default=None)


def _check_alike(found: Sequence[_Outcome], folder: Path) -> None:
    for other in found[1:]:
        first = found[0]
        for what in ("iterations", "fingerprint", "simulated"):
            if getattr(first, what) != getattr(other, what):
                raise InputError(
                    f"{folder / run_path(first.run)} and {folder / run_path(other.run)} cannot be compared: "
                    f"their {'' if what == 'iterations' else 'data '}{what} differ "
                    f"({getattr(first, what)!r}, {getattr(other, what)!r}). Delete the outdated one."
                )


def _row(
    rule: str, runs: Sequence[Run], found: Sequence[_Outcome], chosen: _Outcome | None
) -> dict[str, Any]:
    run = runs[0]
    row = {
        "rule": rule,
        "dataset": run.dataset,
        "variant": run.variant,
        "target": run.target,
        "seed": run.seed,
        "draw": "",
        "iteration": None,
        "validation_accuracy": None,
        "status": "missing",
        "draws_found": len(found),
        "draws_expected": len(runs),
        "draws_diverged": sum(not o.finished for o in found),
        "protocol": "",
        "simulated": None,
        "record": "",
    }
    if chosen is None:
        return row
    return row | {
        "draw": str(chosen.run.draw),
        "iteration": chosen.iteration,
        "validation_accuracy": chosen.validation,
        **chosen.metrics,
        "status": "finished" if chosen.finished else "diverged",
        "protocol": chosen.protocol,
        "simulated": chosen.simulated,
        "record": run_path(chosen.run),
    }
