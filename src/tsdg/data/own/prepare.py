"""A user's own recordings, cut into windows: the data set kind `table`. What is read, see `raw`."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from tsdg.data.own.backbone import backbone
from tsdg.data.own.cut import CutSource, check_axes, settled
from tsdg.data.own.intervals import INTERVAL_UNITS, attach
from tsdg.data.own.join import joined
from tsdg.data.own.metadata import described
from tsdg.data.own.order import SPEED_UNITS, Order
from tsdg.data.own.raw import open_source
from tsdg.data.own.recordings import Columns, Recording, Source, plain
from tsdg.data.own.sampling import Sampling, plain_rate
from tsdg.data.own.stamps import GAP, UNITS
from tsdg.data.windows import window_starts, write
from tsdg.errors import InputError, nearest


def prepare(
    raw: str | Path,
    out: str | Path,
    *,
    domains: Mapping[str, Mapping[str, object]],
    window: int,
    stride: int | None = None,
    short: str = "drop",
    files: str | None = None,
    rows: str | None = None,
    header: Sequence[str] | None = None,
    axes: str | None = None,
    channels: Sequence[str] | None = None,
    label: str = "label",
    classes: Sequence[object] | Mapping[object, str] | None = None,
    intervals: str | Path | None = None,
    interval_unit: str | None = None,
    metadata: str | Path | None = None,
    recording: str | None = None,
    time: str | None = None,
    time_unit: str | None = None,
    ties: str | None = None,
    gap: float = GAP,
    domain: Sequence[str] | None = None,
    sampling_rate: float | str | None = None,
    resample: float | None = None,
    join: Sequence[str] | None = None,
    order: str | None = None,
    order_unit: str = "rpm",
    per_revolution: int = 256,
    cap: int | None = None,
    seed: int = 0,
    separator: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Make the windowed data set from a file, or a folder of files, which are streamed.

    A window never crosses a recording, a change of the label, or a gap in time.

    Parameters
    ----------
    raw : path
        A file, or a folder of files, see `tsdg.data.own.raw`.
    out : path
        Folder of the prepared data set.
    domains : mapping of str to mapping
        Each domain's value of each field: ``{A: {user: 1}, B: {user: 2}}``. Rows of no domain are left out.
    window, stride : int
        Window length and distance of two windows in time steps, after resampling; by default they adjoin.
    short : {"drop", "pad"}
        What becomes of a stretch that is shorter than one window: left out, or its last value repeated.
    files : str, optional
        Pattern of the names of a folder's files, see `tsdg.data.own.file_names.read_names`.
    rows : {"steps", "windows"}, optional
        What a row of a table is, see `tsdg.data.own.cut.settled`.
    header : sequence of str, optional
        Names of the columns of texts whose first line is a row.
    axes : {"NTC", "NCT"}, optional
        Of windows already cut, see `tsdg.data.own.cut.of_arrays`.
    channels : sequence of str, optional
        Columns, or patterns of their names, see `tsdg.data.own.column_names.renamed`; by default all
        of numbers that are nothing else.
    label : str
        Column of the class, of each time step or the same in all of a recording.
    classes : sequence or mapping, optional
        Labels to use, in the order of the classes, or label to name; by default all that occur.
    intervals : path, optional
        Text file of the labels, in place of the column `label`: a row an interval, its recording, start, end
        and label, see `tsdg.data.own.intervals.attach`.
    interval_unit : {"time", "s", "samples", "rows"}, optional
        Of its starts and ends.
    metadata : path, optional
        Table of what is the same in all of a recording, see `tsdg.data.own.metadata.described`.
    recording : str, optional
        Column of the recording's name; by default ``recording``, or in a folder the ``file``. Where there is
        none, a recording ends where a field changes.
    time : str, optional
        Column of the time, as numbers or dates; by default ``time``, where there is one.
    time_unit : {"s", "ms", "us", "ns", "min", "h"}, optional
        Of a time in numbers; by default one of the first four, told by their magnitude, see
        `tsdg.data.own.stamps.unit_of`.
    ties : {"spread", "drop"}, optional
        Equal times share the time to the next one, or only the first row is kept; by default they are
        refused.
    gap : float
        Sample periods from one step to the next above which no window goes on.
    domain : sequence of str, optional
        Fields of `domains` that are columns; the others only describe. By default all are.
    sampling_rate : float or str, optional
        Hz, or the column that holds it for each recording; follows from `time` where that is given.
    resample : float, optional
        Hz of the prepared signals; by polyphase filtering, irregular times by linear interpolation before.
    join : sequence of path, optional
        Files of other sensors, joined by recording and time, see `tsdg.data.own.join`; `resample` is the rate
        of all.
    order : str, optional
        Column of a shaft's speed, at each step or the same in all of a recording: signals are resampled to
        the shaft's angle, see `tsdg.data.own.order`.
    order_unit : {"rpm", "Hz"}
        Of this speed.
    per_revolution : int
        Samples of the prepared signals, with `order`; the card's sampling rate is then this.
    cap : int, optional
        At most so many windows of each class and domain, drawn by `seed`.
    seed : int
    separator : str, optional
        Of the cells of a text; by default told by the file's name, of ``.txt`` by its first line.
    progress : callable, optional
        Called with the parts read and the parts in all.

    Returns
    -------
    dict
        The card, see :func:`tsdg.data.windows.write`.

    Raises
    ------
    InputError
        If an option is bad, a file is not as described, or a domain or class has no window.
    """
    out = Path(out).resolve()
    bounds = (
        ("window", window, 2), ("stride", stride, 1), ("cap", cap, 1), ("seed", seed, 0),
        ("per_revolution", per_revolution, 2),
    )  # fmt: skip
    for name, value, least in bounds:
        if value is not None and value < least:
            raise InputError(f"{name}: {value} is too small; give at least {least}")
    stride = stride or window
    for name, choice, known in (
        ("short", short, ("drop", "pad")),
        ("rows", rows, (None, "steps", "windows")),
        ("axes", axes, (None, "NTC", "NCT")),
        ("time_unit", time_unit, (None, *UNITS)),
        ("interval_unit", interval_unit, (None, *INTERVAL_UNITS)),
        ("ties", ties, (None, "spread", "drop")),
        ("order_unit", order_unit, tuple(SPEED_UNITS)),
    ):
        if choice not in known:
            raise InputError(f"{name}: {choice!r} is unknown; choose {' or '.join(filter(None, known))}")
    if order is None and (order_unit, per_revolution) != ("rpm", 256):
        name = "order_unit" if order_unit != "rpm" else "per_revolution"
        raise InputError(f"{name}: is of the speed of a shaft; name its column with order, or leave it out")
    fields = (
        list(domain) if domain is not None else list(dict.fromkeys(f for d in domains.values() for f in d))
    )
    rate, rate_column = (None, sampling_rate) if isinstance(sampling_rate, str) else (sampling_rate, None)
    asked = [*(channels or []), label, recording, time, rate_column, order, *fields]
    source = open_source(
        raw, separator=separator, axes=axes, files=files, columns=asked, header=header, progress=progress
    )
    if metadata is not None:
        source = described(source, metadata, recording)
    given: dict[str, Any] = {
        "channels": channels, "label": label if intervals is None else None, "recording": recording,
        "time": time, "fields": fields, "rate": rate_column,
    }  # fmt: skip
    source = settled(source, rows, **given)
    check_axes(source, axes)
    if join:
        source = joined(
            source, join, rate=resample, recording=recording, time=time, label=label, fields_=fields,
            channels=channels, time_unit=time_unit, ties=ties, gap=gap, separator=separator,
            header=header,
        )  # fmt: skip
    columns = source.columns(**given)
    source.time_unit, source.ties = time_unit, ties
    if intervals is not None:
        attach(source, columns, intervals, unit=interval_unit, label=label, rate=rate)
    places = domain_places(domains, fields)
    names = _class_names(classes)
    by_angle = Order(order, order_unit, per_revolution) if order else None
    sampling = Sampling(rate, resample, gap, by_angle)
    if by_angle:
        columns = replace(columns, channels=[name for name in columns.channels if name != order])
    wanted = by_angle.columns(source, columns) if by_angle else columns
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=out.parent) as spool:
        cutter = _Cutter(spool, window, stride, short, names)
        skipped: dict[tuple[str, ...], int] = {}
        for found in source.recordings(wanted):
            key = tuple(found.fields[name] for name in fields)
            if key in places:
                for part in sampling.stretches(found, str(raw)):
                    cutter.add(part, places[key], source.labels(columns))
            else:
                skipped[key] = skipped.get(key, 0) + 1
        present = {name: list(source.texts.get(name, {})) for name in fields}
        windows, names = cutter.finished(str(raw), domains, fields, present)
        windows = _capped(windows, cap, seed)
        made = per_revolution if order else resample
        card = {
            "name": out.name,
            "kind": "table",
            "simulated": source.simulated,
            "classes": list(names.values()),
            "channels": list(columns.channels),
            "window": {"length": window, "stride": stride, "short": short} | _cut(source, columns),
            **({"stretches": cutter.starts()} if cutter.incomplete else {}),
            "domains": {name: dict(values) for name, values in domains.items()},
            "sampling_rate": made or plain_rate(rate or sampling.typical),
            "resample": resample,
            **({"order": by_angle.card} if by_angle else {}),
            "backbone": backbone(window),
            "options": {
                "label": label, "recording": columns.recording, "time": columns.time, "classes": names,
                "sampling_rate": sampling_rate, "cap": cap, "seed": seed,
            },
            "notes": [
                f"`backbone: auto` is {backbone(window)} for windows of {window} time steps.",
                *(by_angle.notes() if by_angle else []),
                *source.notes,
                *_notes(cutter, wanted, source, skipped, fields),
            ],
            "sources": source.digests(),
        }  # fmt: skip
        return write(out, cutter.pieces(len(columns.channels)), windows=windows, card=card)


def _cut(source: Source, columns: Columns) -> dict[str, str]:
    """That windows were already cut, so that their order is not known, and whether their recordings are."""
    if not isinstance(source, CutSource):
        return {}
    return {"cut": "recordings" if columns.recording else "windows"}


class _Cutter:
    """Cuts stretches into windows and keeps their signals in a file.

    Parameters
    ----------
    spool : file
    window, stride, short
        See `prepare`.
    names : dict of str to str or None
        Label to class.
    """

    def __init__(self, spool: BinaryIO, window: int, stride: int, short: str, names: dict[str, str] | None):
        self.spool, self.window, self.stride, self.short, self.names = spool, window, stride, short, names
        self.lengths: list[int] = []
        self.samples = 0
        self.incomplete = False  # whether values are missing
        self.rows: list[tuple[np.ndarray, str, str, str]] = []  # starts, label, domain, recording
        self.found: set[str] = set()
        self.longest: dict[str, int] = {}  # stretch of one label, of each domain
        self.longest_of: dict[str, int] = {}  # the same, of each label
        self.unused: dict[str, int] = {}  # time steps of labels that are no class
        self.windowless: dict[str, int] = {}  # labels left out for want of a window: their longest stretch
        self.dropped = self.padded = 0

    def add(self, part: Recording, domain: str, labels: list[str]) -> None:
        """Take a stretch without gaps."""
        self._keep(part.signal)
        begin = self.samples - len(part.signal)
        cuts = np.flatnonzero(np.diff(part.labels)) + 1
        for first, last in zip([0, *cuts], [*cuts, len(part.labels)], strict=True):
            text = labels[part.labels[first]] if part.labels[first] >= 0 else ""
            length = int(last - first)
            self.found.add(text)
            if not text or (self.names is not None and text not in self.names):
                self.unused[text] = self.unused.get(text, 0) + length
                continue
            self.longest[domain] = max(self.longest.get(domain, 0), length)
            self.longest_of[text] = max(self.longest_of.get(text, 0), length)
            starts = begin + first + window_starts(self.window, self.stride, length)
            if length < self.window:
                if self.short == "drop":
                    self.dropped += 1
                    continue
                self.padded += 1
                starts = np.array([self.samples])
                piece = part.signal[first:last]
                self._keep(np.concatenate([piece, np.repeat(piece[-1:], self.window - length, axis=0)]))
            if len(starts):
                self.rows.append((starts, text, domain, f"{domain} {part.name}"))

    def _keep(self, signal: np.ndarray) -> None:
        self.spool.write(np.ascontiguousarray(signal, np.float32).data)
        self.lengths.append(len(signal))
        self.incomplete |= bool(np.isnan(signal).any())
        self.samples += len(signal)

    def finished(
        self, where: str, domains: Mapping[str, Mapping], fields: list[str], present: dict[str, list[str]]
    ) -> tuple[pd.DataFrame, dict[str, str]]:
        """The windows table, and the class of each label."""
        labels = {text for text in self.found if text}
        for domain, values in domains.items():
            if domain not in self.longest:
                for name in fields:
                    if plain(values[name]) not in present[name]:
                        raise InputError(
                            f"{where}: domain {domain}: no row has {name} {plain(values[name])!r}"
                            f"{nearest(plain(values[name]), present[name])}; there are {_some(present[name])}"
                        )
        names = self.names
        with_windows = {text for _, text, _, _ in self.rows}
        if names is None:
            names = {text: text for text in sorted(labels & with_windows or labels, key=natural)}
            self.windowless = {text: n for text, n in self.longest_of.items() if text not in names}
        for text in names:
            if text not in labels:
                raise InputError(
                    f"{where}: classes: no row of the domains has the label {text!r}{nearest(text, labels)}; "
                    f"there are {_some(sorted(labels, key=natural))}"
                )
            if text not in with_windows and with_windows:
                raise InputError(
                    f"{where}: classes: {text!r} has no window: its longest stretch is "
                    f"{self.longest_of[text]} time steps, a window {self.window}; give a shorter "
                    "window, short: pad, or leave the class out"
                )
        if self.padded and max(self.longest.values()) == 1:
            raise InputError(
                f"{where}: short: pad would make windows of one row repeated, since every stretch of one "
                "class is one row; is a row a window? give rows: windows"
            )
        if len(names) < 2:
            lost = ", ".join(
                f"{text} (longest stretch: {n} time steps)" for text, n in self.windowless.items()
            )
            raise InputError(
                f"{where}: the domains have one class only, {', '.join(names) or 'none'}; two or more are "
                "needed" + (f"; no window of {self.window} is of {lost}: give a shorter one" if lost else "")
            )
        domains_with_windows = {domain for _, _, domain, _ in self.rows}
        for domain in domains:
            if domain not in domains_with_windows:
                raise InputError(
                    f"{where}: domain {domain} has no window: its longest stretch of one class is "
                    f"{self.longest.get(domain, 0)} time steps, a window {self.window}; "
                    "give a shorter window, or short: pad"
                )
        starts, *texts = zip(*self.rows, strict=True)
        counts = [len(part) for part in starts]
        found, places, recordings = (np.repeat(np.array(column, object), counts) for column in texts)
        order = {text: index for index, text in enumerate(names)}
        windows = pd.DataFrame({"start": np.concatenate(starts), "length": self.window})
        codes = np.array([order[text] for text in found], np.int64)
        return windows.assign(label=codes, domain=places, recording=recordings), names

    def starts(self) -> list[int]:
        """Where stretches without gaps begin, and windows that are padded: nothing is carried into them."""
        return np.cumsum([0, *self.lengths[:-1]]).tolist()

    def pieces(self, channels: int) -> Iterator[np.ndarray]:
        """The signals, one piece after another."""
        self.spool.seek(0)
        for length in self.lengths:
            data = self.spool.read(length * channels * 4)
            yield np.frombuffer(data, np.float32).reshape(length, channels)


def domain_places(
    domains: Mapping[str, Mapping[str, object]], fields: Sequence[str]
) -> dict[tuple[str, ...], str]:
    """Domain of each combination of the fields' values."""
    places: dict[tuple[str, ...], str] = {}
    for domain, values in domains.items():
        for name in fields:
            if name not in values:
                raise InputError(
                    f"domains: {domain} has no {name!r}{nearest(name, values)}, which tells domains apart"
                )
        key = tuple(plain(values[name]) for name in fields)
        if key in places:
            raise InputError(f"domains: {places[key]} and {domain} are the same, {', '.join(key)}")
        places[key] = domain
    return places


def _class_names(classes: Sequence[object] | Mapping[object, str] | None) -> dict[str, str] | None:
    """Name of each label's class, in the order of the classes."""
    if classes is None:
        return None
    pairs = classes.items() if isinstance(classes, Mapping) else [(value, value) for value in classes]
    names = {plain(label): plain(name) for label, name in pairs}
    if len(set(names.values())) < len(pairs):
        raise InputError(f"classes: a label or name is there twice: {', '.join(names.values())}")
    return names


def _capped(windows: pd.DataFrame, cap: int | None, seed: int) -> pd.DataFrame:
    """At most so many windows of each class and domain, in their order."""
    if cap is None:
        return windows
    kept = windows.groupby(["domain", "label"], sort=True).sample(frac=1, random_state=seed)
    kept = kept.groupby(["domain", "label"], sort=True).head(cap)
    return windows.loc[np.sort(kept.index)].reset_index(drop=True)


def natural(text: str) -> tuple:
    """Key that sorts numbers by value, before texts."""
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


def _some(texts: Sequence[str]) -> str:
    return ", ".join(texts[:20]) + (" ..." if len(texts) > 20 else "")


def _notes(
    cutter: _Cutter, columns: Columns, source: Source, skipped: dict[tuple[str, ...], int], fields: list[str]
) -> list[str]:
    used = {*columns.channels, *columns.texts, columns.time}
    unused = [name for name in source.names if name not in used]
    notes = []
    if unused:
        notes.append(f"Columns that are not used: {', '.join(unused)}.")
    unused_labels = sorted(cutter.unused.items(), key=lambda item: natural(item[0]))
    if unused_labels:
        steps = ", ".join(f"{count:,} of label {text or '(none)'}" for text, count in unused_labels)
        notes.append(f"Time steps in no window: {steps}.")
    for text, longest in cutter.windowless.items():
        shorter = f"its longest stretch is {longest} time steps, a window {cutter.window}"
        notes.append(f"Label {text} is no class: {shorter}.")
    if skipped:
        keys = _some([" ".join(value or "(empty)" for value in key) for key in skipped])
        notes.append(f"{sum(skipped.values())} recordings are of no domain ({', '.join(fields)}: {keys}).")
    if cutter.dropped:
        notes.append(f"{cutter.dropped} stretches are shorter than a window and left out.")
    if cutter.padded:
        notes.append(f"{cutter.padded} stretches are shorter than a window: their last value is repeated.")
    return notes
