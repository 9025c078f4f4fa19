"""Raw recordings of HHAR.

``Phones_accelerometer.csv`` has the columns ``Index``, ``Arrival_Time``, ``Creation_Time``, ``x``, ``y``,
``z``, ``User``, ``Model``, ``Device``, ``gt``; the official ``Activity recognition exp.zip`` holds it. Each
model was carried as two devices. Rows are not in the order of time, and ``Creation_Time`` is each device's
own clock.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from tsdg.data.archive import only, opened
from tsdg.data.raw import names_there
from tsdg.errors import InputError

CSV = "Phones_accelerometer.csv"
ZIP = "Activity recognition exp.zip"
CLASSES = ("bike", "stand", "sit", "walk", "stairsdown", "stairsup")
NO_LABEL = "null"
USERS, MODELS = ("a", "b", "c"), ("nexus4", "s3", "s3mini", "samsungold")
REMEDY = "get the official archive with `tsdg fetch hhar`, or put it into the folder by hand"

_TEXTS = ("User", "Model", "Device", "gt")
_TYPES = {"Creation_Time": pa.int64()} | dict.fromkeys("xyz", pa.float32())
_BLOCK = 1 << 22


def raw_names(entry: Mapping[str, Any]) -> list[str]:
    """See `tsdg.data.kinds.Kind.raw_names`."""
    return names_there(entry, [(CSV, ZIP)])


def raw_file(raw: str | Path) -> Path:
    """The csv in a folder, or else the zip that holds it."""
    raw = Path(raw)
    for name in (CSV, ZIP):
        if (raw / name).is_file():
            return raw / name
    raise InputError(f"{raw}: holds neither {CSV} nor {ZIP}; {REMEDY}")


def read(path: Path, progress: Callable[[int, int], None]) -> tuple[pd.DataFrame, dict[str, int]]:
    """The rows that are in a domain, and how many of each other user and model there are.

    Columns time, x, y, z, label (-1: null), user, model, device; 26 bytes a row.
    """
    devices: dict[str, int] = {}
    codes = {
        "gt": {name: label for label, name in enumerate((NO_LABEL, *CLASSES), start=-1)},
        "User": {name: code for code, name in enumerate(USERS)},
        "Model": {name: code for code, name in enumerate(MODELS)},
        "Device": devices,
    }
    kept, skipped = [], dict[str, int]()
    for batch in _batches(path, progress):
        columns = {}
        for name, known in codes.items():
            column = batch.column(name)
            values, indices = column.dictionary.to_pylist(), column.indices.to_numpy()
            if name == "gt" and (strange := sorted(set(values) - set(known))):
                raise InputError(f"{path}: gt {strange[0]!r} is none of {', '.join(known)}; {REMEDY}")
            if name == "Device":
                for value in values:
                    devices.setdefault(value, len(devices))
            columns[name] = np.array([known.get(value, -1) for value in values], np.int8)[indices]
            if name in ("User", "Model"):
                for value, count in zip(values, np.bincount(indices, minlength=len(values)), strict=True):
                    if value not in known:
                        key = f"{name.lower()} {value}"
                        skipped[key] = skipped.get(key, 0) + int(count)
        numbers = {name: batch.column(name) for name in _TYPES}
        empty = [name for name, column in numbers.items() if column.null_count]
        if empty:
            raise InputError(f"{path}: {', '.join(empty)} is empty in some rows; {REMEDY}")
        frame = pd.DataFrame(
            {"time": numbers["Creation_Time"].to_numpy()}
            | {axis: numbers[axis].to_numpy() for axis in "xyz"}
            | {"label": columns["gt"]}
            | {name.lower(): columns[name] for name in ("User", "Model", "Device")}
        )
        kept.append(frame[(frame["user"] >= 0) & (frame["model"] >= 0)])
    if not kept:
        raise InputError(f"{path}: holds no rows; {REMEDY}")
    rows = pd.concat(kept)
    if not np.isfinite(rows[list("xyz")]).all(axis=None):
        raise InputError(f"{path}: x, y or z is not finite in some rows; {REMEDY}")
    for name, names in {"user": USERS, "model": MODELS, "device": tuple(devices)}.items():
        rows[name] = pd.Categorical.from_codes(rows[name], names)
    return rows, skipped


def _batches(path: Path, progress: Callable[[int, int], None]) -> Iterator[pa.RecordBatch]:
    """The needed columns of the file, some megabytes at a time."""
    types = _TYPES | dict.fromkeys(_TEXTS, pa.dictionary(pa.int32(), pa.string()))
    with ExitStack() as stack:
        try:
            file, size = _open(path, stack)
            reader = stack.enter_context(
                pa.csv.open_csv(
                    file,
                    read_options=pa.csv.ReadOptions(block_size=_BLOCK),
                    convert_options=pa.csv.ConvertOptions(column_types=types, include_columns=list(types)),
                )
            )
            for batch in reader:
                yield batch
                progress(file.tell() >> 20, size >> 20)
        except (OSError, EOFError, KeyError, ValueError) as error:  # Arrow's are ValueErrors
            raise InputError(f"{path}: damaged or not in the official layout ({error}); {REMEDY}") from None


def _open(path: Path, stack: ExitStack) -> tuple[BinaryIO, int]:
    """The csv's bytes and how many there are."""
    if path.suffix == ".csv":
        return stack.enter_context(open(path, "rb")), path.stat().st_size
    archive = stack.enter_context(opened(path, REMEDY))
    member = only(archive, path, CSV, REMEDY)
    return stack.enter_context(archive.open(member)), member.file_size  # type: ignore
