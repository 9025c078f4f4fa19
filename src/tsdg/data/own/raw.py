"""A user's own recordings: a csv, a parquet or an npz file, or a folder of files with a ``metadata.csv``.

csv, parquet
    One row a time step: channels, a label, and columns that tell recordings and domains apart.
npz
    The same as arrays: ``signal`` ``(N, C)``, and one array ``(N,)`` for each other column. An array of C
    texts, ``channels`` or ``columns``, names the channels. Or windows already cut, see `cut`, as they may be
    in a folder of npy files too.
folder
    csv and parquet files, one a recording, and ``metadata.csv`` with a row for each: its ``file``, and what
    is the same in all of it, such as its label or its domain.
"""

import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from tsdg.data.own import cut
from tsdg.data.own.recordings import FILE, Block, Columns, Progress, Source
from tsdg.errors import InputError, nearest

METADATA = "metadata.csv"
SIGNAL = "signal"
SUFFIXES = (".csv", ".parquet", ".npz")
SIMULATED = "recordings.csv"

_LFS = b"version https://git-lfs"
_MISSING = frozenset(pa.csv.ConvertOptions().null_values)  # for numbers; of texts, only the empty one
_ROWS, _BYTES = 1 << 16, 1 << 22
_INDEX = re.compile(r"__index_level_\d+__")  # pandas' index without a name
_NUMBER = re.compile(r"[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?")


def raw_names(entry: Mapping[str, Any]) -> list[str]:
    """See `tsdg.data.kinds.Kind.raw_names`."""
    if entry["source"] == "simulated":
        return [SIMULATED]
    return source_files(entry["raw"], entry["prepare"].get("separator", ","))


def open_source(
    path: str | Path, *, separator: str = ",", axes: str | None = None, progress: Progress | None = None
) -> Source:
    """Open a file, or a folder of files with their ``metadata.csv``.

    Parameters
    ----------
    path : path
    separator : str
        Of the cells of a csv.
    axes : {"NTC", "NCT"}, optional
        Of windows already cut, see `cut.of_arrays`.
    progress : callable, optional
        Called with the megabytes read and the megabytes in all.

    Raises
    ------
    InputError
        If there is no such file, or it is not what its name says.
    """
    path = Path(path)
    progress = progress or (lambda done, total: None)
    if path.is_dir():
        if names := _arrays_there(path):
            return _open_arrays(path, names, axes, progress)
        return _open_folder(path, separator, progress)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    _check_kind(path)
    if path.suffix == ".npz":
        return _open_npz(path, axes, progress)
    return _open_rows(path, separator, progress)


def source_files(path: str | Path, separator: str = ",") -> list[str]:
    """Names of the files to read, relative to a folder, or to the folder of a file; there or not."""
    path = Path(path)
    if path.suffix in SUFFIXES and not path.is_dir():
        return [path.name]
    if names := _arrays_there(path):
        return names
    if not (path / METADATA).is_file():
        return [METADATA]
    return [METADATA, *_metadata(path, separator)[FILE]]


def _check_kind(path: Path) -> None:
    """Refuse a file that is not what its name says."""
    if path.suffix in (".pt", ".pth"):
        raise InputError(
            f"{path}: PyTorch's files may run code when read; convert it: d = torch.load({path.name!r}); "
            f"numpy.savez({path.with_suffix('.npz').name!r}, X=d['samples'], y=d['labels'], domain=...)"
        )
    if path.suffix not in (*SUFFIXES, ".npy"):
        raise InputError(f"{path}: {path.suffix or 'no suffix'} is not known; use {', '.join(SUFFIXES)}")
    with open(path, "rb") as file:
        head = file.read(len(_LFS))
    if head == _LFS:
        raise InputError(
            f"{path}: is a Git LFS pointer, not the file; run `git lfs pull` where it comes from"
        )
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{path}: is UTF-16; save the file as UTF-8: iconv -f UTF-16 -t UTF-8")
    start = head[:4]
    if not start:
        raise InputError(f"{path}: is empty")
    found = {b"PAR1": ".parquet", b"PK\3\4": ".npz", b"\x93NUM": ".npy"}.get(start, ".csv")
    if found != path.suffix:
        what = {
            ".npy": "a NumPy array",
            ".parquet": "a parquet file",
            ".npz": "a zip archive",
            ".csv": "text or something else",
        }[found]
        raise InputError(f"{path}: holds {what}, not what its name says; rename it or save it anew")


@contextmanager
def _refused(path: Path, array: str | None = None) -> Iterator[None]:
    """Arrow's errors, and NumPy's, as `InputError`."""
    try:
        yield
    except MemoryError:
        what = f"array {array!r}" if array else "what it holds"
        raise InputError(f"{path}: {what} does not fit into memory; correct the file, or cut it up") from None
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:  # Arrow's are ValueErrors
        words = "".join(letter if letter.isprintable() else " " for letter in str(error))
        words = " ".join(words.split())[:200]
        if "allow_pickle" in words and array:
            raise InputError(
                f"{path}: array {array!r} holds Python objects, not numbers or text; save it as "
                f"`{array}.astype(str)`, or as numbers"
            ) from None
        remedy = "correct the file and try again"
        if "UTF8" in words or "utf-8" in words:
            remedy = "save the file as UTF-8; if it is Latin-1: iconv -f LATIN1 -t UTF-8"
        elif "conversion error" in words:
            remedy = "leave the cell empty where a value is missing, and write decimals with a point"
        raise InputError(f"{path}: {words}; {remedy}") from None


# ------------------------------------------------------------------------------------------ csv and parquet


def _open_rows(path: Path, separator: str, progress: Progress) -> Source:
    schema, spoilt = _schema(path, separator)
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    numeric = [f.name for f in schema if any(is_one(f.type) for is_one in numbers)]

    def read(columns: Columns, source: Source) -> Iterator[Block]:
        with _refused(path):
            for batch in _batches(path, separator, columns, schema, progress):
                yield _block(batch, columns, source)

    dates = [f.name for f in schema if pa.types.is_timestamp(f.type)]
    return Source(path, [path], list(schema.names), numeric, read, dates, spoilt)


def _schema(path: Path, separator: str) -> tuple[pa.Schema, dict[str, str]]:
    """Types of the columns, and what keeps columns of numbers from being such."""
    with _refused(path):
        if path.suffix == ".parquet":
            schema = pa.parquet.ParquetFile(path).schema_arrow
            return pa.schema([field for field in schema if not _INDEX.fullmatch(field.name)]), {}
        _check_separator(path, separator)
        with pa.csv.open_csv(path, pa.csv.ReadOptions(block_size=_BYTES), _parsing(separator)) as reader:
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
    if all(_NUMBER.fullmatch(name) for name in names):
        raise InputError(
            f"{path}: the first row holds numbers ({', '.join(names)}); column names belong there"
        )
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
    return _with_later(path, separator, schema, unseen) if unseen else schema, spoilt


def _with_later(path: Path, separator: str, schema: pa.Schema, unseen: list[str]) -> pa.Schema:
    """The types, with those of columns that are empty in the first part of a csv."""
    options = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(unseen, pa.string()), include_columns=unseen, strings_can_be_null=True
    )
    left, numbers = set(unseen), set(unseen)
    reading = pa.csv.ReadOptions(block_size=_BYTES)
    with _refused(path), pa.csv.open_csv(path, reading, _parsing(separator), options) as reader:
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


def _check_separator(path: Path, separator: str) -> None:
    """Refuse a csv whose first line has other marks than the separator."""
    with open(path, encoding="utf-8", errors="replace") as file:
        first = file.readline()
    used = next((mark for mark in ";\t|, " if mark in first.strip()), None)
    if separator not in first and used:
        shown = f"${used!r}" if used == "\t" else repr(used)  # as Bash reads it
        raise InputError(
            f"{path}: its first line has no {separator!r}; separated by {used!r}? give --separator {shown}"
        )


def _parsing(separator: str) -> pa.csv.ParseOptions:
    return pa.csv.ParseOptions(delimiter=separator)


def _batches(
    path: Path, separator: str, columns: Columns, schema: pa.Schema, progress: Progress
) -> Iterator[pa.RecordBatch]:
    """The needed columns, some megabytes at a time."""
    wanted = [*columns.channels, *columns.texts, *([columns.time] if columns.time else [])]
    size = path.stat().st_size >> 20
    if path.suffix == ".parquet":
        file = pa.parquet.ParquetFile(path)
        rows = max(1, file.metadata.num_rows)
        for done, batch in enumerate(file.iter_batches(_ROWS, columns=wanted), start=1):
            yield batch
            progress(min(size, done * _ROWS * size // rows), size)
        return
    types = dict.fromkeys(columns.texts, pa.dictionary(pa.int32(), pa.string()))
    types |= dict.fromkeys(columns.channels, pa.float64())  # rounded once, as from other files
    if columns.time and not pa.types.is_timestamp(schema.field(columns.time).type):
        types[columns.time] = pa.float64()
    with open(path, "rb") as stream:
        reader = pa.csv.open_csv(
            stream,
            pa.csv.ReadOptions(block_size=_BYTES, use_threads=False),
            _parsing(separator),
            pa.csv.ConvertOptions(column_types=types, include_columns=wanted),
        )
        for batch in reader:
            yield batch
            progress(stream.tell() >> 20, size)


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


# ---------------------------------------------------------------------------------------------------- npz


def _arrays_there(path: Path) -> list[str]:
    """The npy files of a folder without metadata, if there is one of windows."""
    names = sorted(file.name for file in path.glob("*.npy"))
    there = (path / METADATA).is_file()
    return [] if there or not any(f"{name}.npy" in names for name in cut.X) else names


def _open_arrays(path: Path, names: list[str], axes: str | None, progress: Progress) -> Source:
    """A folder of npy files, memory-mapped."""
    arrays = {}
    for name in names:
        _check_kind(path / name)
        with _refused(path / name, name.removesuffix(".npy")):
            arrays[name.removesuffix(".npy")] = np.load(path / name, mmap_mode="r", allow_pickle=False)
    return cut.of_arrays(path, [path / name for name in names], arrays, axes, progress)


def _open_npz(path: Path, axes: str | None, progress: Progress) -> Source:
    arrays: dict[str, Any] = {}
    with _refused(path), np.load(path, allow_pickle=False) as file:
        for name in file.files:
            with _refused(path, name):
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


# ------------------------------------------------------------------------------------------------- folder


def _open_folder(path: Path, separator: str, progress: Progress) -> Source:
    metadata = _metadata(path, separator)
    files = [path / name for name in metadata[FILE]]
    for file in files:
        if not file.is_file():
            raise InputError(f"{path / METADATA}: names {file.name}, which is not in {path}")
        if file.suffix == ".npz":
            raise InputError(f"{file}: a folder holds csv and parquet files; give an npz file alone")
        _check_kind(file)
    given = [name for name in metadata.columns if name != FILE]
    first = _open_rows(files[0], separator, progress)
    if both := sorted(set(given) & set(first.names)):
        raise InputError(f"{path / METADATA}: {both[0]} is a column of {files[0].name} too; rename one")

    def read(columns: Columns, source: Source) -> Iterator[Block]:
        constant = [name for name in columns.texts if name in given]
        inside = [name for name in columns.texts if name not in (*given, FILE)]
        label = columns.label if columns.label in inside else None
        own = Columns(columns.channels, label, None, columns.time, [n for n in inside if n != label])
        for number, (file, (_, row)) in enumerate(zip(files, metadata.iterrows(), strict=True), start=1):
            part = _open_rows(file, separator, lambda done, total: None)
            for name in [*own.channels, *own.texts, *([own.time] if own.time else [])]:
                if name not in part.names:
                    raise InputError(f"{file}: has no column {name!r}, which {files[0].name} has")
            part.texts = source.texts
            empty = True
            for block in part.read(own, part):
                here = np.zeros(len(block.signal), np.intp)
                for name in constant:
                    block.codes[name] = source.codes(name, [row[name]], here)
                if columns.recording == FILE:
                    block.codes[FILE] = source.codes(FILE, [row[FILE]], here)
                empty &= not len(here)
                yield block
            if empty:
                raise InputError(f"{file}: holds no rows; take it out of {METADATA}")
            progress(number, len(files))

    names = list(dict.fromkeys([*given, FILE, *first.names]))
    return Source(path, [path / METADATA, *files], names, first.numeric, read, first.dates, first.spoilt)


def _metadata(path: Path, separator: str) -> pd.DataFrame:
    """A row for each file: its name, and its values as texts."""
    where = path / METADATA
    if not where.is_file():
        raise InputError(
            f"{path}: holds no {METADATA}, which has a row for each recording: its {FILE}, label and domain"
        )
    with _refused(where):
        _check_separator(where, separator)
        table = pd.read_csv(where, dtype=str, keep_default_na=False, sep=separator)
    if FILE not in table:
        raise InputError(
            f"{where}: has no column {FILE!r}{nearest(FILE, table.columns)}; there are "
            f"{', '.join(table.columns)}"
        )
    if table.empty:
        raise InputError(f"{where}: names no file")
    for name in table[FILE]:
        if PurePath(name).is_absolute() or ".." in PurePath(name).parts or not name.strip():
            raise InputError(f"{where}: names {name!r}, which is not a file within {path}; put it there")
    twice = table[FILE][table[FILE].duplicated()]
    if len(twice):
        raise InputError(f"{where}: names {twice.iloc[0]} twice")
    return table
