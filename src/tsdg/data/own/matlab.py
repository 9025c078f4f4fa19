"""MATLAB's files: numbers and texts by name, those of structs by path, as ``bearing.gs``.

The items of a cell or struct array are recordings, if there is no other signal: ``X{1}``, ``X{2}`` with a
vector of labels, or ``run(1).gs``, ``run(2).gs`` with their ``run(1).label``.
"""

import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io

from tsdg.data.own.arrays import Array, of_variables
from tsdg.data.own.folders import joined
from tsdg.data.own.hdf5 import is_hdf5, read_matlab
from tsdg.data.own.recordings import Progress, Source
from tsdg.errors import InputError

RECORDING = "recording"
_ITEM = re.compile(r"(.+?)\((\d+)\)(\..+)?")


def open_matlab(path: Path, axes: str | None, progress: Progress) -> Source:
    """A file of MATLAB 4 to 7, read whole, or of MATLAB 7.3, which is HDF5."""
    variables = read_matlab(path) if is_hdf5(path) else _read(path)
    rest, items = _items(variables)
    if not items:
        return of_variables(path, variables, axes, progress)
    count = len(items)
    shared = {name: array for name, array in rest.items() if np.prod(array.shape) in (1, count)}
    columns = {name: np.asarray(array[()]).reshape(-1) for name, array in shared.items()}
    names = columns.pop(RECORDING, np.arange(1, count + 1))
    table = pd.DataFrame({RECORDING: [str(name) for name in names]})
    for name, values in columns.items():
        table[name] = [str(value) for value in np.broadcast_to(values, count)]
    variables_of = dict(zip(table[RECORDING], items, strict=True))

    def open_item(name: str) -> Source:
        return of_variables(Path(f"{path}({name})"), variables_of[name], axes, lambda done, total: None)

    source = joined(path, [path], table, RECORDING, open_item, progress)
    source.header.insert(0, f"{path}: {count} items, a recording each")
    return source


def _read(path: Path) -> dict[str, Array]:
    try:
        with warnings.catch_warnings():  # of a name that is there twice, or what cannot be read
            warnings.filterwarnings("error", "Duplicate variable|Unreadable variable")
            found = scipy.io.loadmat(path, squeeze_me=True, struct_as_record=False)
    except Exception as error:  # SciPy raises nearly anything on damaged files
        raise InputError(f"{path}: damaged or not a MATLAB file ({error}); save it anew") from None
    variables: dict[str, Array] = {}
    for name, value in found.items():
        if not name.startswith("__"):
            variables.update(_flat(name, value))
    return variables


def _flat(name: str, value: object) -> Iterator[tuple[str, np.ndarray]]:
    """The numbers and texts of a variable; of a struct or a cell array those in it."""
    if isinstance(value, scipy.io.matlab.mat_struct):
        for field in value._fieldnames:
            yield from _flat(f"{name}.{field}", getattr(value, field))
        return
    array = np.asarray(value)
    if array.dtype.kind != "O":
        yield name, array
    elif array.ndim == 1 and all(isinstance(item, str) for item in array):
        yield name, array.astype(str)
    else:
        for number, item in enumerate(array.reshape(-1), start=1):
            yield from _flat(f"{name}({number})", item)


def _items(variables: Mapping[str, Array]) -> tuple[dict[str, Array], list[dict[str, Array]]]:
    """Variables of all, and of each item of cell and struct arrays where these are recordings."""
    rest: dict[str, Array] = {}
    items: dict[int, dict[str, Array]] = {}
    for name, array in variables.items():
        if match := _ITEM.fullmatch(name):
            items.setdefault(int(match[2]), {})[(match[3] or match[1]).lstrip(".")] = array
        else:
            rest[name] = array
    alike = len({frozenset(members) for members in items.values()}) == 1
    signals = any(max(array.shape, default=1) > len(items) for array in rest.values())
    return (rest, list(items.values())) if len(items) > 1 and alike and not signals else (rest, [])
