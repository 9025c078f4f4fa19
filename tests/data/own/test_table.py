"""A user's own recordings: the same windows from every form of them, and one clear message for each fault."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from tiny_study import LINE
from tsdg.data.describe import leakage
from tsdg.data.own.check import check_table, proposal, propose_domains
from tsdg.data.own.prepare import prepare
from tsdg.data.own.raw import SIMULATED, open_source
from tsdg.data.own.sampling import plain_rate
from tsdg.data.own.simulate import CHANNELS, simulate
from tsdg.data.own.study_file import BASELINES
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.runs.job import train_job
from tsdg.runs.record import read
from tsdg.study.study import Study

PROJECT = Path(__file__).parents[3]
HAPT = Path(os.environ.get("TSDG_REAL_DATA", PROJECT / "../shared/data")) / "hapt" / "hapt_raw.npz"
DOMAINS = {name: {"user": number} for number, name in enumerate("ABC", start=1)}


def recording(number, user, labels, *, value=0.0, rate=10.0):
    """A recording whose x counts its time steps from `value`."""
    steps = np.arange(len(labels))
    return pd.DataFrame(
        {
            "recording": number,
            "user": user,
            "time": steps / rate,
            "x": value + steps,
            "y": -1.0,
            "label": labels,
        }
    )


def people(count=3, length=40):
    """A recording of each of some people, one half of it sit, the other walk."""
    labels = ["sit"] * (length // 2) + ["walk"] * (length // 2)
    return pd.concat(
        [recording(n, n, labels, value=1000 * n) for n in range(1, count + 1)], ignore_index=True
    )


def prepared(folder, table, **options):
    """The data set of a table written as csv, its windows with their first x, and the card."""
    folder.mkdir(exist_ok=True, parents=True)
    table.to_csv(folder / "data.csv", index=False)
    options = {"domains": DOMAINS, "window": 10, "channels": ["x", "y"]} | options
    card = prepare(folder / "data.csv", folder / "out", **options)
    data = WindowedDataset.load(folder / "out")
    return data, data.windows.assign(first=data.signals[data.windows["start"], 0]), card


def test_windows_keep_to_recording_and_label(tmp_path):
    one = recording("r1", 1, ["sit"] * 25 + ["walk"] * 10 + [""] * 3 + ["walk"] * 10)
    two = recording("r2", 1, ["walk"] * 10, value=500)
    data, windows, card = prepared(tmp_path, pd.concat([one, two, people().query("user > 1")]))
    here = windows[windows["domain"] == "A"]
    assert here["first"].tolist() == [0, 10, 25, 38, 500]
    assert here["label"].tolist() == [0, 0, 1, 1, 1]
    assert card["classes"] == ["sit", "walk"]
    assert card["counts"]["B"] == {"sit": 2, "walk": 2}
    for start, first in zip(windows["start"], windows["first"], strict=True):
        np.testing.assert_array_equal(data.signals[start : start + 10, 0], first + np.arange(10))
    assert any("3 of label (none)" in note for note in card["notes"])
    assert "`backbone: auto` is har for windows of 10 time steps." in card["notes"]


def test_csv_parquet_npz_and_folder_are_alike(tmp_path):
    table = people()
    _, _, card = prepared(tmp_path, table)
    table.to_parquet(tmp_path / "data.parquet")
    np.savez_compressed(
        tmp_path / "data.npz", signal=table[["x", "y"]].to_numpy(), columns=np.array(["x", "y"]),
        **{name: table[name].to_numpy(dtype=kind) for name, kind in
           {"recording": int, "user": float, "label": "U4"}.items()},
    )  # fmt: skip
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, part in table.groupby("recording"):
        part[["time", "y", "x", "label"]].to_csv(folder / f"{number}.csv", index=False)
    index = pd.DataFrame({"file": [f"{n}.csv" for n in (1, 2, 3)], "recording": [1, 2, 3], "user": [1, 2, 3]})
    index.to_csv(folder / "metadata.csv", index=False)
    for form in ("data.parquet", "data.npz", "folder"):
        options = {"domains": DOMAINS, "window": 10, "channels": ["x", "y"]}
        other = prepare(tmp_path / form, tmp_path / "other", **options)
        assert other["fingerprint"] == card["fingerprint"], form


def test_a_folders_label_may_be_of_the_whole_file(tmp_path):
    for n in range(1, 7):
        recording(n, n, [""] * 20)[["x", "y"]].to_csv(tmp_path / f"{n}.csv", index=False)
    index = {"file": [f"{n}.csv" for n in range(1, 7)], "user": [1, 2, 3] * 2, "label": ["a"] * 3 + ["b"] * 3}
    pd.DataFrame(index).to_csv(tmp_path / "metadata.csv", index=False)
    card = prepare(tmp_path, tmp_path.parent / "out", domains=DOMAINS, window=10)
    assert card["channels"] == ["x", "y"]
    assert card["counts"] == {name: {"a": 2, "b": 2} for name in "ABC"}


def test_a_recording_may_span_the_parts_that_are_read_at_once(tmp_path, monkeypatch):
    _, _, whole = prepared(tmp_path, people())
    monkeypatch.setattr("tsdg.data.own.tables._BYTES", 200)
    assert prepared(tmp_path, people())[2]["fingerprint"] == whole["fingerprint"]


def test_a_gap_in_time_ends_the_window(tmp_path):
    table = people()
    table.loc[(table["user"] == 1) & (table["time"] > 0.45), "time"] += 60
    _, windows, card = prepared(tmp_path, table, time="time")
    assert windows.query("domain == 'A'")["first"].tolist() == [1005, 1020, 1030]
    assert card["sampling_rate"] == pytest.approx(10)


@pytest.mark.parametrize("zone", ["", "Z"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_dates_are_times(tmp_path, zone, form):
    table = people()
    dates = pd.Timestamp("2026-01-31", tz="UTC" if zone else None) + pd.to_timedelta(table["time"], unit="s")
    table["time"] = dates.dt.strftime("%Y-%m-%d %H:%M:%S.%f" + zone) if form == "csv" else dates
    getattr(table, f"to_{form}")(tmp_path / f"data.{form}")
    card = prepare(tmp_path / f"data.{form}", tmp_path / "out", domains=DOMAINS, window=10, channels=["x"])
    assert card["sampling_rate"] == pytest.approx(10, rel=1e-4)


def test_short_stretches_are_padded_by_their_last_value(tmp_path):
    table = pd.concat([recording("s", 1, ["sit"] * 4), people()])
    assert len(prepared(tmp_path, table)[1]) == 12
    data, windows, _ = prepared(tmp_path, table, short="pad")
    (start,) = windows.loc[windows["recording"] == "A s", "start"]
    assert data.signals[start : start + 10, 0].tolist() == [0, 1, 2, *[3] * 7]


@pytest.mark.parametrize("irregular", [False, True])
def test_resampling_keeps_what_the_rate_can_hold(tmp_path, irregular):
    """A slow sine survives from 100 to 40 Hz, irregular times or not; a fast one is filtered out."""
    rng = np.random.default_rng(0)
    parts = []
    for user in (1, 2, 3):
        time = np.arange(600) / 100 + (rng.uniform(-0.004, 0.004, 600) if irregular else 0)
        labels = np.where(time < 3, "a", "b")
        x = np.sin(2 * np.pi * 2 * time) + (0 if irregular else np.sin(2 * np.pi * 45 * time))
        parts.append(pd.DataFrame({"recording": user, "user": user, "time": time, "x": x, "label": labels}))
    data, windows, card = prepared(
        tmp_path, pd.concat(parts), time="time", resample=40, window=40, channels=["x"]
    )
    assert card["sampling_rate"] == 40
    assert card["counts"]["A"] == {"a": 3, "b": pytest.approx(3, abs=1)}
    first = windows.query("domain == 'A' and label == 0")["start"].iloc[1]  # away from the edges
    wave = data.signals[first : first + 40, 0]
    exact = np.sin(2 * np.pi * 2 * (1 + np.arange(40) / 40 + (parts[0]["time"][0] if irregular else 0)))
    np.testing.assert_allclose(wave, exact, atol=0.06)


def test_classes_choose_order_and_name(tmp_path):
    table = people().replace({"label": {"sit": 2.0, "walk": 1.0}})
    table["label"] = table["label"].astype(float)
    assert prepared(tmp_path, table)[2]["classes"] == ["1", "2"]
    card = prepared(tmp_path, table, classes={2: "sit", "1": "walk"})[2]
    assert card["classes"] == ["sit", "walk"]
    assert prepared(tmp_path, table, classes=[2, 1])[2]["counts"]["A"] == {"2": 2, "1": 2}


def test_a_cap_draws_the_same_windows_again(tmp_path):
    once = prepared(tmp_path, people(length=200), cap=3)[1]
    assert (once.groupby(["domain", "label"]).size() == 3).all()
    pd.testing.assert_frame_equal(once, prepared(tmp_path, people(length=200), cap=3)[1])
    assert not once.equals(prepared(tmp_path, people(length=200), cap=3, seed=1)[1])


def test_a_domain_may_be_a_combination_and_described_further(tmp_path):
    table = people(6).assign(site=["north", "süd"] * 120)
    table["site"] = np.where(table["user"] % 2, "north", "süd")
    table["user"] = (table["user"] + 1) // 2
    domains = {
        "A": {"user": 1, "site": "north", "floor": 2}, "B": {"user": 1, "site": "süd", "floor": 3},
        "C": {"user": 3, "site": "süd", "floor": 2},
    }  # fmt: skip
    _, windows, card = prepared(tmp_path, table, domains=domains, domain=["user", "site"])
    assert windows.groupby("domain")["first"].min().tolist() == [1000, 2000, 6000]
    assert card["domains"] == domains
    assert any("3 recordings are of no domain" in note for note in card["notes"])


def changed(column, row, value):
    """The people's table with one other cell."""
    table = people().astype({column: object})
    table.loc[row, column] = value
    return table


FAULTS = {
    "wrong separator": (lambda p: people().to_csv(p, sep=";"), {}, "separated by ';'? give --separator ';'"),
    "text in a channel": (
        lambda p: changed("x", 7, "high").to_csv(p),
        {},
        "channel 'x' holds the text 'high' in row 8",
    ),
    "decimal commas": (
        lambda p: people().astype({"x": float}).to_csv(p, sep=";", decimal=","),
        {"separator": ";"},
        "decimals with a point",
    ),
    "one domain": (lambda p: people(1).to_csv(p), {}, "domain B: no row has user '2'; there are 1"),
    "empty recording": (lambda p: Path(p).write_text("recording,user,x,y,label\n"), {}, "no rows"),
    "empty file": (lambda p: Path(p).write_text(""), {}, "is empty"),
    "infinite value": (lambda p: changed("x", 7, "inf").to_csv(p), {}, "recording 1: x is infinite in row 8"),
    "same name twice": (
        lambda p: pd.concat([people(), recording(1, 1, ["sit"] * 20)]).to_csv(p),
        {},
        "recording 1 goes on in row 121",
    ),
    "recording without name": (
        lambda p: changed("recording", 0, None).to_csv(p),
        {},
        "recording is empty in row 1",
    ),
    "domain changes within": (
        lambda p: changed("user", 7, 2).to_csv(p),
        {},
        "recording 1 goes on in row 9 after another one: two",
    ),
    "time runs backwards": (
        lambda p: changed("time", 7, 0.1).to_csv(p),
        {"time": "time"},
        "time does not increase from row 7",
    ),
    "time of day": (
        lambda p: changed("time", 7, "12:01:02").to_csv(p),
        {},
        "time: column 'time' holds the text",
    ),
    "missing column": (
        lambda p: people().drop(columns="label").to_csv(p),
        {},
        "label: there is no column 'label'",
    ),
    "misspelt column": (
        lambda p: people().to_csv(p),
        {"channels": ["x", "yy"]},
        "no column 'yy', did you mean 'y'?",
    ),
    "column given twice": (
        lambda p: Path(p).write_text("x,x,label\n1,2,a\n"),
        {},
        "two columns are called 'x'",
    ),
    "no header": (
        lambda p: people()[["x", "y"]].to_csv(p, header=False, index=False),
        {},
        "column names belong there",
    ),
    "ragged row": (lambda p: Path(p).write_text("user,x,y,label\n1,2,3,a\n1,2\n"), {}, "Expected 4 columns"),
    "not UTF-8": (
        lambda p: Path(p).write_bytes(people().replace("sit", "süß").to_csv().encode("latin-1")),
        {},
        "save the file as UTF-8",
    ),
    "parquet called csv": (
        lambda p: people().to_parquet(p),
        {},
        "holds a parquet file, not what its name says",
    ),
    "domain not present": (
        lambda p: people().to_csv(p),
        {"domains": DOMAINS | {"D": {"user": 9}}},
        "domain D: no row has user '9'; there are 1, 2, 3",
    ),
    "domain of another field": (
        lambda p: people().to_csv(p),
        {"domains": DOMAINS | {"C": {"usr": 3}}},
        "name it with --domain, the columns that tell domains apart",
    ),
    "two domains alike": (
        lambda p: people().to_csv(p),
        {"domains": DOMAINS | {"D": {"user": 1.0}}},
        "A and D are the same",
    ),
    "window too long": (
        lambda p: people().to_csv(p),
        {"window": 50},
        "longest stretch of one class is 20 time steps, a window 50",
    ),
    "one class": (lambda p: people().replace("walk", "sit").to_csv(p), {}, "one class only, sit"),
    "class not present": (
        lambda p: people().to_csv(p),
        {"classes": ["sit", "wlk"]},
        "label 'wlk', did you mean 'walk'?",
    ),
    "channel is the label": (
        lambda p: people().to_csv(p),
        {"channels": ["x", "user"]},
        "'user' cannot be a channel",
    ),
    "rates differ": (
        lambda p: pd.concat([people(2), recording(3, 3, ["sit", "walk"] * 20, rate=20)]).to_csv(p),
        {"time": "time"},
        "bring all to one rate with `resample`",
    ),
    "resample without rate": (
        lambda p: people().drop(columns="time").to_csv(p),
        {"resample": 5},
        "give `sampling_rate`",
    ),
    "resample with missing values": (
        lambda p: changed("x", 7, None).to_csv(p),
        {"resample": 5, "sampling_rate": 10},
        "missing values, which cannot",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_clear_message(tmp_path, fault):
    make, options, words = FAULTS[fault]
    path = tmp_path / "data.csv"
    make(path)
    options = {"domains": DOMAINS, "window": 10, "channels": ["x", "y"]} | options
    with pytest.raises(InputError) as error:
        prepare(path, tmp_path / "out", **options)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [("nowhere.csv", "no such file"), ("data.xlsx", ".xlsx is not known; use .csv, .parquet, .npz")],
)
def test_a_file_of_another_kind_is_refused(tmp_path, name, words):
    (tmp_path / "data.xlsx").write_bytes(b"PK\3\4")
    with pytest.raises(InputError, match=words):
        open_source(tmp_path / name)


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (None, "holds no metadata.csv"),
        ("name,user\n1.csv,1\n", "no column 'file'"),
        ("file,user\n1.csv,1\n1.csv,2\n", "names 1.csv twice"),
        ("file,user\n1.csv,1\n2.csv,2\n", "names 2.csv, which is not in"),
        ("file,user\n1.csv,1\n../2.csv,2\n", "names '../2.csv', which is not a file within"),
        ("file,user\n/etc/passwd,1\n", "names '/etc/passwd', which is not a file within"),
        ("file,user,x\n1.csv,1,5\n", "x is a column of 1.csv too"),
        ("file,user,user\n1.csv,1,2\n", "two columns are called 'user'"),
        ("file,user\n1.csv,1,\n", "line 2 has 3 cells, the header 2"),
        ("user,file\n9,1,1.csv\n", "line 2 has 3 cells, the header 2"),
        ("file,user\n\n1.csv\n", "line 3 has 1 cells, the header 2"),
    ],
)
def test_a_faulty_folder_is_refused(tmp_path, index, words):
    people(1)[["x", "y", "label"]].to_csv(tmp_path / "1.csv", index=False)
    if index:
        (tmp_path / "metadata.csv").write_text(index)
    with pytest.raises(InputError) as error:
        prepare(tmp_path, tmp_path.parent / "out", domains=DOMAINS, window=10)
    assert words in str(error.value)


def test_an_empty_value_is_no_domain(tmp_path):
    table = people(4).astype({"user": str})
    table.assign(user=table["user"].replace("4", "")).to_csv(tmp_path / "t.csv", index=False)
    lines, entry = check_table(tmp_path / "t.csv", domain=["user"], window=10)
    assert list(entry["domains"]) == ["user1", "user2", "user3"]
    assert "note: 1 recordings are of no domain (user: (empty))." in lines


def test_missing_values_stay_missing(tmp_path):
    data, _, card = prepared(tmp_path, changed("x", 7, None))
    assert np.isnan(data.signals).sum() == 1
    assert card["counts"]["A"] == {"sit": 2, "walk": 2}


# -------------------------------------------------------------------------------------------------- check


def test_the_proposed_entry_is_a_study_that_prepares_the_same(tmp_path, params):
    (path,) = simulate(tmp_path, people=3, seconds=6)
    options = {"domain": ["user"], "time": "time", "window": 64, "channels": list(CHANNELS)}
    lines, entry = check_table(path, classes=[1, 2, 3, 4, 5, 6], stride=32, **options)
    tree = yaml.safe_load(proposal("mine", entry))
    params["datasets"] |= tree["datasets"]
    params["variants"] |= {name: {"label": name, "method": name} for name in ("coral", "groupdro")}
    params["variants"] |= {name: LINE | {"label": name} for name in BASELINES}
    params["tables"] |= tree["tables"]
    entry = Study(params).dataset("mine")
    card = prepare(entry["raw"], tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    assert list(card["domains"]) == ["user1", "user2", "user3"]
    text = "\n".join(lines)
    assert "6 recordings" in text
    assert "50 Hz" in text
    assert f"{sum(sum(row.values()) for row in card['counts'].values()):,}" in text
    assert "split blocked: 0%" in text
    assert "of label -1" in text


def test_what_is_wrong_with_recordings_is_said(tmp_path):
    table = people(4, 80)
    table.loc[table["user"] == 2, "y"] = 3.5 + table["x"]
    table.loc[table["user"] == 4, "x"] = table.loc[table["user"] == 1, "x"].to_numpy()
    table.loc[table["user"] == 3, "label"] = "sit"
    table.loc[5:8, "x"] = None
    table.to_csv(tmp_path / "data.csv", index=False)
    lines, entry = check_table(
        tmp_path / "data.csv", domain=["user"], window=10, stride=5, channels=["x", "y"]
    )
    text = "\n".join(lines)
    assert "rate: 10 Hz" in text
    assert "only increasing" not in text  # x is missing here and there
    assert "missing values: x 1.25%; `standardize: sources` fills them" in text
    assert "constant channels: y in 1, y in 3, y in 4\n" in text
    assert "\ngaps: none\n" in text
    assert "user3 has no walk" in text
    assert "few windows (below 20): user1 sit 7" in text
    assert "duplicate windows: 12 have the signal of another one" in text  # of 14, two with missing values
    assert "split random: " in text
    assert entry["prepare"]["channels"] == ["x", "y"]


def test_leakage_is_the_share_of_overlapping_validation_windows(tmp_path):
    adjoining = prepared(tmp_path, people(length=400))[0]
    assert leakage(adjoining, "random") == 0
    overlapping = prepared(tmp_path, people(length=400), stride=2)[0]
    assert leakage(overlapping, "random") > 0.9
    assert leakage(overlapping, "blocked") == 0


def test_domains_are_named_after_their_values():
    assert propose_domains(["user"], [("10",), ("9",), ("-1",)]) == {
        "1": {"user": -1}, "user9": {"user": 9}, "user10": {"user": 10},
    }  # fmt: skip
    names = propose_domains(["site", "load"], [("Zürich Nord", "0"), ("Zurich Nord", "0"), ("東", "007")])
    assert list(names) == ["Zurich-Nord-load0", "Zurich-Nord-load0-2", "load007"]
    assert names["load007"] == {"site": "東", "load": "007"}


def test_an_index_and_a_time_are_no_channels(tmp_path):
    people().assign(number=range(120)).to_csv(tmp_path / "data.csv")  # pandas' index, without a name
    lines, entry = check_table(tmp_path / "data.csv", domain=["user"], window=10)
    assert entry["prepare"]["channels"] == ["x", "y", "number"]
    assert entry["prepare"]["time"] == "time"
    assert any(line.startswith("only increasing: x, number; leave out an index") for line in lines)
    (tmp_path / "data.csv").write_text(people().drop(columns="time").to_csv())
    lines, entry = check_table(tmp_path / "data.csv", domain=["user"], window=10)
    assert "rate: not known; name the column of the time with --time, or give --sampling-rate" in lines
    assert "time" not in entry["prepare"]


def test_columns_that_check_was_not_told_of_are_found(tmp_path):
    table = people(3, 80)
    part = np.arange(len(table)) // 40  # two recordings a person
    table["t"] = np.tile(np.arange(40) * 2000.0, 6) + np.tile(np.arange(40) >= 30, 6) * 1e5
    table = table.drop(columns=["recording", "time"]).assign(run_id=part + 17, speed=table["user"] * 100)
    table["side"] = np.where(part % 2, "left", "right")  # of every person: no name of a recording
    table.to_csv(tmp_path / "data.csv", index=False)

    def text(**options):
        found = {"channels": ["x", "y", "t", "run_id", "speed"]} | options
        return "\n".join(check_table(tmp_path / "data.csv", domain=["user"], window=10, **found)[0]) + "\n"

    first = text()
    assert "no column names them" in first
    assert "; run_id looks like a name of recordings: --recording run_id\n" in first
    assert "speed: constant within each domain but not the same in all, which gives the domain away" in first
    second = text(recording="run_id", channels=["y", "t"])
    assert "no column names them" not in second
    assert "only increasing: t within each recording: is it the time? --time t;" in second
    third = text(recording="run_id", time="t", channels=["x", "y"])
    assert "gaps: 6 longer than 5 sample periods, in 6 recordings; no window crosses one\n" in third
    assert "rate: 0.0005 Hz; the time is taken as seconds: is it in milliseconds?" in third
    with pytest.raises(InputError, match="name the column of the recording with --recording"):
        text(time="t", channels=["x", "y"])


def test_sessions_that_are_numbered_anew_for_each_person_are_recordings(tmp_path):
    table = people(3, 80).drop(columns=["recording", "time"])
    table["session"] = np.tile(np.repeat([1, 2], 40), 3)
    table.to_csv(tmp_path / "data.csv", index=False)
    lines, entry = check_table(tmp_path / "data.csv", domain=["user"], window=10)
    assert "recording: session, by its name; --recording says otherwise" in lines
    assert entry["prepare"]["channels"] == ["x", "y"]
    prepare(tmp_path / "data.csv", tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    names = WindowedDataset.load(tmp_path / "out").windows["recording"].unique().tolist()
    assert names == [f"user{user} {session}" for user in (1, 2, 3) for session in (1, 2)]
    table.drop(columns="label").to_csv(tmp_path / "data.csv", index=False)
    with pytest.raises(InputError, match=r"no column 'label'; .* are the labels in a file of inter"):
        check_table(tmp_path / "data.csv", domain=["user"])


@pytest.mark.parametrize(
    ("rate", "plain"), [(100.00000000000213, 100.0), (33.333333333, 33.3333), (0.2, 0.2), (None, None)]
)
def test_a_rate_has_no_digits_of_rounding(rate, plain):
    assert plain_rate(rate) == plain


def test_a_csv_of_decimal_commas_is_told_its_separator(tmp_path):
    people().to_csv(tmp_path / "data.csv", index=False, sep=";", decimal=",")
    with pytest.raises(InputError, match=r"separated by ';'\? give --separator ';'"):
        check_table(tmp_path / "data.csv", domain=["user"])
    with pytest.raises(InputError, match=r"no column 'lbl', did you mean .* name it with --label"):
        check_table(tmp_path / "data.csv", domain=["user"], label="lbl", separator=";")


def test_check_asks_for_the_domain_and_for_three_of_them(tmp_path):
    people(2).to_csv(tmp_path / "data.csv", index=False)
    with pytest.raises(InputError, match="--domain; there are recording, user, time, x, y, label"):
        check_table(tmp_path / "data.csv")
    with pytest.raises(InputError, match="user makes 2 domain"):
        check_table(tmp_path / "data.csv", domain=["user"])


# -------------------------------------------------------------------------------------------- simulated, real


def test_the_example_fits_the_simulated_file(tmp_path):
    simulate(tmp_path, seconds=6)
    entry = Study.load(PROJECT / "examples/hapt.yaml").dataset("hapt-five")
    card = prepare(tmp_path / SIMULATED, tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    assert card["simulated"]
    assert all(count == 6 for row in card["counts"].values() for count in row.values())


def test_simulating_leaves_a_real_file(tmp_path):
    (tmp_path / SIMULATED).write_text("x,label\n1,a\n")
    with pytest.raises(InputError, match="not simulated"):
        simulate(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not HAPT.is_file(), reason="HAPT is not at hand (set TSDG_REAL_DATA to its folder)")
def test_hapt(tmp_path):
    study = Study.load(PROJECT / "examples/hapt.yaml", ["protocol=quick", "iterations=3", "batch_size=2"])
    entry = study.dataset("hapt-five")
    card = prepare(HAPT, tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    with np.load(HAPT) as arrays:
        signal, label, user = arrays["signal"], arrays["label"], arrays["user"]
        bouts = np.split(
            np.arange(len(label)), np.flatnonzero(np.diff(label) | np.diff(arrays["recording"])) + 1
        )
    for name, person in zip("12345", range(1, 6), strict=True):
        here = [bout for bout in bouts if user[bout[0]] == person and len(bout) >= 128]
        counts = [sum((len(b) - 128) // 64 + 1 for b in here if label[b[0]] == k) for k in range(1, 7)]
        assert list(card["counts"][f"P{name}"].values()) == counts
    np.testing.assert_array_equal(np.load(tmp_path / "out/signals.npy"), signal[user <= 5])
    job = {"targets": ["P5"], "seeds": [0], "draws": ["fixed"], "out": tmp_path / "runs"}
    (path,) = train_job(study, tmp_path / "out", dataset="hapt-five", variant="ours-learned", **job)
    record = read(path)
    assert record.config["backbone"] == "har"
    assert record.checkpoints[-1].target.n == sum(card["counts"]["P5"].values())
