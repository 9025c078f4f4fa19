"""A folder of files, one a recording, and what is the same in all of each."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePath

import numpy as np
import pandas as pd

from tsdg.data.own.cut import CutSource
from tsdg.data.own.reading import refused
from tsdg.data.own.recordings import FILE, Block, Columns, Progress, Source
from tsdg.data.own.tables import separator_of
from tsdg.errors import InputError, nearest

METADATA = "metadata.csv"

OpenFile = Callable[[Path, Progress], Source]


def read_metadata(path: Path, separator: str | None) -> pd.DataFrame:
    """The rows of ``metadata.csv``: the name of each file, and its values as texts."""
    where = path / METADATA
    if not where.is_file():
        raise InputError(
            f"{path}: holds no {METADATA}, which has a row for each recording: its {FILE}, label and domain"
        )
    with refused(where):
        separator = separator_of(where, separator)
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


def open_folder(path: Path, table: pd.DataFrame, open_file: OpenFile, progress: Progress) -> Source:
    """Open the files of a table.

    Parameters
    ----------
    path : Path
    table : DataFrame
        A row a file, see `read_metadata`.
    open_file : callable
    progress : callable
        Called with the number of files read and of those in all.
    """
    where = path / METADATA
    files = [path / name for name in table[FILE]]
    for file in files:
        if not file.is_file():
            raise InputError(f"{where}: names {file.name}, which is not in {path}")
    given = [name for name in table.columns if name != FILE]
    first = open_file(files[0], progress)
    if isinstance(first, CutSource):
        raise InputError(f"{files[0]}: holds windows already cut; give such a file alone")
    if both := sorted(set(given) & set(first.names)):
        raise InputError(f"{where}: {both[0]} is a column of {files[0].name} too; rename one")

    def read(columns: Columns, source: Source) -> Iterator[Block]:
        constant = [name for name in columns.texts if name in given]
        inside = [name for name in columns.texts if name not in (*given, FILE)]
        label = columns.label if columns.label in inside else None
        own = Columns(columns.channels, label, None, columns.time, [n for n in inside if n != label])
        for number, (file, (_, row)) in enumerate(zip(files, table.iterrows(), strict=True), start=1):
            part = open_file(file, lambda done, total: None)
            for name in [*own.channels, *own.texts, *([own.time] if own.time else [])]:
                if name not in part.names:
                    raise InputError(f"{file}: has no column {name!r}, which {files[0].name} has")
            part.texts = source.texts
            empty = True
            for block in part.read(own, part):
                here = np.zeros(len(block.signal), np.intp)
                for name in constant:
                    block.codes[name] = source.codes(name, [row[name]], here)
                if FILE in columns.texts:
                    block.codes[FILE] = source.codes(FILE, [row[FILE]], here)
                empty &= not len(here)
                yield block
            if empty:
                raise InputError(f"{file}: holds no rows; take it out of {METADATA}")
            progress(number, len(files))

    names = list(dict.fromkeys([*given, FILE, *first.names]))
    return replace(
        first, path=path, files=[where, *files], names=names, read=read, texts={}, notes=list(first.notes)
    )
