"""HAPT: bouts, people and damaged files, by hand, simulated and, where at hand, real ones."""

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tsdg.data.hapt.prepare import prepare
from tsdg.data.hapt.raw import EXPERIMENTS, LABELS, ZIP, raw_names, signal_names
from tsdg.data.hapt.simulate import simulate
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError

REAL = (
    Path(os.environ.get("TSDG_REAL_DATA", Path(__file__).parents[3] / "../shared/data")) / "hapt/hapt_raw.npz"
)
BOUTS = ["1 1 5 250 504", "1 1 7 505 632", "1 1 4 633 759", "3 2 1 0 127"]  # 255, 128, 127 and 128 samples


def unpacked(folder, bouts=BOUTS, lengths=((1, 1, 760), (3, 2, 128))):
    """The files of RawData, a sample's values telling its recording and place."""
    folder.mkdir()
    (folder / LABELS).write_text("\n".join(bouts) + "\n")
    for experiment, user, length in lengths:
        for shift, name in enumerate(signal_names(experiment, user)):
            place = np.arange(length)[:, None] + 10_000 * experiment + np.array([0, 0.25, 0.5]) + shift / 8
            np.savetxt(folder / name, place)
    return folder


def packed(folder, files):
    with zipfile.ZipFile(folder / ZIP, "w") as archive:
        for path in files.iterdir():
            archive.write(path, f"HAPT Data Set/RawData/{path.name}")
        archive.writestr(f"__MACOSX/{LABELS}", "x")
    return folder


@pytest.mark.parametrize("zipped", [False, True])
def test_windows_are_within_a_bout_of_first_to_last_sample(tmp_path, zipped):
    raw = unpacked(tmp_path / "raw")
    if zipped:
        (tmp_path / "zip").mkdir()
        raw = packed(tmp_path / "zip", raw)
    card = prepare(raw, tmp_path / "out")
    data = WindowedDataset.load(tmp_path / "out")
    first = data.signals[data.windows.start, 0].tolist()
    assert first == [10_250, 10_314, 30_000]  # the third of 255 samples would take one more
    assert data.signals[data.windows.start[0]].tolist() == [
        10_250, 10_250.25, 10_250.5, 10_250.125, 10_250.375, 10_250.625,
    ]  # fmt: skip
    assert [data.classes[label] for label in data.windows.label] == ["standing", "standing", "walking"]
    assert data.windows.domain.tolist() == ["P1", "P1", "P2"]
    assert set(data.windows.recording) == {"exp01 user01", "exp03 user02"}
    assert [card["domains"][f"P{user}"]["group"] for user in (1, 3, 4, 30)] == [1, 1, 2, 10]
    assert "1 bouts are shorter than a window of 128, and in none." in card["notes"]
    assert [source["file"] for source in card["sources"]] == (
        [ZIP] if zipped else [LABELS, *signal_names(1, 1), *signal_names(3, 2)]
    )
    assert card["simulated"] is False
    [unlabelled] = [note for note in card["notes"] if note.startswith("No bout in labels.txt, so not read")]
    assert "experiments 2 (user 1), 4 (user 2), 5 (user 3), " in unlabelled


@pytest.mark.parametrize(("transitions", "classes", "label"), [("one", 7, 6), ("each", 12, 6)])
def test_transitions_are_one_class_or_six(tmp_path, transitions, classes, label):
    card = prepare(unpacked(tmp_path / "raw"), tmp_path / "out", transitions=transitions)
    data = WindowedDataset.load(tmp_path / "out")
    assert len(card["classes"]) == classes
    assert card["classes"][label] == {"one": "transition", "each": "stand to sit"}[transitions]
    assert data.windows.label.tolist() == [4, 4, label, 0]


def test_what_is_missing_or_wrong_is_named(tmp_path):
    def refused(message, **options):
        raw = unpacked(tmp_path / f"raw{len(list(tmp_path.iterdir()))}", **options)
        with pytest.raises(InputError, match=message):
            prepare(raw, tmp_path / "out")

    refused("experiment 1 ends at sample 760, but acc_exp01_user01.txt has 760", bouts=["1 1 5 250 760"])
    refused(r"line 2 \(1 1 13 0 200\) is not experiment", bouts=["1 1 5 0 200", "1 1 13 0 200"])
    refused(r"line 1 \(1 1 5 200 100\) is not", bouts=["1 1 5 200 100"])
    overlaps = r"line 1 \(504 to 700\) overlaps another bout of experiment 1 \(user 1\), .* at sample 504"
    refused(overlaps, bouts=["1 1 5 504 700", "3 2 1 0 127", "1 1 4 0 504"])
    refused(r"line 3 \(450 to 460\) overlaps", bouts=["1 1 5 0 504", "1 2 4 0 504", "1 1 7 450 460"])
    refused("labels.txt: not 5 finite numbers", bouts=["1 1 5 200"])
    refused("labels.txt: unreadable as numbers", bouts=["<html> 1 5 200 300"])
    refused("user 31 is none of 1 to 30", bouts=["1 31 5 0 200"])
    refused("acc_exp02_user01.txt: No such file", bouts=["2 1 5 0 200"])
    refused("not one window of 128", bouts=["1 1 5 0 100"])
    raw = unpacked(tmp_path / "turning")
    np.savetxt(raw / "gyro_exp01_user01.txt", np.ones((5, 3)))
    with pytest.raises(InputError, match=r"acc_exp01_user01\.txt has 760 samples, gyro_exp01_user01\.txt 5"):
        prepare(raw, tmp_path / "out")
    with pytest.raises(InputError, match=r"holds neither labels\.txt nor .*tsdg fetch hapt"):
        prepare(tmp_path, tmp_path / "out")
    (tmp_path / ZIP).write_bytes(b"<html>")
    with pytest.raises(InputError, match="no zip archive"):
        prepare(tmp_path, tmp_path / "out")
    packed(tmp_path, unpacked(tmp_path / "few", lengths=((1, 1, 760),)))
    with pytest.raises(InputError, match=r"holds no RawData/acc_exp03_user02\.txt"):
        prepare(tmp_path, tmp_path / "out")
    content = bytearray((tmp_path / ZIP).read_bytes())
    content[200:230] = bytes(30)
    (tmp_path / ZIP).write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        prepare(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_raw_files_are_the_archive_or_those_of_all_recordings(tmp_path):
    entry = {"raw": str(tmp_path), "source": "official"}
    assert raw_names(entry) == [ZIP]
    (tmp_path / LABELS).touch()
    names = raw_names(entry)
    assert len(names) == 1 + 2 * 61
    assert {"acc_exp21_user10.txt", "gyro_exp22_user11.txt", "acc_exp61_user30.txt"} <= set(names)
    assert raw_names(entry | {"source": "simulated"}) == [ZIP]


def test_the_simulated_archive_has_everything(tmp_path):
    simulate(tmp_path, seconds=5)
    content = (tmp_path / ZIP).read_bytes()
    card = prepare(tmp_path, tmp_path / "out", transitions="each")
    assert card["simulated"] is True
    assert not any("No bout" in note for note in card["notes"])
    assert all(count > 0 for counts in card["counts"].values() for count in counts.values())
    assert WindowedDataset.load(tmp_path / "out").windows.recording.nunique() == 61
    simulate(tmp_path, seconds=5)
    assert (tmp_path / ZIP).read_bytes() == content
    (tmp_path / ZIP).write_bytes(b"real")
    with pytest.raises(InputError, match="not simulated, which would be lost"):
        simulate(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_file(), reason="HAPT is not at hand (set TSDG_REAL_DATA to its folder)")
def test_the_real_recordings(tmp_path):
    with np.load(REAL) as arrays:
        signal, label, user, recording = (arrays[name] for name in ("signal", "label", "user", "recording"))
    (tmp_path / "files").mkdir()
    rows = []
    recordings = np.split(np.arange(len(label)), np.flatnonzero(np.diff(recording)) + 1)
    assert [user[part[0]] for part in recordings] == list(EXPERIMENTS.values())
    for number, part in enumerate(recordings, start=1):
        for name, axes in zip(signal_names(number, user[part[0]]), (slice(3), slice(3, 6)), strict=True):
            text = io.StringIO()
            np.savetxt(text, signal[part, axes], "%.9e")
            (tmp_path / "files" / name).write_text(text.getvalue())
        edges = np.flatnonzero(np.diff(label[part], prepend=-2))
        ends = [*edges[1:], len(part)]
        for first, end in zip(edges, ends, strict=True):
            if label[part[first]] > 0:
                rows.append(f"{number} {user[part[0]]} {label[part[first]]} {first} {end - 1}\n")
    (tmp_path / "files" / LABELS).write_text("".join(rows))
    assert rows[0] == "1 1 5 250 1232\n"  # as the official file has it
    card = prepare(tmp_path / "files", tmp_path / "out")
    data = WindowedDataset.load(tmp_path / "out")
    np.testing.assert_array_equal(data.signals, signal)
    assert len(data.windows) == 10_411
    for start, length, wanted, domain in data.windows[["start", "length", "label", "domain"]].itertuples(
        index=False
    ):
        assert (label[start : start + length] == wanted + 1).all()
        assert domain == f"P{user[start]}"
    assert min(count for counts in card["counts"].values() for count in counts.values()) == 36
