"""Which items of a chart are which vital sign, and their plausible range."""

from pathlib import Path

import numpy as np
import pandas as pd

from tsdg.errors import InputError

ITEMS = Path(__file__).with_name("items.csv")

_COLUMNS = ("itemid", "variable", "unit", "low", "high")


def read_items(path: str | Path | None = None) -> pd.DataFrame:
    """Read a table of items.

    Parameters
    ----------
    path : path, optional
        A csv with the columns ``itemid``, ``variable`` (its name; items of one name are merged), ``unit``
        (``F``: converted to degrees Celsius; ``C``: values from 70 to 120 are converted too; others as they
        are), ``low`` and ``high`` (plausible range, after conversion). By default the packaged table.

    Raises
    ------
    InputError
        If the table is missing, unreadable, or a row makes no sense; all bad rows are named.
    """
    path = Path(path or ITEMS)
    try:
        table = pd.read_csv(path)
    except FileNotFoundError:
        raise InputError(f"{path}: the table of items is missing; correct its path") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: unreadable as a table of items ({error}); make it a csv file") from None
    missing = [name for name in _COLUMNS if name not in table]
    if missing:
        raise InputError(f"{path}: column {', '.join(missing)} missing; it needs {', '.join(_COLUMNS)}")
    for name in ("itemid", "low", "high"):
        table[name] = pd.to_numeric(table[name], errors="coerce")
    faults = {
        "itemid is not a whole number of its own": (table.itemid % 1 != 0)
        | table.itemid.duplicated(keep=False),
        "variable is empty": table.variable.isna(),
        "low is not below high": ~(table.low < table.high),
    }
    lines = [f"line {row + 2}: {text}" for text, bad in faults.items() for row in np.flatnonzero(bad)]
    if lines or table.empty:
        raise InputError("\n  ".join([f"{path}: correct the table of items", *(lines or ["no rows"])]))
    return table.astype({"itemid": int})
