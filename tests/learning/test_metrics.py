import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from sklearn.metrics import (
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    f1_score,
    log_loss,
    recall_score,
    roc_auc_score,
)

from tsdg.learning import metrics


def random_split(n, classes, dtype, seed=0):
    rng = np.random.default_rng(seed)
    logits = torch.tensor(rng.normal(size=(n, classes)) * 2, dtype=getattr(torch, dtype))
    return logits.softmax(1).numpy(), rng.integers(classes, size=n)


def slow_ece(p, y, bins=15):
    """The definition in exact arithmetic; a float that is the nearest one to an edge lies on it."""
    edges = [Fraction(j, bins) for j in range(bins + 1)]
    gaps = [Fraction(0)] * bins
    for row, label in zip(p, y, strict=True):
        confidence = Fraction(float(max(row)))
        for edge in edges:
            if max(row) == p.dtype.type(float(edge)):
                confidence = edge
        j = next(j for j in range(bins) if confidence <= edges[j + 1])
        gaps[j] += (int(np.argmax(row)) == label) - Fraction(float(max(row)))
    return float(sum(abs(gap) for gap in gaps) / len(y))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("classes", [2, 10])
def test_metrics_agree_with_independent_computations(dtype, classes):
    p, y = random_split(997, classes, dtype)
    result = metrics.evaluate(p, y)
    assert result["n"] == 997
    assert result["accuracy"] == sum(int(np.argmax(r)) == k for r, k in zip(p, y, strict=True)) / 997
    assert result["ece"] == pytest.approx(slow_ece(p, y), abs=1e-7)
    assert result["nll"] == pytest.approx(log_loss(y, p, labels=range(classes)), rel=1e-5)
    brier = brier_score_loss(y, p, labels=list(range(classes)), scale_by_half=False)
    assert result["brier"] == pytest.approx(brier, rel=1e-5)
    scores = p[:, 1] if classes == 2 else p.astype("float64") / p.astype("float64").sum(1, keepdims=True)
    assert result["auc"] == pytest.approx(roc_auc_score(y, scores, multi_class="ovr"), abs=1e-6)
    assert "auc_reason" not in result
    assert result["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y, p.argmax(1)), abs=1e-12)
    assert result["macro_f1"] == pytest.approx(f1_score(y, p.argmax(1), average="macro"), abs=1e-12)


def test_a_target_has_the_confusion_of_all_its_domains():
    (p, y), (q, z) = random_split(60, 3, "float64"), random_split(40, 3, "float64")
    scores = metrics.evaluate_target("g", {"A": (p, y), "B": (q, z)})
    both = confusion_matrix(np.r_[y, z], np.r_[p, q].argmax(1), labels=[0, 1, 2])
    assert scores["confusion"] == both.tolist()


def test_a_class_that_is_not_there_counts_in_no_mean_and_leaves_auc_undefined():
    p, y = random_split(400, 4, "float64")
    there = y != 2
    result = metrics.evaluate(p[there], y[there])
    found = p[there].argmax(1)
    recall = recall_score(y[there], found, labels=[0, 1, 3], average="macro")
    assert result["balanced_accuracy"] == pytest.approx(recall, abs=1e-12)
    f1 = f1_score(y[there], found, labels=[0, 1, 3], average="macro")
    assert result["macro_f1"] == pytest.approx(f1, abs=1e-12)
    assert result["auc"] is None
    assert result["auc_reason"] == "the split holds no sample of class 2"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_confidence_on_an_edge_belongs_to_the_bin_below_it(dtype):
    for j in range(8, 16):
        edge = dtype(j / 15)
        above, below = np.nextafter(edge, dtype(2)), np.nextafter(edge, dtype(0))
        for confidence, bin_ in [(below, j), (edge, j), (above, min(j + 1, 15))]:
            p = np.array([[confidence, max(dtype(1) - confidence, dtype(0))]])
            assert metrics.reliability(p, [0])["count"].index(1) == bin_ - 1
    thirds, fifths = np.full((1, 3), 1 / 3, dtype), np.full((1, 5), 1 / 5, dtype)
    assert metrics.reliability(thirds, [0])["count"].index(1) == 4
    assert metrics.reliability(fifths, [0])["count"].index(1) == 2
    p = np.concatenate([np.full((7, 5), 1 / 5, dtype), np.eye(5, dtype=dtype)])
    y = [0, 1, 2, 3, 4, 0, 0, *range(5)]
    assert metrics.expected_calibration_error(p, y) == pytest.approx(slow_ece(p, y), abs=1e-7)


def test_reliability_by_hand():
    p = [[0.9, 0.1], [0.9, 0.1], [0.3, 0.7], [1.0, 0.0]]
    r = metrics.reliability(p, [0, 1, 1, 1], bins=2)
    assert r["count"] == [0, 4]
    assert r["confidence"] == [None, pytest.approx(3.5 / 4)]
    assert r["accuracy"] == [None, 0.5]
    assert metrics.expected_calibration_error(p, [0, 1, 1, 1], bins=2) == pytest.approx(3.5 / 4 - 0.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_certain_mistake_costs_a_finite_likelihood(dtype):
    p = np.array([[1, 0], [0, 1]], dtype)
    assert metrics.negative_log_likelihood(p, [1, 0]) == pytest.approx(-math.log(np.finfo(dtype).eps))
    assert metrics.negative_log_likelihood(p, [1, 0]) == pytest.approx(log_loss([1, 0], p), rel=1e-6)
    assert metrics.brier_score(p, [1, 0]) == 2


def test_auc_with_tied_scores_and_with_one_class():
    scores = np.array([0.1, 0.5, 0.5, 0.5, 0.8, 0.8])
    p, y = np.stack([1 - scores, scores], 1), np.array([0, 1, 0, 0, 1, 0])
    assert metrics.auc(p, y) == (pytest.approx(roc_auc_score(y, scores)), None)
    value, reason = metrics.auc(p, np.ones(6, int))
    assert value is None
    assert "class 1 alone" in reason


@pytest.mark.parametrize(
    ("p", "y", "message"),
    [
        (np.empty((0, 2)), np.empty(0, int), "no samples"),
        ([0.5, 0.5], [0, 1], r"shape \(N, K\)"),
        ([[0.5, 0.5]], [0, 1], "labels must have shape"),
        ([[np.nan, 0.5]], [0], "NaN"),
        ([[2.0, -1.0]], [0], "sum to one"),
        ([[0.7, 0.7]], [0], "sum to one"),
        ([[0.55, 0.5], [0.5, 0.5]], [0, 1], "sum to one"),
        ([[0.5, 0.5], [0.5, 0.499]], [0, 1], "sum to one"),
        ([[0.5, 0.5]], [2], "0 ... 1"),
        ([[0.5, 0.5]], [-1], "0 ... 1"),
        ([[0.5, 0.5]], [0.0], "integers"),
    ],
)
def test_bad_input_is_refused(p, y, message):
    with pytest.raises(ValueError, match=message):
        metrics.evaluate(p, y)
