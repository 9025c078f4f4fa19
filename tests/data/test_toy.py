"""The toy data are what the paper's table says."""

import numpy as np
import pytest

from tsdg.data.toy import DOMAINS, LENGTH, SOURCES, TARGET, generate

NOISE = {"A": 2, "B": 4, "C": 2, "D": 4}
SAWTOOTH, SQUARE = 0, 1


@pytest.fixture(scope="module")
def data():
    return generate(0)


def test_sources_and_target(data):
    assert (SOURCES, TARGET) == (("A", "B", "C"), "D")
    for name, samples in data.items():
        size = 1200 if name == "D" else 400
        assert samples.x.shape == (size, 2, LENGTH)
        assert samples.x.dtype == np.float32
        assert (samples.y == SQUARE).sum() == size / 2


@pytest.mark.parametrize("domain", DOMAINS)
def test_noise(data, domain):
    samples = data[domain]
    noise = samples.x - samples.signal
    for label in (SAWTOOTH, SQUARE):
        of_class = noise[samples.y == label]
        second = NOISE[domain] if domain in "CD" and label == SQUARE else 1
        assert of_class[:, 0].std() == pytest.approx(NOISE[domain], rel=0.02)
        assert of_class[:, 1].std() == pytest.approx(second, rel=0.02)
        assert abs(of_class.mean()) < 0.05
    assert abs(np.corrcoef(noise[:, 0].ravel(), noise[:, 1].ravel())[0, 1]) < 0.02


@pytest.mark.parametrize("domain", DOMAINS)
def test_waves(data, domain):
    samples = data[domain]
    first, second = samples.signal[:, 0], samples.signal[:, 1]
    squares = samples.y == SQUARE
    assert set(np.unique(first[squares])) == {-1, 1}
    assert first[~squares].min() == -1
    assert first[~squares].max() == pytest.approx(1, abs=0.06)
    # A sawtooth rises by two a cycle, and falls once a cycle that ends.
    rising = np.diff(first[~squares], axis=1)
    slope = np.median(rising, axis=1)
    np.testing.assert_allclose(slope * LENGTH / 2, samples.cycles[~squares], rtol=1e-9)
    assert (second[~squares] == 0).all()
    assert (second[squares] == (first[squares] if domain in "CD" else 0)).all()


def test_cycles_are_uniform(data):
    cycles = np.concatenate([samples.cycles for samples in data.values()])
    assert cycles.min() >= 1 / 6
    assert cycles.max() <= 5
    quarters = np.histogram(cycles, bins=4, range=(1 / 6, 5))[0] / len(cycles)
    np.testing.assert_allclose(quarters, 0.25, atol=0.04)


def test_seeds_decide():
    one, same, other = generate(1), generate(1), generate(2)
    for name in DOMAINS:
        assert (one[name].x == same[name].x).all()
        assert not (one[name].x == other[name].x).any(axis=(1, 2)).any()
