"""The container: written whole or not at all, refused with a remedy."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tsdg.data.windows import WindowedDataset, window_starts, write
from tsdg.errors import InputError

LENGTH, STRIDE = 8, 2
CARD = {
    "name": "small",
    "classes": ["calm", "wild"],
    "channels": ["x", "y"],
    "window": {"length": LENGTH, "stride": STRIDE},
    "domains": {"A": {"load": 0}, "B": {"load": 1}},
}


def recordings(seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(samples, 2)).astype(np.float32) for samples in (40, 30, 50, 20)]


def table(signals=None):
    rows, offset = [], 0
    for index, signal in enumerate(signals or recordings()):
        for start in window_starts(LENGTH, STRIDE, len(signal)):
            rows.append((offset + start, LENGTH, index % 2, "AB"[index // 2], f"r{index}"))
        offset += len(signal)
    return pd.DataFrame(rows, columns=["start", "length", "label", "domain", "recording"])


def small(folder, seed=0):
    return write(folder, iter(recordings(seed)), windows=table(), card=CARD)


def test_what_is_written_is_loaded(tmp_path):
    card = small(tmp_path / "set")
    data = WindowedDataset.load(tmp_path / "set")
    np.testing.assert_array_equal(data.signals, np.concatenate(recordings()))
    pd.testing.assert_frame_equal(data.windows, table(), check_dtype=False)
    assert isinstance(data.signals, np.memmap)
    assert data.windows.dtypes.astype(str).tolist()[:3] == ["int64", "int32", "int16"]
    assert data.card == card
    assert (data.classes, data.domains) == (["calm", "wild"], ["A", "B"])
    assert card["counts"] == {"A": {"calm": 17, "wild": 12}, "B": {"calm": 22, "wild": 7}}
    assert card["samples"] == 140


def test_the_card_is_stable_and_the_fingerprint_sees_every_part(tmp_path):
    prints = {small(tmp_path / "a")["fingerprint"]}
    assert small(tmp_path / "b")["fingerprint"] in prints
    assert (tmp_path / "a/card.json").read_bytes() == (tmp_path / "b/card.json").read_bytes()
    prints.add(small(tmp_path / "c", seed=1)["fingerprint"])
    changed = table()
    changed.loc[3, "label"] = 1
    prints.add(write(tmp_path / "d", recordings(), windows=changed, card=CARD)["fingerprint"])
    for field in ({"classes": ["wild", "calm"]}, {"domains": {"A": {"load": 9}, "B": {}}}):
        prints.add(write(tmp_path / "e", recordings(), windows=table(), card=CARD | field)["fingerprint"])
    assert len(prints) == 5


def replace_table(windows):
    return lambda folder: windows.to_parquet(folder / "windows.parquet")


def other_signals(folder):
    np.save(folder / "signals.npy", np.zeros((9, 2), np.float32))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: (folder / "windows.parquet").unlink(), "windows.parquet missing"),
        (lambda folder: os.truncate(folder / "signals.npy", 500), "signals.npy: unreadable"),
        (lambda folder: os.truncate(folder / "signals.npy", 0), "signals.npy: unreadable"),
        (lambda folder: os.truncate(folder / "windows.parquet", 100), "windows.parquet: unreadable"),
        (lambda folder: (folder / "card.json").write_text("{"), "card.json: unreadable"),
        (lambda folder: (folder / "card.json").write_text("[" * 100_000), "card.json: unreadable"),
        (lambda folder: (folder / "card.json").write_text("{}"), "card.json: field `name`"),
        (other_signals, "signals.npy: float32 (9, 2)"),
        (replace_table(table().assign(label=7)), "labels outside 0 to 1"),
        (replace_table(table().assign(start=133)), "windows outside the 140"),
        (replace_table(table().assign(length=9)), "window lengths differ"),
        (replace_table(table().assign(domain="Z")), "domain Z"),
        (replace_table(table()[1:]), "not as many as the card counts"),
    ],
)
def test_a_damaged_data_set_is_refused_with_a_remedy(tmp_path, damage, words):
    small(tmp_path / "set")
    damage(tmp_path / "set")
    with pytest.raises(InputError) as caught:
        WindowedDataset.load(tmp_path / "set")
    assert words in str(caught.value)
    assert "tsdg prepare" in str(caught.value)


@pytest.mark.parametrize("stop", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("moment", ["signals", "windows"])
def test_a_failed_preparation_keeps_the_old_data_set(tmp_path, monkeypatch, stop, moment):
    before = small(tmp_path / "set")

    def fail(*args, **options):
        raise stop

    def some():
        yield recordings(1)[0]
        fail()

    if moment == "windows":
        monkeypatch.setattr(pd.DataFrame, "to_parquet", fail)
    with pytest.raises((InputError, KeyboardInterrupt)) as caught:
        write(tmp_path / "set", some() if moment == "signals" else recordings(1), windows=table(), card=CARD)
    if isinstance(stop, OSError):
        assert "No space left on device" in str(caught.value)
        assert str(tmp_path / "set") in str(caught.value)
    assert WindowedDataset.load(tmp_path / "set").fingerprint == before["fingerprint"]
    assert os.listdir(tmp_path) == ["set"]


def test_a_data_set_that_cannot_take_its_place_leaves_the_old_one_there(tmp_path, monkeypatch):
    before = small(tmp_path / "set")
    rename = Path.rename

    def fail(self, target):
        if ".partial" in self.name:
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(InputError, match="Input/output error"):
        small(tmp_path / "set", seed=1)
    assert WindowedDataset.load(tmp_path / "set").fingerprint == before["fingerprint"]
    assert os.listdir(tmp_path) == ["set"]


def test_leftovers_of_a_killed_preparation_go_and_a_set_aside_data_set_returns(tmp_path):
    small(tmp_path / "set")
    (tmp_path / ".set.partial-1").mkdir()
    (tmp_path / "set").rename(tmp_path / ".set.old")
    with pytest.raises(InputError, match="a recording is float64"):
        write(tmp_path / "set", [np.zeros((9, 2))], windows=table(), card=CARD)
    assert os.listdir(tmp_path) == ["set"]
    WindowedDataset.load(tmp_path / "set")


def test_only_a_data_set_is_replaced(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match=r"thesis\.tex"):
        small(tmp_path)
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_windows_must_fit_the_signals(tmp_path):
    with pytest.raises(InputError, match="windows outside the 120 time steps"):
        write(tmp_path / "set", recordings()[:3], windows=table(), card=CARD)
    assert os.listdir(tmp_path) == []


def test_training_can_open_a_data_set_without_the_preparation_tools():
    code = "import sys, tsdg.data.windows; print(sorted({'scipy', 'pooch', 'sklearn'} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
