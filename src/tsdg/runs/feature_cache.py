"""Features of all windows of a prepared data set, computed once and kept beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tsdg.data.windows import FEATURES, WindowedDataset
from tsdg.files import atomic
from tsdg.learning.features import Features, Spec
from tsdg.runs.fingerprint import functions_fingerprint

BLOCK = 256  # windows in memory at a time
CHECKSUM = 32  # bytes at the end of a file

Of = Callable[[np.ndarray], np.ndarray]


def in_blocks(of: Of, windows: Of, rows: np.ndarray) -> np.ndarray:
    """Features of some windows, of which few are in memory at a time.

    Parameters
    ----------
    of : callable
        Gives the features ``(n, F)`` of windows ``(n, C, T)``.
    windows : callable
        Gives the windows of rows ``(n,)`` of the windows table.
    rows : (N,) of int
    """
    blocks = np.split(rows, range(BLOCK, len(rows), BLOCK))
    return np.concatenate([of(windows(block)) for block in blocks])


def feature_file(folder: Path, fingerprint: str, spec: Spec) -> Path:
    """The file of features of prepared data, named by the fingerprint of data, specification and code."""
    text = json.dumps([fingerprint, spec, functions_fingerprint("learning.features:Features")])
    return folder / FEATURES / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.npy"


def cached(dataset: WindowedDataset, folder: Path, spec: Spec, windows: Of) -> np.ndarray:
    """Features ``(N, F)`` of all windows of a data set, read from its folder or written there first.

    A file ends with a checksum: a damaged one is made again. Jobs that look for the same file at the same
    time may each write it, whole and alike.
    Where nothing can be written, features stay in memory.

    Parameters
    ----------
    dataset : WindowedDataset
    folder : Path
        Of the prepared data set.
    spec : str, mapping or sequence
        See `tsdg.learning.features`.
    windows : callable
        See `in_blocks`.
    """
    path = feature_file(folder, dataset.fingerprint, spec)
    features, count = Features(spec, dataset.card.get("sampling_rate")), len(dataset.windows)
    found = _read(path, count)
    if found is None:
        try:
            with atomic(path) as temporary:
                _write(temporary, features, windows, count)
        except OSError:
            return in_blocks(features, windows, np.arange(count))
        found = _read(path, count)
    return in_blocks(features, windows, np.arange(count)) if found is None else found


def _read(path: Path, count: int) -> np.ndarray | None:
    """Features of a file, or None where it is absent or damaged."""
    try:
        raw = np.memmap(path, np.uint8, mode="r")
        if _checksum(raw[:-CHECKSUM]) != raw[-CHECKSUM:].tobytes():
            return None
        found = np.load(path, mmap_mode="r")
    except (OSError, ValueError):
        return None
    return found if found.ndim == 2 and len(found) == count and found.dtype == np.float64 else None


def _write(path: Path, features: Features, windows: Of, count: int) -> None:
    with path.open("wb") as file:  # no memory map: where the disk is full, that would end the process
        for start in range(0, count, BLOCK):
            block = features(windows(np.arange(start, min(start + BLOCK, count))))
            if start == 0:
                header = {"descr": "<f8", "fortran_order": False, "shape": (count, block.shape[1])}
                np.lib.format.write_array_header_1_0(file, header)
            file.write(np.ascontiguousarray(block, "<f8").data)
    checksum = _checksum(np.memmap(path, np.uint8, mode="r"))
    with path.open("ab") as file:
        file.write(checksum)


def _checksum(raw: np.ndarray) -> bytes:
    return hashlib.sha256(raw.data).digest()
