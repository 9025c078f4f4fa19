"""Windows that are already cut: an npz or a folder of npy with ``X``, or a table with a row a window.

``X`` is ``(N, T, C)``, ``(N, C, T)`` or ``(N, T)``; every other array ``(N,)`` is a column: label, domain,
recording. A table has numbered columns, ``x_0 ... x_T``, of one channel or more.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from tsdg.data.own.recordings import LABEL, Block, Columns, Progress, Recording, Source
from tsdg.errors import InputError

X = ("X", "x", "windows", "data", "samples", "signals", "signal", "segments")
ARRAY_LABEL = (*LABEL, "y", "Y")
DOMAIN = ("domain", "domains", "d", "subject", "subjects", "subject_id", "user", "users", "person", "group")
RECORDING = ("recording", "recordings", "recording_id", "session", "sessions")

AXES = 8  # numbered columns below which they are rather the axes of a sensor than the steps of a window
FINE = (
    0.8  # roughness from row to row, relative to that from column to column, below which rows are time steps
)
_BYTES = 1 << 22
_NUMBERED = (re.compile(r"(.*?)[_\-. \[(]*(\d+)[\])]?"), re.compile(r"t?(\d+)[_\-. ]+(.*)"))
_TIME_OF_DAY = re.compile(r"\d+[:/-]\d+")


@dataclass
class CutSource(Source):
    """Windows already cut; a block's signal is ``(n, T, C)``, its codes one a window.

    Attributes
    ----------
    length : int
        Time steps of a window.
    """

    length: int = 0

    def usual_recording(self, fields: Sequence[str]) -> str | None:
        """See `Source.usual_recording`; windows of a file need not be of one recording."""
        return next((name for name in RECORDING if name in self.names and name not in fields), None)

    def columns(
        self,
        *,
        channels: Sequence[str] | None = None,
        label: str | None = "label",
        recording: str | None = None,
        time: str | None = None,
        fields: Sequence[str] = (),
        rate: str | None = None,
    ) -> Columns:
        """See `Source.columns`; there is no time, and by default the channels are those of the windows."""
        if rate is not None:
            raise InputError(f"{self.path}: sampling_rate: give a number; windows are of one rate")
        if time is not None:
            raise InputError(
                f"{self.path}: time: {time!r} is one value a window, and time steps of a window have none; "
                "give sampling_rate instead"
            )
        chosen = self.numeric if channels is None else channels
        columns = super().columns(channels=chosen, label=label, recording=recording, fields=fields)
        return replace(columns, time=None)

    def recordings(self, columns: Columns) -> Iterator[Recording]:
        """The windows in the file's order, each as a recording; several may have a recording's name."""
        row = 0
        for block in self.read(columns, self):
            bad = np.argwhere(np.isinf(block.signal))
            if len(bad):
                raise InputError(
                    f"{self.path}: window {row + bad[0][0] + 1}: {columns.channels[bad[0][2]]} is infinite; "
                    "write NaN where a value is missing"
                )
            texts = {name: list(self.texts[name]) for name in columns.texts}
            for index, signal in enumerate(block.signal):
                name = str(row + 1)
                if columns.recording:
                    code = block.codes[columns.recording][index]
                    if code < 0:
                        raise InputError(
                            f"{self.path}: {columns.recording} is empty for window {row + 1}; name the "
                            "recording of every window"
                        )
                    name = texts[columns.recording][code]
                codes = {field: block.codes[field][index] for field in columns.fields}
                fields = {field: texts[field][code] if code >= 0 else "" for field, code in codes.items()}
                of_window = block.codes[columns.label][index] if columns.label else -1
                yield Recording(name, fields, signal, np.full(len(signal), of_window, np.int32), None)
                row += 1
        if not row:
            raise InputError(f"{self.path}: holds no windows")


# ------------------------------------------------------------------------------------------------- arrays


def of_arrays(
    path: Path,
    files: list[Path],
    arrays: Mapping[str, Any],
    axes: str | None,
    progress: Progress,
    x: str | None = None,
) -> CutSource:
    """Windows of the arrays of a file, or of a folder of npy.

    Parameters
    ----------
    path : path
    files : list of path
        All that are read.
    arrays : mapping
    axes : {"NTC", "NCT"}, optional
        Order of the axes of ``X``; by default the shorter of the last two is that of the channels.
    progress : callable
    x : str, optional
        The array that holds the windows; by default the first of `X` that there is.
    """
    name = x or next(name for name in X if name in arrays)
    signal = arrays[name]
    shape = signal.shape
    if len(shape) not in (2, 3) or signal.dtype.kind not in "fiub":
        raise InputError(
            f"{path}: {name!r} is {signal.dtype} {signal.shape}; windows are numbers, (N, T, C) or (N, C, T)"
        )
    notes = []
    if len(shape) == 3 and axes is None:
        if shape[1] == shape[2]:
            raise InputError(
                f"{path}: {name!r} is {shape}: which axis is the time? give axes NTC or axes NCT"
            )
        axes = "NTC" if shape[1] > shape[2] else "NCT"
        notes.append(
            f"Axes of {name} {shape}: {axes}, the shorter axis being the channels'; `axes` says otherwise."
        )
    turned = axes == "NCT" and len(shape) == 3
    count, length, width = (shape[0], shape[2], shape[1]) if turned else (*shape, 1)[:3]
    if not count or length < 2:
        raise InputError(f"{path}: {name!r} is {shape}: no windows of two or more time steps")
    channels = [f"channel{index}" for index in range(width)]
    columns: dict[str, np.ndarray] = {}
    for other, array in arrays.items():
        if other == name:
            continue
        if other in ("channels", "columns") and array.shape == (width,) and array.dtype.kind in "US":
            channels = [str(value) for value in array]
        elif array.shape == (count,) or array.shape == (count, 1):
            columns[other] = array.reshape(count)
        elif array.size == 1:
            notes.append(f"Array {other} is one value and not used.")
        else:
            one_hot = array.ndim == 2 and len(array) == count
            remedy = f"; save `{other}.argmax(1)` if it is one-hot" if one_hot else ""
            raise InputError(
                f"{path}: array {other!r} has shape {array.shape}; it must be ({count},), since {name!r} has "
                f"so many windows{remedy}"
            )
    step = max(1, _BYTES // (4 * length * width))

    def read(wanted: Columns, source: Source) -> Iterator[Block]:
        chosen = [channels.index(channel) for channel in wanted.channels]
        for start in range(0, count, step):
            part = signal[start : start + step].reshape(-1, *shape[1:], *[1] * (3 - len(shape)))
            part = (part.transpose(0, 2, 1) if turned else part)[:, :, chosen]
            codes = {}
            for text in wanted.texts:
                values, indices = np.unique(columns[text][start : start + step], return_inverse=True)
                codes[text] = source.codes(text, values.tolist(), indices)
            yield Block(np.ascontiguousarray(part, np.float32), codes, None)
            progress(min(start + step, count), count)

    names = [*channels, *columns]
    settled = {"axes": axes} if axes else {}
    return CutSource(path, files, names, channels, read, settled=settled, notes=notes, length=length)


# ------------------------------------------------------------------------------------------------- a table


def settled(
    source: Source,
    rows: str | None = None,
    *,
    channels: Sequence[str] | None = None,
    label: str | None = None,
    recording: str | None = None,
    time: str | None = None,
    fields: Sequence[str] = (),
    rate: str | None = None,
) -> Source:
    """A table as windows already cut, if its rows are such.

    Parameters
    ----------
    source : Source
    rows : {"steps", "windows"}, optional
        What a row is; by default what the numbered columns, recordings and labels say.
    channels, label, recording, time, fields, rate
        Columns that are known.

    Raises
    ------
    InputError
        If a row may be one or the other, or cannot be a window.
    """
    if isinstance(source, CutSource):
        if rows == "steps":
            raise InputError(f"{source.path}: rows: holds windows already cut, not time steps; leave it out")
        return source
    rows = rows or source.settled.get("rows")
    if rows == "steps" or (rows is None and set(channels or []) & set(source.names)):
        return source
    recording = recording or next((name for name in RECORDING if name in source.names), None)
    known = {name for name in (label, recording, time, rate, *fields) if name is not None}
    groups = numbered([name for name in source.names if name not in known])
    groups = {
        name: found for name, found in groups.items() if any(column in source.numeric for column in found)
    }
    if not groups:
        if rows == "windows":
            raise InputError(
                f"{source.path}: rows: a row can be a window only where numbered columns are the time "
                f"steps, such as x_0, x_1 and so on; there are {', '.join(source.names[:20])}"
            )
        return source
    length = len(next(iter(groups.values())))
    evidence = None
    if rows is None:
        evidence = _evidence(source, groups, label, recording, time, fields)
        if evidence is None:
            return source
    return _windows(source, groups, length, evidence)


def check_axes(source: Source, axes: str | None) -> None:
    """Refuse an order of axes where there are none."""
    if axes and not isinstance(source, CutSource):
        raise InputError(
            f"{source.path}: axes: is of windows already cut, and these are time steps; leave it out"
        )


def numbered(names: Iterable[str]) -> dict[str, list[str]]:
    """Columns that are numbered from 0 or 1 without a gap, by channel, where all channels have as many."""
    names = list(names)
    for pattern in _NUMBERED:
        groups: dict[str, dict[int, str]] = {}
        for name in names:
            if match := pattern.fullmatch(name):
                channel, number = match.groups() if pattern is _NUMBERED[0] else match.groups()[::-1]
                groups.setdefault(channel or "x", {})[int(number)] = name
        whole = {
            channel: [found[number] for number in sorted(found)]
            for channel, found in groups.items()
            if len(found) > 2 and min(found) in (0, 1) and max(found) - min(found) == len(found) - 1
        }
        lengths = [len(columns) for columns in whole.values()]
        if lengths:
            longest = max(lengths)
            return {channel: columns for channel, columns in whole.items() if len(columns) == longest}
    return {}


def _evidence(
    source: Source,
    groups: Mapping[str, list[str]],
    label: str | None,
    recording: str | None,
    time: str | None,
    fields: Sequence[str],
) -> str | None:
    """What says that a row is a window; None if it is a time step."""
    if time or "time" in source.names or source.dates:
        return None
    first = next(iter(groups.values()))
    usable = [name for name in first if name in source.numeric]
    taken = {name for columns in groups.values() for name in columns}
    others = [n for n in source.names if n not in taken and n not in source.numeric and n != ""]
    named = [n for n in (label, recording, *fields) if n in source.names and n is not None]
    texts = list(dict.fromkeys([*named, *others]))
    block = next(islice(source.read(Columns(usable, fields=texts), source), 1), None)
    if block is None or len(block.signal) < 3:
        return None
    count = len(block.signal)
    known = {name: list(source.texts.get(name, {})) for name in texts}
    source.texts.clear()
    if recording and len(np.unique(block.codes[recording])) == count:
        return f"since every {recording} has one row"
    for name in others:
        if len(np.unique(block.codes[name])) == count and not _TIME_OF_DAY.match(known[name][0]):
            return f"since every {name} has one row"
    runs = [name for name in (label, *fields) if name in source.names and name is not None]
    if runs:
        codes = np.stack([block.codes[name] for name in runs], 1)
        if 1 + (codes[1:] != codes[:-1]).any(1).sum() > count / 3:
            return f"since {', '.join(runs)} change from row to row"
    if len(first) < AXES:
        return None
    down, along = (float(np.nanmean(np.abs(np.diff(block.signal, axis=axis)))) for axis in (0, 1))
    if down < FINE * along:
        return None
    raise InputError(
        f"{source.path}: is a row a window? There are numbered columns, {first[0]} to {first[-1]}: give rows "
        "windows if they are the time steps of a window, rows steps if they are channels"
    )


def _windows(source: Source, groups: Mapping[str, list[str]], length: int, evidence: str | None) -> CutSource:
    """The rows of a table as windows."""
    taken = [name for columns in groups.values() for name in columns]
    for name in taken:
        if name not in source.numeric:
            raise InputError(
                f"{source.path}: column {name!r} {source.spoilt.get(name, 'holds text')}, where numbers "
                "belong; leave the cell empty where a value is missing"
            )

    def read(columns: Columns, cut: Source) -> Iterator[Block]:
        wanted = [name for channel in columns.channels for name in groups[channel]]
        inner = Columns(wanted, columns.label, columns.recording, None, columns.fields)
        for block in source.read(inner, cut):
            signal = block.signal.reshape(len(block.signal), len(columns.channels), length)
            yield Block(np.ascontiguousarray(signal.transpose(0, 2, 1)), block.codes, None)

    others = [name for name in source.names if name not in set(taken)]
    if both := [name for name in groups if name in others]:
        raise InputError(f"{source.path}: {both[0]} is a column and numbered columns too; rename one")
    shown = ", ".join(f"{channel} ({columns[0]} to {columns[-1]})" for channel, columns in groups.items())
    note = f"A row is a window, {evidence}; channels: {shown}; `rows: steps` says otherwise."
    notes = [*source.notes, *([note] if evidence else [])]
    names = [*groups, *others]
    settled = {"rows": "windows"}
    return CutSource(
        source.path, source.files, names, list(groups), read, single=source.single, settled=settled,
        notes=notes, header=source.header, length=length,
    )  # fmt: skip
