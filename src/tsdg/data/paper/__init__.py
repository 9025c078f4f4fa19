"""The numbers that the paper prints. Zhang, Ragab, Foo, ICPR 2022."""

from importlib import resources

import pandas as pd

from tsdg.errors import InputError


def numbers(table: str) -> pd.DataFrame:
    """The numbers of a table that are at hand; the others are absent.

    Returns
    -------
    DataFrame
        ``row`` (variant, or class), ``target``, ``metric`` (accuracy in %; samples), ``value``.

    Raises
    ------
    InputError
        There is no such table; the message lists those there are.
    """
    known = _files()
    if table not in known:
        raise InputError(
            f"params.yaml: paper: {table!r} is none of the paper's tables at hand: {', '.join(known)}."
        )
    with (resources.files("tsdg.data.paper") / f"{table}.csv").open(encoding="utf-8") as file:
        found = pd.read_csv(file, dtype={"row": "str", "target": "str"}, keep_default_na=False)
    return found.drop(columns="table")


def tables() -> list[str]:
    """The paper's tables of results of which numbers are at hand, each called as its kind of data set."""
    return [name for name in _files() if not name.endswith("-samples")]


def _files() -> list[str]:
    files = resources.files("tsdg.data.paper").iterdir()
    return sorted(file.name.removesuffix(".csv") for file in files if file.name.endswith(".csv"))
