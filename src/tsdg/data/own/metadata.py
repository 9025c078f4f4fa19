"""What is the same in all of a recording, or of a window already cut, from a table of its own."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from tsdg.data.own.cut import RECORDING
from tsdg.data.own.folders import read_texts
from tsdg.data.own.reading import refused
from tsdg.data.own.recordings import FILE, Block, Columns, Source, plain
from tsdg.data.own.tables import SUFFIXES, TEXTS, suffix
from tsdg.errors import InputError, nearest

_SHOWN = 20


def described(source: Source, path: str | Path, recording: str | None = None) -> Source:
    """A source with the columns of a table, a row for each recording, or for each window in their order.

    Parameters
    ----------
    source : Source
    path : path
        A text with a header, parquet or feather.
    recording : str, optional
        Column of the recording, of both; by default a usual name of it. Where they have none, the
        table has a row for each window already cut.

    Raises
    ------
    InputError
        If a recording is there twice, a column is there already, or the rows are not as many as the windows.
    """
    path = Path(path)
    table = _read(path)
    names, rows = list(table.columns), table.to_numpy().tolist()
    usual = [recording] if recording else ["recording", FILE, *RECORDING]
    key = next((name for name in usual if name in names and name in source.names), None)
    if key is None and recording:
        lacks, there = (path, names) if recording in source.names else (source.path, source.names)
        raise InputError(
            f"{lacks}: metadata: has no column {recording!r}{nearest(recording, there)}, which names the "
            f"recording in both files; there are {', '.join(there[:_SHOWN])}"
        )
    given = {name: k for k, name in enumerate(names) if name != key}
    both = [name for name in given if name in source.names]
    if both and key is None:
        raise InputError(
            f"{path}: metadata: {both[0]} is a column of {source.path} too; if it names the recording, give "
            f"--recording {both[0]}, else rename one"
        )
    if both:
        raise InputError(f"{path}: metadata: {both[0]} is a column of {source.path} too; rename one")
    place: dict[str, int] = {}
    for number, row in enumerate(rows if key else []):
        name = plain(row[names.index(key)])  # type: ignore[arg-type]
        if place.setdefault(name, number) != number:
            raise InputError(f"{path}: metadata: {key} {name!r} is there twice; leave one of the rows out")
    values = {name: [row[k] for row in rows] + [""] for name, k in given.items()}

    def unequal(windows: str) -> InputError:
        return InputError(
            f"{path}: metadata: needs a column of the recording as {source.path} has it (--recording), or a "
            f"row for each window, in their order; it has {len(rows):,} rows, and there are {windows}"
        )

    def read(columns: Columns, whole: Source) -> Iterator[Block]:
        def own(name: str | None) -> str | None:
            return None if name in given else name

        fields = [name for name in columns.texts if name not in given and name != columns.rate]
        fields += [key] if key and key not in fields else []
        inner = Columns(
            columns.channels, own(columns.label), own(columns.recording), columns.time, fields,
            own(columns.rate),
        )  # fmt: skip
        done, missing = 0, set()
        for block in source.read(inner, whole):
            if key:
                texts = list(whole.texts.get(key, {}))
                found = np.array([place.get(text, -1) for text in texts] + [-1], np.intp)
                indices = found[block.codes[key]]
                missing |= {texts[code] for code in np.unique(block.codes[key][indices < 0]) if code >= 0}
            else:
                indices = np.arange(done, done + len(block.signal))
                done += len(indices)
                if done > len(rows):
                    raise unequal(f"{done:,} or more")
            used, places = np.unique(indices, return_inverse=True)
            for name in columns.texts:
                if name in given:
                    block.codes[name] = whole.codes(name, [values[name][k] for k in used], places)
            yield block
        if not key and done != len(rows):
            raise unequal(f"{done:,}")
        if missing and len(missing) == len(whole.texts[key or ""]):
            raise InputError(
                f"{path}: metadata: has none of the recordings ({key}), such as {min(missing)!r}; it has "
                f"{', '.join(list(place)[:_SHOWN]) or 'none'}"
            )
        if missing and key not in (columns.label, *columns.fields):
            shown = ", ".join(sorted(missing)[:_SHOWN]) + (" ..." if len(missing) > _SHOWN else "")
            note = f"{len(missing)} recordings are not in {path.name}: {shown}."
            whole.notes += [note] if note not in whole.notes else []

    return replace(
        source,
        files=[*source.files, path],
        names=[*source.names, *given],
        read=read,
        named_once=key is not None,
    )


def _read(path: Path) -> pd.DataFrame:
    """The rows, as texts."""
    if not path.is_file():
        what = "is a folder; give the file" if path.is_dir() else "there is no such file; correct its path"
        raise InputError(f"{path}: metadata: {what}")
    if not path.stat().st_size:
        raise InputError(f"{path}: metadata: is empty")
    if suffix(path) in TEXTS:
        return read_texts(path)
    if suffix(path) not in SUFFIXES:
        raise InputError(f"{path}: metadata: is no table; use {', '.join(SUFFIXES)}")
    with refused(path):
        table = pd.read_parquet(path) if suffix(path) == ".parquet" else pd.read_feather(path)
    return table.astype(object).where(table.notna(), "").map(plain)
