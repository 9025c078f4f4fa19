"""How good, and how honest about it, a classifier is on one split.

Every function takes ``probabilities`` (N, K), the softmax outputs of N samples over K >= 2 classes, and
``labels`` (N,), the true classes as integers 0 ... K-1, as arrays or CPU tensors. All results are fractions,
never percent. Bad input is a `ValueError`: here it is a programming error, not a user's.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tsdg.learning.calibration import fit_temperature, log_probabilities, tempered

BINS = 15
Scored = Mapping[str, tuple[np.ndarray, np.ndarray]]
_SUM_TOLERANCE = 1e-4  # float32 softmax sums stray by some 1e-6, whatever type they are stored in later


def _checked(probabilities: ArrayLike, labels: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    p, y = np.asarray(probabilities), np.asarray(labels)
    if p.ndim != 2 or p.shape[1] < 2:
        raise ValueError(f"probabilities must have shape (N, K) with K >= 2, got {p.shape}")
    if y.shape != p.shape[:1]:
        raise ValueError(f"labels must have shape ({p.shape[0]},) to match the probabilities, got {y.shape}")
    if len(y) == 0:
        raise ValueError("no samples: metrics of an empty split are undefined")
    if p.dtype not in (np.float32, np.float64):
        p = p.astype(np.float64)
    if not np.isfinite(p).all():
        raise ValueError("probabilities hold NaN or infinity")
    if p.min() < 0 or np.abs(p.sum(axis=1) - 1).max() > _SUM_TOLERANCE:
        raise ValueError("probabilities must be non-negative and every row must sum to one (not logits)")
    if y.dtype.kind not in "iu":
        raise ValueError(f"labels must be integers, got {y.dtype}")
    if y.min() < 0 or y.max() >= p.shape[1]:
        raise ValueError(f"labels must lie in 0 ... {p.shape[1] - 1}, got {y.min()} ... {y.max()}")
    return p, y


def accuracy(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Fraction of samples whose most probable class (a tie: the lowest) is the true one."""
    p, y = _checked(probabilities, labels)
    return float((p.argmax(axis=1) == y).mean())


def reliability(probabilities: ArrayLike, labels: ArrayLike, bins: int = BINS) -> dict[str, list]:
    """Confidence against accuracy, binned by confidence.

    Bin j of 1 ... `bins` holds the samples whose confidence, the maximum probability, lies in
    ((j-1)/bins, j/bins]; a confidence of 0 belongs to the first. Edges are rounded to the type of the
    probabilities, so that the float32 nearest to 1/5 lies on the edge 1/5 and not above it.

    Returns
    -------
    dict
        ``count`` (samples in each bin), ``confidence`` and ``accuracy`` (their means; None in an empty bin),
        lists of length `bins`.
    """
    p, y = _checked(probabilities, labels)
    confidence = p.max(axis=1)
    edges = (np.arange(1, bins + 1) / bins).astype(p.dtype)
    index = np.minimum(np.searchsorted(edges, confidence, side="left"), bins - 1)
    count = np.bincount(index, minlength=bins)
    sums = {
        "confidence": np.bincount(index, weights=confidence, minlength=bins),
        "accuracy": np.bincount(index, weights=p.argmax(axis=1) == y, minlength=bins),
    }
    means = {k: [float(s / n) if n else None for s, n in zip(v, count, strict=True)] for k, v in sums.items()}
    return {"count": count.tolist(), **means}


def expected_calibration_error(probabilities: ArrayLike, labels: ArrayLike, bins: int = BINS) -> float:
    """Mean over samples of the gap between accuracy and confidence of the sample's bin (see `reliability`).

    The confidence is the maximum probability for two classes too. Guo et al., ICML 2017.
    """
    r = reliability(probabilities, labels, bins)
    filled = [(n, c, a) for n, c, a in zip(r["count"], r["confidence"], r["accuracy"], strict=True) if n]
    return sum(n * abs(a - c) for n, c, a in filled) / sum(r["count"])


def negative_log_likelihood(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Mean of -log(probability of the true class), in nats.

    The probability is clipped to [eps, 1 - eps], eps the machine epsilon of its type, as scikit-learn's
    ``log_loss`` does: a certain mistake costs 36.0 (float64) or 15.9 (float32), not infinity.
    """
    p, y = _checked(probabilities, labels)
    eps = np.finfo(p.dtype).eps
    return float(-np.log(np.clip(p[np.arange(len(y)), y], eps, 1 - eps)).mean(dtype=np.float64))


def brier_score(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Squared distance to the one-hot label, summed over classes, averaged over samples: 0 (best) to 2."""
    p, y = _checked(probabilities, labels)
    return float(((p - np.eye(p.shape[1], dtype=p.dtype)[y]) ** 2).sum(axis=1).mean(dtype=np.float64))


def auc(probabilities: ArrayLike, labels: ArrayLike) -> tuple[float | None, str | None]:
    """Area under the ROC curve: the chance that a sample of a class scores above one of no such class.

    Of two classes that of class 1. Of more the mean over classes, each against the rest: its own probability
    is the score.

    Returns
    -------
    value, reason
        The value with no reason, or None with the reason why there is none: the split lacks a class.
    """
    p, y = _checked(probabilities, labels)
    count = np.bincount(y, minlength=p.shape[1])
    if (count > 0).sum() == 1:
        return None, f"the split holds class {y[0]} alone"
    if not count.all():
        return None, f"the split holds no sample of class {int((count == 0).argmax())}"
    classes = [1] if len(count) == 2 else range(len(count))
    return float(np.mean([_area(p[:, k], y == k) for k in classes])), None


def _area(scores: NDArray[Any], positive: NDArray[Any]) -> float:
    _, inverse, count = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[inverse]  # tied scores share their mean rank
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    wins = ranks[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(wins / (n_positive * n_negative))


def confusion(probabilities: ArrayLike, labels: ArrayLike) -> NDArray[np.int64]:
    """Samples by true class (rows) and most probable class (columns; a tie: the lowest), ``(K, K)``."""
    p, y = _checked(probabilities, labels)
    counts = np.zeros((p.shape[1],) * 2, np.int64)
    np.add.at(counts, (y, p.argmax(axis=1)), 1)
    return counts


def balanced_accuracy(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Mean over the classes of the split of the fraction of their samples that are found."""
    return _balanced_accuracy(confusion(probabilities, labels))


def _balanced_accuracy(counts: NDArray[np.int64]) -> float:
    there = counts.sum(axis=1) > 0
    return float((counts.diagonal()[there] / counts.sum(axis=1)[there]).mean())


def macro_f1(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Mean of F1, the harmonic mean of precision and recall, over the classes of the split.

    A class that is never the most probable one has 0.
    """
    return _macro_f1(confusion(probabilities, labels))


def _macro_f1(counts: NDArray[np.int64]) -> float:
    there = counts.sum(axis=1) > 0
    both = counts.sum(axis=0) + counts.sum(axis=1)
    return float((2 * counts.diagonal()[there] / both[there]).mean())


def evaluate(probabilities: ArrayLike, labels: ArrayLike, temperature: float | None = None) -> dict[str, Any]:
    """All metrics of one split, as a run record keeps them.

    Returns
    -------
    dict
        ``accuracy``, ``balanced_accuracy``, ``macro_f1``, ``ece``, ``nll``, ``brier``, ``auc`` (None where
        undefined; ``auc_reason`` then says why), ``n`` (samples); with a temperature ``ece_calibrated``, the
        ECE of the probabilities that it gives.
    """
    area, reason = auc(probabilities, labels)
    counts = confusion(probabilities, labels)
    result = {
        "accuracy": accuracy(probabilities, labels),
        "balanced_accuracy": _balanced_accuracy(counts),
        "macro_f1": _macro_f1(counts),
        "ece": expected_calibration_error(probabilities, labels),
        "nll": negative_log_likelihood(probabilities, labels),
        "brier": brier_score(probabilities, labels),
        "auc": area,
        "n": len(np.asarray(labels)),
    }
    if temperature is not None:
        calibrated = tempered(np.asarray(probabilities), temperature)
        result["ece_calibrated"] = expected_calibration_error(calibrated, labels)
    return result if reason is None else {**result, "auc_reason": reason}


def evaluate_all(validation: Scored, target: str | None, held_out: Scored) -> dict[str, Any]:
    """All metrics of a network, as a checkpoint of a record keeps them.

    Parameters
    ----------
    validation : mapping
        Probabilities ``(N, K)`` and labels ``(N,)`` of each source's validation windows.
    target : str or None
    held_out : mapping
        The same of each of its domains, of which there are none without a target.

    Returns
    -------
    dict
        ``temperature``, which is the likeliest on all validation windows, so that no label of the target has
        a part in it; ``validation``, what `evaluate` says of each source; with a target ``target``, see
        `evaluate_target`.
    """
    probabilities, labels = _together(validation)
    temperature = fit_temperature(log_probabilities(probabilities), labels)
    found = {
        "temperature": temperature,
        "validation": {name: evaluate(*of_domain, temperature) for name, of_domain in validation.items()},
    }
    if target is not None:
        found["target"] = evaluate_target(target, held_out, temperature)
    return found


def _together(scored: Scored) -> tuple[np.ndarray, np.ndarray]:
    probabilities, labels = (np.concatenate(parts) for parts in zip(*scored.values(), strict=True))
    return probabilities, labels


def evaluate_target(target: str, scored: Scored, temperature: float | None = None) -> dict[str, Any]:
    """All metrics of a target, as a run record keeps them.

    Parameters
    ----------
    target : str
        Its name.
    scored : mapping
        Probabilities ``(N, K)`` and labels ``(N,)`` of each of its domains.
    temperature : float, optional
        See `evaluate`.

    Returns
    -------
    dict
        What `evaluate` says of all samples together, their `reliability` and `confusion`, and of a target
        that is a group of domains ``domains``: what `evaluate` says of each.
    """
    probabilities, labels = _together(scored)
    scores = evaluate(probabilities, labels, temperature) | {
        "reliability": reliability(probabilities, labels),
        "confusion": confusion(probabilities, labels).tolist(),
    }
    if list(scored) != [target]:
        scores["domains"] = {domain: evaluate(*of_one, temperature) for domain, of_one in scored.items()}
    return scores
