"""Named arrays as columns: npz, a folder of npy, and the variables of MATLAB's and HDF5 files.

npz
    ``signal`` ``(N, C)``, and one array ``(N,)`` for each other column. An array of C texts, ``channels`` or
    ``columns``, names the channels. What is the same in all of each of R recordings may be ``(R,)``:
    ``lengths`` ``(R,)``, in time steps, or ``offsets``, where each begins, say which rows they have.
variables
    The same from whatever a file holds: the vectors and matrices of the length that most values have are its
    columns, and what is one value is a column of this alone.

Either may hold windows already cut instead, see `cut`.
"""

import os
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tsdg.data.own import cut
from tsdg.data.own.reading import check_within, refused
from tsdg.data.own.recordings import Block, Columns, Progress, Source, plain
from tsdg.errors import InputError

SIGNAL = "signal"
NAMES = ("channels", "columns")
LENGTHS, OFFSETS = ("lengths", "recording_lengths"), ("offsets", "starts")

_ROWS, _BYTES = 1 << 16, 1 << 25
_WIDE = 32  # columns of a matrix; more may be its rows


class Array(Protocol):
    """An array, or what is read of one as it is asked for."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype: ...

    def __getitem__(self, key: Any) -> Any: ...


@dataclass
class Table:
    """Columns of arrays, all of one length.

    Attributes
    ----------
    count : int
        Rows.
    arrays : mapping of str to Array
        ``(N,)``, ``(N, C)`` or ``(C, N)``.
    places : dict of str to tuple
        Array of each column, where that is a matrix with its place in the other axis, and this.
    single : dict of str to object
        Columns of one value.
    repeated : dict of str to numpy.ndarray
        Columns of a value a recording, ``(R,)``.
    offsets : numpy.ndarray or None
        Where each of the R recordings begins.
    """

    count: int
    arrays: Mapping[str, Array]
    places: dict[str, tuple[str, int | None, int]] = field(default_factory=dict)
    single: dict[str, object] = field(default_factory=dict)
    repeated: dict[str, np.ndarray] = field(default_factory=dict)
    offsets: np.ndarray | None = None

    def add(self, name: str, names: list[str] | None = None) -> None:
        """Take the columns of an array in."""
        shape = self.arrays[name].shape
        if len(shape) == 1:
            self.places[name] = (name, None, 0)
            return
        axis = 0 if shape[0] == self.count else 1
        for index in range(shape[1 - axis]):
            self.places[names[index] if names else f"{name}{index}"] = (name, index, axis)

    def add_recordings(self, lengths: np.ndarray) -> None:
        """Take lengths of recordings in; they are named by number unless there is a column of names."""
        self.offsets = np.cumsum(lengths) - lengths
        if "recording" not in {**self.places, **self.repeated}:
            self.repeated["recording"] = np.arange(1, len(lengths) + 1)

    @property
    def numeric(self) -> list[str]:
        """Columns of numbers."""
        return [name for name, (array, *_) in self.places.items() if self.arrays[array].dtype.kind in "fiu"]

    def source(self, path: Path, progress: Progress) -> Source:
        """The columns, opened."""

        def read(columns: Columns, source: Source) -> Iterator[Block]:
            wanted = [*columns.channels, *columns.texts, *([columns.time] if columns.time else [])]
            used = list(dict.fromkeys(self.places[name][0] for name in wanted if name in self.places))
            widths = [
                max(8, self.arrays[n].dtype.itemsize) * int(np.prod(self.arrays[n].shape) // self.count)
                for n in used
            ]
            step = max(1, min(_ROWS, _BYTES // max(1, sum(widths))))
            for start in range(0, self.count, step):
                rows = slice(start, min(start + step, self.count))
                with refused(path):
                    yield self._block(rows, used, columns, source)
                progress(rows.stop, self.count)

        names = [*self.places, *self.repeated, *self.single]
        single = {name: plain(value) for name, value in self.single.items()}
        return Source(path, [path], names, self.numeric, read, single=single)

    def _block(self, rows: slice, used: list[str], columns: Columns, source: Source) -> Block:
        axes = {array: axis for array, _, axis in self.places.values()}
        parts = {name: self.arrays[name][(slice(None),) * axes[name] + (rows,)] for name in used}

        def column(name: str) -> np.ndarray:
            array, index, axis = self.places[name]
            return parts[array] if index is None else parts[array].take(index, axis=1 - axis)

        signal = np.empty((rows.stop - rows.start, len(columns.channels)), np.float32)
        for index, name in enumerate(columns.channels):
            signal[:, index] = column(name)
        codes = {}
        for name in columns.texts:
            if name in self.places:
                values, indices = np.unique(column(name), return_inverse=True)
            elif name in self.repeated:
                assert self.offsets is not None
                values = self.repeated[name]
                indices = np.searchsorted(self.offsets, np.arange(rows.start, rows.stop), "right") - 1
            else:
                values, indices = np.array([self.single[name]]), np.zeros(len(signal), np.intp)
            codes[name] = source.codes(name, values.tolist(), indices)
        return Block(signal, codes, column(columns.time).astype(float) if columns.time else None)


def arrays_there(path: Path) -> list[str]:
    """The npy files of a folder without metadata, if there is one of windows."""
    names = sorted(file.name for file in path.glob("*.npy"))
    there = (path / "metadata.csv").is_file()
    return [] if there or not any(f"{name}.npy" in names for name in cut.X) else names


def open_folder_of_arrays(path: Path, names: list[str], axes: str | None, progress: Progress) -> Source:
    """A folder of npy files, memory-mapped."""
    arrays = {}
    for name in names:
        check_within(path, path / name)
        with refused(path / name, name.removesuffix(".npy")):
            arrays[name.removesuffix(".npy")] = np.load(path / name, mmap_mode="r", allow_pickle=False)
    return cut.of_arrays(path, [path / name for name in names], arrays, axes, progress)


def open_npz(path: Path, axes: str | None, progress: Progress) -> Source:
    """An npz file, read whole."""
    arrays: dict[str, np.ndarray] = {}
    with refused(path), zipfile.ZipFile(path) as archive:
        size = sum(info.file_size for info in archive.infolist())
    if size > (memory := os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")):
        raise InputError(
            f"{path}: its arrays are {size / 2**30:,.1f} GB, and this machine has {memory / 2**30:,.1f} GB "
            "of memory; save them as npy files in a folder, which are read in parts, or as parquet"
        )
    with refused(path), np.load(path, allow_pickle=False) as file:
        for name in file.files:
            with refused(path, name):
                arrays[name] = file[name].astype(str) if file[name].dtype.kind == "S" else file[name]
    signal = arrays.get(SIGNAL)
    if any(name in arrays and (name != SIGNAL or arrays[name].ndim == 3) for name in cut.X):
        return cut.of_arrays(path, [path], arrays, axes, progress)
    if signal is None or signal.ndim != 2 or signal.dtype.kind not in "fiu":
        raise InputError(
            f"{path}: needs an array `signal` of numbers, (time steps, channels), or windows already cut, "
            f"`X` (windows, time steps, channels); there are {', '.join(arrays) or 'none'}"
        )
    count, width = signal.shape
    table = Table(count, arrays)
    lengths = recording_lengths(path, arrays, count)
    named = next((name for name in NAMES if name in arrays and arrays[name].shape == (width,)), None)
    texts = [str(value) for value in arrays[named]] if named else [f"channel{k}" for k in range(width)]
    table.add(SIGNAL, texts)
    for name, array in arrays.items():
        if name in (SIGNAL, named) or (lengths is not None and name in (*LENGTHS, *OFFSETS)):
            continue
        if array.shape == (count,):
            table.add(name)
        elif lengths is not None and array.shape == lengths.shape:
            table.repeated[name] = array
        else:
            once = f", or ({len(lengths)},) as there are so many recordings" if lengths is not None else ""
            hint = "" if array.ndim != 1 or once else (
                "; if it is of each recording, add their `lengths` in time steps"
            )  # fmt: skip
            raise InputError(
                f"{path}: array {name!r} has shape {array.shape}; it must be ({count},), as `signal` has "
                f"so many time steps{once}{hint}"
            )
    if lengths is not None:
        table.add_recordings(lengths)
    return table.source(path, progress)


def recording_lengths(path: Path, arrays: Mapping[str, Array], count: int) -> np.ndarray | None:
    """Time steps of each recording ``(R,)``, from an array of lengths or of offsets; None if there is none.

    An array of the name that is as long as the signal is a column like others.
    """
    for name in (*LENGTHS, *OFFSETS):
        array = arrays.get(name)
        if array is None or len(array.shape) != 1 or array.shape == (count,) or array.dtype.kind not in "fiu":
            continue
        values = np.asarray(array[:]).astype(np.int64)
        if name in OFFSETS:
            values = np.diff(values if values[-1] == count else np.append(values, count))
            values = values if array[0] == 0 else np.array([-1])
        if (values < 1).any() or values.sum() != count:
            what = "begin with 0 and increase" if name in OFFSETS else f"be above 0 and add up to {count}"
            raise InputError(
                f"{path}: array {name!r} must {what}, as there are {count} time steps; correct it"
            )
        return values
    return None


def of_variables(path: Path, variables: Mapping[str, Array], axes: str | None, progress: Progress) -> Source:
    """Columns of what a file holds, or windows already cut; what is neither is named in its header.

    Parameters
    ----------
    path : Path
    variables : mapping of str to Array
        Numbers and texts, of one value or more.
    axes : {"NTC", "NCT"}, optional
        See `cut.of_arrays`.
    progress : callable
    """
    cubes = [n for n, array in variables.items() if len(array.shape) == 3 and array.dtype.kind in "fiu"]
    if cubes:
        name = max(cubes, key=lambda cube: np.prod(variables[cube].shape))
        return _windows(path, variables, name, axes, progress)
    long = {n: a for n, a in variables.items() if 1 <= len(a.shape) <= 2 and max(a.shape, default=0) > 1}
    numbers = {name: array for name, array in long.items() if array.dtype.kind in "fiu"}
    if not numbers:
        raise InputError(
            f"{path}: holds no vector or matrix of numbers; there are {', '.join(variables) or 'none'}"
        )
    vectors = {array.shape[0] for array in long.values() if len(array.shape) == 1}
    values: dict[int, int] = {}
    for array in numbers.values():
        length = next((n for n in array.shape if n in vectors and n > _WIDE), max(array.shape))
        values[length] = values.get(length, 0) + int(np.prod(array.shape))
    count = max(values, key=lambda length: values[length])
    table = Table(count, variables)
    lengths = recording_lengths(path, variables, count)
    unused: dict[str, str] = {}
    wide = [name for name, array in numbers.items() if len(array.shape) == 2 and count in array.shape]
    for name, array in variables.items():
        named = _names(variables, array, count) if [name] == wide else None
        if array.dtype.kind in "cV":
            unused[name] = "holds complex numbers"
        elif name in long and count in array.shape and (len(array.shape) == 1 or name in numbers):
            table.add(name, named)
        elif np.prod(array.shape) == 1 and array.dtype.kind in "fiubU":
            table.single[name] = np.asarray(array[()]).reshape(-1)[0]
        elif lengths is not None and name in (*LENGTHS, *OFFSETS):
            continue
        elif lengths is not None and array.shape == lengths.shape:
            table.repeated[name] = np.asarray(array[:])
        else:
            unused[name] = f"is of shape {array.shape}, where there are {count:,} time steps"
    if lengths is not None:
        table.add_recordings(lengths)
    source = table.source(path, progress)
    source.spoilt = unused
    shown = [f"{name} {value}" for name, value in source.single.items()]
    recordings = f" in {len(lengths)} recordings" if lengths is not None else ""
    source.header = [
        f"{path}: {count:,} time steps{recordings}",
        f"columns: {some(list(table.places))}",
        *([f"of each recording: {some(list(table.repeated))}"] if table.repeated else []),
        *([f"one value: {some(shown)}"] if shown else []),
        *([f"not used: {some([f'{name} {variables[name].shape}' for name in unused])}"] if unused else []),
    ]
    return source


def some(words: list[str], most: int = 20) -> str:
    """The first of some words."""
    return ", ".join(words[:most]) + (f" ... ({len(words)} in all)" if len(words) > most else "")


def _names(variables: Mapping[str, Array], array: Array, count: int) -> list[str] | None:
    """Names of a matrix's columns, where there is an array of such."""
    width = int(np.prod(array.shape) // count)
    for name in NAMES:
        texts = variables.get(name)
        if texts is not None and texts.shape == (width,) and texts.dtype.kind == "U":
            return [str(text) for text in texts[:]]
    return None


def _windows(
    path: Path, variables: Mapping[str, Array], name: str, axes: str | None, progress: Progress
) -> Source:
    """Windows already cut, and the variables of one value a window."""
    count = variables[name].shape[0]
    taken = {n: a for n, a in variables.items() if a.shape in ((count,), (count, 1)) or n in NAMES}
    unused = [f"{n} {a.shape}" for n, a in variables.items() if n not in (name, *taken)]
    arrays = {name: variables[name]} | {n: np.asarray(a[:]) for n, a in taken.items()}
    source = cut.of_arrays(path, [path], arrays, axes, progress, x=name)
    source.header = [
        f"{path}: windows already cut, {name} {variables[name].shape}",
        f"columns: {some(list(taken))}",
        *([f"not used: {some(unused)}"] if unused else []),
    ]
    return source
