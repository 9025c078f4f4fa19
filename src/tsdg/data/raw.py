"""Raw files that may lie there under one of several names."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def names_there(entry: Mapping[str, Any], names: Iterable[tuple[str, ...]]) -> list[str]:
    """Of each raw file's names, plain to packed, that of the file which is there, or else the last.

    A simulation writes plain files.

    Parameters
    ----------
    entry : mapping
        The data set's entry in params.yaml.
    names : iterable of tuple of str
    """
    if entry["source"] == "simulated":
        return [plain for plain, *_ in names]
    return [next((n for n in of_one if Path(entry["raw"], n).exists()), of_one[-1]) for of_one in names]
