"""H-divergence: its two ends, its samples, and the choice of C."""

from types import SimpleNamespace

import numpy as np
import pytest

from tsdg.toy import divergence
from tsdg.toy.divergence import COSTS, fit, h_divergence


def normal(seed, size=400, shift=0.0):
    return np.random.default_rng(seed).normal(shift, size=(size, 5))


def test_separable_samples_diverge_by_two():
    found = h_divergence(normal(0), normal(1, 1200, shift=50), np.random.default_rng(0))
    assert (found.value, found.error) == (2, 0)


def test_identical_samples_do_not_diverge():
    assert h_divergence(normal(0), normal(0), np.random.default_rng(0)).value == pytest.approx(0, abs=0.1)


def test_samples_of_one_distribution_diverge_by_noise_alone():
    values = [h_divergence(normal(s), normal(s + 9, 1200), np.random.default_rng(s)).value for s in range(9)]
    assert np.mean(values) == pytest.approx(0, abs=0.1)
    # Not cut off at zero, which would make equal domains look different on average.
    assert min(values) < 0


def test_value_follows_from_the_error():
    found = h_divergence(normal(0), normal(1, shift=1.0), np.random.default_rng(0))
    assert 0 < found.error < 0.5
    assert found.value == 2 * (1 - 2 * found.error)


def test_scale_and_offset_of_a_feature_do_not_matter():
    source, target = normal(0), normal(1, shift=1.0)
    scale, offset = np.array([1e-3, 1, 10, 1e3, 1]), np.array([0, 5, -3, 1e3, 0])
    plain = h_divergence(source, target, np.random.default_rng(0))
    moved = h_divergence(source * scale + offset, target * scale + offset, np.random.default_rng(0))
    assert moved == plain


def test_halves_are_apart_and_half_of_each_domain(monkeypatch):
    seen = {}
    keep = divergence.StandardScaler.fit

    def look(self, x):
        seen["train"] = x
        return keep(self, x)

    monkeypatch.setattr(divergence.StandardScaler, "fit", look)
    source, target = np.arange(400.0)[:, None], np.arange(1000.0, 2200.0)[:, None]
    h_divergence(source, target, np.random.default_rng(0))
    train = seen["train"][:, 0]
    assert (len(set(train)), (train < 400).sum(), (train >= 1000).sum()) == (400, 200, 200)


def test_too_few_samples():
    with pytest.raises(ValueError, match="400 samples"):
        h_divergence(normal(0, 399), normal(1), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("errors", "chosen"),
    [
        ([0.5, 0.4, 0.3, 0.2, 0.1, 0.0], 100),
        ([0.5, 0.4, 0.1, 0.2, 0.1, 0.3], 0.1),
        ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.001),
        ([0.5, 0.2, 0.2, 0.3, 0.2, 0.5], 0.01),
    ],
)
def test_cost_of_the_lowest_training_error_the_smaller_of_equals(monkeypatch, errors, chosen):
    y = np.repeat([0, 1], 5)
    wrong = dict(zip(COSTS, errors, strict=True))

    class Machine(SimpleNamespace):
        def fit(self, x, y):
            return self

        def predict(self, x):
            flipped = np.arange(10) < round(10 * wrong[self.C])
            return np.where(flipped, 1 - y, y)

    monkeypatch.setattr(divergence, "SVC", Machine)
    machine = fit(np.zeros((10, 1)), y)
    assert chosen == machine.C


def test_costs():
    assert COSTS == (0.001, 0.01, 0.1, 1, 10, 100)
