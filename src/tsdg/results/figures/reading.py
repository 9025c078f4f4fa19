"""The records behind selected runs."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from tsdg.errors import InputError
from tsdg.runs import record as records
from tsdg.study.run import Run


def read_records(
    shown: pd.DataFrame, runs: str | Path
) -> Iterator[tuple[Any, dict[str, Any], dict[str, Any]]]:
    """Each row of selected runs, as a named tuple, with its record and the checkpoint that was selected.

    Raises
    ------
    InputError
        A record is damaged, of another run, or not what it was when it was selected.
    """
    for row in shown.itertuples():
        path = Path(runs) / row.record
        record = records.read(path) if path.exists() else {"checkpoints": []}
        chosen = [c for c in record["checkpoints"] if c["iteration"] == row.iteration]
        if not chosen or not math.isclose(chosen[0]["target"]["accuracy"], row.accuracy, rel_tol=1e-9):
            raise InputError(
                f"{path}: the record is not what it was when its run was selected: run `tsdg select` again"
            )
        draw = row.draw if row.draw == "fixed" else int(row.draw)
        records.check_run(path, record, Run(row.dataset, row.variant, row.target, int(row.seed), draw))
        yield row, record, chosen[0]
