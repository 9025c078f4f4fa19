"""Named arrays of npz, MATLAB's and HDF5 files: the same columns from each, and what is said of the rest."""

import re

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io

from tsdg.data.own import arrays
from tsdg.data.own.check import check_table
from tsdg.data.own.prepare import prepare
from tsdg.data.own.raw import open_source
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError

USERS, STEPS = 3, 40
RNG = np.random.default_rng(0)
SIGNAL = RNG.normal(size=(2 * USERS, STEPS, 2)).astype(np.float32)  # two recordings of each user
LABEL, USER = np.array(["sit", "walk"] * USERS), np.repeat(np.arange(USERS), 2)
DOMAINS = {name: {"user": user} for user, name in enumerate("ABC")}


def steps(of_recordings):
    """What is of recordings, for each time step."""
    return np.repeat(of_recordings, STEPS)


def fingerprint(raw, tmp_path, **options):
    options = {"domains": DOMAINS, "window": 10} | options
    return prepare(raw, tmp_path / "out", **options)["fingerprint"]


@pytest.fixture
def expected(tmp_path):
    """The data set as a table gives it."""
    table = pd.DataFrame(SIGNAL.reshape(-1, 2), columns=["x", "y"])
    table = table.assign(recording=steps(np.arange(1, 7)), user=steps(USER), label=steps(LABEL))
    table.to_csv(tmp_path / "t.csv", index=False)
    return fingerprint(tmp_path / "t.csv", tmp_path, channels=["x", "y"])


def test_what_is_of_a_recording_may_be_given_once(tmp_path, expected, monkeypatch):
    flat, rest = SIGNAL.reshape(-1, 2), {"user": USER, "label": LABEL, "channels": np.array(["x", "y"])}
    starts = np.arange(2 * USERS) * STEPS
    monkeypatch.setattr(arrays, "_BYTES", 1000)  # blocks that end within recordings
    for rows in ({"lengths": np.full(6, STEPS)}, {"offsets": starts}, {"offsets": np.append(starts, 240)}):
        np.savez(tmp_path / "t.npz", signal=flat, **rest, **rows)
        assert fingerprint(tmp_path / "t.npz", tmp_path) == expected
    np.savez(tmp_path / "t.npz", signal=flat, **rest, lengths=np.full(6, STEPS - 1))
    with pytest.raises(InputError, match="'lengths' must be above 0 and add up to 240"):
        open_source(tmp_path / "t.npz")
    np.savez(tmp_path / "t.npz", signal=flat, **rest)
    with pytest.raises(InputError, match=r"\(240,\), as `signal` has so many .* add their `lengths`"):
        open_source(tmp_path / "t.npz")


@pytest.mark.parametrize("matrix", ["(N, C)", "(C, N)"])
def test_hdf5_is_what_a_table_is(tmp_path, expected, matrix):
    flat = SIGNAL.reshape(-1, 2)
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["acc/xy"] = flat if matrix == "(N, C)" else flat.T
        file["channels"] = ["x", "y"]
        file["label"] = steps(LABEL).astype(object)
        file["user"] = steps(USER)[:, None]
        file["recording"] = steps(np.arange(1, 7))
        file["map"] = np.zeros((3, 4))
        file["acc"].attrs["unit"] = "g"
    assert fingerprint(tmp_path / "t.h5", tmp_path) == expected
    said = []
    check_table(tmp_path / "t.h5", domain=["user"], said_before=said.extend)
    assert said[0].endswith("t.h5: 240 time steps")
    assert said[1:] == [
        "columns: x, y, label, recording, user",
        "one value: acc/unit g",
        "not used: channels (2,), map (3, 4)",
    ]


def test_groups_of_hdf5_may_be_recordings(tmp_path, expected):
    with h5py.File(tmp_path / "t.h5", "w") as file:
        for number, signal in enumerate(SIGNAL):
            group = file.create_group(f"user{USER[number]}/{number}")
            group["x"], group["y"] = signal.T
            group.attrs["label"] = str(LABEL[number])
            group.parent.attrs["user"] = USER[number]
            group.attrs["fs"] = 20 if number else 40
    options = {"domains": DOMAINS, "window": 10, "sampling_rate": "fs"}
    with pytest.raises(InputError, match=r"user0/1 has a rate of 20 Hz, others or .* 40 Hz; bring all"):
        prepare(tmp_path / "t.h5", tmp_path / "out", **options)
    with h5py.File(tmp_path / "t.h5", "a") as file:
        file["user0/0"].attrs["fs"] = 20
    windows = prepare(tmp_path / "t.h5", tmp_path / "out", **options)
    assert windows["sampling_rate"] == 20
    data = WindowedDataset.load(tmp_path / "out")
    np.testing.assert_array_equal(data.signals, SIGNAL.reshape(-1, 2))
    assert windows["counts"]["A"] == {"sit": 4, "walk": 4}
    assert data.windows["recording"].iloc[0] == "A user0/0"


def test_windows_of_hdf5_are_read_as_they_are_asked_for(tmp_path):
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["X"] = SIGNAL.transpose(0, 2, 1)
        file["y"], file["user"] = LABEL.astype(object), USER
    lines, entry = check_table(tmp_path / "t.h5", domain=["user"])
    assert "NCT, the shorter axis being the channels'" in "\n".join(lines)
    prepare(tmp_path / "t.h5", tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    assert WindowedDataset.load(tmp_path / "out").signals.reshape(SIGNAL.shape).tolist() == SIGNAL.tolist()


# -------------------------------------------------------------------------------------------------- MATLAB


def write_5(path, signal, load):
    """A file as those of MFPT: a struct of a signal and its rate."""
    bearing = {"sr": 48.0, "gs": signal[:, None], "load": load, "rate": 25, "note": "inner"}
    scipy.io.savemat(path, {"bearing": bearing, "extra": np.eye(3)})


def write_73(path, signal, load):
    """The same as MATLAB 7.3 writes it: HDF5 with a header of 512 bytes, axes turned round."""
    with h5py.File(path, "w", userblock_size=512) as file:
        bearing = file.create_group("bearing")
        for name, value in {"sr": 48.0, "load": float(load), "rate": 25.0}.items():
            bearing[name] = np.array([[value]])
        bearing["gs"] = signal[None, :].astype(float)
        bearing["note"] = np.array([[ord(letter)] for letter in "inner"], np.uint16)
        bearing["note"].attrs["MATLAB_class"] = np.bytes_("char")
        file["extra"] = np.eye(3)
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512))


@pytest.mark.parametrize("write", [write_5, write_73])
def test_matlab_files_of_a_folder_are_recordings_with_a_rate_of_their_own(tmp_path, write):
    for number, signal in enumerate(SIGNAL):
        write(tmp_path / f"{number}.mat", signal[:, 0], 10 * USER[number])
    table = pd.DataFrame({"file": [f"{n}.mat" for n in range(6)], "label": LABEL, "site": "here"})
    table.to_csv(tmp_path / "metadata.csv", index=False)
    said = []
    options = {"sampling_rate": "bearing.sr", "channels": ["bearing.gs"], "window": 10}
    lines, entry = check_table(tmp_path, domain=["bearing.load"], said_before=said.extend, **options)
    assert any(line.startswith("one value: ") and "bearing.sr 48" in line for line in said)
    assert any(line.startswith("not used: extra (3, 3)") for line in said)
    assert "label: sit 3, walk 3" in said
    assert "rate: 48 Hz" in lines
    card = prepare(tmp_path, tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    assert card["sampling_rate"] == 48
    assert card["domains"]["bearing-load10"] == {"bearing.load": 10}
    data = WindowedDataset.load(tmp_path / "out")
    np.testing.assert_array_equal(data.signals[:, 0], SIGNAL[..., 0].ravel())
    with pytest.raises(InputError, match=r"'bearing.note' holds 'inner', where one number above 0 belongs"):
        check_table(tmp_path, domain=["bearing.load"], **options | {"sampling_rate": "bearing.note"})
    with pytest.raises(InputError, match=r"channel 'bearing.load' is one value, not a signal"):
        check_table(tmp_path, domain=["site"], **options | {"channels": ["bearing.load"]})


def test_a_channel_may_have_another_name_in_each_file(tmp_path):
    for number, signal in enumerate(SIGNAL):
        pair = {f"X{number}_DE_time": signal[:, :1], f"X{number}_FE_time": signal[:, 1:]}
        scipy.io.savemat(tmp_path / f"{number}.mat", pair | {f"X{number}RPM": 1700 + USER[number]})
    table = pd.DataFrame({"file": [f"{n}.mat" for n in range(6)], "label": LABEL})
    table.to_csv(tmp_path / "metadata.csv", index=False)
    _, entry = check_table(tmp_path, domain=["X*RPM"], channels=["X?_FE_time"], window=10)
    assert entry["domains"]["X-RPM1701"] == {"X*RPM": 1701}
    card = prepare(tmp_path, tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    assert card["channels"] == ["X?_FE_time"]
    signals = WindowedDataset.load(tmp_path / "out").signals
    np.testing.assert_array_equal(signals[:, 0], SIGNAL[..., 1].ravel())
    with pytest.raises(InputError, match=r"'X\*time' matches X0_DE_time, X0_FE_time; give a pattern"):
        check_table(tmp_path, domain=["X*RPM"], channels=["X*time"])
    with pytest.raises(InputError, match=r"1.mat: has no column 'X0_DE_time', .* pattern: 'X\*_DE_time'"):
        check_table(tmp_path, domain=["X*RPM"], channels=["X0_DE_time"])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda x: x + 1j, "'X*_DE' holds complex numbers, and is a column of 0.mat"),
        (lambda x: x[:30], "'X*_DE' is of shape (30,), where there are 40 time steps, and is a column of"),
    ],
)  # fmt: skip
def test_a_variable_that_is_no_column_is_told_from_one_that_is_missing(tmp_path, spoil, words):
    for number, signal in enumerate(SIGNAL):
        x = spoil(signal[:, 0]) if number == 1 else signal[:, 0]
        scipy.io.savemat(tmp_path / f"{number}.mat", {f"X{number}_DE": x, f"X{number}_FE": signal[:, 1]})
    table = pd.DataFrame({"file": [f"{n}.mat" for n in range(6)], "label": LABEL, "user": USER})
    table.to_csv(tmp_path / "metadata.csv", index=False)
    with pytest.raises(InputError, match=f"1.mat: {re.escape(words)}"):
        check_table(tmp_path, domain=["user"], channels=["X*_DE", "X*_FE"], window=10)


def test_an_attribute_of_several_values_is_not_passed_over(tmp_path):
    with h5py.File(tmp_path / "t.h5", "w") as file:
        for number, signal in enumerate(SIGNAL):
            group = file.create_group(f"r{number}")
            group["x"], group.attrs["label"] = signal[:, 0], str(LABEL[number])
            group.attrs["user"] = [1, 2] if number == 1 else USER[number]
    with pytest.raises(InputError, match=r"t.h5: attribute 'user' of r1 is not one number or text"):
        check_table(tmp_path / "t.h5", domain=["user"], window=10)


@pytest.mark.parametrize("form", ["cells", "structs"])
def test_items_of_a_matlab_array_are_recordings(tmp_path, form):
    parts = [signal[: STEPS - number] for number, signal in enumerate(SIGNAL)]  # of a length each
    if form == "cells":
        cells = np.empty(len(parts), object)
        cells[:] = parts
        scipy.io.savemat(tmp_path / "t.mat", {"xy": cells, "label": LABEL.astype(object), "user": USER})
    else:
        facts = zip(parts, LABEL, USER, strict=True)
        runs = [{"xy": xy, "label": label, "user": user} for xy, label, user in facts]
        scipy.io.savemat(tmp_path / "t.mat", {"run": runs})
    said = []
    _, entry = check_table(tmp_path / "t.mat", domain=["user"], window=10, said_before=said.extend)
    assert said[0].endswith("t.mat: 6 items, a recording each")
    prepare(tmp_path / "t.mat", tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    data = WindowedDataset.load(tmp_path / "out")
    np.testing.assert_array_equal(data.signals, np.concatenate(parts))
    assert data.windows.groupby("domain")["label"].nunique().tolist() == [2, 2, 2]


def test_a_damaged_matlab_file_is_refused(tmp_path):
    write_5(tmp_path / "whole.mat", SIGNAL[0, :, 0], 1)
    (tmp_path / "t.mat").write_bytes((tmp_path / "whole.mat").read_bytes()[:300])
    with pytest.raises(InputError, match=r"t.mat: damaged or not a MATLAB file"):
        open_source(tmp_path / "t.mat")
    (tmp_path / "t.mat").write_bytes(
        (tmp_path / "whole.mat").read_bytes() + (tmp_path / "whole.mat").read_bytes()[128:]
    )
    with pytest.raises(InputError, match=r't.mat: .*Duplicate variable name "bearing"'):
        open_source(tmp_path / "t.mat")
    scipy.io.savemat(tmp_path / "t.mat", {"note": "nothing"})
    with pytest.raises(InputError, match="holds no vector or matrix of numbers; there are note"):
        open_source(tmp_path / "t.mat")
