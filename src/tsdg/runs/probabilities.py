"""Class probabilities that a record keeps, as text: half precision, compressed.

A checkpoint keeps them of each domain's evaluated windows if it may be reported: the last one, and the one
with the best source validation. The record says once which windows these are.
"""

import base64
import binascii
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

ROWS, LABELS, PROBABILITIES = np.dtype("<i4"), np.dtype("<i2"), np.dtype("<f2")


def packed(values: ArrayLike, kind: np.dtype) -> str:
    """Numbers of a kind as text; those of one column stand together, and of these each byte."""
    columns = np.ascontiguousarray(np.asarray(values).T, kind)
    shuffled = columns.reshape(-1).view(np.uint8).reshape(-1, kind.itemsize).T
    return base64.b85encode(zlib.compress(shuffled.tobytes())).decode()


def unpacked(text: str, kind: np.dtype, *columns: int) -> NDArray[Any]:
    """The numbers ``(N, *columns)`` of a text.

    Raises
    ------
    ValueError
        It is none.
    """
    try:
        shuffled = np.frombuffer(zlib.decompress(base64.b85decode(text)), np.uint8)
        return np.ascontiguousarray(shuffled.reshape(kind.itemsize, -1).T).view(kind).reshape(*columns, -1).T
    except (ValueError, binascii.Error, zlib.error) as error:
        raise ValueError(f"what it keeps of windows is damaged ({error})") from None


def kept_windows(evaluation: Mapping[str, ArrayLike], labels: Callable[[Any], ArrayLike]) -> dict[str, Any]:
    """What a record says of the windows: of each domain the rows of the windows table, and their labels."""
    return {
        domain: {"rows": packed(rows, ROWS), "labels": packed(labels(rows), LABELS)}
        for domain, rows in evaluation.items()
    }


def kept(scored: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, str]:
    """What a checkpoint keeps: the probabilities of each domain."""
    return {domain: packed(known, PROBABILITIES) for domain, (known, _) in scored.items()}


def drop_superseded(checkpoints: Sequence[dict[str, Any]], accuracy: Callable[[Any], float]) -> None:
    """Take the probabilities away from checkpoints that no selection would report.

    Parameters
    ----------
    checkpoints : sequence of dict
        In order; those of the averaged weights likewise.
    accuracy : callable
        Source validation of one.
    """
    if not checkpoints:
        return
    reported = checkpoints[-1], max(checkpoints, key=accuracy)
    for checkpoint in checkpoints:
        if not any(checkpoint is one for one in reported):
            checkpoint.pop("probabilities", None)
