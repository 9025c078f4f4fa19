"""The probabilities that records keep, as they are read."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsdg.runs.probabilities import LABELS, PROBABILITIES, ROWS, unpacked
from tsdg.runs.record import Evaluation, Record


class Classified(NamedTuple):
    """Windows of a domain: rows of the windows table ``(N,)``, labels ``(N,)``, probabilities ``(N, K)``."""

    rows: NDArray[np.int32]
    labels: NDArray[np.int64]
    probabilities: NDArray[np.float64]


def read_kept(record: Record, evaluation: Evaluation) -> dict[str, Classified]:
    """What a record keeps of an evaluation, by domain; nothing if it keeps none.

    Half precision is rounded, so that the probabilities of a window are divided by their sum.

    Raises
    ------
    ValueError
        It is damaged.
    """
    found = {}
    for domain, text in evaluation.probabilities.items():
        if domain not in record.windows:
            raise ValueError(f"it keeps probabilities of {domain}, and not of which windows")
        known = unpacked(text, PROBABILITIES, len(record.classes)).astype(np.float64)
        rows, labels = (
            unpacked(getattr(record.windows[domain], name), kind)
            for name, kind in (("rows", ROWS), ("labels", LABELS))
        )
        sound = (known >= 0).all() and (known.sum(1) > 0).all() and np.isfinite(known).all()
        sound &= ((labels >= 0) & (labels < len(record.classes))).all()
        if not len(known) == len(rows) == len(labels) or not sound:
            raise ValueError(f"what it keeps of the windows of {domain} does not fit together")
        found[domain] = Classified(rows, labels.astype(np.int64), known / known.sum(1, keepdims=True))
    return found
