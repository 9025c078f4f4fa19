"""HDF5: numbers and texts by path, as ``bearing/gs``, read as they are asked for; attributes are values too.

Groups that hold data sets of the same names are recordings, a group each. What MATLAB 7.3 writes has points
in paths, and its axes in MATLAB's order.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tsdg.data.own.arrays import Array, of_variables, some
from tsdg.data.own.folders import joined
from tsdg.data.own.reading import library, refused
from tsdg.data.own.recordings import Progress, Source
from tsdg.errors import InputError

RECORDING = "recording"
_MAGIC = b"\x89HDF\r\n\x1a\n"
_CACHE = 1 << 26


def is_hdf5(path: Path) -> bool:
    """Whether a file is HDF5, by its first bytes, or those after MATLAB's header."""
    with open(path, "rb") as file:
        head = file.read(520)
    return _MAGIC in (head[:8], head[512:])


def open_hdf5(path: Path, axes: str | None, progress: Progress) -> Source:
    """A file of HDF5."""
    h5py = library("h5py", path)
    with refused(path):
        file = h5py.File(path, rdcc_nbytes=_CACHE)
        variables = dict(_walk(h5py, file))
    if groups := _recordings(variables):
        constants = {name: _constants(file, name) for name in groups}
        table = pd.DataFrame({RECORDING: list(groups)})
        facts = list(dict.fromkeys(key for found in constants.values() for key in found))
        for key in facts:
            for name in groups:
                if key not in constants[name] and key in file[name].attrs:
                    raise InputError(
                        f"{path}: attribute {key!r} of {name} is not one number or text, as that of other "
                        "groups; correct it"
                    )
            table[key] = [str(constants[name].get(key, "")) for name in groups]

        def open_group(name: str) -> Source:
            return of_variables(Path(f"{path}/{name}"), groups[name], axes, lambda done, total: None)

        source = joined(path, [path], table, RECORDING, open_group, progress)
        first = open_group(next(iter(groups)))
        source.header = [f"{path}: {len(groups)} groups, a recording each", *first.header]
        if len(table.columns) > 1:
            source.header.append(f"of each recording: {some(list(table.columns[1:]))}")
        return source
    for name in ["", *_groups(h5py, file)]:
        for key, value in _attributes(file[name] if name else file).items():
            variables.setdefault(f"{name}/{key}" if name else key, np.array(value))
    return of_variables(path, variables, axes, progress)


def read_matlab(path: Path) -> dict[str, Array]:
    """The variables of a file of MATLAB 7.3."""
    h5py = library("h5py", path)
    with refused(path):
        return dict(_matlab(h5py, h5py.File(path, rdcc_nbytes=_CACHE)))


class View:
    """An HDF5 data set as an array: vectors without axes of length 1, texts as such; with `turned` axes."""

    def __init__(self, data: Any, *, text: bool = False, turned: bool = False):
        shape = data.shape[::-1] if turned else data.shape
        self.data, self.turned, self.text = data.asstr() if text else data, turned, text
        self.kept = [k for k, n in enumerate(shape) if n != 1] if len(shape) == 2 else list(range(len(shape)))
        self.full = shape
        self.shape = tuple(shape[k] for k in self.kept)
        self.dtype = np.dtype("U1") if text else data.dtype

    def __getitem__(self, key: Any) -> Any:
        given = key if isinstance(key, tuple) else (key,)
        index: list[Any] = [0] * len(self.full)
        for place, k in enumerate(self.kept):
            index[k] = given[place] if place < len(given) else slice(None)
        found = self.data[tuple(index[::-1] if self.turned else index)]
        found = found.T if self.turned and isinstance(found, np.ndarray) else found
        return np.asarray(found, dtype=str) if self.text else found


def _walk(h5py: Any, group: Any, prefix: str = "") -> Iterator[tuple[str, Array]]:
    """The data sets of numbers and texts, by path; links are not followed."""
    for name in group:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        item = group[name]
        if isinstance(item, h5py.Group):
            yield from _walk(h5py, item, f"{prefix}{name}/")
        elif item.shape is None or not item.size or item.external:
            continue
        elif h5py.check_string_dtype(item.dtype) is not None:
            yield prefix + name, View(item, text=True)
        elif item.dtype.kind in "fiub":
            yield prefix + name, View(item)


def _groups(h5py: Any, file: Any) -> list[str]:
    names: list[str] = []
    file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Group) else None)
    return names


def _recordings(variables: Mapping[str, Array]) -> dict[str, dict[str, Array]]:
    """Data sets by group, where all groups have data sets of the same names; else nothing."""
    groups: dict[str, dict[str, Array]] = {}
    for path, array in variables.items():
        group, _, name = path.rpartition("/")
        groups.setdefault(group, {})[name] = array
    alike = len({frozenset(members) for members in groups.values()}) == 1
    return groups if len(groups) > 1 and alike else {}


def _constants(file: Any, name: str) -> dict[str, object]:
    """Attributes of a group and of those that it is in, the nearest first."""
    parts = name.split("/")
    found = _attributes(file)
    for depth in range(len(parts)):
        found |= _attributes(file["/".join(parts[: depth + 1])])
    return found


def _attributes(item: Any) -> dict[str, object]:
    """Attributes that are one number or text."""
    found = {}
    for key, value in item.attrs.items():
        array = np.asarray(value)
        if array.size == 1 and array.dtype.kind in "fiubUSO":
            one = array.reshape(-1)[0]
            found[key] = one.decode("utf-8", "replace") if isinstance(one, bytes) else one
    return {key: value for key, value in found.items() if np.asarray(value).dtype.kind in "fiubU"}


def _matlab(h5py: Any, group: Any, prefix: str = "") -> Iterator[tuple[str, Array]]:
    """The variables of MATLAB 7.3, those of structs and cells too."""
    for name in group:
        if not name.startswith("#") and isinstance(group.get(name, getlink=True), h5py.HardLink):
            yield from _matlab_item(h5py, f"{prefix}{name}", group[name])


def _matlab_item(h5py: Any, name: str, item: Any) -> Iterator[tuple[str, Array]]:
    if isinstance(item, h5py.Group):
        yield from _matlab(h5py, item, f"{name}.")
    elif "MATLAB_empty" in item.attrs or item.shape is None:
        return
    elif h5py.check_ref_dtype(item.dtype) is not None:
        items = [item.file[reference] for reference in np.asarray(item).T.reshape(-1)]
        if items and all(_is_text(one) for one in items):
            yield name, np.array([_text(one) for one in items])
        else:
            for number, one in enumerate(items, start=1):
                yield from _matlab_item(h5py, f"{name}({number})", one)
    elif _is_text(item):
        yield name, np.array(_text(item))
    elif item.dtype.kind in "fiub" or item.dtype.names == ("real", "imag"):
        yield name, View(item, turned=True)


def _is_text(item: Any) -> bool:
    return item.attrs.get("MATLAB_class") == b"char"


def _text(item: Any) -> str:
    return "".join(chr(code) for code in np.asarray(item).T.reshape(-1))
