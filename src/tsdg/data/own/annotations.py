"""What a file of signals says of them, as labels: annotations of EDF+ and of WFDB."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tsdg.data.own.reading import strictly
from tsdg.errors import InputError

COLUMN = "annotation"
ENDING = ".atr"  # of WFDB's annotations

_RHYTHM = "+"
_SHOWN = 20


@dataclass(frozen=True)
class Annotations:
    """Texts that hold from a moment to another, by start.

    Attributes
    ----------
    path : Path
    bounds : numpy.ndarray
        ``(n, 2)``, seconds since the recording begins; the end is not in it.
    texts : list of str
    note : str
        How they were understood, where that was not plain.
    """

    path: Path
    bounds: np.ndarray
    texts: list[str]
    note: str = ""

    @property
    def described(self) -> str:
        """How often there is each text."""
        counts = Counter(self.texts).items()
        shown = ", ".join(f"{text} {count}" for text, count in list(counts)[:_SHOWN])
        return f"annotations: {shown}{' ...' if len(counts) > _SHOWN else ''}"

    def indices(self, time: np.ndarray) -> np.ndarray:
        """Which of the texts holds at moments ``(n,)``; -1 where none does.

        Raises
        ------
        InputError
            If two hold at once.
        """
        starts, ends = self.bounds.T
        if len(both := np.flatnonzero(starts[1:] < ends[:-1] - 1e-6)):
            first = both[0]
            raise InputError(
                f"{self.path}: annotations {self.texts[first]!r} ({starts[first]:g} to {ends[first]:g} s) "
                f"and {self.texts[first + 1]!r} (from {starts[first + 1]:g} s) overlap, where a label is one "
                "at a time; write those that are labels into a file of intervals"
            )
        found = np.searchsorted(starts, time + 1e-6, side="right") - 1
        return np.where((found >= 0) & (time < ends[found] - 1e-6), found, -1)


def of_edf(path: Path, edf: Any) -> Annotations | None:
    """Of EDF+: those with a duration; where none has one, each holds until the next."""
    found = sorted(edf.annotations, key=lambda one: one.onset)
    lasting = [one for one in found if one.duration]
    if lasting:
        bounds = [(one.onset, one.onset + one.duration) for one in lasting]
        left = [one.text for one in found if not one.duration]
        note = f"Annotations without a duration are no labels: {_some(left)}." if left else ""
        return _made(path, np.array(bounds, float), [one.text for one in lasting], note)
    return _until_next(
        path, [one.onset for one in found], [one.text for one in found],
        "No annotation has a duration: each holds until the next.",
    )  # fmt: skip


def of_wfdb(path: Path, wfdb: Any, rate: float) -> Annotations | None:
    """Of WFDB's ``.atr``: rhythms, each until the next; where there are none, the symbols of beats."""
    file = path.with_suffix(ENDING)
    if not file.is_file():
        return None
    with strictly(file):
        found = wfdb.rdann(str(path.with_suffix("")), ENDING[1:])
        moments = np.asarray(found.sample) / rate
        notes = [(note or "").rstrip("\0").strip() for note in found.aux_note]
        rhythms = [k for k, symbol in enumerate(found.symbol) if symbol == _RHYTHM and notes[k]]
    known = wfdb.io.annotation
    beats = {label.symbol for label in known.ann_labels if known.is_qrs[label.label_store]}
    if rhythms:
        texts = [notes[k].removeprefix("(") for k in rhythms]
        return _until_next(file, moments[rhythms], texts, "Annotations of rhythm hold until the next.")
    kept = [k for k, symbol in enumerate(found.symbol) if symbol in beats]
    note = "Annotations of beats, as there are none of rhythm: each holds until the next."
    return _until_next(file, moments[kept], [found.symbol[k] for k in kept], note)


def _until_next(
    path: Path, moments: Sequence[float] | np.ndarray, texts: list[str], note: str
) -> Annotations | None:
    starts = np.asarray(moments, float)
    return _made(path, np.stack([starts, np.append(starts, np.inf)[1:]], 1), texts, note)


def _made(path: Path, bounds: np.ndarray, texts: list[str], note: str) -> Annotations | None:
    return Annotations(path, bounds, texts, note) if texts else None


def _some(texts: list[str]) -> str:
    kinds = list(dict.fromkeys(texts))
    return ", ".join(kinds[:_SHOWN]) + (" ..." if len(kinds) > _SHOWN else "")
