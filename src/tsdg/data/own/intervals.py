"""Labels as intervals: a text file with a row for each, its recording, start, end (or duration) and label.

Steps in no interval have no label. An interval holds its start and not its end, unless it is of rows.
"""

import csv
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from tsdg.data.own.cut import CutSource
from tsdg.data.own.recordings import FILE, LABEL, Columns, Source, plain
from tsdg.data.own.stamps import UNITS
from tsdg.errors import InputError, nearest

INTERVAL_UNITS = ("time", "s", "samples", "rows")
RECORDING = ("recording", FILE, "recording_id", "session")
START = ("start", "onset", "begin", "start_time")
END = ("end", "stop", "end_time")
DURATION = ("duration",)
DESCRIPTION = ("annotation", "description", "event")

_SHOWN = 5  # problems


@dataclass
class Intervals:
    """Intervals of recordings.

    Attributes
    ----------
    path : Path
    unit : {"time", "s", "samples", "rows"}
        As the column of the time, seconds since the recording's first step, its steps from 0, or from 1 with
        the end included.
    bounds : dict of str to numpy.ndarray
        Of each recording, ``(n, 2)``; by start. Dates are nanoseconds since 1970.
    codes : dict of str to numpy.ndarray
        Of their labels, ``(n,)``.
    lines : dict of str to numpy.ndarray
        Where they are in the file, ``(n,)``.
    rate : float or None
        Hz of recordings without a time.
    dates : bool
        Whether starts and ends are dates.
    """

    path: Path
    unit: str
    bounds: dict[str, np.ndarray]
    codes: dict[str, np.ndarray]
    lines: dict[str, np.ndarray]
    rate: float | None
    dates: bool
    problems: list[str] = field(default_factory=list, init=False)
    seen: set[str] = field(default_factory=set, init=False)

    def labels(self, source: Source, name: str, rows: np.ndarray, time: np.ndarray | None) -> np.ndarray:
        """Codes ``(n,)`` of a recording's steps: int32, -1 in no interval.

        Parameters
        ----------
        source : Source
            Of which the times are, in its first recordings' count.
        name : str
        rows : numpy.ndarray
            ``(n,)``: number of each step in the recording, as the file has it.
        time : numpy.ndarray or None
            ``(n,)``, seconds.
        """
        labels = np.full(len(rows), -1, np.int32)
        self.seen.add(name)
        if name not in self.bounds:
            return labels
        bounds, steps = self.bounds[name], rows.astype(float)
        if self.unit == "rows":
            bounds = bounds - [1, 0]
        elif self.unit == "s":
            steps = steps / (self.rate or 1) if time is None else time - time[0]
        elif self.unit == "time":
            assert time is not None
            steps = time
            if self.dates:
                bounds = (bounds - (source.origin or 0)) / UNITS["ns"]
            else:
                bounds = (bounds - (source.start or 0)) / UNITS[source.time_unit or "s"]
        period = float(np.median(np.diff(steps))) if len(steps) > 1 else 1.0
        slack = 0.0 if self.unit in ("samples", "rows") else period
        outside = (bounds[:, 0] < steps[0] - slack) | (bounds[:, 1] > steps[-1] + period + slack)
        self.problems += [
            f"line {line}: is outside of recording {name}" for line in self.lines[name][outside]
        ]
        edges = np.searchsorted(steps, bounds - 1e-6 * period)
        for (first, last), code in zip(edges, self.codes[name], strict=True):
            labels[first:last] = code
        return labels

    def check_all(self) -> None:
        """Raise `InputError` for what is of no recording that was asked for, or outside of its recording."""
        unknown = [name for name in self.bounds if name not in self.seen]
        words = [
            f"line {self.lines[name][0]}: there is no recording {name!r}{nearest(name, self.seen)}"
            for name in unknown
        ]
        if problems := [*words, *self.problems]:
            hint = "" if self.unit in ("samples", "rows") else "; of another unit? give interval_unit"
            raise InputError(_told(self.path, problems) + hint)


def attach(
    source: Source,
    columns: Columns,
    path: str | Path,
    *,
    unit: str | None = None,
    label: str = "label",
    rate: float | None = None,
) -> None:
    """Let the labels of a source's recordings be those of intervals.

    Parameters
    ----------
    source : Source
    columns : Columns
        Without a label.
    path : path
        A text file with a header, its cells separated by commas, semicolons, tabs or spaces.
    unit : {"time", "s", "samples", "rows"}, optional
        See `Intervals`; by default ``time`` where there is one, and else ``s``.
    label : str
        Its column of the label.
    rate : float, optional
        Hz of recordings without a time.

    Raises
    ------
    InputError
        If the file is not as described, intervals of a recording overlap, or the unit asks for what is not
        known.
    """
    path = Path(path)
    where = f"{path}: intervals"
    if isinstance(source, CutSource):
        raise InputError(f"{where} are of time steps, and {source.path} holds windows already cut")
    if columns.recording is None:
        raise InputError(
            f"{where} are of recordings, and no column of {source.path} names these; give --recording"
        )
    if label in columns.channels:
        raise InputError(f"{source.path}: channels: {label!r} would be one; the labels are those of {path}")
    unit = unit or ("time" if columns.time else "s")
    if unit == "time" and columns.time is None:
        raise InputError(f"interval_unit: time, but {source.path} has no column of the time; give --time")
    if unit == "s" and columns.time is None and rate is None:
        raise InputError(
            "interval_unit: s needs a column of the time or sampling_rate; or give samples (from 0, the end "
            "excluded) or rows (from 1, the end included)"
        )
    table, lines = _read(path)
    recording = _column(path, table, "recording", (columns.recording, *RECORDING))
    start = _column(path, table, "start", START)
    end = _column(path, table, "end", (*END, *DURATION))
    of_label = _column(path, table, "label", (label, *LABEL, *DESCRIPTION))
    dates = unit == "time" and columns.time in source.dates
    problems: list[str] = []
    first = _positions(lines, table[start], dates, problems)
    last = _positions(lines, table[end], dates and end not in DURATION, problems)
    if problems:
        raise InputError(_told(path, problems))
    if end in DURATION:
        last = first + (np.round(last * UNITS["ns"]).astype(np.int64) if dates else last)
        last = last - (unit == "rows")
    elif DURATION[0] in table:
        _check_durations(
            lines, (start, end), first, last, table[DURATION[0]], problems, dates=dates,
            inclusive=unit == "rows",
        )  # fmt: skip
    bounds = np.stack([first, last], 1)
    names = np.array([plain(name) for name in table[recording]], object)
    texts = source.texts.setdefault("", {})  # of a label without a column
    codes = source.codes("", table[of_label].tolist(), np.arange(len(table)))
    found = Intervals(path, unit, {}, {}, {}, rate, dates)
    for name in dict.fromkeys(names):
        own = np.flatnonzero(names == name)
        own = own[np.argsort(bounds[own, 0], kind="stable")]
        found.bounds[name], found.codes[name], found.lines[name] = bounds[own], codes[own], lines[own]
        problems += _problems(bounds[own], lines[own], inclusive=unit == "rows")
    if problems:
        raise InputError(_told(path, problems))
    if not texts:
        raise InputError(f"{path}: column {of_label!r} is empty throughout, where labels belong")
    source.intervals, source.named_once = found, True
    source.files = [*source.files, path]


def _read(path: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """The intervals, and the line of each in the file."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            first = file.readline()
            file.seek(0)
            mark = next((mark for mark in "\t;," if mark in first), " ")
            text = file if mark != " " else (line.replace("\t", " ").strip() for line in file)
            reader = csv.reader(text, delimiter=mark, skipinitialspace=True, strict=True)
            found = [(reader.line_num, cells) for cells in reader if len(cells) > 1 or "".join(cells).strip()]
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file of intervals; correct its path") from None
    except IsADirectoryError:
        raise InputError(f"{path}: intervals: is a folder; give the text file of the intervals") from None
    except (OSError, ValueError, csv.Error) as error:  # decoding's are ValueErrors
        words = " ".join(str(error).split())
        raise InputError(f"{path}: {words}; save the intervals as a csv in UTF-8") from None
    if len(found) < 2:
        raise InputError(f"{path}: holds no intervals")
    [(_, header), *rows] = found
    if twice := [name for name in header if name and header.count(name) > 1]:
        raise InputError(f"{path}: two columns are called {twice[0]!r}; leave one of them out")
    for line, cells in rows:
        if len(cells) > len(header):
            raise InputError(
                f"{path}: line {line} has {len(cells)} cells, the header {len(header)}; give every column a "
                "name, and put texts that hold the separator in quotes"
            )
    whole = [[*cells, *[""] * (len(header) - len(cells))] for _, cells in rows]
    return pd.DataFrame(whole, columns=header, dtype=object), np.array([line for line, _ in rows])


def _check_durations(
    lines: np.ndarray,
    names: tuple[str, str],
    first: np.ndarray,
    last: np.ndarray,
    column: pd.Series,
    problems: list[str],
    *,
    dates: bool,
    inclusive: bool,
) -> None:
    """Tell of durations that are not from start to end, but for rounding."""
    scale = UNITS["ns"] if dates else 1.0
    duration = _positions(lines, column, False, problems)
    whole = not ((first % scale).any() or (last % scale).any())
    rounded = 1.0 if whole and (inclusive or (duration % 1).any()) else 0.01
    wrong = np.abs((last - first) / scale - duration) > rounded + 0.01 * np.abs(duration)
    problems += [
        f"line {lines[row]}: {column.name} {column.iloc[row]} is not from {names[0]} to {names[1]} "
        "(correct or leave out one of them)"
        for row in np.flatnonzero(wrong)
    ]


def _column(path: Path, table: pd.DataFrame, what: str, names: tuple[str, ...]) -> str:
    """The first of some columns that is there."""
    found = next((name for name in names if name in table), None)
    if found is None:
        raise InputError(
            f"{path}: intervals need a column of the {what}, {' or '.join(dict.fromkeys(names))}; there are "
            f"{', '.join(map(str, table.columns))}"
        )
    return found


def _positions(lines: np.ndarray, column: pd.Series, dates: bool, problems: list[str]) -> np.ndarray:
    """Starts or ends ``(n,)``: float64, and dates as int64 nanoseconds since 1970; what is none is told."""
    if dates:
        stamps = pd.to_datetime(column, errors="coerce", utc=True, format="ISO8601")
        bad, values = (
            stamps.isna().to_numpy(),
            stamps.astype("datetime64[ns, UTC]").astype("int64").to_numpy(),
        )
        what = "is no date such as 2026-01-31 12:00:00.5"
    else:
        values = pd.to_numeric(column, errors="coerce").to_numpy(float)
        bad, what = ~np.isfinite(values), "is no number"
    problems += [
        f"line {lines[row]}: {column.name} {column.iloc[row]!r} {what}" for row in np.flatnonzero(bad)
    ]
    return values


def _problems(bounds: np.ndarray, lines: np.ndarray, *, inclusive: bool) -> list[str]:
    """What is wrong with one recording's intervals, sorted by start."""
    backward = bounds[:, 1] < bounds[:, 0] if inclusive else bounds[:, 1] <= bounds[:, 0]
    before = np.maximum.accumulate(bounds[:, 1])[:-1]
    overlap = bounds[1:, 0] <= before if inclusive else bounds[1:, 0] < before
    return [
        *(f"line {line}: does not end after its start" for line in lines[backward]),
        *(
            f"line {lines[row + 1]}: overlaps line {lines[: row + 1][np.argmax(bounds[: row + 1, 1])]}"
            for row in np.flatnonzero(overlap)
        ),
    ]


def _told(path: Path, problems: list[str]) -> str:
    more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    return f"{path}: correct the intervals: {'; '.join(problems[:_SHOWN])}{more}"
