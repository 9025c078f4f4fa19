"""wav, EDF and WFDB: the signals, in their units, and the time that the rate makes."""

import re

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
    lines, entry = check_table(tmp_path / "raw", domain=["user"], window=100, said_before=said.extend)
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


def test_a_wfdb_signal_may_lack_its_name_and_gain(tmp_path):
    file = tmp_path / write_wfdb(tmp_path, 0, WAVES[0])
    assert not open_source(file).notes
    file.write_text(f"r0 2 {RATE} {STEPS}\nr0.dat 16\nr0.dat 16 0\n")
    source = open_source(file)
    assert source.names == ["signal0", "signal1", "time"]
    assert "not calibrated: 200 steps to a mV" in source.notes[0]
    (whole,) = source.recordings(source.columns(label=None))
    steps = np.fromfile(tmp_path / "r0.dat", "<i2").reshape(-1, 2)
    np.testing.assert_allclose(whole.signal, steps / 200, rtol=1e-6)


def test_a_note_on_a_later_file_of_a_folder_is_said_once(tmp_path):
    names = [write_wfdb(tmp_path, number, wave) for number, wave in enumerate(WAVES)]
    header = (tmp_path / names[3]).read_text()
    (tmp_path / names[3]).write_text(re.sub(r"(r3.dat 16) \S+", r"\1 0", header))
    table = pd.DataFrame({"file": names, "user": [0, 0, 1, 1, 2, 2], "label": ["a", "b"] * 3})
    table.to_csv(tmp_path / "metadata.csv", index=False)
    lines, _ = check_table(tmp_path, domain=["user"], window=100)
    assert "\n".join(lines).count("without a gain") == 1


def cut(path, count):
    path.write_bytes(path.read_bytes()[:count])


def overwrite(path, place, text):
    whole = bytearray(path.read_bytes())
    whole[place : place + len(text)] = text
    path.write_bytes(whole)


def read_all(path):
    source = open_source(path)
    return list(source.recordings(source.columns(label=None)))


def in_header(path, before, after):
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


EDF = 256 * 4  # its header, of three signals

FAULTS = {
    "a wav cut off": ("wav", lambda f: cut(f, 900), "holds 856 bytes of sound, and by its header 2,000"),
    "a wav cut in its header": ("wav", lambda f: cut(f, 30), "is damaged"),
    "a wav of no channels": ("wav", lambda f: overwrite(f, 22, b"\0\0"), "is damaged"),
    "an EDF cut off": ("edf", lambda f: cut(f, EDF + 1004), "is 2,028 bytes, and by its header 3,028"),
    "an EDF cut in its header": ("edf", lambda f: cut(f, 300), "its header is cut off"),
    "an EDF not closed": ("edf", lambda f: overwrite(f, 236, b"-1      "), "says -1 data records"),
    "an EDF of no duration": ("edf", lambda f: overwrite(f, 244, b"0       "), "data records last 0 s"),
    "an EDF without scale": ("edf", lambda f: overwrite(f, 256 + 104 * 3, b"1       "), "gives no scale"),
    "an EDF without label": ("edf", lambda f: overwrite(f, 256, b"   "), "signal 1 has no label"),
    "a rate below 0": ("wfdb", lambda f: in_header(f, " 250 ", " -250 "), "a rate of -250 Hz, which is none"),
    "a rate of 0": ("wfdb", lambda f: in_header(f, " 250 ", " 0 "), "a rate of 0 Hz, which is none"),
    "a signal that is not there": ("wfdb", lambda f: in_header(f, " 2 ", " 3 "), "says 3 signals, and has 2"),
    "an unknown format": ("wfdb", lambda f: in_header(f, " 16 ", " 999 "), "has no format of WFDB"),
    "a signal of another folder": ("wfdb", lambda f: in_header(f, "r0.dat", "a/r0.dat"), "names a/r0.dat"),
    "a signal cut off": ("wfdb", lambda f: cut(f.with_suffix(".dat"), 900), "signals are shorter than"),
    "another signal": ("wfdb", lambda f: overwrite(f.with_suffix(".dat"), 800, b"\1\2"), "'I' is not what"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_library_would_guess_or_fail_at_is_refused(tmp_path, fault):
    form, spoil, words = FAULTS[fault]
    file = tmp_path / FORMS[form][0](tmp_path, 0, WAVES[0])
    spoil(file)
    with pytest.raises(InputError, match=f"{file.name}: .*{words}"):
        read_all(file)
