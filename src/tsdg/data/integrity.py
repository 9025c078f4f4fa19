"""Prepared data that are still what was prepared: compared with the fingerprint on their card before use."""

import hashlib
import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tsdg.data.windows import CARD, FILES, WindowedDataset, checksum
from tsdg.errors import InputError
from tsdg.files import write_text

BLOCK = 1 << 18  # time steps in memory at a time
NUMBERS = {"start": "<i8", "length": "<i4", "label": "<i2"}
TEXTS = ("domain", "recording")


def load_checked(folder: str | Path) -> WindowedDataset:
    """Open a prepared data set whose contents are those that its fingerprint was taken of.

    What was compared once is known by the sizes and times of its files, in a file beside the folder, so that
    nothing is read a second time.

    Raises
    ------
    InputError
        As `WindowedDataset.load`, or if a file was changed since the data set was prepared.
    """
    folder = Path(folder)
    data = WindowedDataset.load(folder)
    place = folder.resolve().with_name(f".{folder.resolve().name}.checked")
    stamps = {name: _stamp(folder / name) for name in FILES}
    checked = {"fingerprint": data.fingerprint, "files": stamps}
    before = _read(place)
    if before != checked:
        if fingerprint(data) != data.fingerprint:
            known = before.get("files", {}) if before.get("fingerprint") == data.fingerprint else {}
            changed = [name for name, stamp in stamps.items() if known.get(name) != stamp]
            raise InputError(
                f"{folder}: {', '.join(changed)} {'is' if len(changed) == 1 else 'are'} not what was "
                f"prepared, for the contents have another fingerprint than the card says; {_remedy(folder)}"
            )
        with suppress(OSError):
            write_text(place, json.dumps(checked) + "\n")
    if fault := _fault(data.card):
        raise InputError(f"{folder / CARD}: {fault}; {_remedy(folder)}")
    if data.card.get("checksum", written := checksum(data.card)) != written:  # older cards have none
        raise InputError(
            f"{folder / CARD}: is not what was prepared, for its fields have another checksum than it says; "
            f"undo what was changed, or {_remedy(folder)}"
        )
    return data


def fingerprint(data: WindowedDataset) -> str:
    """The fingerprint of a data set's contents, which `tsdg.data.windows.write` takes as they pass by."""
    digest = hashlib.sha256()
    for first in range(0, len(data.signals), BLOCK):
        digest.update(np.ascontiguousarray(data.signals[first : first + BLOCK], dtype="<f4").data)
    for name, kind in NUMBERS.items():
        digest.update(data.windows[name].to_numpy(kind).tobytes())
    text = {name: data.windows[name].tolist() for name in TEXTS}
    digest.update(json.dumps([text, *(data.card[key] for key in ("classes", "domains", "window"))]).encode())
    return digest.hexdigest()


def _fault(card: dict[str, Any]) -> str | None:
    """What of a card, and in no fingerprint, a training cannot work with."""
    rate = card.get("sampling_rate")
    is_number = isinstance(rate, int | float) and not isinstance(rate, bool)
    if rate is not None and not (is_number and 0 < rate < math.inf):
        return f"sampling_rate is {rate!r:.40}, no number of Hz above 0"
    if not isinstance(card.get("simulated", False), bool):
        return f"simulated is {card['simulated']!r:.40}, neither true nor false"
    if not isinstance(card.get("options", {}), dict):
        return "options are no table of fields"
    for name in ("classes", "channels"):
        values = card[name]
        if not all(isinstance(value, str) for value in values) or len(set(values)) < len(values):
            return f"{name} are not texts that differ"
    if len(card["classes"]) < 2:
        what = f"one class only, {card['classes'][0]}" if card["classes"] else "no class"
        return f"there is {what}; two or more are needed"
    stretches = card.get("stretches", [])
    if not isinstance(stretches, list) or not all(type(start) is int and start >= 0 for start in stretches):
        return "stretches are no list of time steps"
    return None


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("files", {}), dict) else {}


def _remedy(folder: Path) -> str:
    return (
        f"delete {folder / CARD} and prepare the data set again, with `snakemake --cores 1 {folder / CARD}` "
        "or `tsdg prepare`"
    )
