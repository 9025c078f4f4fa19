"""Which items of a chart are which vital sign, and their plausible range."""

from pathlib import Path

import pandas as pd

from tsdg.data import listing

ITEMS = Path(__file__).with_name("items.csv")

_WHAT = "table of items"
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
    table = listing.read(path, _WHAT, _COLUMNS, ("itemid", "low", "high"))
    faults = {
        "itemid is not a whole number of its own": ~listing.whole(table.itemid),
        "variable is empty": table.variable == "",
        "low is not below high": ~(table.low < table.high),
    }
    listing.check(path, _WHAT, table, faults)
    return table.astype({"itemid": int}).reset_index(drop=True)
