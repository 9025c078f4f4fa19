"""Windows already cut, as archives of time series classification have them: ``.ts`` and ``.arff``.

Where they are not of one length, as ``@equalLength false`` of a ``.ts`` says, each is a recording.
"""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import scipy.io.arff

from tsdg.data.own.arrays import of_variables, some
from tsdg.data.own.cut import CutSource
from tsdg.data.own.reading import refused
from tsdg.data.own.recordings import Block, Columns, Progress, Source, plain
from tsdg.errors import InputError

LABEL, RECORDING = "label", "recording"
_BYTES = 1 << 22
_RELATIONAL = re.compile(r"@attribute\s+\S+\s+relational\b", re.IGNORECASE)
_NOMINAL = re.compile(r"(?im)^\s*@attribute.*\{.*\}")  # SciPy takes spaces before commas for part of a value

Parse = Callable[[str], tuple[list[str], str]]


def open_ts(path: Path, progress: Progress) -> Source:
    """``.ts``: a line a window, its channels' values, and its label."""
    said: dict[str, str] = {}
    classes: list[str] = []
    with refused(path), open(path, encoding="utf-8") as file:
        for line in file:
            words = line.strip().lower().split()
            if words and words[0].startswith("@"):
                said[words[0]] = words[1] if len(words) > 1 else ""
            if words and words[0] == "@classlabel":
                classes = line.split()[2:]
            if words and words[0] == "@data":
                break
    if "@data" not in said:
        raise InputError(f"{path}: has no line @data, which the windows follow")
    if said.get("@timestamps") == "true":
        raise InputError(f"{path}: has a time with each value, which is not read; save it without")
    labelled = "true" in (said.get("@classlabel"), said.get("@targetlabel"))

    def parse(line: str) -> tuple[list[str], str]:
        parts = line.split(":")
        return (parts[:-1], parts[-1].strip()) if labelled else (parts, "")

    return _lines(path, parse, progress, classes, equal=said.get("@equallength") != "false")


def open_arff(path: Path, progress: Progress) -> Source:
    """``.arff``: columns, or windows of several channels in an attribute that is relational."""
    with refused(path), open(path, encoding="utf-8") as file:
        head = "".join(islice((line for line in file if line.lstrip().startswith("@")), 2))
    if _RELATIONAL.search(head):
        return _lines(path, _relational, progress)
    try:
        with refused(path):
            text = _NOMINAL.sub(lambda found: re.sub(r"\s*,\s*", ",", found[0]), path.read_text("utf-8"))
            data, _ = scipy.io.arff.loadarff(io.StringIO(text))
    except StopIteration:  # as SciPy ends where there is no line @data
        raise InputError(f"{path}: has no line @data, which the rows follow") from None
    columns = {name.strip("\"'"): data[name] for name in data.dtype.names or ()}
    texts = {n: np.char.decode(c, "utf-8") for n, c in columns.items() if c.dtype.kind == "S"}
    return of_variables(path, columns | texts, None, progress)


def _relational(line: str) -> tuple[list[str], str]:
    quote = line[0]
    series, _, label = line[1:].rpartition(quote)
    return series.split("\\n"), label.strip(" ,'\"")


def _lines(
    path: Path, parse: Parse, progress: Progress, classes: Sequence[str] = (), *, equal: bool = True
) -> Source:
    """Windows, a line each, with a function from a line to the texts of its channels and its label.

    Where `classes` are given, a label is one of them, or ``?`` or nothing. Where the lines are not `equal`,
    they are recordings of their own lengths, called by the file and their number.
    """
    known = {plain(name).lower() for name in classes}

    def windows() -> Iterator[tuple[np.ndarray, str]]:
        with refused(path), open(path, encoding="utf-8") as file:
            begun = False
            for number, line in enumerate(file, start=1):
                if begun and line.strip() and not line.startswith(("#", "%")):
                    window, label = _window(path, number, *parse(line.strip()))
                    if known and label not in ("", "?") and plain(label).lower() not in known:
                        raise InputError(
                            f"{path}: line {number}: label {label!r} is not one of @classLabel, "
                            f"{some(list(classes))}; correct either"
                        )
                    yield window, label
                begun |= line.strip().lower() == "@data"

    first = next(windows(), None)
    if first is None:
        raise InputError(f"{path}: holds no windows")
    shape, ts = first[0].shape, path.suffix.lower() == ".ts"
    channels = [f"channel{index}" for index in range(shape[1])]

    def read(columns: Columns, source: Source) -> Iterator[Block]:
        chosen = [channels.index(name) for name in columns.channels]
        rest, done = windows(), 0
        while part := list(islice(rest, max(1, _BYTES // (8 * first[0].size)))):
            for number, (window, _) in enumerate(part, start=done + 1):
                if window.shape != shape:
                    raise InputError(
                        f"{path}: window {number} has {window.shape[1]} channels of {window.shape[0]} time "
                        f"steps, the first {shape[1]} of {shape[0]}; bring all to one length"
                        + (", or say `@equalLength false` in its head" if ts else "")
                    )
            labels = source.codes(LABEL, [label for _, label in part], np.arange(len(part)))
            signal = np.stack([window[:, chosen] for window, _ in part]).astype(np.float32)
            yield Block(signal, dict.fromkeys(columns.texts, labels), None)
            done += len(part)
            progress(done, done)

    def read_recordings(columns: Columns, source: Source) -> Iterator[Block]:
        chosen = [channels.index(name) for name in columns.channels]
        for number, (window, label) in enumerate(windows(), start=1):
            if window.shape[1] != shape[1]:
                raise InputError(
                    f"{path}: recording {number} has {window.shape[1]} channels, the first {shape[1]}; "
                    "correct it"
                )
            texts = {LABEL: label, RECORDING: f"{path.stem}-{number}"}
            codes = {}
            for name in columns.texts:
                column = window[:, channels.index(name)] if name in channels else [texts[name]] * len(window)
                values, indices = np.unique(column, return_inverse=True)
                codes[name] = source.codes(name, values.tolist(), indices)
            time = window[:, channels.index(columns.time)] if columns.time else None
            yield Block(window[:, chosen].astype(np.float32), codes, time)
            progress(number, number)

    if not equal:
        names = [*channels, LABEL, RECORDING]
        header = [f"{path}: recordings of unequal lengths, {shape[1]} channels"]
        return Source(path, [path], names, channels, read_recordings, header=header)
    header = [f"{path}: windows already cut, {shape[1]} channels of {shape[0]} time steps"]
    return CutSource(path, [path], [*channels, LABEL], channels, read, header=header, length=shape[0])


def _window(path: Path, number: int, series: list[str], label: str) -> tuple[np.ndarray, str]:
    """The values ``(T, C)`` of a window, NaN where there is none, and its label."""
    try:
        rows = [[np.nan if v.strip() == "?" else float(v) for v in one.split(",")] for one in series]
        if len({len(row) for row in rows}) != 1:
            raise ValueError("its channels are not of one length")
    except ValueError as error:
        raise InputError(f"{path}: line {number}: {error}; correct it") from None
    return np.array(rows).T, label
