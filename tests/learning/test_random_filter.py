"""Random filters: what a gain does to a window, and how gains are distributed."""

import numpy as np
import pytest

from tsdg.learning.random_filter import RandomFilter


def test_a_tone_is_multiplied_by_the_gain_at_its_frequency():
    rate, length = 1000, 500
    filtering = RandomFilter(length, deviation=1.5, smoothness=30, rate=rate)
    weights = np.random.default_rng(0).standard_normal((3, filtering.weights))
    gains = filtering.gains(weights)
    time = np.arange(length) / rate
    for frequency in (20, 100, 400):
        tone = np.sin(2 * np.pi * frequency * time + 0.3)
        expected = gains[:, frequency // 2, None, None] * np.stack([tone, 2 * tone])
        filtered = filtering(np.stack([tone, 2 * tone])[None].repeat(3, 0), weights)
        np.testing.assert_allclose(filtered, expected, atol=1e-9)


@pytest.mark.parametrize("length", [300, 301])
def test_no_deviation_is_no_filter(length):
    x = np.random.default_rng(0).standard_normal((4, 2, length))
    filtering = RandomFilter(length, deviation=0)
    np.testing.assert_allclose(filtering(x, np.ones((4, filtering.weights))), x, atol=1e-12)


def test_log_gains_have_the_deviation_and_the_correlation_that_are_asked_for():
    filtering = RandomFilter(2400, deviation=0.7, smoothness=60, rate=12000)  # a frequency each 5 Hz
    weights = np.random.default_rng(0).standard_normal((20000, filtering.weights))
    course = np.log(filtering.gains(weights)) / 0.7
    np.testing.assert_allclose(course.std(0), 1, atol=0.03)
    assert abs(course.mean()) < 0.01
    lags = np.arange(0, 60)
    correlation = [np.mean(course[:, 400] * course[:, 400 + lag]) for lag in lags]
    np.testing.assert_allclose(correlation, np.exp(-((5 * lags / 60) ** 2) / 2), atol=0.06)


def test_without_a_rate_smoothness_is_a_share_of_it():
    hertz = RandomFilter(256, smoothness=50, rate=12000)
    np.testing.assert_allclose(hertz.courses, RandomFilter(256).courses, atol=1e-9)
