"""Sensors in files of their own, each at its rate, joined by time: a phone and a watch, or two of one device.

The recordings, their labels and domains are those of the first file. Each sensor is filtered for the rate
that is wanted and interpolated by a cubic spline at the same moments. Memory holds one recording of each
file; the other files are kept on disk as they are read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

import numpy as np
import scipy.interpolate
import scipy.ndimage
import scipy.signal

from tsdg.data.own.cut import CutSource
from tsdg.data.own.raw import open_source
from tsdg.data.own.recordings import Columns, Recording, Source
from tsdg.data.own.sampling import IRREGULAR, check_ratio
from tsdg.data.own.stamps import GAP, UNITS, rate_of
from tsdg.errors import InputError, nearest

_SHOWN = 5  # recordings


@dataclass
class Other:
    """A file that is joined: what it is read by, and its channels by their names in the join."""

    source: Source
    columns: Columns
    channels: dict[str, str]
    missing: list[str] = field(default_factory=list)


@dataclass
class JoinedSource(Source):
    """Recordings with the channels of several files.

    Attributes
    ----------
    others : list of Other
    rate : float
        Hz that all are brought to.
    gap : float
        Sample periods of a sensor above which nothing is interpolated.
    """

    others: list[Other] = field(default_factory=list)
    rate: float = 1.0
    gap: float = GAP

    def recordings(self, columns: Columns) -> Iterator[Recording]:
        """The recordings in the first file's order, as long as all sensors were recorded."""
        if columns.time is None or columns.recording is None:
            what = "time" if columns.time is None else "recording"
            raise InputError(
                f"{self.path}: join: no column is the {what}'s, by which files are joined; name it"
            )
        joined = {name for other in self.others for name in other.channels}
        own = replace(columns, channels=[name for name in columns.channels if name not in joined])
        wanted = [replace(o, channels=_chosen(o, columns)) for o in self.others]
        for path, names in [(self.path, own.channels), *((o.source.path, o.channels) for o in wanted)]:
            if not names:
                raise InputError(f"{path}: join: none of its columns is among the channels; name one of them")
        order = [*own.channels, *(name for other in wanted for name in other.channels)]
        places = [order.index(name) for name in columns.channels]
        spools = [_Spool(other) for other in wanted]
        try:
            for recording in super().recordings(own):
                yield from self._joined(recording, spools, places)
        finally:
            for spool in spools:
                spool.file.close()
        self._say_missing(spools)

    def _joined(
        self, recording: Recording, spools: Sequence["_Spool"], places: Sequence[int]
    ) -> Iterator[Recording]:
        time = recording.time
        assert time is not None
        parts = [(recording.signal, time)]
        for spool in spools:
            if recording.name not in spool.places:
                spool.other.missing.append(recording.name)
                return
            signal, other = spool.of(recording.name)
            other = other + (_zero(spool.other.source) - _zero(self))
            if not max(time[0], other[0]) < min(time[-1], other[-1]):
                zero = _zero(self)
                here, there = (f"{t[0] + zero:.13g} to {t[-1] + zero:.13g} s" for t in (time, other))
                raise InputError(
                    f"{spool.other.source.path}: recording {recording.name}: its times, {there}, do not "
                    f"overlap those of {self.path}, {here}; is it of another clock, or of another unit "
                    "(time_unit)?"
                )
            parts.append((signal, other))
        if any(np.isnan(signal).any() for signal, _ in parts):
            raise InputError(
                f"{self.path}: recording {recording.name} has missing values, which cannot be joined; fill "
                "them or leave it out"
            )
        begin, end = max(t[0] for _, t in parts), min(t[-1] for _, t in parts)
        for _, at in parts:
            if len(at) > 1:
                place = f"{self.path}: recording {recording.name}"
                check_ratio(place, rate_of(at, self.gap), self.rate)
        grid = begin + np.arange(int((end - begin) * self.rate + 1e-6) + 1) / self.rate
        signal = np.concatenate([at_moments(*part, grid, self.rate, self.gap) for part in parts], 1)[
            :, places
        ]
        there = ~np.isnan(signal).any(1)
        labels = recording.labels[np.searchsorted(time, grid + 1e-9, side="right") - 1]
        if there.any():
            arrays = signal[there].astype(np.float32), labels[there], grid[there]
            yield Recording(recording.name, recording.fields, *arrays)

    def _say_missing(self, spools: Sequence["_Spool"]) -> None:
        for spool in spools:
            missing = spool.other.missing
            shown = ", ".join(missing[:_SHOWN]) + (" ..." if len(missing) > _SHOWN else "")
            if missing and not set(spool.places) - spool.used:
                self.notes.append(
                    f"{len(missing)} recordings are not in {spool.other.source.path.name}: {shown}."
                )
            elif missing:
                raise InputError(
                    f"{spool.other.source.path}: join: there is no recording {missing[0]!r}"
                    f"{nearest(missing[0], spool.places)}; there are "
                    f"{', '.join(list(spool.places)[:20])}; rename it, or leave it out"
                )


class _Spool:
    """A file's recordings on disk, by name."""

    def __init__(self, other: Other):
        self.other, self.width = other, len(other.channels)
        self.file: BinaryIO = TemporaryFile()  # noqa: SIM115
        self.places: dict[str, tuple[int, int]] = {}
        self.used: set[str] = set()
        columns = replace(other.columns, channels=list(other.channels.values()))
        for recording in other.source.recordings(columns):
            assert recording.time is not None
            self.places[recording.name] = self.file.tell(), len(recording.time)
            self.file.write(recording.time.astype(float).data)
            self.file.write(np.ascontiguousarray(recording.signal, np.float32).data)

    def of(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Signal ``(n, C)`` and time ``(n,)`` of a recording."""
        self.used.add(name)
        place, count = self.places[name]
        self.file.seek(place)
        time = np.frombuffer(self.file.read(8 * count), float)
        signal = np.frombuffer(self.file.read(4 * count * self.width), np.float32)
        return signal.reshape(count, self.width), time


def joined(
    source: Source,
    paths: Sequence[str | Path],
    *,
    rate: float | None,
    recording: str | None = None,
    time: str | None = None,
    label: str | None = None,
    fields_: Sequence[str] = (),
    channels: Sequence[str] | None = None,
    time_unit: str | None = None,
    ties: str | None = None,
    gap: float = GAP,
    separator: str | None = None,
    header: Sequence[str] | None = None,
) -> JoinedSource:
    """Join other files to a source.

    Parameters
    ----------
    source : Source
    paths : sequence of path
        Files or folders with the same names of the columns of recording and time. A channel that another file
        has too is called by its file, ``gyro.x`` of ``gyro.csv``.
    rate : float
        Hz that all are brought to.
    recording, time, label, channels, fields_
        As in `tsdg.data.own.prepare.prepare`; what is of no signal is no channel.
    time_unit, ties, gap, separator, header
        The same, of all files.

    Raises
    ------
    InputError
        If a file cannot be joined.
    """
    if rate is None:
        raise InputError("join: sensors are brought to one rate; give `resample`, Hz")
    if isinstance(source, CutSource):
        raise InputError(f"join: {source.path} holds windows already cut, not recordings; leave it out")
    others: list[Other] = []
    taken = list(source.names)
    for path in map(Path, paths):
        found = open_source(path, separator=separator, header=header)
        if isinstance(found, CutSource):
            raise InputError(f"join: {path} holds windows already cut, not recordings")
        own = found.columns(
            label=None,
            recording=recording,
            time=time,
            fields=[name for name in fields_ if name in found.names],
        )
        if own.recording is None or own.time is None:
            what = "recording" if own.recording is None else "time"
            raise InputError(
                f"{path}: join: needs the {what} as {source.path} has it; there are {', '.join(found.names)}"
            )
        if any(o.source.path.name.split(".")[0] == path.name.split(".")[0] for o in others):
            raise InputError(f"join: two files are called {path.name.split('.')[0]}; rename one")
        found.time_unit, found.ties, found.named_once = time_unit, ties, True
        names = {}
        for name in (name for name in own.channels if name != label):
            whole = f"{path.name.split('.')[0]}.{name}" if name in taken else name
            if channels is None or whole in channels:
                names[whole] = name
        others.append(Other(found, replace(own, fields=[]), names))
        taken += names
    new = [name for other in others for name in other.channels]
    parts = {one.name: getattr(source, one.name) for one in fields(Source)} | {
        "files": [*source.files, *(file for other in others for file in other.source.files)],
        "names": [*source.names, *new],
        "numeric": [*source.numeric, *new],
        "named_once": True,
    }
    return JoinedSource(**parts, others=others, rate=rate, gap=gap)


def at_moments(
    signal: np.ndarray, time: np.ndarray, moments: np.ndarray, rate: float, gap: float
) -> np.ndarray:
    """A signal ``(n, C)`` of times ``(n,)`` at moments ``(m,)`` of a rate; NaN where it has a gap."""
    values = np.full((len(moments), signal.shape[1]), np.nan)
    if len(time) < 2:
        return values
    own, steps = rate_of(time, gap), np.diff(time)
    cuts = np.flatnonzero(steps > gap * np.median(steps)) + 1
    for part, at in zip(np.split(signal.astype(float), cuts), np.split(time, cuts), strict=True):
        inside = (moments >= at[0] - 1e-9) & (moments <= at[-1] + 1e-9)
        if len(at) < 2 or not inside.any():
            continue
        if np.abs(np.diff(at) * own - 1).max() > IRREGULAR:
            even = np.linspace(at[0], at[-1], max(2, round((at[-1] - at[0]) * own) + 1))
            part, at = np.stack([np.interp(even, at, channel) for channel in part.T], 1), even
        values[inside] = scipy.interpolate.CubicSpline(at, _filtered(part, own / rate))(moments[inside])
    return values


def _filtered(signal: np.ndarray, times: float) -> np.ndarray:
    """Without what a rate so many times lower cannot hold; the filter of `scipy.signal.resample_poly`."""
    if times <= 1:
        return signal
    taps = scipy.signal.firwin(2 * int(10 * times) + 1, 1 / times, window=("kaiser", 5.0))
    return scipy.ndimage.convolve1d(signal, taps, axis=0, mode="nearest")


def _chosen(other: Other, columns: Columns) -> dict[str, str]:
    return {name: own for name, own in other.channels.items() if name in columns.channels}


def _zero(source: Source) -> float:
    """The moment from which a source's times count, in seconds."""
    if source.origin is not None:
        return source.origin / UNITS["ns"]
    return 0.0 if source.start is None else source.start / UNITS[source.time_unit or "s"]
