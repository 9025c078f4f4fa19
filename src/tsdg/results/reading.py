"""The records behind selected runs."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from tsdg.errors import InputError
from tsdg.runs.record import Checkpoint, Record, read
from tsdg.study.run import Run


def read_records(shown: pd.DataFrame, runs: str | Path) -> Iterator[tuple[Any, Record, Checkpoint]]:
    """Each row of selected runs, as a named tuple, with its record and the checkpoint that was selected.

    Raises
    ------
    InputError
        A record is damaged, of another run, or not what it was when it was selected.
    """
    for row in shown.itertuples():
        path = Path(runs) / row.record
        draw = row.draw if row.draw == "fixed" else int(row.draw)
        run = Run(row.dataset, row.variant, row.target, int(row.seed), draw)
        record = read(path, run) if path.exists() else None
        chosen = [c for c in record.checkpoints if c.iteration == row.iteration] if record else []
        if (
            not record
            or not chosen
            or not math.isclose(chosen[0].target.accuracy, row.accuracy, rel_tol=1e-9)
        ):
            raise InputError(
                f"{path}: the record is not what it was when its run was selected: run `tsdg select` again"
            )
        yield row, record, chosen[0]
