"""Lists that come with a kind of data and may be replaced: a csv, whose bad rows are all named at once."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from tsdg.errors import InputError

SHOWN = 10  # faults
COUNTABLE = 2**53  # up to which a float tells whole numbers apart


def read(path: Path, what: str, columns: Sequence[str], numbers: Sequence[str]) -> pd.DataFrame:
    """Read a list, each row by its line; what is no number in a column of numbers is missing.

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
        If it is missing, unreadable, lacks a column, has no rows, or one that is longer than the header.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            found = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except FileNotFoundError:
        raise InputError(f"{path}: the {what} is missing; correct its path") from None
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: unreadable as a {what} ({error}); make it a csv file") from None
    lines = {line: cells for line, cells in found if any(cells)}
    header = lines.pop(min(lines, default=0), [])
    if missing := [name for name in columns if header.count(name) != 1]:
        marks = [word for mark, word in ((";", "semicolons"), ("\t", "tabs")) if mark in "".join(header)]
        remedy = f"put commas in place of its {marks[0]}" if marks else f"it needs {', '.join(columns)}"
        raise InputError(f"{path}: column {', '.join(missing)} missing, or there twice; {remedy}")
    if longer := [line for line, cells in lines.items() if any(cells[len(header) :])]:
        raise InputError(
            f"{path}: line {longer[0]} ({len(longer)} in all) has more cells than the header; quote what has "
            "a comma, or give every column a name"
        )
    if not lines:
        raise InputError(
            f"{path}: the {what} has no rows; fill it, or leave it out for the one that comes with tsdg"
        )
    rows = [dict(zip(header, cells, strict=False)) for cells in lines.values()]
    table = pd.DataFrame(rows, index=list(lines), columns=list(dict.fromkeys(header))).fillna("")
    for name in numbers:
        table[name] = pd.to_numeric(table[name], errors="coerce")
    return table


def whole(values: pd.Series) -> pd.Series:
    """Which numbers are whole, not negative and there only once."""
    return (values % 1 == 0) & values.between(0, COUNTABLE) & ~values.duplicated(keep=False)


def check(path: Path, what: str, table: pd.DataFrame, faults: Mapping[str, pd.Series]) -> None:
    """Raise `InputError` for all rows with a fault: what is wrong in words, and where it is."""
    lines = [f"line {line}: {text}" for text, bad in faults.items() for line in table.index[bad]]
    if len(lines) > SHOWN:
        lines[SHOWN:] = [f"and {len(lines) - SHOWN} more"]
    if lines:
        raise InputError("\n  ".join([f"{path}: correct the {what}", *lines]))
