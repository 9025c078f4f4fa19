"""Features of windows against formulas of their own, and the laws that hold for any window."""

import numpy as np
import pytest
from scipy import stats

from tsdg.errors import InputError
from tsdg.learning.features import Features, Spectrum, named

RATE = 12000.0


@pytest.fixture
def windows():
    return 3 + 2 * np.random.default_rng(0).standard_normal((5, 2, 2048))


def dft_power(x, segment):
    """Welch's density for a rate of 1, by matrices of cosines and sines in the place of an FFT."""
    t = np.arange(segment)
    hann = np.sin(np.pi * t / segment) ** 2
    waves = np.exp(-2j * np.pi * np.outer(t, np.arange(segment // 2 + 1)) / segment)
    starts = range(0, x.shape[-1] - segment + 1, segment // 2)
    parts = np.stack([x[..., s : s + segment] for s in starts], axis=-2)
    parts = (parts - parts.mean(-1, keepdims=True)) * hann
    power = np.square(np.abs(parts @ waves)).mean(-2) / np.square(hann).sum()
    power[..., 1 : (segment + 1) // 2] *= 2  # both sides
    return power


@pytest.mark.parametrize(("segment", "bands"), [(256, 32), (250, 20), (512, 256)])
def test_spectrum_is_the_log_of_welchs_power_in_bands(windows, segment, bands):
    power = dft_power(windows, segment)[..., 1:]
    edges = np.round(np.linspace(0, segment // 2, bands + 1)).astype(int)
    bands_of_power = [power[..., a:b].mean(-1) for a, b in zip(edges[:-1], edges[1:], strict=True)]
    expected = np.log(np.stack(bands_of_power, -1)).reshape(5, -1)
    spec = {"spectrum": {"segment": segment, "bands": bands, "level": "plain"}}
    np.testing.assert_allclose(Features(spec)(windows), expected, atol=1e-10)


def test_a_centred_spectrum_does_not_know_the_amplitude_and_a_plain_one_does(windows):
    plain = Features({"spectrum": {"level": "plain"}})
    np.testing.assert_allclose(plain(10 * windows) - plain(windows), 2 * np.log(10), atol=1e-9)
    centred = Features("spectrum")(windows).reshape(5, 2, -1)
    np.testing.assert_allclose(centred.mean((1, 2)), 0, atol=1e-12)
    np.testing.assert_allclose(Features("spectrum")(10 * windows), centred.reshape(5, -1), atol=1e-9)


def test_a_whitened_spectrum_keeps_lines_and_loses_a_smooth_gain(windows):
    frequencies = np.fft.rfftfreq(2048)
    gain = np.exp(2 * np.cos(2 * np.pi * frequencies))  # 35 dB
    filtered = np.fft.irfft(np.fft.rfft(windows) * gain)
    inner = slice(24, -24)  # bands, of 128: at the ends a smooth course is not told from its slope

    def change(level):
        spectrum = Features({"spectrum": {"level": level}})
        return np.abs((spectrum(filtered) - spectrum(windows)).reshape(5, 2, -1)[..., inner]).mean()

    assert change("whitened") < 0.2 < 1.5 < change("centred")
    line = windows + 5 * np.sin(2 * np.pi * 0.2 * np.arange(2048))
    whitened = Features({"spectrum": {"level": "whitened"}})(line).reshape(5, 2, -1)
    assert (whitened.argmax(-1) == int((0.2 * 512 - 1) / 2)).all()


def test_envelope_finds_the_rate_at_which_a_high_tone_swells():
    time = np.arange(4096) / RATE
    tone = (1 + 0.5 * np.cos(2 * np.pi * 105.5 * time)) * np.sin(2 * np.pi * 3300 * time)
    hum = 4 * np.sin(2 * np.pi * 50 * time)  # below the cut-off
    spectrum = Features({"envelope": {"level": "plain"}}, RATE)
    spectra = spectrum(np.stack([tone, tone + hum])[:, None])
    step = RATE / 2048
    assert (spectra.argmax(-1) == round(105.5 / step) - 1).all()
    np.testing.assert_allclose(*np.exp(spectra - spectra.max()), atol=1e-4)
    assert spectra.shape == (2, int(375 / step))
    hertz = Features({"envelope": {"level": "plain", "above": 2000, "highest": 375}}, RATE)
    np.testing.assert_array_equal(spectrum(tone[None, None]), hertz(tone[None, None]))


def test_modulation_is_the_spectrum_of_each_frequencys_power_over_its_mean(windows):
    segment, bands, highest = 64, 4, 0.05
    t, hann = np.arange(segment), np.sin(np.pi * np.arange(segment) / segment) ** 2
    parts = np.stack([windows[..., s : s + segment] for s in range(0, 2048 - segment + 1, 8)], axis=-2)
    parts = (parts - parts.mean(-1, keepdims=True)) * hann
    power = np.abs(parts @ np.exp(-2j * np.pi * np.outer(t, np.arange(1, 33)) / segment)) ** 2
    course = power / power.mean(-2, keepdims=True) - 1
    steps = np.arange(course.shape[-2])
    shape = 1 - np.cos(2 * np.pi * (steps + 0.5) / len(steps))
    frequencies = np.arange(2, int(highest * 8 * len(steps)) + 1)
    waves = np.exp(-2j * np.pi * np.outer(frequencies, steps) / len(steps))
    changes = np.abs(waves @ (course * shape[:, None])) / np.sqrt(np.square(shape).sum())
    expected = np.log(changes.reshape(5, 2, -1, bands, 8).mean(-1)).swapaxes(-1, -2).reshape(5, -1)
    spec = {"modulation": {"segment": segment, "bands": bands, "highest": highest}}
    np.testing.assert_allclose(Features(spec, 1.0)(windows), expected, atol=1e-9)


def test_modulation_finds_the_rate_of_bursts_in_their_band_and_knows_no_filter():
    rng, time = np.random.default_rng(0), np.arange(4096) / RATE
    bursts = np.cos(2 * np.pi * 4000 * time) * np.exp(-((time * 105.5) % 1) * 8)
    x = (bursts + 0.2 * rng.standard_normal(4096))[None, None]
    modulation = Features("modulation", RATE)
    found = modulation(x).reshape(8, -1)
    step = RATE / (249 * 16)
    assert found[5].argmax() == round(105.5 / step) - 2  # of 750 Hz a band, the first frequency is left out
    assert found[5].max() > found[[0, 1, 2, 3, 6, 7]].max() + 0.5
    filtered = np.convolve(x[0, 0], [1, -1.2, 0.8, -0.4], mode="same")[None, None]
    spectrum = Features({"spectrum": {"level": "centred"}})
    assert (
        np.abs(modulation(filtered) - modulation(x)).mean()
        < 0.1
        < 1
        < np.ptp(spectrum(filtered) - spectrum(x))
    )


def test_statistics_by_hand():
    x = np.array([[[1.0, 5.0, 2.0, 2.0, 9.5, 4.5]]])
    c = x[0, 0] - 4
    energy = 9 + 1 + 4 + 4 + 5.5**2 + 0.25
    spectrum = np.square(np.abs(np.fft.fft(c)))
    centroid = (spectrum[:4] * [0, 1, 2, 3]).sum() / spectrum[:4].sum() / 6
    expected = [
        4, np.sqrt(energy / 6), *np.quantile(x, [0.05, 0.25, 0.5, 0.75, 0.95]), 1, 9.5, 3 / 5,
        (c[1:] * c[:-1]).sum() / energy, (c[2:] * c[:-2]).sum() / energy, (c[4:] * c[:-4]).sum() / energy,
        centroid,
    ]  # fmt: skip
    np.testing.assert_allclose(Features("statistics")(x)[0], expected)


def test_a_constant_or_empty_window_has_finite_features():
    x = np.stack([np.zeros((1, 128)), np.full((1, 128), 9.81)])
    f = Features([{"spectrum": {"level": "plain"}}, "envelope", "modulation", "statistics"])(x)
    assert np.isfinite(f).all()
    assert (Features("statistics")(x)[:, -6:] == 0).all()  # crossings, autocorrelation, centroid


def test_features_of_blocks_are_those_of_the_whole(windows):
    features = Features(["statistics", {"spectrum": {"level": "whitened"}}, "envelope", "modulation"], RATE)
    whole = features(windows)
    np.testing.assert_array_equal(np.concatenate([features(windows[:2]), features(windows[2:])]), whole)
    assert features(windows[:0]).shape == (0, whole.shape[1])


def test_features_know_nothing_of_a_channels_scale_once_each_is_standardized(windows):
    features = Features([{"spectrum": {"level": "plain"}}, "envelope", "modulation", "statistics"])
    scaled = 0.3 * windows - np.array([[7.0], [-2.0]])
    np.testing.assert_allclose(*(stats.zscore(features(x)) for x in (scaled, windows)), atol=1e-6)


@pytest.mark.parametrize("length", [24, 128, 1024, 4096])
def test_the_defaults_fit_any_window(length):
    x = np.random.default_rng(0).standard_normal((2, 1, length))
    assert Features("spectrum")(x).shape == (2, min(128, length // 2))
    assert np.isfinite(Features(["statistics", "spectrum"])(x)).all()


def test_a_specification_is_a_name_a_mapping_or_a_list_of_both():
    assert named("spectrum") == named(["spectrum"]) == named({"spectrum": None}) == [("spectrum", {})]
    assert named([{"spectrum": {"bands": 8}}, "envelope"]) == [("spectrum", {"bands": 8}), ("envelope", {})]
    assert Features({"spectrum": {"bands": 8}}).parts == [Spectrum(bands=8)]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("spektrum", "did you mean 'spectrum'"),
        ({"spectrum": {"band": 8}}, "no option 'band', did you mean 'bands'"),
        ({"spectrum": {"level": "white"}}, "did you mean 'whitened'"),
        ({"spectrum": {"bands": 2.5}}, "bands is 2.5; give a whole number from 2"),
        ({"envelope": {"above": -1}}, "above is -1; give a number above 0"),
        ({"spectrum": {"bands": 1}}, "bands is 1; give a whole number from 2"),
        ({"spectrum": {"segment": 4}}, "segment is 4; give a whole number from 8"),
        ({"spectrum": {"smooth": 1e12}}, "smooth is 1000000000000.0; give a number from 0.1 to 1000"),
        ({"envelope": {"highest": float("nan")}}, "highest is nan; give a number above 0"),
        ({"envelope": {"above": float("inf")}}, "above is inf; give a number above 0"),
        ({"spectrum": [1]}, r"spectrum: \[1\] are no options; write {spectrum: {option: value}}"),
        ([{"spectrum": "bands"}], "spectrum: 'bands' are no options"),
        ("window", "did you mean 'windows'.; there are spectrum, envelope, modulation, statistics, windows"),
        (["windows", "spectrum"], "windows as they are stand alone"),
        ({"statistics": {"bands": 8}}, "statistics has no option 'bands'; it has none"),
    ],
)
def test_a_wrong_specification_is_one_message(spec, message):
    with pytest.raises(InputError, match=message):
        Features(spec)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"spectrum": {"segment": 100}}, "a segment has 100 time steps, a window 64"),
        ({"spectrum": {"bands": 33}}, "33 bands, but a segment of 64 time steps tells 32"),
        ({"envelope": {"above": 2000}}, "sampling rate is not known"),
        ({"envelope": {"segment": 16}}, "no frequency of a segment of 16 time steps"),
        ({"modulation": {"segment": 100}}, "a segment has 100 time steps, a window 64"),
        ({"modulation": {"segment": 16, "bands": 9}}, "9 bands, but a segment of 16 time steps tells 8"),
        ("modulation", "longer windows .71 time steps by default"),
    ],
)
def test_options_that_do_not_fit_the_windows_are_one_message(spec, message):
    with pytest.raises(InputError, match=message):
        Features(spec)(np.zeros((1, 1, 64)))


def test_frequencies_are_below_half_the_sampling_rate():
    with pytest.raises(InputError, match="highest is 600 Hz, above half the sampling rate; give at most 500"):
        Features({"envelope": {"highest": 600}}, 1000)


def test_changes_are_slower_than_segments_follow_each_other():
    with pytest.raises(InputError, match="no change as fast as `highest`; give a lower one or shorter"):
        Features({"modulation": {"segment": 16, "highest": 400}}, 1000)(np.zeros((1, 1, 64)))


def test_missing_values_are_refused():
    with pytest.raises(InputError, match="standardize: sources"):
        Features("statistics")(np.array([[[1.0, np.nan, 2.0]]]))
