"""wav, EDF and WFDB: the signals, in their units, and the time that the rate makes."""

import edfio
import numpy as np
import pandas as pd
import pytest
import scipy.io.wavfile
import wfdb

from tsdg.data.own import signals
from tsdg.data.own.check import check_table
from tsdg.data.own.prepare import prepare
from tsdg.data.own.raw import open_source, source_files
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError

STEPS, RATE = 500, 250
WAVES = np.random.default_rng(0).uniform(-0.9, 0.9, (6, STEPS, 2))


def write_wav(folder, number, wave):
    pcm = np.round(wave * 2**15).astype(np.int16)
    scipy.io.wavfile.write(folder / f"{number}.wav", RATE, pcm)
    return f"{number}.wav"


def write_edf(folder, number, wave):
    parts = [edfio.EdfSignal(w, RATE, label="EEG", physical_range=(-1, 1)) for w in wave.T]
    slow = edfio.EdfSignal(np.arange(2.0), 1, label="temp", physical_range=(0, 2))
    edfio.Edf([*parts, slow]).write(folder / f"{number}.edf")
    return f"{number}.edf"


def write_wfdb(folder, number, wave):
    wfdb.wrsamp(
        f"r{number}", fs=RATE, units=["mV"] * 2, sig_name=["I", "II"], p_signal=wave, fmt=["16"] * 2,
        write_dir=str(folder),
    )  # fmt: skip
    return f"r{number}.hea"


FORMS = {
    "wav": (write_wav, ["channel0", "channel1"]),
    "edf": (write_edf, ["EEG", "EEG_2"]),
    "wfdb": (write_wfdb, ["I", "II"]),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_folder_of_signals_is_a_data_set(tmp_path, form, monkeypatch):
    monkeypatch.setattr(signals, "_STEPS", 130)  # blocks that end within the file's own
    write, channels = FORMS[form]
    (tmp_path / "raw").mkdir()
    names = [write(tmp_path / "raw", number, wave) for number, wave in enumerate(WAVES)]
    table = pd.DataFrame({"file": names, "user": [0, 0, 1, 1, 2, 2], "label": ["a", "b"] * 3})
    table.to_csv(tmp_path / "raw" / "metadata.csv", index=False)
    said = []
    lines, entry = check_table(tmp_path / "raw", domain=["user"], window=100, header=said.extend)
    assert f"first: {tmp_path / 'raw' / names[0]}: 500 time steps at 250 Hz, 2 s" in said
    assert "rate: 250 Hz" in lines
    assert "gaps: none" in lines
    assert entry["prepare"]["channels"] == channels
    card = prepare(tmp_path / "raw", tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    assert card["sampling_rate"] == 250
    found = WindowedDataset.load(tmp_path / "out").signals
    np.testing.assert_allclose(found, WAVES.reshape(-1, 2), atol=2**-15)
    if form == "edf":
        assert "not used, of another rate: temp 1 Hz" in said
    if form == "wfdb":
        assert source_files(tmp_path / "raw")[-6:] == [f"r{n}.dat" for n in range(6)]
        (tmp_path / "raw" / "r0.dat").unlink()
        with pytest.raises(InputError, match=r"r0.hea: names r0.dat, which is not in"):
            open_source(tmp_path / "raw")


def test_sound_is_in_shares_of_full_scale_whatever_its_width(tmp_path):
    wave = WAVES[0]
    kinds = {
        "u1": np.round(wave * 128 + 128).astype(np.uint8), "i4": (wave * 2**31).astype(np.int32),
        "f4": wave.astype(np.float32),
    }  # fmt: skip
    for kind, sound in kinds.items():
        scipy.io.wavfile.write(tmp_path / "t.wav", RATE, sound)
        source = open_source(tmp_path / "t.wav")
        (whole,) = source.recordings(source.columns(label=None))
        np.testing.assert_allclose(whole.signal, wave, atol=1 / 128 if kind == "u1" else 1e-6)
        np.testing.assert_allclose(whole.time, np.arange(STEPS) / RATE)


def test_a_missing_library_is_named_with_the_command(tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name)

    write_edf(tmp_path, 0, WAVES[0])
    monkeypatch.setattr("tsdg.data.own.reading.import_module", missing)
    with pytest.raises(InputError, match=r"0.edf: .* edfio is needed: pip install 'tsdg\[formats\]'"):
        open_source(tmp_path / "0.edf")


@pytest.mark.parametrize("suffix", ["wav", "edf", "hea", "h5"])
def test_a_damaged_file_is_refused_by_name(tmp_path, suffix):
    starts = {"wav": b"RIFF", "h5": b"\x89HDF\r\n\x1a\n"}
    (tmp_path / f"t.{suffix}").write_bytes(starts.get(suffix, b"") + b"nonsense of some length" * 20)
    with pytest.raises(InputError, match=rf"t.{suffix}: "):
        open_source(tmp_path / f"t.{suffix}")
