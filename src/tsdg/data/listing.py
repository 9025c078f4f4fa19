"""Lists that come with a kind of data and may be replaced: a csv, whose bad rows are all named at once."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from tsdg.errors import InputError


def read(path: Path, what: str, columns: Sequence[str], numbers: Sequence[str]) -> pd.DataFrame:
    """Read a list; what is no number in a column of numbers is missing.

    Parameters
    ----------
    path : Path
        A csv.
    what : str
        The list in words, for messages.
    columns : sequence of str
        That it needs; more are left as they are.
    numbers : sequence of str
        Those of them that hold numbers.

    Raises
    ------
    InputError
        If it is missing, unreadable, lacks a column or has no rows.
    """
    try:
        table = pd.read_csv(path)
    except FileNotFoundError:
        raise InputError(f"{path}: the {what} is missing; correct its path") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: unreadable as a {what} ({error}); make it a csv file") from None
    if missing := [name for name in columns if name not in table]:
        raise InputError(f"{path}: column {', '.join(missing)} missing; it needs {', '.join(columns)}")
    if table.empty:
        raise InputError(
            f"{path}: the {what} has no rows; fill it, or leave it out for the one that comes with tsdg"
        )
    for name in numbers:
        table[name] = pd.to_numeric(table[name], errors="coerce")
    return table


def check(path: Path, what: str, table: pd.DataFrame, faults: Mapping[str, pd.Series]) -> None:
    """Raise `InputError` for all rows with a fault: what is wrong in words, and where it is."""
    lines = [f"line {row + 2}: {text}" for text, bad in faults.items() for row in np.flatnonzero(bad)]
    if lines:
        raise InputError("\n  ".join([f"{path}: correct the {what}", *lines]))
