"""The records behind selected runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from tsdg import records


def read_records(shown: pd.DataFrame, runs: str | Path) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Each row of selected runs, as a named tuple, with its record from the folder of records."""
    for row in shown.itertuples():
        yield row, records.read(Path(runs) / row.record)
