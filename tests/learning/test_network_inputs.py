"""Inputs of networks against NumPy's and SciPy's own, and in front of a backbone."""

import numpy as np
import pytest
import scipy.signal
import torch
from reference import streams

from tsdg.errors import InputError
from tsdg.learning import networks
from tsdg.learning.features import Features
from tsdg.learning.network_inputs import INPUTS


@pytest.fixture
def windows():
    x = 2 + np.random.default_rng(0).standard_normal((2, 3, 2, 2048)).astype(np.float32)
    x[0, 0, 0], x[0, 1, 1] = 0, 9.81
    return x


def seen(name, x):
    layer = INPUTS[name](*x.shape[2:])
    made = layer(torch.from_numpy(x))
    assert made.dtype == torch.float32
    assert made.shape == (*x.shape[:2], layer.channels, layer.length)
    assert not layer.state_dict()
    return made.numpy()


def test_zscore(windows):
    deviation = windows.std(-1, keepdims=True)
    expected = (windows - windows.mean(-1, keepdims=True)) / np.where(deviation > 1e-6, deviation, np.inf)
    np.testing.assert_allclose(seen("zscore", windows), expected, atol=1e-4)


def test_the_spectrum_is_that_of_the_features(windows):
    features = Features({"spectrum": {"bands": 256}})
    expected = features(windows.reshape(6, 2, 2048)).reshape(2, 3, 2, 256)
    np.testing.assert_allclose(seen("spectrum", windows), expected, rtol=1e-5, atol=1e-5)


def test_the_spectrogram_is_power_in_time(windows):
    made = seen("spectrogram", windows).reshape(2, 3, 2, 128, 15)
    power = scipy.signal.spectrogram(
        windows.astype(np.float64), window="hann", nperseg=256, noverlap=128, detrend="constant"
    )[2][..., 1:, :]
    floor = 1e-14 * np.square(windows.astype(np.float64)).mean(-1)[..., None, None]
    log = np.log(np.maximum(power, floor + np.finfo(np.float32).tiny))
    np.testing.assert_allclose(made, log - log.mean((-3, -2, -1), keepdims=True), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", INPUTS)
def test_a_network_is_its_backbone_on_what_it_sees(name):
    x = torch.randn(2, 4, 3, 128)
    layer = INPUTS[name](3, 128)
    of = {"classes": 5, "width": 6}
    whole = networks.build("har", channels=3, length=128, generators=streams([0, 1]), input=name, **of)
    plain = networks.build(
        "har", channels=layer.channels, length=layer.length, generators=streams([0, 1]), **of
    )
    torch.testing.assert_close(whole(x, 2), plain(layer(x), 2), rtol=0, atol=0)


def test_a_backbone_that_is_too_long_for_the_input_is_refused():
    with pytest.raises(InputError, match=r"input spectrum makes 128 steps of a window's 1024.*`backbone`"):
        networks.build(
            "bearings", channels=1, length=1024, classes=2, generators=streams([0]), input="spectrum"
        )
