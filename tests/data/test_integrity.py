"""Data that are no longer what was prepared are refused, and those that are cost one look at their files."""

import json
import os

import numpy as np
import pandas as pd
import pytest

import tsdg.data.integrity
from tiny_study import write_tiny
from tsdg.commands.main import main
from tsdg.data.integrity import fingerprint, load_checked
from tsdg.data.windows import write
from tsdg.errors import InputError


@pytest.fixture
def folder(tmp_path):
    return write_tiny(tmp_path / "tiny")


def signals(of):
    def change(folder):
        np.save(folder / "signals.npy", of(np.load(folder / "signals.npy")))

    return change


def windows(of):
    def change(folder):
        of(pd.read_parquet(folder / "windows.parquet")).to_parquet(folder / "windows.parquet")

    return change


def card(**changed):
    def change(folder):
        before = json.loads((folder / "card.json").read_text())
        (folder / "card.json").write_text(json.dumps(before | changed))

    return change


def swapped(table):
    """Labels swapped where a domain has as many windows of each: what the card counts still fits."""
    return table.assign(label=1 - table["label"])


DAMAGE = {
    "signals.npy": [signals(lambda x: x[::-1]), signals(lambda x: x + np.float32(1e-6) * (x > 2))],
    "windows.parquet": [
        windows(lambda table: table.assign(start=table["start"].to_numpy()[::-1])),
        windows(swapped),
        windows(lambda table: table.assign(recording="A0")),
        windows(lambda table: table.iloc[::-1]),
    ],
    "card.json": [
        card(classes=["fast", "slow"], counts=None),
        card(domains={name: {"site": "north", "load": 7} for name in "ABCD"}),
        card(window={"length": 12, "stride": 5}),
        card(fingerprint="0" * 64),
    ],
}


@pytest.mark.parametrize(
    ("file", "damage"), [(file, damage) for file, found in DAMAGE.items() for damage in found]
)
@pytest.mark.parametrize("seen", [False, True])
def test_what_was_changed_is_refused_by_name(folder, file, damage, seen):
    if seen:
        load_checked(folder)
    before = json.loads((folder / "card.json").read_text())
    damage(folder)
    after = json.loads((folder / "card.json").read_text())
    if after["counts"] is None:  # counts that fit
        (a, b) = after["classes"]
        after["counts"] = {name: {a: n[b], b: n[a]} for name, n in before["counts"].items()}
        (folder / "card.json").write_text(json.dumps(after))
    with pytest.raises(
        InputError, match=rf"tiny: .*{file}.* not what was prepared.*delete .*card.json"
    ) as found:
        load_checked(folder)
    others = {"signals.npy", "windows.parquet", "card.json"} - {file}
    assert seen is not any(other in str(found.value).split(" not what")[0] for other in others) or (
        after["fingerprint"] != before["fingerprint"]
    )
    with pytest.raises(InputError):
        load_checked(folder)


def test_a_second_time_nothing_is_read(folder, monkeypatch):
    looks = []
    real = fingerprint
    monkeypatch.setattr(tsdg.data.integrity, "fingerprint", lambda data: looks.append(1) or real(data))
    for _ in range(3):
        load_checked(folder)
    assert len(looks) == 1
    times = (folder / "signals.npy").stat()
    signals(lambda x: -x)(folder)
    os.utime(folder / "signals.npy", ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(InputError, match=r"signals.npy is not what was prepared"):
        load_checked(folder)
    (folder.parent / ".tiny.checked").write_text("[")
    with pytest.raises(InputError, match="not what was prepared"):
        load_checked(folder)


def test_the_fingerprint_is_the_one_that_was_written(tmp_path):
    """Of more than a block, with metadata that JSON changes."""
    rows = [(0, 5, 1, "é", "r"), (300_000, 5, 0, "B", "")]
    table = pd.DataFrame(rows, columns=["start", "length", "label", "domain", "recording"])
    about = {
        "name": "x", "classes": ["ü", "b"], "channels": ["x"], "window": {"length": 5, "stride": 5},
        "domains": {"é": {"load": 0.1, 3: None}, "B": {"load": 1e300}},
    }  # fmt: skip
    write(tmp_path / "x", iter([np.arange(400_000, dtype=np.float32)[:, None]]), windows=table, card=about)
    load_checked(tmp_path / "x")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"simulated": "yes"}, "simulated is 'yes', neither true nor false"),
        ({"sampling_rate": -5}, "sampling_rate is -5, no number of Hz above 0"),
        ({"sampling_rate": "50"}, "sampling_rate is '50'"),
        ({"channels": ["x", "x"]}, "channels are not texts that differ"),
        ({"stretches": "0"}, "stretches"),
        ({"options": []}, "options are no table"),
    ],
)
def test_a_card_that_no_training_can_use_is_refused(folder, changed, words):
    card(**changed)(folder)
    with pytest.raises(InputError, match=rf"card.json: {words}.*delete"):
        load_checked(folder)


@pytest.mark.parametrize(
    "changed",
    [
        {"channels": ["y", "x"]},
        {"sampling_rate": 100},
        {"simulated": True},
        {"kind": "bearings"},
        {"name": "other"},
        {"stretches": [3]},
        {"options": {"time": "t"}},
        {"resample": "x"},
        {"order": {"column": "x"}},
    ],
)
def test_no_field_of_a_card_can_be_edited(folder, changed):
    """Nor one that the fingerprint of the data does not cover; a card of before the checksum has none."""
    before = load_checked(folder).card
    assert all(before.get(name) != value for name, value in changed.items())
    (folder / "card.json").write_text(json.dumps(dict(reversed(before.items()))))
    assert load_checked(folder).card == before
    card(**changed)(folder)
    for _ in range(2):
        with pytest.raises(InputError, match=r"card.json: is not what was prepared.*undo.*delete"):
            load_checked(folder)
    old = {name: value for name, value in (before | changed).items() if name != "checksum"}
    (folder / "card.json").write_text(json.dumps(old))
    assert load_checked(folder).card == old


def test_one_class_is_refused_before_the_training(tmp_path):
    table = pd.DataFrame({"start": [0, 5], "length": 5, "label": 0, "domain": ["A", "B"], "recording": "r"})
    about = {
        "name": "x", "classes": ["a"], "channels": ["x"], "window": {"length": 5, "stride": 5},
        "domains": {"A": {}, "B": {}},
    }  # fmt: skip
    write(tmp_path / "x", iter([np.zeros((10, 1), np.float32)]), windows=table, card=about)
    with pytest.raises(InputError, match="one class only, a; two or more"):
        load_checked(tmp_path / "x")


@pytest.mark.parametrize(
    "command",
    [
        ("train", "--data", "tiny", "--variant", "erm", "--target", "A"),
        ("export", "--data", "tiny", "--variant", "erm"),
        ("check", "tiny"),
    ],
)
def test_commands_refuse_what_was_changed(project, folder, command, capsys):
    windows(swapped)(folder)
    assert main(command) == 2
    out, err = capsys.readouterr()
    assert "are not what was prepared" in err
    assert not out
