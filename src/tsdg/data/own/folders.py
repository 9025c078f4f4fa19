"""A folder of files, one a recording, and what is the same in all of each."""

import csv
import gzip
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pandas as pd

from tsdg.data.own.cut import CutSource
from tsdg.data.own.reading import check_text, check_within, refused
from tsdg.data.own.recordings import FILE, Block, Columns, Progress, Source
from tsdg.data.own.signals import companions
from tsdg.data.own.tables import separator_of
from tsdg.errors import InputError, nearest

METADATA = "metadata.csv"
_ROWS, _VALUES = 5, 20  # that are shown

OpenFile = Callable[[Path, Progress], Source]


def read_metadata(path: Path, separator: str | None) -> pd.DataFrame:
    """The rows of ``metadata.csv``: the name of each file, and its values as texts."""
    where = path / METADATA
    if not where.is_file():
        raise InputError(
            f"{path}: holds no {METADATA}, which has a row for each recording: its {FILE}, and what is the "
            "same in all of it, such as label and domain; or say by --files what the files' names say"
        )
    check_within(path, where)
    table = read_texts(where, separator)
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
        check_within(path, path / name)
    again = table[FILE][table[FILE].duplicated()]
    if len(again):
        raise InputError(f"{where}: names {again.iloc[0]} twice")
    return table


def read_texts(path: Path, separator: str | None = None) -> pd.DataFrame:
    """A text table with a header, its cells as texts."""
    check_text(path)
    with refused(path):
        rows = _rows(path, separator_of(path, separator))
    named = [k for k, name in enumerate(rows[0]) if name or any(row[k] for row in rows[1:])]
    names = [rows[0][k] for k in named]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"{path}: two columns are called {twice[0]!r}; rename one")
    return pd.DataFrame([[row[k] for k in named] for row in rows[1:]], columns=names, dtype=str)


def _rows(where: Path, separator: str) -> list[list[str]]:
    """The cells of each line that is not empty, which are as many as in the first."""
    rows: list[list[str]] = []
    opened: Any = gzip.open if where.suffix.lower() == ".gz" else open
    with opened(where, "rt", encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=separator, strict=True)
        for row in reader:
            if rows and row and len(row) != len(rows[0]):
                raise InputError(
                    f"{where}: line {reader.line_num} has {len(row)} cells, the header {len(rows[0])}; "
                    "write a cell for each column, or nothing between two separators where there is none"
                )
            rows += [row] if row else []
    return rows or [[]]


def open_folder(
    path: Path, table: pd.DataFrame, listing: list[Path], open_file: OpenFile, progress: Progress
) -> Source:
    """Open the files of a table.

    Parameters
    ----------
    path : Path
    table : DataFrame
        A row a file, see `read_metadata`.
    listing : list of Path
        What the table was read from.
    open_file : callable
    progress : callable
        Called with the number of files read and of those in all.
    """
    files = [path / name for name in table[FILE]]
    for file in files:
        if not file.is_file():
            raise InputError(f"{path / METADATA}: names {file.name}, which is not in {path}")
    others = [other for file in files for other in companions(file)]

    def open_one(name: str) -> Source:
        return open_file(path / name, lambda done, total: None)

    source = joined(path, [*listing, *files, *others], table, FILE, open_one, progress)
    source.header = [*shown(table), *source.header]
    return source


def shown(table: pd.DataFrame) -> list[str]:
    """The first rows of a table of files, and the counts of each field's values."""
    lines = table.head(_ROWS).to_string(index=False).splitlines()
    lines += [f"... {len(table)} in all"] if len(table) > _ROWS else []
    for name in table.columns.drop(FILE):
        counts = table[name].value_counts(sort=False)
        values = ", ".join(f"{value or '(empty)'} {count}" for value, count in counts.items())
        few = len(counts) <= _VALUES and counts.max() > 1
        lines.append(f"{name}: {values if few else f'{len(counts)} values'}")
    return lines


def joined(
    path: Path,
    files: list[Path],
    table: pd.DataFrame,
    key: str,
    open_part: Callable[[str], Source],
    progress: Progress,
) -> Source:
    """Parts one after another, a recording each, and what a table says of each.

    Parameters
    ----------
    path : Path
    files : list of Path
        All that are read.
    table : DataFrame
        A row a part, of texts.
    key : str
        Its column that names the part.
    open_part : callable
    progress : callable
    """
    given = [name for name in table.columns if name != key]
    first_name = table[key].iloc[0]
    first = open_part(first_name)
    if both := sorted(set(given) & set(first.names)):
        raise InputError(f"{path}: {both[0]} is a column of {first_name} too; rename one")

    def read(columns: Columns, source: Source) -> Iterator[Block]:
        constant = [name for name in columns.texts if name in (*given, key)]
        label, rate = (None if n in constant else n for n in (columns.label, columns.rate))
        fields = [n for n in columns.texts if n not in (*constant, label, rate)]
        own = Columns(columns.channels, label, None, columns.time, fields, rate)
        for number, (_, row) in enumerate(table.iterrows(), start=1):
            part = open_part(row[key])
            _check_alike(part, first, first_name, own)
            part.texts = source.texts
            source.notes += [note for note in part.notes if note not in source.notes]
            empty = True
            for block in part.read(own, part):
                here = np.zeros(len(block.signal), np.intp)
                for name in constant:
                    block.codes[name] = source.codes(name, [row[name]], here)
                empty &= not len(here)
                yield block
            if empty:
                raise InputError(f"{part.path}: holds no rows; take it out")
            progress(number, len(table))

    names = list(dict.fromkeys([*given, key, *first.names]))
    header = [f"first: {first.header[0]}", *first.header[1:]] if first.header else []
    return replace(
        first,
        path=path,
        files=files,
        names=names,
        read=read,
        texts={},
        notes=list(first.notes),
        header=header,
    )


def _check_alike(part: Source, first: Source, first_name: str, columns: Columns) -> None:
    """Refuse a part that lacks a column, or is cut where the first is not."""
    time = [columns.time] if columns.time else []
    for name in [*columns.channels, *columns.texts, *time]:
        if name not in part.names and name in part.spoilt:
            raise InputError(
                f"{part.path}: {name!r} {part.spoilt[name]}, and is a column of {first_name}; correct it"
            )
        if name not in part.names:
            pattern = re.sub(r"\d+", "*", name)
            called = [[n for n in one.names if re.sub(r"\d+", "*", n) == pattern] for one in (first, part)]
            alike = pattern != name and [len(names) for names in called] == [1, 1]
            hint = f"names that differ by file are one by a pattern: {pattern!r}" if alike else (
                f"it has {', '.join(part.names[:_VALUES])}; correct it or take it out"
            )  # fmt: skip
            raise InputError(f"{part.path}: has no column {name!r}, which {first_name} has; {hint}")
    for name in [*columns.channels, *time]:
        if name not in (*part.numeric, *part.dates):
            what = part.spoilt.get(name, "holds text")
            raise InputError(
                f"{part.path}: column {name!r} {what}, where numbers belong, as in {first_name}; correct it"
            )
    lengths = [one.length if isinstance(one, CutSource) else None for one in (part, first)]
    if lengths[0] != lengths[1]:
        words = [f"windows of {n} time steps" if n else "time steps" for n in lengths]
        raise InputError(f"{part.path}: holds {words[0]}, and {first_name} {words[1]}; take one of them out")
