"""The records behind selected runs."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from tsdg.errors import InputError
from tsdg.results.ensembles import AT, Member, members_of, target_scores
from tsdg.runs.record import Checkpoint, Record, read
from tsdg.study.run import parse_run_path


def read_records(shown: pd.DataFrame, runs: str | Path) -> Iterator[tuple[Any, Record, Checkpoint]]:
    """Each row of selected runs, as a named tuple, with its record and the checkpoint that was selected.

    Of an ensemble the record is its first member's, and the checkpoint's target that of all together.

    Raises
    ------
    InputError
        A record is damaged, of another run, or not what it was when it was selected.
    """
    for row in shown.itertuples():
        if AT in row.record:
            members = [member(*one, row.weights, Path(runs)) for one in members_of(row.record)]
            record, whole = members[0].record, target_scores(members)
            checkpoint = msgspec.structs.replace(members[0].checkpoint, target=whole)
        else:
            _, record, checkpoint = member(row.record, row.iteration, row.weights, Path(runs))
        alike = math.isclose(checkpoint.target.accuracy, row.accuracy, rel_tol=1e-9)
        if not alike or (record.run.dataset, record.run.target) != (row.dataset, row.target):
            raise _other(Path(runs) / row.record)
        yield row, record, checkpoint


def member(path: str, iteration: int | None, weights: str, runs: Path) -> Member:
    """A model that was selected, by its record's path below the folder of `runs`, and its iteration.

    Raises
    ------
    InputError
        The record is damaged, of another run, or not what it was.
    """
    place = runs / path
    record = read(place, parse_run_path(path)).of_weights(weights) if place.exists() else None
    chosen = [one for one in record.checkpoints if one.iteration == iteration] if record else []
    if not record or not chosen:
        raise _other(place)
    return Member(str(place), record, chosen[0])


def _other(path: Path) -> InputError:
    return InputError(
        f"{path}: the record is not what it was when its run was selected: run `tsdg select` again"
    )
