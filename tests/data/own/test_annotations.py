"""Annotations of EDF+ and WFDB are labels of steps."""

import edfio
import numpy as np
import pytest
import wfdb

from tsdg.data.own.raw import open_source, source_files
from tsdg.errors import InputError

RATE = 10
WAVE = np.random.default_rng(0).uniform(-0.9, 0.9, (100, 1))


def write_edf(path, *annotations):
    signal = edfio.EdfSignal(WAVE[:, 0], RATE, label="EEG", physical_range=(-1, 1))
    edfio.Edf([signal], annotations=[edfio.EdfAnnotation(*one) for one in annotations]).write(path)
    return path


def write_wfdb(folder, samples, symbols, notes):
    wfdb.wrsamp("r", fs=RATE, units=["mV"], sig_name=["I"], p_signal=WAVE, fmt=["16"], write_dir=str(folder))
    wfdb.wrann("r", "atr", np.array(samples), list(symbols), aux_note=list(notes), write_dir=str(folder))
    return folder / "r.hea"


def labels(source):
    (whole,) = source.recordings(source.columns(label="annotation"))
    return [source.labels(source.columns(label="annotation"))[k] if k >= 0 else "" for k in whole.labels]


def test_edf_has_stages_and_gaps_between_them(tmp_path):
    path = write_edf(
        tmp_path / "t.edf", (0.5, 2, "W"), (2.5, None, "lights off"), (2.5, 1.5, "N1"), (6, 2, "W")
    )
    source = open_source(path)
    assert source.header[-1] == "annotations: W 2, N1 1"
    assert source.notes == ["Annotations without a duration are no labels: lights off."]
    assert source.columns(label=None).channels == ["EEG"]
    assert labels(source) == [""] * 5 + ["W"] * 20 + ["N1"] * 15 + [""] * 20 + ["W"] * 20 + [""] * 20


def test_edf_without_durations_holds_each_until_the_next(tmp_path):
    source = open_source(write_edf(tmp_path / "t.edf", (1, None, "a"), (4, None, "b")))
    assert labels(source) == [""] * 10 + ["a"] * 30 + ["b"] * 60
    assert "each holds until the next" in source.notes[0]


def test_edf_without_annotations_has_no_such_column(tmp_path):
    assert "annotation" not in open_source(write_edf(tmp_path / "t.edf")).names


def test_annotations_that_overlap_are_told_where_they_are_labels(tmp_path):
    source = open_source(write_edf(tmp_path / "t.edf", (0, 3, "N1"), (2, 1, "arousal")))
    list(source.recordings(source.columns(label=None)))
    with pytest.raises(InputError, match=r"annotations 'N1' \(0 to 3 s\) and 'arousal' \(from 2 s\) overlap"):
        labels(source)


def test_wfdb_has_rhythms_and_otherwise_beats(tmp_path):
    path = write_wfdb(tmp_path, [5, 10, 30, 60], "+N+N", ["(AFIB", "", "(N", ""])
    assert source_files(path) == ["r.hea", "r.dat", "r.atr"]
    assert labels(open_source(path)) == [""] * 5 + ["AFIB"] * 25 + ["N"] * 70
    path = write_wfdb(tmp_path, [0, 10, 20, 60], "~NVN", ["", "", "", ""])
    source = open_source(path)
    assert labels(source) == [""] * 10 + ["N"] * 10 + ["V"] * 40 + ["N"] * 40
    assert "Annotations of beats" in source.notes[0]
    (tmp_path / "r.atr").write_bytes(b"\x01")
    with pytest.raises(InputError, match=r"r\.atr: "):
        open_source(path)
