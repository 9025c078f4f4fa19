"""Bearings: the traps of the official files, on simulated recordings and, where at hand, the real ones."""

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.signal

from tsdg.data.bearings.options import PRESETS
from tsdg.data.bearings.prepare import PAPER_COUNTS, prepare
from tsdg.data.bearings.raw import decimate, read_recording
from tsdg.data.bearings.recordings import CLASSES, RECORDINGS, choose, read_table
from tsdg.data.bearings.simulate import simulate
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError

REAL = Path(os.environ.get("TSDG_REAL_DATA", Path(__file__).parents[3] / "../shared/data")) / "bearings"
real = pytest.mark.skipif(
    not REAL.is_dir(), reason="the real recordings are not at hand (set TSDG_REAL_DATA to their folder)"
)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulated")
    simulate(folder, seconds=1, location="both")
    return folder


@pytest.fixture
def raw(tmp_path, simulated):
    """A folder of links to the simulated recordings, to be spoilt at will."""
    return link(tmp_path / "raw", simulated.glob("*.mat"))


def link(folder, files):
    folder.mkdir()
    for file in files:
        (folder / file.name).symlink_to(file.resolve())
    return folder


def change(path, **changes):
    """Replace a link by a file with other variables (None: without)."""
    variables = {name: value for name, value in scipy.io.loadmat(path).items() if name[0] != "_"} | changes
    path.unlink()
    scipy.io.savemat(path, {name: value for name, value in variables.items() if value is not None})


def signal(raw, number, sensor):
    return scipy.io.loadmat(raw / f"{number}.mat")[f"X{number:03d}_{sensor}_time"].ravel()


def own_table(folder, edit):
    table = pd.read_csv(RECORDINGS, dtype=str, keep_default_na=False)
    edit(table)
    table.to_csv(folder / "own.csv", index=False)
    return folder / "own.csv"


def test_the_sensor_reading_gives_every_domain_the_same_recordings(raw, tmp_path):
    steps = []
    card = prepare(raw, tmp_path / "out", progress=lambda done, total: steps.append((done, total)))
    data = WindowedDataset.load(tmp_path / "out")
    assert steps == [(step, 120) for step in range(1, 121)]
    assert data.classes == list(CLASSES) == list(PAPER_COUNTS)
    assert [tuple(place.values()) for place in card["domains"].values()] == [
        (end, load) for end in ("drive end", "fan end") for load in range(4)
    ]
    full = (12_000 - 4096) // 290 + 1
    for domain in "ABCDEFGH":
        counts = dict.fromkeys(CLASSES, full) | ({"normal": 7} if domain in "AE" else {})
        assert card["counts"][domain] == counts
    windows = data.windows[(data.windows.domain == "F") & (data.windows.label == CLASSES.index("OF 0.021"))]
    assert set(windows.recording) == {"X235_FE_time"}
    start = windows.start.iloc[3]
    np.testing.assert_array_equal(
        data.signals[start : start + 4096, 0], signal(raw, 235, "FE")[870 : 870 + 4096].astype(np.float32)
    )
    start = data.windows.start[(data.windows.domain == "D") & (data.windows.label == 0)].iloc[0]
    normal = scipy.signal.resample_poly(signal(raw, 100, "DE"), 1, 4, window=("kaiser", 5.0))
    np.testing.assert_array_equal(data.signals[start : start + 12_000, 0], normal.astype(np.float32))
    assert card["simulated"] is True
    assert card["expected_counts"]["H"] == PAPER_COUNTS
    assert len(card["sources"]) == 41
    assert any("share their physical bearings" in note for note in card["notes"])
    assert str(tmp_path) not in (tmp_path / "out/card.json").read_text()


def test_the_same_input_gives_the_same_bytes(raw, tmp_path):
    for name in "ab":
        prepare(raw, tmp_path / name, per_class=5, seed=2)
    for file in ("card.json", "signals.npy"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    drawn = WindowedDataset.load(tmp_path / "a")
    assert set(drawn.windows.groupby(["domain", "label"]).size()) == {5}
    assert not drawn.windows.duplicated("start").any()
    other = prepare(raw, tmp_path / "c", per_class=5, seed=3)
    assert other["fingerprint"] != drawn.fingerprint


def test_the_fault_reading_takes_each_end_by_its_own_sensor_and_the_preferred_clock():
    table = read_table()
    views = choose(table, location="fault")
    ends = {(view.sensor, table.location[view.number]) for view in views if view.label > 0}
    assert ends == {("DE", "drive end"), ("FE", "fan end")}

    def outer(clock):
        views = [view for view in choose(table, location="fault", clock=clock) if view.label in (3, 6, 9)]
        return [[view.number for view in views if view.domain == domain] for domain in "EFGH"]

    assert outer("prefer6") == [[294, 313, 315], [295, 309, 316], [296, 311, 317], [297, 312, 318]]
    assert outer("prefer3") == [[298, 310, 315], [299, 309, 316], [300, 311, 317], [301, 312, 318]]
    assert {table.load[view.number] for view in views if view.domain in "BF"} == {1}


def test_a_domain_may_be_the_bearings_of_a_size_at_an_end(raw, tmp_path):
    card = prepare(raw, tmp_path / "out", location="fault", domains="bearing")
    assert card["classes"] == ["inner race", "ball", "outer race"]
    assert list(card["domains"].values()) == [
        {"location": end, "size": size} for end in ("drive end", "fan end") for size in (0.007, 0.014, 0.021)
    ]
    windows = WindowedDataset.load(tmp_path / "out").windows
    here = windows[windows.domain == "F"]
    recordings = {label: set(part.recording) for label, part in here.groupby("label")}
    assert recordings == {
        0: {f"X{n}_FE_time" for n in (270, 271, 272, 273)},
        1: {f"X{n}_FE_time" for n in (290, 291, 292, 293)},
        2: {f"X{n}_FE_time" for n in (315, 316, 317, 318)},
    }
    assert windows.groupby("recording")[["domain", "label"]].nunique().eq(1).all(axis=None)
    assert any(note.startswith("No healthy class") for note in card["notes"])
    assert not any("share their physical bearings" in note for note in card["notes"])
    drawn = prepare(raw, tmp_path / "out", location="fault", domains="bearing", per_class=40)
    assert all(count == 40 for counts in drawn["counts"].values() for count in counts.values())
    assert WindowedDataset.load(tmp_path / "out").windows.recording.nunique() == 72
    with pytest.raises(InputError, match="domains: bearing is for location: fault"):
        prepare(raw, tmp_path / "out", domains="bearing")
    with pytest.raises(InputError, match="per_class: paper is for domains: place"):
        prepare(raw, tmp_path / "out", location="fault", domains="bearing", per_class="paper")


def test_bearings_of_another_size_are_a_domain_where_there_are_some(raw, tmp_path):
    def add(table):
        for _, row in table[table.number.isin(["105", "106", "107", "108"])].iterrows():
            table.loc[len(table)] = {**row, "number": str(int(row.number) + 2896), "size": "0.028"}

    for number in range(105, 109):
        variables = scipy.io.loadmat(raw / f"{number}.mat").items()
        renamed = {
            name.replace(f"X{number}", f"X{number + 2896}"): v for name, v in variables if name[0] == "X"
        }
        scipy.io.savemat(raw / f"{number + 2896}.mat", renamed)
    table = own_table(tmp_path, add)
    card = prepare(raw, tmp_path / "out", location="fault", domains="bearing", recordings=table)
    assert card["domains"]["G"] == {"location": "drive end", "size": 0.028}
    assert card["counts"]["G"] == {"inner race": 4 * 28, "ball": 0, "outer race": 0}
    assert "No recordings of ball, 0.028 inches, drive end: domain G is without this class." in card["notes"]
    by_place = prepare(raw, tmp_path / "out", location="fault", recordings=table)
    assert by_place["fingerprint"] == prepare(raw, tmp_path / "out", location="fault")["fingerprint"]


def test_published_takes_normal_recordings_as_they_are(raw, tmp_path):
    options = PRESETS["published"] | {"samples": 9000, "per_class": 12}
    card = prepare(raw, tmp_path / "out", **options)
    assert card["samples"] == 80 * 9000
    assert card["counts"]["A"] == dict.fromkeys(CLASSES, 12)
    data = WindowedDataset.load(tmp_path / "out")
    start = data.windows.start[data.windows.domain == "D"].iloc[0] // 9000 * 9000
    np.testing.assert_array_equal(
        data.signals[start : start + 9000, 0], signal(raw, 100, "DE")[:9000].astype(np.float32)
    )
    told = "Normal but used at 48 kHz, so bandwidth alone tells: recordings 97, 98, 99, 100."
    assert told in card["notes"]


def test_variables_are_picked_by_the_files_number(raw, tmp_path):
    whole = prepare(raw, tmp_path / "out")["fingerprint"]
    others = {f"X098_{sensor}_time": np.zeros((9, 1)) for sensor in ("DE", "FE")}
    change(raw / "99.mat", X099RPM=None, i=np.arange(10), **others)
    card = prepare(raw, tmp_path / "out")
    assert card["fingerprint"] == whole
    assert "No shaft speed in the file to check the load by: recordings 99." in card["notes"]
    with pytest.raises(InputError, match=r"98\.mat: no variable X099_DE_time; it has X098_DE_time, X098_FE"):
        read_recording(raw / "98.mat", 99, "DE")


def test_the_shaft_speed_gives_swapped_recordings_away(raw, tmp_path):
    allowed = prepare(raw, tmp_path / "out", location="fault")
    assert "Recording 279 is allowed a shaft speed of 1732 rpm at load 1." in allowed["notes"]
    change(raw / "309.mat", X309RPM=1796)
    change(raw / "310.mat", X310RPM=1774)
    with pytest.raises(InputError) as caught:
        prepare(raw, tmp_path / "out", location="fault", clock="prefer3")
    assert "309.mat: X309RPM is 1796, but at load 1 the recordings table expects 1772" in str(caught.value)
    assert "310.mat: X310RPM is 1774, but at load 0 the recordings table expects 1797" in str(caught.value)

    def speed(table):
        table.loc[table.number == "309", "rpm"] = "1796"

    prepare(raw, tmp_path / "out", location="fault", recordings=own_table(tmp_path, speed))


def test_one_error_names_all_bad_files_and_keeps_the_old_data_set(raw, tmp_path):
    before = prepare(raw, tmp_path / "out")["fingerprint"]
    (raw / "105.mat").unlink()
    for number, size in ((106, 50_000), (107, 140), (108, 0)):
        content = (raw / f"{number}.mat").read_bytes()[:size]
        (raw / f"{number}.mat").unlink()
        (raw / f"{number}.mat").write_bytes(content)
    (raw / "118.mat").unlink()
    (raw / "118.mat").write_text("<html>Not found</html>")
    change(raw / "119.mat", X119_DE_time=None)
    change(raw / "120.mat", X120_FE_time=np.full((12_000, 1), np.nan))
    change(raw / "121.mat", X121_FE_time=np.ones((12_000, 1)))
    change(raw / "130.mat", X130_DE_time=np.arange(2000.0))
    change(raw / "131.mat", X131_DE_time=np.ones((100, 2)))
    change(raw / "98.mat", **{f"X098_{end}_time": decimate(signal(raw, 98, end)) for end in ("DE", "FE")})
    with pytest.raises(InputError) as caught:
        prepare(raw, tmp_path / "out", window=2048)
    lines = str(caught.value).splitlines()
    assert "11 recordings cannot be used" in lines[0]
    assert "tsdg fetch bearings" in lines[0]
    wanted = {
        105: "missing",
        106: "damaged or not a MATLAB file",
        107: "damaged or not a MATLAB file|no variable X107_DE_time; it has none",
        108: "damaged or not a MATLAB file",
        118: "damaged or not a MATLAB file",
        119: "no variable X119_DE_time; it has X119_FE_time, X119RPM",
        120: "X120_FE_time has values that are not finite",
        121: "X121_FE_time is constant or empty",
        130: "2000 samples, fewer than one window of 2048",
        131: "X131_DE_time is not one signal but float64",
        98: "lasts 0.2 s at the recordings table's sampling_rate 48000, fault recordings 1.0 s",
    }
    for line, (number, words) in zip(lines[1:], wanted.items(), strict=True):
        assert f"{raw}/{number}.mat: " in line
        assert re.search(words, line), line
    assert WindowedDataset.load(tmp_path / "out").fingerprint == before
    with pytest.raises(InputError, match="folder of the raw recordings is missing"):
        prepare(tmp_path / "nowhere", tmp_path / "out")


def test_fault_recordings_of_another_rate_are_named(raw, tmp_path):
    """The official site has recordings at 48 kHz of the same numbers' faults."""
    change(raw / "105.mat", **{f"X105_{end}_time": np.tile(signal(raw, 105, end), 4) for end in ("DE", "FE")})
    change(raw / "222.mat", **{f"X222_{end}_time": np.tile(signal(raw, 222, end), 2) for end in ("DE", "FE")})
    with pytest.raises(InputError) as caught:
        prepare(raw, tmp_path / "out")
    first, *rest = str(caught.value).splitlines()
    assert "2 recordings cannot be used" in first
    for line, number, seconds in zip(rest, (105, 222), ("4.0", "2.0"), strict=True):
        assert f"{number}.mat: lasts {seconds} s" in line
        assert "fault recordings 1.0 s; a recording at 48 kHz under a name of one at 12 kHz?" in line


def test_a_bad_recordings_table_is_refused_row_by_row(raw, tmp_path):
    def spoil(table):
        table.loc[0, "location"] = "drive end"
        table.loc[4, ["load", "sampling_rate"]] = ["4", "48000"]
        table.loc[5, "size"] = "0.029"
        table.loc[7, "number"] = "107"

    with pytest.raises(InputError) as caught:
        read_table(own_table(tmp_path, spoil))
    text = str(caught.value)
    for words in (
        "line 2: location is not",
        "line 6: load is not",
        "line 6: sampling_rate is not",
        "line 7: fault and size are none of",
        "line 8: number is not",
        "line 9: number is not",
    ):
        assert words in text
    assert len(text.splitlines()) == 7

    def spoil_all(table):
        table.loc[:2, "number"] = ["-5", "1e19", "7.5"]
        table.loc[3:4, "rpm"] = ["inf", "1e300"]
        table.loc[table.fault == "OF", "clock"] = "six"

    with pytest.raises(InputError) as caught:
        read_table(own_table(tmp_path, spoil_all))
    shown = str(caught.value).splitlines()[1:]
    assert [line.split(":")[0].strip() for line in shown[:5]] == [f"line {line}" for line in range(2, 7)]
    assert "fault is OF, but clock is not 1 to 12" in shown[5]
    assert (len(shown), shown[-1]) == (11, "  and 24 more")

    def drop(table):
        table.loc[table.number == "197", "load"] = "1"

    with pytest.raises(InputError, match=r"OF 0\.014, drive end, load 0: none\n  .*load 1: 197 and 198"):
        prepare(raw, tmp_path / "out", recordings=own_table(tmp_path, drop))
    with pytest.raises(InputError, match=r"gone\.csv: the recordings table is missing"):
        read_table(tmp_path / "gone.csv")
    (tmp_path / "empty.csv").write_text(RECORDINGS.read_text().partition("\n")[0])
    with pytest.raises(InputError, match=r"empty\.csv: the recordings table has no rows"):
        read_table(tmp_path / "empty.csv")


def test_lines_of_a_list_are_those_of_its_file(tmp_path):
    """Blank lines count, trailing commas change nothing; what parts cells otherwise is named."""
    own = tmp_path / "own.csv"
    header, *rows = RECORDINGS.read_text().splitlines()
    own.write_text("\n".join(["", header, "", " ", *(row + "," for row in rows)]))
    pd.testing.assert_frame_equal(read_table(own), read_table())
    own.write_text("\n".join([header, "", "", "", *rows[:12], rows[12].replace(",OF", ",XF"), *rows[13:]]))
    with pytest.raises(InputError, match=r"line 17: fault and size"):
        read_table(own)
    own.write_text("\n".join([header, *(row + ",more" for row in rows)]))
    with pytest.raises(InputError, match=r"line 2 \(81 in all\) has more cells than the header"):
        read_table(own)
    for mark, words in ((";", "semicolons"), ("\t", "tabs")):
        own.write_text(RECORDINGS.read_text().replace(",", mark))
        with pytest.raises(InputError, match=f"missing, or there twice; put commas in place of its {words}"):
            read_table(own)


@pytest.mark.parametrize(
    "option",
    [
        {"location": "sensors"},
        {"clock": "6"},
        {"per_class": "some"},
        {"per_class": 0},
        {"normal_rate": 48_000},
        {"samples": 0},
        {"stride": 0},
        {"seed": -1},
    ],
)
def test_an_unknown_option_is_named(raw, tmp_path, option):
    ((name, value),) = option.items()
    with pytest.raises(InputError, match=f"{name}: '?{value}'?"):
        prepare(raw, tmp_path / "out", **option)


@real
def test_decimation_gives_the_published_12_khz_recordings():
    for number in (97, 99):
        for sensor in ("DE", "FE"):
            fast = read_recording(REAL / f"normal_48k/{number}.mat", number, sensor)
            slow = read_recording(REAL / f"normal_12k/{number}.mat", number, sensor)
            np.testing.assert_allclose(decimate(fast), slow, rtol=0, atol=1e-12)


@pytest.mark.slow
@real
@pytest.mark.parametrize("location", ["sensor", "fault"])
def test_the_real_recordings(tmp_path, location):
    raw = link(tmp_path / "raw", [*REAL.glob("*.mat"), *REAL.glob("normal_12k/*.mat")])

    def decimated(table):
        table.loc[table.fault == "normal", "sampling_rate"] = "12000"

    card = prepare(raw, tmp_path / "out", location=location, recordings=own_table(tmp_path, decimated))
    expected = {
        "D": [405, 410, 406, 409, 406, 408, 407, 407, 408, 407],
        "E": [197, 405, 409, 407, 407, 407, 407, 408, 407, 409]
        if location == "sensor"
        else [197, 405, 404, 404, 405, 407, 404, 404, 405, 402],
    }
    for domain, counts in expected.items():
        assert list(card["counts"][domain].values()) == counts
    assert card["simulated"] is False
