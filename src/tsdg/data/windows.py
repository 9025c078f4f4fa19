"""The container of a prepared data set.

A prepared data set is a folder with three files:

``signals.npy``
    float32, ``(samples, C)``: all recordings end to end.
``windows.parquet``
    one row a window: ``start`` (into the signals), ``length``, ``label`` (into the classes), ``domain``,
    ``recording``.
``card.json``
    what the data set is and how it was made: classes, channels, domains with their metadata, window
    geometry, options, source files, counts, fingerprint (of the data) and checksum (of the card).
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from tsdg.errors import InputError, nearest

SIGNALS, WINDOWS, CARD = "signals.npy", "windows.parquet", "card.json"
FILES = (SIGNALS, WINDOWS, CARD)
FEATURES = "features"  # a folder of what was computed from them, see `tsdg.runs.feature_cache`

_NUMBERS = {"start": "int64", "length": "int32", "label": "int16"}
_TEXTS = ("domain", "recording")
_COLUMNS = (*_NUMBERS, *_TEXTS)
_CARD_FIELDS: dict[str, type] = {
    "name": str,
    "classes": list,
    "channels": list,
    "domains": dict,
    "window": dict,
}
_CARD_ADDED: dict[str, type] = {"samples": int, "counts": dict, "fingerprint": str}
_REMEDY = "run `tsdg prepare` for this data set again"


@dataclass(frozen=True)
class WindowedDataset:
    """A prepared data set; the signals stay on disk (memory-mapped).

    Attributes
    ----------
    signals : numpy.ndarray
        float32, ``(samples, C)``.
    windows : pandas.DataFrame
        Columns ``start``, ``length``, ``label``, ``domain``, ``recording``.
    card : dict
        The contents of ``card.json``.
    """

    signals: np.ndarray
    windows: pd.DataFrame
    card: dict[str, Any]

    @property
    def classes(self) -> list[str]:
        """Names of the classes, in the order of the labels."""
        return self.card["classes"]

    @property
    def domains(self) -> list[str]:
        """Names of the domains, in the data set's order."""
        return list(self.card["domains"])

    @property
    def cut(self) -> str | None:
        """Whether windows were already cut, their order unknown: by ``recordings`` or only as ``windows``."""
        return self.card["window"].get("cut")

    @property
    def fingerprint(self) -> str:
        """SHA-256 over signals, windows, classes, domains and window geometry."""
        return self.card["fingerprint"]

    def without(self, name: str) -> "WindowedDataset":
        """The same with one class less, whose windows have label -1.

        Raises
        ------
        InputError
            There is no such class, or one alone is left.
        """
        known = f"the prepared data set {self.card['name']!r} has {', '.join(self.classes)}"
        if name not in self.classes:
            raise InputError(f"reference: {name!r} is not a class; {known}{nearest(name, self.classes)}")
        if len(self.classes) < 3:
            raise InputError(f"reference: without {name!r} one class is left; {known}")
        gone = self.classes.index(name)
        label = self.windows["label"]
        label = (label - (label > gone)).mask(label == gone, -1)
        card = self.card | {"classes": [one for one in self.classes if one != name]}
        return WindowedDataset(self.signals, self.windows.assign(label=label), card)

    @classmethod
    def load(cls, folder: str | Path) -> "WindowedDataset":
        """Open a prepared data set without reading its signals.

        Parameters
        ----------
        folder : path
            A folder made by :func:`write`.

        Raises
        ------
        InputError
            If a file is missing or unreadable, or the three files do not belong together.
        """
        folder = Path(folder)
        missing = [name for name in FILES if not (folder / name).is_file()]
        if missing:
            raise InputError(f"{folder}: not a prepared data set, {', '.join(missing)} missing; {_REMEDY}")
        card = read_card(folder / CARD, _REMEDY)
        try:
            windows = pd.read_parquet(folder / WINDOWS)
        except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
            raise InputError(f"{folder / WINDOWS}: unreadable ({error}); {_REMEDY}") from None
        try:
            signals = np.load(folder / SIGNALS, mmap_mode="r")
        except (OSError, ValueError, EOFError) as error:
            raise InputError(f"{folder / SIGNALS}: unreadable ({error}); {_REMEDY}") from None

        fault = _card_fault(card, _CARD_FIELDS | _CARD_ADDED)
        if fault:
            raise InputError(f"{folder / CARD}: {fault}; {_REMEDY}")
        expected = (card["samples"], len(card["channels"]))
        if signals.dtype != np.float32 or signals.shape != expected:
            raise InputError(
                f"{folder / SIGNALS}: {signals.dtype} {signals.shape}, but the card says float32 {expected}; "
                f"{_REMEDY}"
            )
        fault = _windows_fault(windows, card, samples=card["samples"])
        if not fault and _counts(windows, card) != card["counts"]:
            fault = "the windows of each class are not as many as the card counts"
        if fault:
            raise InputError(f"{folder / WINDOWS}: {fault}; {_REMEDY}")
        return cls(signals, windows, card)


def read_card(path: Path, remedy: str) -> Any:
    """What the JSON of a card holds, whatever it is.

    Raises
    ------
    InputError
        If it cannot be read; the message ends in the remedy.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: unreadable ({error}); {remedy}") from None


def card_of(folder: Path, fields: Iterable[str]) -> dict[str, Any]:
    """The card of a prepared data set, of which some fields are needed.

    Raises
    ------
    InputError
        If it cannot be read, or one of the fields is not as it must be.
    """
    card = read_card(folder / CARD, _REMEDY)
    known = _CARD_FIELDS | _CARD_ADDED
    for name in fields:
        value: Any = card.get(name) if isinstance(card, dict) else None
        fits = isinstance(value, known[name])
        if fits and name in ("domains", "counts"):
            fits = all(isinstance(row, dict) for row in value.values())
        if fits and name == "window":
            fits = all(isinstance(value.get(key), int) for key in ("length", "stride"))
        if not fits:
            raise InputError(f"{folder / CARD}: field `{name}` is missing or not what it must be; {_REMEDY}")
    return card


def window_starts(length: int, stride: int, samples: int) -> np.ndarray:
    """Starts of all windows that fit into a recording.

    Parameters
    ----------
    length, stride, samples : int
        Window length, distance of two starts, and length of the recording, in time steps.

    Returns
    -------
    numpy.ndarray
        int64, ``(windows,)``; empty where the recording is shorter than one window.
    """
    return np.arange(0, samples - length + 1, stride, dtype=np.int64)


def write(
    folder: str | Path, recordings: Iterable[np.ndarray], *, windows: pd.DataFrame, card: dict[str, Any]
) -> dict[str, Any]:
    """Write a prepared data set, holding one recording at a time.

    Everything goes to a temporary folder beside `folder` that takes its place at the end, so an
    interrupted or failed preparation leaves an earlier data set as it was.

    Parameters
    ----------
    folder : path
        Where the data set goes; an earlier data set there is replaced.
    recordings : iterable of numpy.ndarray
        float32, ``(samples, C)`` each, in the order in which `windows` counts its starts.
    windows : pandas.DataFrame
        Columns ``start``, ``length``, ``label``, ``domain``, ``recording``.
    card : dict
        At least ``name``, ``classes``, ``channels``, ``domains`` and ``window`` (``length`` and
        ``stride``).

    Returns
    -------
    dict
        The card as written: with ``samples``, ``counts`` (domain to class to number of windows),
        ``fingerprint`` and ``checksum``.

    Raises
    ------
    InputError
        If the folder holds something else, the disk fails, or windows and signals do not fit.
    """
    folder = Path(folder).resolve()
    _refuse_other_folders(folder)
    partial = folder.with_name(f".{folder.name}.partial-{os.getpid()}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _clean_leftovers(folder)
        partial.mkdir()
        card = _write_files(partial, recordings, windows=windows, card=card)
        _replace(folder, partial)
    except OSError as error:
        raise InputError(
            f"{folder}: the data set could not be written ({error.strerror or error}); "
            "make room or choose another folder, then run `tsdg prepare` again"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return card


def _write_files(
    folder: Path, recordings: Iterable[np.ndarray], *, windows: pd.DataFrame, card: dict[str, Any]
) -> dict[str, Any]:
    fault = _card_fault(card, _CARD_FIELDS)
    if fault:
        raise InputError(f"{CARD}: {fault}")
    digest = hashlib.sha256()
    samples = 0
    with open(folder / SIGNALS, "wb") as file:
        _npy_header(file, (0, len(card["channels"])))
        for recording in recordings:
            if recording.dtype != np.float32 or recording.shape[1:] != (len(card["channels"]),):
                raise InputError(
                    f"{SIGNALS}: a recording is {recording.dtype} {recording.shape}, "
                    f"not float32 (samples, {len(card['channels'])})"
                )
            data = np.ascontiguousarray(recording, dtype="<f4").data
            file.write(data)
            digest.update(data)
            samples += len(recording)
        file.seek(0)
        _npy_header(file, (samples, len(card["channels"])))

    fault = _windows_fault(windows, card, samples=samples)
    if fault:
        raise InputError(f"{WINDOWS}: {fault}")
    windows = windows[list(_COLUMNS)].astype(_NUMBERS).reset_index(drop=True)
    windows.to_parquet(folder / WINDOWS, index=False)

    for name, kind in _NUMBERS.items():
        digest.update(windows[name].to_numpy().astype(np.dtype(kind).newbyteorder("<")).tobytes())
    text = {name: windows[name].tolist() for name in _TEXTS}
    digest.update(json.dumps([text, *(card[key] for key in ("classes", "domains", "window"))]).encode())
    added = {"samples": samples, "counts": _counts(windows, card), "fingerprint": digest.hexdigest()}
    card = json.loads(json.dumps(card | added))
    card["checksum"] = checksum(card)
    (folder / CARD).write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return card


def checksum(card: dict[str, Any]) -> str:
    """SHA-256 of a card without it: an edit of any field shows, a new layout of the file does not."""
    rest = {key: value for key, value in card.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _npy_header(file: BinaryIO, shape: tuple[int, int]) -> None:
    """Write a header of the same size for every shape: NumPy leaves room for the first axis to grow."""
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


def _counts(windows: pd.DataFrame, card: dict[str, Any]) -> dict[str, dict[str, int]]:
    counts = windows.groupby(["domain", "label"], observed=True).size().to_dict()
    return {
        domain: {name: int(counts.get((domain, label), 0)) for label, name in enumerate(card["classes"])}
        for domain in card["domains"]
    }


def _card_fault(card: Any, fields: dict[str, type]) -> str | None:
    if not isinstance(card, dict):
        return "not a table of fields"
    for name, kind in fields.items():
        if not isinstance(card.get(name), kind):
            return f"field `{name}` is missing or not a {kind.__name__}"
    for name in ("length", "stride"):
        if not isinstance(card["window"].get(name), int) or card["window"][name] < 1:
            return f"field `window.{name}` is not a number of time steps"
    return None


def _windows_fault(windows: pd.DataFrame, card: dict[str, Any], *, samples: int) -> str | None:
    missing = [name for name in _COLUMNS if name not in windows]
    if missing:
        return f"no column {', '.join(missing)}"
    if windows.empty:
        return "no windows"
    if windows[list(_COLUMNS)].isna().any(axis=None):
        return "empty cells"
    if any(windows[name].dtype.kind not in "iu" for name in _NUMBERS):
        return f"{', '.join(_NUMBERS)} must be whole numbers"
    length = card["window"]["length"]
    if (windows["length"] != length).any():
        return f"window lengths differ from {length}, the card's window.length"
    if not windows["label"].between(0, len(card["classes"]) - 1).all():
        return f"labels outside 0 to {len(card['classes']) - 1}, the card's classes"
    unknown = sorted(set(windows["domain"]) - set(card["domains"]))
    if unknown:
        return f"domain {', '.join(map(str, unknown))} is not in the card"
    if not windows["start"].between(0, samples - length).all():
        return f"windows outside the {samples} time steps of {SIGNALS}"
    return None


def _refuse_other_folders(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; choose another folder for the data set")
    others = {path.name for path in folder.glob("*")} - {*FILES, ".snakemake_timestamp"}
    if all(path.suffix in (".npy", ".tmp") for path in (folder / FEATURES).glob("*")):
        others.discard(FEATURES)
    if others:
        raise InputError(
            f"{folder}: holds {sorted(others)[0]}, so it is not a prepared data set to replace; "
            "choose another folder"
        )


def _clean_leftovers(folder: Path) -> None:
    """Remove what killed preparations left, and put back a data set caught while being replaced."""
    for leftover in folder.parent.glob(f".{folder.name}.partial-*"):
        shutil.rmtree(leftover)
    old = _old(folder)
    if old.exists():
        if folder.exists():
            shutil.rmtree(old)
        else:
            old.rename(folder)


def _replace(folder: Path, partial: Path) -> None:
    old = _old(folder)
    if folder.exists():
        folder.rename(old)
    try:
        partial.rename(folder)
    except BaseException:
        if old.exists():
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _old(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")
