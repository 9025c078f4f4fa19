"""Temperatures against scaled logits, and what they do to calibration."""

import numpy as np
import pytest

from tsdg.learning import metrics
from tsdg.learning.calibration import fit_temperature, log_probabilities, tempered


def logits_and_labels(samples=4000):
    """Logits of which softmax is right: labels are drawn by it."""
    stream = np.random.default_rng(0)
    logits = 2 * stream.standard_normal((samples, 4))
    return logits, (logits + stream.gumbel(size=logits.shape)).argmax(1)


def softmax(logits):
    powers = np.exp(logits - logits.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


@pytest.mark.parametrize("factor", [0.4, 3.0])
def test_the_temperature_undoes_what_logits_are_multiplied_by(factor):
    logits, labels = logits_and_labels()
    known = softmax(factor * logits)
    assert fit_temperature(log_probabilities(known), labels) == pytest.approx(factor, rel=0.05)
    np.testing.assert_allclose(tempered(known, factor), softmax(logits), atol=1e-9)


def test_calibrated_ece_is_that_of_the_sources_temperature_on_every_domain():
    logits, labels = logits_and_labels()
    sure = softmax(5 * logits)
    sources = {"A": (sure[:1000], labels[:1000]), "B": (sure[1000:2000], labels[1000:2000])}
    found = metrics.evaluate_all(sources, "T", {"T": (sure[2000:], labels[2000:])})
    assert found["temperature"] == pytest.approx(5, rel=0.05)
    expected = metrics.expected_calibration_error(
        softmax(5 * logits[2000:] / found["temperature"]), labels[2000:]
    )
    assert found["target"]["ece_calibrated"] == pytest.approx(expected)
    assert found["target"]["ece_calibrated"] < 0.05 < found["target"]["ece"]
    assert found["validation"]["A"]["ece_calibrated"] < found["validation"]["A"]["ece"]
    other = metrics.evaluate_all(sources, "T", {"T": (sure[2000:], 3 - labels[2000:])})
    assert other["temperature"] == found["temperature"], "the target's labels have no part in it"


def test_certain_mistakes_have_a_temperature():
    known, labels = np.eye(3)[[0, 1, 2, 0]], np.array([0, 1, 2, 1])
    assert np.isfinite(fit_temperature(log_probabilities(known), labels))
    np.testing.assert_allclose(tempered(known, 20.0).sum(1), 1)
