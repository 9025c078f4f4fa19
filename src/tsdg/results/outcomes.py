"""What selection needs of the records: of each run its validation, checkpoint and metrics, under a policy.

What judges a run is by the policy (`tsdg.study.selection.Selection`): accuracy, or another metric, on windows
of the sources that training set apart, their mean or the worst source's; on each source by the training that
left it out (`tsdg.study.folds`); or, of the oracle, on the target.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Literal

import numpy as np

from tsdg.errors import InputError
from tsdg.runs.record import Checkpoint, Record, Scores, read
from tsdg.study.folds import Fold, Folds
from tsdg.study.metric import METRICS
from tsdg.study.reading import Reading
from tsdg.study.run import Run, run_path
from tsdg.study.selection import DEFAULT, ORACLE, WORST, Selection

# Of a training that diverged, for a metric of which less is better; of the others it is 0.
NOTHING = {"brier": 2.0, "nll": -float(np.log(np.finfo(np.float64).eps))}

IsCurrent = Callable[[Run, Record], bool]
Reader = Callable[[Path, Run], Record]
Readings = Mapping[str, Reading]  # of rows that are derived of others


@dataclass(frozen=True)
class Outcome:
    """A run of a row, as selection sees it, and the path of its record."""

    run: Run
    record: str
    finished: bool
    validation: float
    iteration: int | None
    metrics: dict[str, float | None]
    protocol: str
    iterations: int
    simulated: bool
    fingerprint: str


def outcomes(
    runs: Iterable[Run],
    folder: str | Path,
    *,
    selection: Selection = DEFAULT,
    checkpoint: Literal["last", "best"] = "last",
    current: IsCurrent = lambda run, record: True,
    folds: Folds = MappingProxyType({}),
    readings: Readings = MappingProxyType({}),
    reader: Reader = read,
) -> list[Outcome]:
    """The outcomes of the runs with a record that counts; parameters are those of `selection.select`."""

    def found(run: Run) -> Record | None:
        return seen(run, Path(folder), readings.get(run.variant), current, reader)

    every = (_outcome(run, found, selection, checkpoint, readings, folds.get(run, ())) for run in runs)
    return [outcome for outcome in every if outcome is not None]


def _outcome(
    run: Run,
    found: Callable[[Run], Record | None],
    selection: Selection,
    checkpoint: str,
    readings: Readings,
    folds: Sequence[Fold],
) -> Outcome | None:
    record = found(run)
    judging = [(fold, judge) for fold in folds if (judge := found(fold.run))]
    if record is None or len(judging) < len(folds):
        return None
    path = run_path(record.run)
    config, data = record.config, record.data
    facts = (config["protocol"], config["iterations"], data.simulated, data.fingerprint)
    if not record.finished:
        return Outcome(run, path, False, float("nan"), None, dict.fromkeys(METRICS), *facts)
    taken = chosen(record, selection, checkpoint)
    validation = judged(record, taken, selection)
    if folds:
        validation = fmean(value for pair in judging for value in _left_out(*pair, selection, checkpoint))
    metrics = {name: getattr(taken.target, name) for name in METRICS} | {"windows": taken.target.n}
    return Outcome(run, path, True, validation, taken.iteration, metrics, *facts)


def seen(
    run: Run,
    folder: Path,
    reading: Reading | None = None,
    current: IsCurrent = lambda run, record: True,
    reader: Reader = read,
) -> Record | None:
    """The record of a row's run, if there is one that counts, with what the row shows in its checkpoints."""
    trained = replace(run, variant=reading.variant) if reading else run
    path = folder / run_path(trained)
    record = reader(path, trained) if path.exists() else None
    if record is None or not current(run, record):
        return None
    return record.of_weights(reading.weights) if reading else record


def chosen(record: Record, selection: Selection, checkpoint: str) -> Checkpoint:
    """The checkpoint that counts: the last, or the best, of which the earliest, by what judges a run.

    The oracle's is the last, as DomainBed has it: whoever may look at the target once may not stop by it.
    """
    if checkpoint == "last" or selection.policy == ORACLE:
        return record.checkpoints[-1]
    return max(record.checkpoints, key=lambda one: selection.better(judged(record, one, selection)))


def judged(record: Record, checkpoint: Checkpoint, selection: Selection) -> float:
    """What a checkpoint's own numbers say of it, in the metric as recorded."""
    if selection.policy == ORACLE:
        return _value(record, record.run.target, checkpoint.target, selection)
    values = [_value(record, *scored, selection) for scored in checkpoint.validation.items()]
    return min(values, key=selection.better) if selection.policy == WORST else fmean(values)


def _left_out(fold: Fold, record: Record, selection: Selection, checkpoint: str) -> list[float]:
    """What a fold reaches on each source that it leaves out; of what else it holds out, nothing."""
    if not record.finished:
        return [NOTHING.get(selection.metric, 0.0)] * len(fold.left_out)
    scores = chosen(record, selection, checkpoint).target.domains
    if lacking := [domain for domain in fold.left_out if domain not in scores]:
        raise InputError(
            f"{run_path(fold.run)}: the record has no accuracy on {', '.join(lacking)}, by which "
            "hyperparameters are judged; delete it and train it again"
        )
    return [_value(record, domain, scores[domain], selection) for domain in fold.left_out]


def _value(record: Record, domain: str, scores: Scores, selection: Selection) -> float:
    value: float | None = getattr(scores, selection.metric)
    if value is None:
        raise InputError(
            f"{run_path(record.run)}: the record has no {selection.metric} on {domain}, by which runs are to "
            "be selected: it is from before this was kept, or a class is not there; train it again, or "
            "select by another metric"
        )
    return value
