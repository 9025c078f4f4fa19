"""HHAR (Stisen et al., SenSys 2015): six activities, twelve domains of user and phone model.

The raw file, see `raw`.
"""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tsdg.data.hhar.raw import CLASSES, MODELS, REMEDY, USERS, raw_file, read
from tsdg.data.simulated import is_simulated
from tsdg.data.windows import write
from tsdg.errors import InputError
from tsdg.files import sha256

PLACES = dict(zip("ABCDEFGHIJKL", product(USERS, MODELS), strict=True))
WINDOW = 128
SCALE = 20
GAP = 5  # sample periods


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
    rows, skipped = read(path, progress or (lambda done, total: None))
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
            f"{', '.join(MODELS)}; {REMEDY}"
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
