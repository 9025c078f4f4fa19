"""A user's own recordings, as they are read: which columns are what, and where a recording ends.

They come in blocks, whatever the file (see `raw`): memory holds some megabytes and one recording.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tsdg.data.own.stamps import UNITS, spread, unit_of
from tsdg.data.simulated import SIMULATED_COLUMN
from tsdg.errors import InputError, nearest
from tsdg.files import sha256

if TYPE_CHECKING:
    from tsdg.data.own.intervals import Intervals

FILE = "file"  # column of a folder's metadata
LABEL = ("label", "labels", "target", "targets", "class", "classes", "activity", "annotation")

_ROW = ""  # in place of a column: the number of a step in its recording
_WHOLE = re.compile(r"([-+]?\d+)\.0*")

Progress = Callable[[int, int], None]


def plain(value: object) -> str:
    """A label or a domain's value as text: 1, 1.0 and "1" are the same, and so are True and "true"."""
    text = (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).strip()
    if whole := _WHOLE.fullmatch(text):
        return whole[1]
    return text.lower() if text in ("True", "False") else text


@dataclass(frozen=True)
class Columns:
    """Which columns are read, and as what.

    Attributes
    ----------
    channels : sequence of str
    label, recording, time : str or None
    fields : sequence of str
        What tells domains apart.
    rate : str or None
        Of the rate, Hz, which is one in all of a recording.
    """

    channels: Sequence[str]
    label: str | None = None
    recording: str | None = None
    time: str | None = None
    fields: Sequence[str] = ()
    rate: str | None = None

    @property
    def texts(self) -> list[str]:
        """Columns that are read as text."""
        named = [name for name in (self.label, self.recording, self.rate) if name is not None]
        return list(dict.fromkeys([*named, *self.fields]))


@dataclass
class Block:
    """Some consecutive time steps: ``signal (n, C)`` float32, codes ``(n,)`` of texts, ``time (n,)`` in s."""

    signal: np.ndarray
    codes: dict[str, np.ndarray]
    time: np.ndarray | None


@dataclass
class Recording:
    """One recording.

    Attributes
    ----------
    name : str
    fields : dict of str to str
        Its value of each field.
    signal : numpy.ndarray
        float32, ``(n, C)``.
    labels : numpy.ndarray
        int32, ``(n,)``: into the source's label texts; -1 where there is none.
    time : numpy.ndarray or None
        float64, ``(n,)``, seconds, increasing.
    """

    name: str
    fields: dict[str, str]
    signal: np.ndarray
    labels: np.ndarray
    time: np.ndarray | None


@dataclass
class Source:
    """Files of recordings, opened.

    Attributes
    ----------
    path : Path
    files : list of Path
        All files that are read, the metadata's included.
    names, numeric, dates : list of str
        Columns, those of numbers, and those of dates.
    spoilt : dict of str to str
        Columns of numbers but for some cells, and what is in these; and what is no column, with why.
    single : dict of str to str
        Columns of one value, and this.
    texts : dict of str to dict of str to int
        Code of each text of each column, as far as it was read.
    time_unit : str or None
        Of times that are numbers, see `tsdg.data.own.stamps.UNITS`; found as they are read if not given.
    ties : str or None
        What becomes of equal times: ``spread`` or ``drop``; by default they are refused.
    settled : dict of str to str
        Options of `prepare` that say the same of the files as was found.
    notes : list of str
        How the files were understood, where that was not plain.
    header : list of str
        What there is, in lines, before anything is read whole.
    origin : int or None
        First date in the file, in nanoseconds; times count from there.
    start : float
        The same of times in other units than seconds.
    intervals : Intervals or None
        Where the labels come from that are no column's; their texts are those of the column of no name.
    named_once : bool
        Whether a recording's name alone tells it from all others, and not with the fields of its domain.
    """

    path: Path
    files: list[Path]
    names: list[str]
    numeric: list[str]
    read: Callable[[Columns, "Source"], Iterator[Block]]
    dates: list[str] = field(default_factory=list)
    spoilt: dict[str, str] = field(default_factory=dict)
    single: dict[str, str] = field(default_factory=dict)
    texts: dict[str, dict[str, int]] = field(default_factory=dict)
    time_unit: str | None = None
    ties: str | None = None
    settled: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    origin: int | None = None
    start: float | None = None
    intervals: "Intervals | None" = None
    named_once: bool = False

    @property
    def simulated(self) -> bool:
        """Whether the file says that `tsdg` simulated it."""
        return SIMULATED_COLUMN in self.names

    def usual_recording(self, fields: Sequence[str]) -> str | None:
        """Column of the recording, where none is named."""
        return next((name for name in ("recording", FILE) if name in self.names), None)

    def codes(self, column: str, values: Sequence[object], indices: np.ndarray) -> np.ndarray:
        """Codes ``(n,)`` of ``values[indices]``; -1 for an index below 0 and for an empty value."""
        known = self.texts.setdefault(column, {})
        texts = [plain(value) for value in values]
        empty = [
            value is None or value != value or not text for value, text in zip(values, texts, strict=True)
        ]
        found = [
            -1 if nothing else known.setdefault(text, len(known))
            for nothing, text in zip(empty, texts, strict=True)
        ]
        return np.array([*found, -1], np.int32)[indices]

    def labels(self, columns: Columns) -> list[str]:
        """Texts of the labels, as far as they were read."""
        return list(self.texts.get(columns.label or "", {}))

    def digests(self) -> list[dict[str, str]]:
        """Name and SHA-256 of each file."""
        return [{"file": path.name, "sha256": sha256(path)} for path in self.files]

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
        """Resolve the columns by name.

        `channels` are by default all columns of numbers that have a name and are nothing else, `recording` is
        the column ``recording``, or in a folder the ``file``, and `time` the column ``time``, where they are.

        Raises
        ------
        InputError
            If a column is not there, or a channel holds no numbers.
        """
        if recording is None:
            recording = self.usual_recording(fields)
        if time is not None and rate is not None:
            raise InputError(
                f"{self.path}: sampling_rate: {rate!r} is a column, and so is the time; give one"
            )
        if time is None and rate is None and "time" in self.names and "time" not in (channels or []):
            time = "time"
        hints = {
            "label": "; are the labels in a file of intervals? --intervals names it",
            "domain": ", the columns that tell domains apart (`prepare: {domain: [...]}` in "
            "params.yaml); what else `domains` say of a domain need not be columns",
        }
        for what, names in (
            ("label", [label]), ("recording", [recording]), ("time", [time]), ("domain", fields),
            ("channels", channels or []), ("sampling-rate", [rate]),
        ):  # fmt: skip
            for name in names:
                if name in self.spoilt and name not in self.names:
                    raise InputError(f"{self.path}: {what}: {name!r} {self.spoilt[name]}; correct it")
                if name is not None and name not in self.names:
                    raise InputError(
                        f"{self.path}: {what}: there is no column {name!r}{nearest(name, self.names)}; "
                        f"there are {', '.join(self.names)}; name it with --{what}"
                        + (hints.get(what, "") if what == "domain" or name == "label" else "")
                    )
        if time is not None and time not in (*self.numeric, *self.dates):
            raise InputError(
                f"{self.path}: time: column {time!r} {self.spoilt.get(time, 'holds text')}, where seconds "
                "belong (decimals with a point), or dates such as 2026-01-31 12:00:00.5"
            )
        others = {label, recording, time, rate, *fields, FILE, SIMULATED_COLUMN, ""}
        if channels is None:
            usual = LABEL if label is None else ()
            numbers = [n for n in self.names if n in (*self.numeric, *self.spoilt)]
            channels = [n for n in numbers if n not in others and n not in usual]
        for name in channels:
            if name in others:
                raise InputError(f"{self.path}: column {name!r} cannot be a channel and something else too")
            if name in self.single:
                raise InputError(f"{self.path}: channel {name!r} is one value, not a signal; leave it out")
            if name not in self.numeric:
                raise InputError(
                    f"{self.path}: channel {name!r} {self.spoilt.get(name, 'holds text')}, where numbers "
                    "belong; leave the cell empty where a value is missing, and write decimals with a point"
                )
        if not channels:
            raise InputError(f"{self.path}: no column of numbers is left for a channel")
        return Columns(list(channels), label, recording, time, list(fields), rate)

    def recordings(self, columns: Columns) -> Iterator[Recording]:
        """The recordings in the files' order, one in memory at a time.

        One ends where its name or a field of its domain changes.

        Raises
        ------
        InputError
            If the rows of a recording are not together, a field changes within one that its name alone tells
            from others, time does not increase, or a value is infinite.
        """
        seen: set[tuple[str, ...]] = set()
        open_: list[Block] = []
        row = 0
        for block in self.read(columns, self):
            keys = self._keys(block, columns)
            cuts = np.flatnonzero((keys[1:] != keys[:-1]).any(1)) + 1
            for first, last in zip([0, *cuts], [*cuts, len(keys)], strict=True):
                if first == last:
                    continue
                if open_ and (self._keys(open_[0], columns)[0] != keys[first]).any():
                    yield self._recording(open_, columns, seen, row)
                    row += sum(len(other.signal) for other in open_)
                    open_ = []
                open_.append(_cut(block, slice(first, last)))
        if open_:
            yield self._recording(open_, columns, seen, row)
        if not seen:
            raise InputError(f"{self.path}: holds no rows")
        if self.intervals:
            self.intervals.check_all()

    def _keys(self, block: Block, columns: Columns) -> np.ndarray:
        """What is the same in all of a recording, ``(n, keys)``."""
        names = [columns.recording] if columns.recording else []
        if not names or not self.named_once:
            names += [name for name in columns.fields if name not in names]
        return np.stack([block.codes[name] for name in names] or [np.zeros(len(block.signal), np.int32)], 1)

    def _recording(
        self, blocks: list[Block], columns: Columns, seen: set[tuple[str, ...]], row: int
    ) -> Recording:
        block = _joined(blocks)
        texts = {name: list(self.texts[name]) for name in columns.texts}
        if columns.recording:
            code = block.codes[columns.recording][0]
            if code < 0:
                raise InputError(
                    f"{self.path}: {columns.recording} is empty in row {row + 1}; name the recording of "
                    "every row"
                )
            name = texts[columns.recording][code]
        else:
            name = str(len(seen) + 1)
        where = f"{self.path}: recording {name}"
        fields = {}
        for column in columns.fields:
            codes = block.codes[column]
            changed = np.flatnonzero(codes != codes[0])
            if len(changed):
                raise InputError(
                    f"{where}: {column} changes in row {row + changed[0] + 1}, but a recording is of one "
                    "domain; give the parts names of their own"
                )
            fields[column] = texts[column][codes[0]] if codes[0] >= 0 else ""
        key = (name,) if self.named_once else (name, *fields.values())
        if key in seen:
            raise InputError(
                f"{where} goes on in row {row + 1} after another one: two recordings of the same name, or "
                "rows that are not sorted by recording; rename or sort them"
                + ("" if self.named_once else f", or correct its {', '.join(columns.fields)}")
            )
        seen.add(key)
        if np.isinf(block.signal).any():
            step, channel = np.argwhere(np.isinf(block.signal))[0]
            raise InputError(
                f"{where}: {columns.channels[channel]} is infinite in row {row + step + 1}; "
                "leave the cell empty where a value is missing"
            )
        if self.intervals:
            block.codes[_ROW] = np.arange(len(block.signal))
        if block.time is not None:
            back = np.flatnonzero(~(np.diff(block.time) >= 0))
            if len(back):
                raise InputError(
                    f"{where}: {columns.time} does not increase from row {row + back[0] + 1} to the next; "
                    "sort the rows of each recording by time, once each"
                    + ("" if columns.recording else ", or name the column of the recording with --recording")
                )
            block = self._timed(block, columns, where, row)
        if columns.rate:
            rate = self._rate(block.codes[columns.rate], columns.rate, where)
            block = Block(block.signal, block.codes, np.arange(len(block.signal)) / rate)
        if self.intervals:
            labels = self.intervals.labels(self, name, block.codes[_ROW], block.time)
        else:
            labels = block.codes[columns.label] if columns.label else np.full(len(block.signal), -1, np.int32)
        return Recording(name, fields, block.signal, labels, block.time)

    def _rate(self, codes: np.ndarray, column: str, where: str) -> float:
        """Hz of a recording, from a column of texts."""
        texts = [["", *self.texts[column]][code + 1] for code in np.unique(codes)]
        try:
            rate = float(texts[0])
        except ValueError:
            rate = 0.0
        if len(texts) > 1 or not 0 < rate < np.inf:
            raise InputError(
                f"{where}: sampling_rate: column {column!r} holds {', '.join(map(repr, texts[:3]))}, where "
                "one number above 0 belongs, Hz"
            )
        return rate

    def _timed(self, block: Block, columns: Columns, where: str, row: int) -> Block:
        """A recording with times in seconds, without ties."""
        time = block.time
        assert time is not None
        ties = np.flatnonzero(np.diff(time) == 0)
        if len(ties) and self.ties is None:
            raise InputError(
                f"{where}: {columns.time} is the same in rows {row + ties[0] + 1} and {row + ties[0] + 2}; "
                "give ties: spread, which shares the time to the next one, or ties: drop"
            )
        if columns.time not in self.dates:
            self.time_unit = self.time_unit or unit_of(time)
            if self.time_unit not in (None, "s"):
                self.start = float(time[0]) if self.start is None else self.start
                time = (time - self.start) / UNITS[self.time_unit]
        if len(ties) and self.ties == "spread":
            time = spread(time)
        block = Block(block.signal, block.codes, time)
        return _cut(block, np.r_[True, np.diff(time) > 0]) if len(ties) else block


def _cut(block: Block, rows: slice | np.ndarray) -> Block:
    """Some rows of a block."""
    time = None if block.time is None else block.time[rows]
    return Block(block.signal[rows], {name: codes[rows] for name, codes in block.codes.items()}, time)


def _joined(blocks: list[Block]) -> Block:
    """Consecutive blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    codes = {name: np.concatenate([block.codes[name] for block in blocks]) for name in blocks[0].codes}
    times = [block.time for block in blocks if block.time is not None]
    return Block(
        np.concatenate([block.signal for block in blocks]), codes, np.concatenate(times) if times else None
    )
