"""The simulated recordings: reproducible, marked, physical, and never over real ones."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.signal

from tsdg.data.bearings.recordings import read_table
from tsdg.data.bearings.simulate import simulate
from tsdg.errors import InputError


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    simulate(folder, seconds=2)
    return folder


def test_the_official_layout(raw):
    assert len(os.listdir(raw)) == 40
    lengths = {97: 48_000, 98: 96_000, 105: 24_000}
    for number, length in lengths.items():
        variables = scipy.io.loadmat(raw / f"{number}.mat")
        for sensor in ("DE", "FE"):
            assert variables[f"X{number:03d}_{sensor}_time"].shape == (length, 1)
        assert abs(variables[f"X{number:03d}RPM"][0, 0] - read_table().rpm[number]) <= 3


def test_recordings_do_not_share_their_noise(raw):
    noise = [
        np.diff(scipy.io.loadmat(raw / f"{n}.mat")[f"X{n:03d}_DE_time"].ravel(), 2) for n in (98, 99, 100)
    ]
    assert np.abs(np.corrcoef(noise) - np.eye(3)).max() < 0.05


@pytest.mark.slow
def test_a_recording_depends_on_the_seed_and_its_number_alone(raw, tmp_path):
    simulate(tmp_path / "all", seconds=1, location="both")
    simulate(tmp_path / "again", seconds=1)
    simulate(tmp_path / "other", seconds=1, seed=1)
    same = [(tmp_path / folder / "234.mat").read_bytes() for folder in ("all", "again", "other")]
    assert same[0] == same[1] != same[2]
    assert same[2][:116].rstrip() == b"MATLAB 5.0 MAT-file, simulated by tsdg, seed 1"
    assert len(os.listdir(tmp_path / "all")) == 81


@pytest.mark.parametrize(("number", "order"), [(105, 5.4152), (130, 3.5848), (118, 4.7135)])
def test_the_envelope_beats_at_the_defect_frequency(raw, number, order):
    variables = scipy.io.loadmat(raw / f"{number}.mat")
    signal = variables[f"X{number}_DE_time"].ravel()
    band = scipy.signal.butter(4, [2000, 5000], "bandpass", fs=12_000, output="sos")
    envelope = np.abs(scipy.signal.hilbert(scipy.signal.sosfilt(band, signal)))
    spectrum = np.abs(np.fft.rfft(envelope - envelope.mean()))
    frequency = np.fft.rfftfreq(len(envelope), 1 / 12_000)
    expected = order * variables[f"X{number}RPM"][0, 0] / 60
    distance = np.abs(frequency / expected - 1)
    assert spectrum[distance < 0.02].max() > 1.5 * spectrum[(distance > 0.04) & (distance < 0.15)].max()


def test_real_recordings_are_never_overwritten(tmp_path):
    scipy.io.savemat(tmp_path / "105.mat", {"X105_DE_time": np.arange(9.0)})
    before = (tmp_path / "105.mat").read_bytes()
    with pytest.raises(InputError, match=r"105\.mat, not simulated"):
        simulate(tmp_path, seconds=1)
    assert os.listdir(tmp_path) == ["105.mat"]
    assert (tmp_path / "105.mat").read_bytes() == before


def test_a_full_disk_leaves_no_half_file(tmp_path, monkeypatch):
    def fail(self, data):
        with open(self, "wb") as file:
            file.write(data[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(InputError, match="No space left on device"):
        simulate(tmp_path / "raw", seconds=1)
    assert os.listdir(tmp_path / "raw") == []


@pytest.mark.parametrize(
    "option", [{"seconds": 0.5}, {"seconds": float("nan")}, {"seed": -1}, {"location": "FE"}]
)
def test_an_unknown_option_is_named(tmp_path, option):
    with pytest.raises(InputError, match=next(iter(option))):
        simulate(tmp_path, **option)
