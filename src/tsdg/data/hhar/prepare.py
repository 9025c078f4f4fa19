"""HHAR (Stisen et al., SenSys 2015): six activities, twelve domains of user and phone model.

Raw layout: ``Phones_accelerometer.csv`` with the columns ``Index``, ``Arrival_Time``, ``Creation_Time``,
``x``, ``y``, ``z``, ``User``, ``Model``, ``Device``, ``gt``, or the official ``Activity recognition exp.zip``
that holds it. Each model was carried as two devices. Rows are not in the order of time, and
``Creation_Time`` is each device's own clock.
"""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from tsdg.data.simulated import SIMULATED_COLUMN
from tsdg.data.windows import write
from tsdg.errors import InputError
from tsdg.files import sha256

CSV = "Phones_accelerometer.csv"
ZIP = "Activity recognition exp.zip"
CLASSES = ("bike", "stand", "sit", "walk", "stairsdown", "stairsup")
NO_LABEL = "null"
USERS, MODELS = ("a", "b", "c"), ("nexus4", "s3", "s3mini", "samsungold")
PLACES = dict(zip("ABCDEFGHIJKL", product(USERS, MODELS), strict=True))
WINDOW = 128
SCALE = 20
GAP = 5  # sample periods

_TEXTS = ("User", "Model", "Device", "gt")
_TYPES = {"Creation_Time": pa.int64()} | dict.fromkeys("xyz", pa.float32())
_BLOCK = 1 << 22
_REMEDY = "get the official archive with `tsdg fetch hhar`, or put it into the folder by hand"


def prepare(
    raw: str | Path,
    out: str | Path,
    *,
    windows: str = "devices",
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Make the windowed data set from the raw recordings, which are streamed.

    Parameters
    ----------
    raw : path
        Folder of ``Phones_accelerometer.csv``, or of the official zip.
    out : path
        Folder of the prepared data set.
    windows : {"devices", "legacy"}
        ``devices``: rows sorted by user, device and time, exact duplicates dropped; a window never crosses
        device, user, label (rows labelled null included) or a gap of more than 5 sample periods.
        ``legacy``: the rows of each user, model and label in the file's order, cut every 128 rows whatever
        lies between them, as earlier work did.
    progress : callable, optional
        Called with the megabytes read and the megabytes in all.

    Returns
    -------
    dict
        The card, see :func:`tsdg.data.windows.write`.

    Raises
    ------
    InputError
        If an option is unknown, or the file is missing, damaged, or not in the official layout.
    """
    if windows not in ("devices", "legacy"):
        raise InputError(f"windows: {windows!r} is unknown; choose devices or legacy")
    path = raw_file(raw)
    rows, skipped = _read(path, progress or (lambda done, total: None))
    recordings, table = [], []
    offset = duplicates = 0
    for domain, (user, model) in PLACES.items():
        here = rows[(rows["user"] == user) & (rows["model"] == model)]
        parts, repeated = _by_device(here) if windows == "devices" else (_by_label(here), 0)
        duplicates += repeated
        for recording, (signal, label) in parts.items():
            used = len(signal) // WINDOW * WINDOW
            columns = {"start": np.arange(offset, offset + used, WINDOW), "length": WINDOW, "label": label}
            table.append(pd.DataFrame(columns | {"domain": domain, "recording": recording}))
            recordings.append(signal[:used] / np.float32(SCALE))
            offset += used
    if not offset:
        raise InputError(
            f"{path}: not one window of {WINDOW} rows of users {', '.join(USERS)} and models "
            f"{', '.join(MODELS)}; {_REMEDY}"
        )
    found = pd.concat(table, ignore_index=True)
    card = {
        "name": "hhar",
        "kind": "hhar",
        "simulated": is_simulated(path),
        "classes": list(CLASSES),
        "channels": list("xyz"),
        "window": {"length": WINDOW, "stride": WINDOW},
        "domains": {name: {"user": user, "model": model} for name, (user, model) in PLACES.items()},
        "options": {"windows": windows},
        "notes": _notes(windows, rows, skipped, duplicates, found),
        "sources": [{"file": path.name, "sha256": sha256(path)}],
    }
    return write(out, recordings, windows=found, card=card)


def raw_file(raw: str | Path) -> Path:
    """The csv in a folder, or else the zip that holds it."""
    raw = Path(raw)
    for name in (CSV, ZIP):
        if (raw / name).is_file():
            return raw / name
    raise InputError(f"{raw}: holds neither {CSV} nor {ZIP}; {_REMEDY}")


def is_simulated(path: Path) -> bool:
    """Whether a raw table says that `tsdg` simulated it."""
    with ExitStack() as stack:
        return SIMULATED_COLUMN.encode() in _open(path, stack)[0].readline()


def _by_device(rows: pd.DataFrame) -> tuple[dict[str, tuple[np.ndarray, int]], int]:
    """Stretches of one device, one label and no gap, in order of time; and how many duplicates went."""
    parts, duplicates = {}, 0
    for device, here in sorted(rows.groupby("device", observed=True), key=lambda group: str(group[0])):
        unique = here.drop_duplicates(["time", *"xyz", "label"]).sort_values("time", kind="stable")
        duplicates += len(here) - len(unique)
        time, label = unique["time"].to_numpy(), unique["label"].to_numpy()
        steps = np.diff(time)
        period = np.median(steps[steps > 0]) if (steps > 0).any() else np.inf
        cuts = np.flatnonzero((np.diff(label) != 0) | (steps > GAP * period)) + 1
        signal = unique[list("xyz")].to_numpy()
        for number, part in enumerate(np.split(np.arange(len(time)), cuts)):
            if label[part[0]] >= 0 and len(part) >= WINDOW:
                parts[f"{here['user'].iloc[0]} {device} {number}"] = (signal[part], int(label[part[0]]))
    return parts, duplicates


def _by_label(rows: pd.DataFrame) -> dict[str, tuple[np.ndarray, int]]:
    """The rows of each label, in the file's order."""
    return {
        f"{part['user'].iloc[0]} {part['model'].iloc[0]} {CLASSES[label]}": (
            part[list("xyz")].to_numpy(),
            label,
        )
        for label, part in rows[rows["label"] >= 0].groupby("label")
    }


def _read(path: Path, progress: Callable[[int, int], None]) -> tuple[pd.DataFrame, dict[str, int]]:
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
                raise InputError(f"{path}: gt {strange[0]!r} is none of {', '.join(known)}; {_REMEDY}")
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
            raise InputError(f"{path}: {', '.join(empty)} is empty in some rows; {_REMEDY}")
        frame = pd.DataFrame(
            {"time": numbers["Creation_Time"].to_numpy()}
            | {axis: numbers[axis].to_numpy() for axis in "xyz"}
            | {"label": columns["gt"]}
            | {name.lower(): columns[name] for name in ("User", "Model", "Device")}
        )
        kept.append(frame[(frame["user"] >= 0) & (frame["model"] >= 0)])
    if not kept:
        raise InputError(f"{path}: holds no rows; {_REMEDY}")
    rows = pd.concat(kept)
    if not np.isfinite(rows[list("xyz")]).all(axis=None):
        raise InputError(f"{path}: x, y or z is not finite in some rows; {_REMEDY}")
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
        except (
            zipfile.BadZipFile,
            OSError,
            EOFError,
            KeyError,
            ValueError,
        ) as error:  # Arrow's are ValueErrors
            raise InputError(f"{path}: damaged or not in the official layout ({error}); {_REMEDY}") from None


def _open(path: Path, stack: ExitStack) -> tuple[BinaryIO, int]:
    """The csv's bytes and how many there are."""
    if path.suffix == ".csv":
        return stack.enter_context(open(path, "rb")), path.stat().st_size
    archive = stack.enter_context(zipfile.ZipFile(path))
    names = [name for name in archive.namelist() if name.rsplit("/", 1)[-1] == CSV]
    if not names:
        raise InputError(f"{path}: holds no {CSV}; {_REMEDY}")
    return stack.enter_context(archive.open(names[0])), archive.getinfo(names[0]).file_size  # type: ignore


def _notes(
    windows: str, rows: pd.DataFrame, skipped: dict[str, int], duplicates: int, found: pd.DataFrame
) -> list[str]:
    notes = [
        "No resampling: the phones run at about 200, 150, 100 and 50 Hz, so a window lasts 0.64 to 2.6 s.",
        f"{(rows['label'] < 0).sum():,} rows without a label (null) are in no window.",
    ]
    if windows == "devices":
        notes.append(f"{duplicates:,} rows that repeat another were dropped.")
    else:
        notes.append("Rows in the file's order: windows may span devices and gaps, as in earlier work.")
    notes += [
        f"{count:,} rows of {name} are left out: it is in no domain." for name, count in skipped.items()
    ]
    empty = [name for name in PLACES if name not in set(found["domain"])]
    if empty:
        notes.append(f"No windows: domains {', '.join(empty)}.")
    return notes
