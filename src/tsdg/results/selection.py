"""Model selection: which draw stands for a variant, by a policy, from run records alone.

For every (data set, variant, target) two rules are applied:

per_seed
    For each seed the draw with the best validation, see `tsdg.results.outcomes`.
shared
    One draw for all seeds: the best mean of that number over the seeds. A draw that finished for more seeds
    goes before one that finished for fewer, so that no draw wins by the seeds it lacks; a seed in which the
    shared draw is missing or diverged says so.

Ties go to the lower draw number ("fixed" before numbers). A diverged run ranks last: it is selected only
where every draw diverged, and then has no metrics.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import fsum
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd

from tsdg.errors import InputError
from tsdg.results.ensembles import named, target_scores
from tsdg.results.outcomes import IsCurrent, Outcome, Reader, Readings, outcomes
from tsdg.results.reading import member
from tsdg.results.selected import COLUMNS, TYPES, in_order
from tsdg.runs.record import read
from tsdg.study.folds import Folds
from tsdg.study.metric import METRICS
from tsdg.study.reading import LAST
from tsdg.study.run import Run, draw_order
from tsdg.study.selection import DEFAULT, Selection


def select(
    runs: Iterable[Run],
    folder: str | Path,
    *,
    selection: Selection = DEFAULT,
    checkpoint: Literal["last", "best"] = "last",
    current: IsCurrent = lambda run, record: True,
    settings: Mapping[tuple[str, str], str] = MappingProxyType({}),
    untaught: Mapping[tuple[str, str], str] = MappingProxyType({}),
    one_for_all: bool = True,
    folds: Folds = MappingProxyType({}),
    readings: Readings = MappingProxyType({}),
    reader: Reader = read,
) -> pd.DataFrame:
    """Apply both rules to the records found of the expected runs.

    Parameters
    ----------
    runs
        The expected runs; records of others are ignored, absent records allowed.
    folder
        Where the records lie, each at `run_path` below it.
    selection
        The policy.
    checkpoint
        ``last``, or ``best``: the run's with the best validation, see `tsdg.results.outcomes.chosen`.
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
        as good as absent; one that diverged has accuracy 0, or what is worst of another metric.
    readings
        What rows that are derived of others show, see `tsdg.study.study.Study.readings`.
    reader
        Reads a record, as `tsdg.runs.record.read` does.

    Returns
    -------
    DataFrame
        One row for each rule, data set, variant, target and seed, sorted. ``status`` is ``finished``,
        ``diverged`` (no metrics) or ``missing`` (no record; no metrics). ``validation`` is in the metric of
        the ``selection``. Accuracies, ECE and AUC are fractions, of so many ``windows`` of the target;
        ``draws_found`` of ``draws_expected`` records exist,
        ``draws_diverged`` of the found diverged; ``record`` is the selected record's path below `folder`,
        and ``weights`` says which of its weights are meant. An ensemble has one row, of seed 0, which counts
        the draws of all seeds, and whose ``record`` names the members, see `tsdg.results.ensembles.named`.

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
        found = outcomes(
            expected, folder, selection=selection, checkpoint=checkpoint, current=current, folds=folds,
            readings=readings, reader=reader,
        )  # fmt: skip
        _check_alike(found, Path(folder))
        shared = shared_draw(found, selection)
        dataset, variant, target = expected[0].dataset, expected[0].variant, expected[0].target
        reading = readings.get(variant)
        about = {
            "weights": reading.weights if reading else LAST,
            "settings": settings.get((dataset, variant), ""),
            "untaught": untaught.get((dataset, target), ""),
            "selection": selection.name,
        }
        of_seeds: dict[str, list[Outcome | None]] = {}
        for seed, members in groupby(expected, key=lambda run: run.seed):
            seed_runs = list(members)
            seed_found = [o for o in found if o.run.seed == seed]
            best = min(seed_found, key=lambda outcome: _rank(outcome, selection), default=None)
            same = next((o for o in seed_found if o.run.draw == shared), None)
            for rule, chosen in (("per_seed", best), ("shared", same))[: 1 + one_for_all]:
                of_seeds.setdefault(rule, []).append(chosen)
                if not (reading and reading.ensemble):
                    rows.append(_row(rule, seed_runs, seed_found, chosen) | about)
        if reading and reading.ensemble:
            rows += [
                _ensemble_row(rule, expected, found, chosen, reading.weights, Path(folder)) | about
                for rule, chosen in of_seeds.items()
            ]
    return in_order(pd.DataFrame(rows, columns=list(COLUMNS)).astype(TYPES))


def _rank(outcome: Outcome, selection: Selection) -> tuple:
    """Smallest is best."""
    return (
        not outcome.finished,
        -selection.better(outcome.validation) if outcome.finished else 0.0,
        draw_order(outcome.run.draw),
    )


def shared_draw(found: Sequence[Outcome], selection: Selection) -> int | str | None:
    """The draw that finished most often and, of such, has the best mean validation."""
    finished: dict[int | str, list[float]] = {o.run.draw: [] for o in found}
    for outcome in found:
        if outcome.finished:
            finished[outcome.run.draw].append(outcome.validation)

    def rank(draw: int | str) -> tuple:
        values = finished[draw]
        mean = fsum(values) / max(len(values), 1)
        return -len(values), -selection.better(mean), draw_order(draw)

    return min(finished, key=rank, default=None)


def _check_alike(found: Sequence[Outcome], folder: Path) -> None:
    for other in found[1:]:
        first = found[0]
        for what in ("iterations", "fingerprint", "simulated"):
            if getattr(first, what) != getattr(other, what):
                raise InputError(
                    f"{folder / first.record} and {folder / other.record} cannot be compared: "
                    f"their {'' if what == 'iterations' else 'data '}{what} differ "
                    f"({getattr(first, what)!r}, {getattr(other, what)!r}). Delete the outdated one."
                )


def _row(rule: str, runs: Sequence[Run], found: Sequence[Outcome], chosen: Outcome | None) -> dict[str, Any]:
    run = runs[0]
    row = {
        "rule": rule,
        "dataset": run.dataset,
        "variant": run.variant,
        "target": run.target,
        "seed": run.seed,
        "draw": "",
        "iteration": None,
        "validation": None,
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
        "validation": chosen.validation,
        **chosen.metrics,
        "status": "finished" if chosen.finished else "diverged",
        "protocol": chosen.protocol,
        "simulated": chosen.simulated,
        "record": chosen.record,
    }


def _ensemble_row(
    rule: str,
    runs: Sequence[Run],
    found: Sequence[Outcome],
    chosen: Sequence[Outcome | None],
    weights: str,
    folder: Path,
) -> dict[str, Any]:
    """Of the runs that are chosen of each seed, those that are at hand as one."""
    there = [outcome for outcome in chosen if outcome is not None]
    finished = [outcome for outcome in there if outcome.finished]
    whole = there[0] if there else None
    if finished:
        scores = target_scores([member(o.record, o.iteration, weights, folder) for o in finished])
        whole = replace(
            finished[0],
            validation=fmean(outcome.validation for outcome in finished),
            metrics={name: getattr(scores, name) for name in METRICS} | {"windows": scores.n},
            record=named((outcome.record, outcome.iteration) for outcome in finished),
        )
    draws = ";".join(dict.fromkeys(str(outcome.run.draw) for outcome in finished))
    return _row(rule, runs, found, whole) | {"seed": 0} | ({"draw": draws} if finished else {})
