"""Named arrays: an npz file, or a folder of npy files.

``signal`` ``(N, C)``, and one array ``(N,)`` for each other column. An array of C texts, ``channels`` or
``columns``, names the channels. Or windows already cut, see `cut`.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tsdg.data.own import cut
from tsdg.data.own.reading import refused
from tsdg.data.own.recordings import Block, Columns, Progress, Source
from tsdg.errors import InputError

SIGNAL = "signal"
_ROWS = 1 << 16


def arrays_there(path: Path) -> list[str]:
    """The npy files of a folder without metadata, if there is one of windows."""
    names = sorted(file.name for file in path.glob("*.npy"))
    there = (path / "metadata.csv").is_file()
    return [] if there or not any(f"{name}.npy" in names for name in cut.X) else names


def open_folder_of_arrays(path: Path, names: list[str], axes: str | None, progress: Progress) -> Source:
    """A folder of npy files, memory-mapped."""
    arrays = {}
    for name in names:
        with refused(path / name, name.removesuffix(".npy")):
            arrays[name.removesuffix(".npy")] = np.load(path / name, mmap_mode="r", allow_pickle=False)
    return cut.of_arrays(path, [path / name for name in names], arrays, axes, progress)


def open_npz(path: Path, axes: str | None, progress: Progress) -> Source:
    """An npz file, read whole."""
    arrays: dict[str, np.ndarray] = {}
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
    del arrays[SIGNAL]
    count, width = signal.shape
    channels = [f"channel{index}" for index in range(width)]
    for name in ("channels", "columns"):
        if name in arrays and arrays[name].shape == (width,):
            channels = [str(value) for value in arrays.pop(name)]
    for name, array in arrays.items():
        if array.shape != (count,):
            raise InputError(
                f"{path}: array {name!r} has shape {array.shape}; it must be ({count},), as `signal` has "
                "so many time steps"
            )

    def column(name: str) -> np.ndarray:
        return signal[:, channels.index(name)] if name in channels else arrays[name]

    numeric = channels + [name for name, array in arrays.items() if array.dtype.kind in "fiu"]

    def read(columns: Columns, source: Source) -> Iterator[Block]:
        for start in range(0, count, _ROWS):
            rows = slice(start, start + _ROWS)
            steps = len(range(*rows.indices(count)))
            part = np.empty((steps, len(columns.channels)), np.float32)
            for index, name in enumerate(columns.channels):
                part[:, index] = column(name)[rows]
            codes = {}
            for name in columns.texts:
                values, indices = np.unique(column(name)[rows], return_inverse=True)
                codes[name] = source.codes(name, values.tolist(), indices)
            time = arrays[columns.time][rows].astype(float) if columns.time else None
            yield Block(part, codes, time)
            progress(min(start + _ROWS, count), count)

    return Source(path, [path], [*channels, *arrays], numeric, read)
