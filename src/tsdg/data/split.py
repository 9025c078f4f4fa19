"""The division of a data set's windows into training and validation."""

import zlib

import numpy as np
import pandas as pd

from tsdg.errors import InputError

TRAIN, VALIDATION, UNUSED = 0, 1, 2


def split(
    windows: pd.DataFrame,
    *,
    fraction: float = 0.2,
    seed: int,
    method: str = "random",
    cut: str | None = None,
) -> np.ndarray:
    """Divide every domain's windows into training and validation.

    A domain's division depends on its own windows, its name and `seed` only, never on the other domains.

    Parameters
    ----------
    windows : pandas.DataFrame
        The windows table, all of one length.
    fraction : float
        Share of the windows that validates, between 0 and 1.
    seed : int
        Another seed, another division.
    method : {"random", "blocked"}
        ``random`` draws windows without replacement, so overlapping neighbours may fall on both sides.
        ``blocked`` takes one contiguous block of each class, of whole recordings where these are
        short, and leaves out every window that overlaps both sides. A class too short to give up a
        block only trains.
    cut : {"recordings", "windows"}, optional
        Of windows that were already cut, whose order is not known, what is: ``blocked`` then takes whole
        recordings, and is refused where not even these are known.

    Returns
    -------
    numpy.ndarray
        int8, ``(len(windows),)``: `TRAIN`, `VALIDATION` or `UNUSED`.

    Raises
    ------
    InputError
        If `fraction`, `seed` or `method` is not one of the above, or `blocked` is not possible.
    """
    if not 0 < fraction < 1:
        raise InputError(f"validation fraction: {fraction} is not between 0 and 1")
    if seed < 0:
        raise InputError(f"seed: {seed} is negative; give 0 or more")
    if method not in ("random", "blocked"):
        raise InputError(f"split method: {method!r} is unknown; choose random or blocked")
    if method == "blocked" and cut == "windows":
        raise InputError(
            "split: blocked: the windows were already cut, so that their order is not known, and no column "
            "names the recording of each; name it with `recording`, or choose split: random"
        )
    divide = _random if method == "random" else _of_recordings if cut else _blocked
    parts = np.full(len(windows), TRAIN, dtype=np.int8)
    for domain, rows in windows.groupby("domain", sort=False).indices.items():
        rng = np.random.default_rng([seed, zlib.crc32(str(domain).encode())])
        parts[rows] = divide(windows.iloc[rows], fraction, rng)
    return parts


def proposed(cut: str | None) -> str:
    """The method for a data set of which nothing else is known; `cut` as of `split`."""
    return "random" if cut == "windows" else "blocked"


def _random(windows: pd.DataFrame, fraction: float, rng: np.random.Generator) -> np.ndarray:
    parts = np.full(len(windows), TRAIN, dtype=np.int8)
    size = min(max(1, round(fraction * len(windows))), len(windows) - 1)
    parts[rng.permutation(len(windows))[:size]] = VALIDATION
    return parts


def _blocked(windows: pd.DataFrame, fraction: float, rng: np.random.Generator) -> np.ndarray:
    starts, labels = windows["start"].to_numpy(), windows["label"].to_numpy()
    recordings = pd.factorize(windows["recording"])[0]
    length = int(windows["length"].iloc[0])
    turn = rng.permutation(recordings.max() + 1)[recordings]  # the recordings in an order of their own
    validation = np.zeros(len(windows), dtype=bool)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        rows = rows[np.lexsort((starts[rows], turn[rows]))]
        size = max(1, round(fraction * len(rows)))
        for first in rng.permutation(len(rows) - size + 1):
            block = rows[first : first + size]
            if not _overlaps(starts[rows], starts[block], length).all():
                validation[block] = True
                break
    unused = ~validation & _overlaps(starts, starts[validation], length)
    return np.select([validation, unused], [VALIDATION, UNUSED], TRAIN).astype(np.int8)


def _of_recordings(windows: pd.DataFrame, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Whole recordings validate, drawn for each class; each class keeps a recording that trains."""
    recordings, names = pd.factorize(windows["recording"])
    labels = np.unique(windows["label"], return_inverse=True)[1]
    counts = np.zeros((len(names), labels.max() + 1), int)
    np.add.at(counts, (recordings, labels), 1)
    validation = np.zeros(len(names), bool)
    turn = rng.permutation(len(names))
    for label, wanted in enumerate(fraction * counts.sum(0)):
        for recording in turn:
            taken = counts[validation, label].sum()
            here = counts[recording]
            if taken >= wanted or validation[recording] or not here[label]:
                continue
            left = counts[~validation].sum(0) - here
            if (left[here > 0] > 0).all():
                validation[recording] = True
    return np.where(validation[recordings], VALIDATION, TRAIN).astype(np.int8)


def _overlaps(starts: np.ndarray, others: np.ndarray, length: int) -> np.ndarray:
    """Which windows share a time step with one of the others."""
    others = np.sort(others)
    return np.searchsorted(others, starts + length) > np.searchsorted(others, starts - length, side="right")
