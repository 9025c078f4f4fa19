"""Tables of rows and named columns: text with a separator, parquet, feather.

A row is a time step, or a window already cut, see `tsdg.data.own.cut`. A ``.tsv`` or ``.txt`` whose first row
is numbers is one of UCR's: a row a window, its label first.

Of texts, several spaces are one separator, and a ``;`` at the ends of lines whose cells are separated
otherwise ends a row.
"""

import gzip
import io
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from tsdg.data.own.reading import HEAD, check_text, refused
from tsdg.data.own.recordings import Block, Columns, Progress, Source
from tsdg.errors import InputError

TEXTS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
SUFFIXES = (*TEXTS, ".parquet", ".feather")

_MISSING = frozenset(pa.csv.ConvertOptions().null_values)  # for numbers; of texts, only the empty one
_ROWS, _BYTES = 1 << 16, 1 << 22
_INDEX = re.compile(r"__index_level_\d+__")  # pandas' index without a name
_NUMBER = re.compile(r"[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?")
_MEASURED = re.compile(r"\s*([-+]\d+|[-+]?\d*[.,]\d{2,}|\d{7,})([eE][-+]?\d+)?;?\s*")  # and no name
_MARKS = ";\t|, "
_UCR = 8  # time steps, at least


def open_table(
    path: Path, separator: str | None, progress: Progress, header: Sequence[str] | None = None
) -> Source:
    """Open a table.

    Parameters
    ----------
    path : Path
    separator : str, optional
        Of the cells of a text, see `separator_of`.
    progress : callable
    header : sequence of str, optional
        Names of the columns of a text whose first line is a row.
    """
    text = _Text.of(path, separator, header) if suffix(path) in TEXTS else None
    schema, spoilt = _schema(path, text)
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    numeric = [f.name for f in schema if any(is_one(f.type) for is_one in numbers)]

    def read(columns: Columns, source: Source) -> Iterator[Block]:
        with refused(path):
            for batch in _batches(path, text, columns, schema, progress):
                yield _block(batch, columns, source)

    dates = [f.name for f in schema if pa.types.is_timestamp(f.type)]
    notes, settled = text.notes() if text else [], {"rows": "windows"} if text and text.ucr else {}
    return Source(
        path, [path], list(schema.names), numeric, read, dates, spoilt, settled=settled, notes=notes
    )


def suffix(path: Path) -> str:
    """What the end of a file's name says that it is, in lower case: ``.csv``, ``.csv.gz``."""
    last = path.suffix.lower()
    return "".join(path.suffixes[-2:]).lower() if last == ".gz" else last


def separator_of(path: Path, given: str | None) -> str:
    """What stands between the cells of a text: as given, or by its name; of ``.txt`` by its first line."""
    name = suffix(path).removesuffix(".gz")
    first = _first_line(path)
    used = next((mark for mark in _MARKS if mark in first.strip().rstrip(";")), None)
    separator = given or {".tsv": "\t", ".txt": used}.get(name) or ","
    if separator not in first and used:
        shown = f"${used!r}" if used == "\t" else repr(used)  # as Bash reads it
        raise InputError(
            f"{path}: its first line has no {separator!r}; separated by {used!r}? give --separator {shown}"
        )
    return separator


def _first_line(path: Path) -> str:
    opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
    with refused(path), opened(path, "rt", encoding="utf-8", errors="replace") as file:
        return file.readline(HEAD)


@dataclass(frozen=True)
class _Text:
    """A text table: what stands between its cells, and the columns' names where its first row has none.

    `ended` is whether its rows end in ``;``, `ucr` whether it is one of UCR's.
    """

    path: Path
    separator: str
    names: list[str] | None
    ended: bool
    ucr: bool = False

    @classmethod
    def of(cls, path: Path, given: str | None, header: Sequence[str] | None) -> "_Text":
        check_text(path)
        first = _first_line(path)
        separator = separator_of(path, given)
        ended = separator != ";" and first.rstrip().endswith(";")
        line = first.strip("\r\n").split(";")[0] if ended else first.strip("\r\n")
        cells = line.split() if separator == " " else line.split(separator)
        if header:
            if [cell.strip().strip('"') for cell in cells] == list(header):
                raise InputError(f"{path}: header: its first line has these names; leave it out")
            if len(cells) != len(header):
                raise InputError(
                    f"{path}: header: names {len(header)} columns, and the first line has {len(cells)} cells"
                )
            return cls(path, separator, list(header), ended)
        numbers = all(_NUMBER.fullmatch(cell.strip()) or cell.strip() == "NaN" for cell in cells)
        if suffix(path).startswith((".csv", ".gz")) or not numbers or len(cells) <= _UCR:
            return cls(path, separator, None, ended)
        names = ["label", *(f"x_{step}" for step in range(len(cells) - 1))]
        return cls(path, separator, names, ended, ucr=True)

    def notes(self) -> list[str]:
        """How it was understood, where that was not plain."""
        name = {"\t": "tab", " ": "space"}.get(self.separator, self.separator)
        said = [f"Cells are separated by {name!r}, as its first line says."]
        said = said if suffix(self.path).startswith(".txt") else []
        ucr = "No column names: a row is a window, its label first, as in UCR's files."
        return [*said, *([ucr] if self.ucr else []), *(["A `;` ends a row."] if self.ended else [])]

    @contextmanager
    def reader(self, conversion: Mapping[str, Any] | None = None) -> Iterator[tuple[Any, Any]]:
        """Arrow's reader of its rows, and the file, whose place tells how far that is."""
        with open(self.path, "rb") as file:
            zipped = self.path.suffix.lower() == ".gz"
            stream: Any = file
            if self.ended or self.separator == " ":
                plain = gzip.GzipFile(fileobj=file) if zipped else file
                stream = io.BufferedReader(_Mended(plain, self.ended, self.separator == " "), _BYTES)
            elif zipped:
                stream = pa.CompressedInputStream(file, "gzip")
            with pa.csv.open_csv(
                stream,
                pa.csv.ReadOptions(block_size=_BYTES, use_threads=False, column_names=self.names),
                pa.csv.ParseOptions(delimiter=self.separator),
                pa.csv.ConvertOptions(**(conversion or {})),
            ) as reader:
                yield reader, file


class _Mended(io.RawIOBase):
    """A text as Arrow reads it: a line a row, one space between cells."""

    def __init__(self, file: Any, ended: bool, spaced: bool):
        self.file, self.ended, self.spaced = file, ended, spaced
        self.left: deque[memoryview] = deque()

    def readable(self) -> bool:
        """See `io.IOBase`."""
        return True

    def readinto(self, buffer: Any) -> int:
        """See `io.RawIOBase`."""
        while not self.left:
            lines = self.file.read(_BYTES)
            if not lines:
                return 0
            lines += self.file.readline()  # so that none is cut
            if self.ended:
                lines = lines.replace(b";", b"\n")
            if self.spaced:
                lines = re.sub(rb" +", b" ", lines)
                lines = re.sub(rb" ?(\r?\n) ?", rb"\1", lines).strip(b" ")
            if lines:
                self.left.append(memoryview(lines))
        part = self.left.popleft()
        size = min(len(part), len(buffer))
        buffer[:size] = part[:size]
        if size < len(part):
            self.left.appendleft(part[size:])
        return size


def _schema(path: Path, text: _Text | None) -> tuple[pa.Schema, dict[str, str]]:
    """Types of the columns, and what keeps columns of numbers from being such."""
    with refused(path):
        if text is None:
            schema = _arrow_schema(path)
            return pa.schema([field for field in schema if not _INDEX.fullmatch(field.name)]), {}
        with text.reader() as (reader, _):
            schema = reader.schema
            first = next(iter(reader), None)
    if first is None:
        raise InputError(f"{path}: holds no rows")
    names = schema.names
    if len(names) == 1:
        raise InputError(f"{path}: has one column only, {names[0]!r}; a recording needs a label and channels")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{path}: two columns are called {twice[0]!r}; rename one")
    if text is not None and text.names is None:
        _check_names(path, names)
    spoilt = {}
    for name in names:
        if pa.types.is_string(schema.field(name).type):
            texts = first.column(name).to_pylist()
            wrong = [t for t in texts if t and t.strip() not in _MISSING and not _NUMBER.fullmatch(t.strip())]
            commas = [text for text in texts if text and "," in text and text not in wrong]
            if len(wrong) < len(texts) / 2 and (wrong or commas):
                culprit = (wrong or commas)[0]
                spoilt[name] = f"holds the text {culprit!r} in row {texts.index(culprit) + 1}"
    unseen = [name for name in names if pa.types.is_null(schema.field(name).type)]
    return _with_later(text, schema, unseen) if unseen else schema, spoilt


def _check_names(path: Path, names: list[str]) -> None:
    """Refuse a first row that is none of names."""
    measured = [name for name in names if _MEASURED.fullmatch(name)]
    if measured or all(_NUMBER.fullmatch(name) for name in names):
        raise InputError(
            f"{path}: the first row holds numbers ({', '.join((measured or names)[:5])}); column names "
            "belong there: give them with --header, one for each column, such as user activity time x y z"
        )


def _arrow_schema(path: Path) -> pa.Schema:
    if suffix(path) == ".parquet":
        return pa.parquet.ParquetFile(path).schema_arrow
    with pa.memory_map(str(path)) as file:
        return pa.ipc.open_file(file).schema


def _with_later(text: _Text, schema: pa.Schema, unseen: list[str]) -> pa.Schema:
    """The types, with those of columns that are empty in the first part of a text."""
    left, numbers = set(unseen), set(unseen)
    types = dict.fromkeys(unseen, pa.string())
    options = {"column_types": types, "include_columns": unseen, "strings_can_be_null": True}
    with refused(text.path), text.reader(options) as (reader, _):
        for batch in reader:
            for name in unseen:
                texts = batch.column(name).drop_null().unique().to_pylist()
                left -= {name} if texts else set()
                if not all(_NUMBER.fullmatch(text.strip()) for text in texts):
                    numbers.discard(name)
    for name in set(unseen) - left:
        kind = pa.float64() if name in numbers else pa.string()
        schema = schema.set(schema.get_field_index(name), pa.field(name, kind))
    return schema


def _batches(
    path: Path, text: _Text | None, columns: Columns, schema: pa.Schema, progress: Progress
) -> Iterator[pa.RecordBatch]:
    """The needed columns, some megabytes at a time."""
    wanted = [*columns.channels, *columns.texts, *([columns.time] if columns.time else [])]
    size = path.stat().st_size >> 20
    if text is None:
        for done, rows, batch in _arrow_batches(path, wanted):
            yield batch
            progress(min(size, done * size // rows), size)
        return
    types = dict.fromkeys(columns.texts, pa.dictionary(pa.int32(), pa.string()))
    types |= dict.fromkeys(columns.channels, pa.float64())  # rounded once, as from other files
    if columns.time and not pa.types.is_timestamp(schema.field(columns.time).type):
        types[columns.time] = pa.float64()
    conversion = {"column_types": types, "include_columns": wanted}
    with text.reader(conversion) as (reader, file):
        for batch in reader:
            yield batch
            progress(file.tell() >> 20, size)


def _arrow_batches(path: Path, wanted: list[str]) -> Iterator[tuple[int, int, pa.RecordBatch]]:
    """Batches of a parquet or a feather file, the rows read with them, and those in all."""
    done = 0
    if suffix(path) == ".parquet":
        file = pa.parquet.ParquetFile(path)
        rows = max(1, file.metadata.num_rows)
        for batch in file.iter_batches(_ROWS, columns=wanted):
            done += batch.num_rows
            yield done, rows, batch
        return
    with pa.memory_map(str(path)) as mapped, pa.ipc.open_file(mapped) as reader:
        count = reader.num_record_batches
        for number in range(count):
            batch = reader.get_batch(number).select(wanted)
            for start in range(0, batch.num_rows, _ROWS):
                yield number, max(1, count), batch.slice(start, _ROWS)


def _block(batch: pa.RecordBatch, columns: Columns, source: Source) -> Block:
    signal = np.empty((batch.num_rows, len(columns.channels)), np.float32)
    for index, name in enumerate(columns.channels):
        signal[:, index] = _floats(batch.column(name))
    codes = {name: _codes(batch.column(name), name, source) for name in columns.texts}
    time = None
    if columns.time:
        column = batch.column(columns.time)
        if pa.types.is_timestamp(column.type):
            ticks = pc.cast(pc.cast(column, pa.timestamp("ns", column.type.tz)), pa.int64())
            if source.origin is None and len(ticks):
                source.origin = ticks[0].as_py() or 0
            column = pc.subtract(ticks, source.origin or 0)  # before digits get lost
            time = column.to_numpy(zero_copy_only=False) / 1e9
        else:
            time = _floats(column)
    return Block(signal, codes, time)


def _floats(column: pa.Array) -> np.ndarray:
    """Numbers, NaN where there is none."""
    return pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)


def _codes(column: pa.Array, name: str, source: Source) -> np.ndarray:
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    indices = pc.cast(column.indices, pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return source.codes(name, column.dictionary.to_pylist(), indices)
