"""Labels as intervals: the data set of a label at every step, whatever the unit; faults are told."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tsdg.data.kinds import KINDS
from tsdg.data.own.check import check_table
from tsdg.data.own.prepare import prepare
from tsdg.errors import InputError

HAPT = (
    Path(os.environ.get("TSDG_REAL_DATA", Path(__file__).parents[3] / "../shared/data")) / "hapt/hapt_raw.npz"
)
DOMAINS = {name: {"dom": name} for name in "uvw"}
RATE, LENGTH = 20, 60
OPTIONS = {"domains": DOMAINS, "window": 8, "recording": "rec", "channels": ["x"]}


def table(seed=0):
    """A recording of each domain: no label, sit, walk, sit, no label."""
    labels = ["", *["sit"] * 19, *["walk"] * 20, *["sit"] * 15, *[""] * 5]
    x = np.random.default_rng(seed).normal(size=3 * LENGTH)
    seconds = np.tile(np.arange(LENGTH) / RATE, 3)
    frame = pd.DataFrame(
        {"rec": np.repeat(["r1", "r2", "r3"], LENGTH), "dom": np.repeat(list("uvw"), LENGTH)}
    )
    return frame.assign(seconds=seconds, x=x, label=labels * 3)


def intervals(frame, unit, stamps=None):
    """Of runs of a label in each recording, in a unit."""
    rows = []
    for rec, part in frame.groupby("rec", sort=False):
        starts = np.flatnonzero(part["label"].ne(part["label"].shift()).to_numpy())
        for first, last in zip(starts, [*starts[1:], len(part)], strict=True):
            if label := part["label"].iloc[first]:
                at = {
                    "samples": (first, last),
                    "rows": (first + 1, last),
                    "s": (first / RATE, last / RATE),
                    "time": None if stamps is None else (stamps(first), stamps(last)),
                }[unit]
                rows.append((rec, *at, label))
    return pd.DataFrame(rows, columns=["rec", "start", "end", "activity"]).iloc[::-1]


STAMPS = {
    "seconds": lambda step: 100 + step / RATE,
    "epoch ms": lambda step: 1_657_533_977_013 + step * 1000 // RATE,
    "dates": lambda step: (
        pd.Timestamp("2026-01-31 12:00:00.5") + pd.Timedelta(seconds=step / RATE)
    ).isoformat(),
}


@pytest.mark.parametrize(
    ("unit", "given"),
    [("samples", None), ("rows", None), ("s", None), *(("time", name) for name in STAMPS), ("s", "epoch ms")],
)
def test_intervals_are_the_labels_of_steps(tmp_path, unit, given):
    frame = table()
    options = OPTIONS | ({"sampling_rate": RATE} if given is None else {"time": "t"})
    if given:
        frame["t"] = [STAMPS[given](n % LENGTH) for n in range(len(frame))]
    frame.to_csv(tmp_path / "data.csv", index=False)
    expected = prepare(tmp_path / "data.csv", tmp_path / "out", **options)["fingerprint"]
    frame.drop(columns="label").to_csv(tmp_path / "data.csv", index=False)
    intervals(frame, unit, STAMPS.get(given)).to_csv(tmp_path / "labels.csv", index=False, sep=";")
    options |= {"intervals": tmp_path / "labels.csv", "interval_unit": None if unit == "time" else unit}
    card = prepare(tmp_path / "data.csv", tmp_path / "out", **options)
    assert card["fingerprint"] == expected
    assert [source["file"] for source in card["sources"]] == ["data.csv", "labels.csv"]
    assert "Time steps in no window: 18 of label (none)." in card["notes"]


def test_a_duration_may_stand_for_the_end(tmp_path):
    frame = table()
    frame.to_csv(tmp_path / "data.csv", index=False)
    options = OPTIONS | {"time": "seconds"}
    expected = prepare(tmp_path / "data.csv", tmp_path / "out", **options)["fingerprint"]
    rows = intervals(frame, "s").assign(duration=lambda rows: rows["end"] - rows["start"]).drop(columns="end")
    rows.rename(columns={"start": "onset"}).to_csv(tmp_path / "labels.tsv", index=False, sep="\t")
    card = prepare(tmp_path / "data.csv", tmp_path / "out", intervals=tmp_path / "labels.tsv", **options)
    assert card["fingerprint"] == expected


def test_ties_that_are_dropped_leave_the_numbers_of_steps(tmp_path):
    frame = table().assign(t=lambda rows: np.where(rows.index % LENGTH == 30, 29 / RATE, rows["seconds"]))
    frame.to_csv(tmp_path / "data.csv", index=False)
    options = OPTIONS | {"time": "t", "ties": "drop"}
    expected = prepare(tmp_path / "data.csv", tmp_path / "out", **options)["fingerprint"]
    intervals(frame, "rows").to_csv(tmp_path / "labels.csv", index=False)
    options |= {"intervals": tmp_path / "labels.csv", "interval_unit": "rows"}
    assert prepare(tmp_path / "data.csv", tmp_path / "out", **options)["fingerprint"] == expected


def test_check_takes_intervals_and_its_entry_prepares(tmp_path):
    frame = table()
    frame.assign(label=frame["label"].map({"": 0, "sit": 1, "walk": 2})).to_csv(
        tmp_path / "data.csv", index=False
    )
    intervals(frame, "s").to_csv(tmp_path / "labels.csv", index=False)
    labels = str(tmp_path / "labels.csv")
    _, entry = check_table(
        tmp_path / "data.csv", domain=["dom"], recording="rec", window=8, intervals=labels, interval_unit="s"
    )
    assert entry["prepare"]["classes"] == ["sit", "walk"]
    assert entry["prepare"]["channels"] == ["x"]
    assert entry["prepare"]["time"] == "seconds"
    prepare(tmp_path / "data.csv", tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    assert KINDS["table"].other_files(entry) == [labels]


@pytest.mark.parametrize("end", ["end", "duration", "both"])
def test_rows_end_inclusively_and_a_duration_counts_them(tmp_path, end):
    frame = table()
    frame.to_csv(tmp_path / "data.csv", index=False)
    expected = prepare(tmp_path / "data.csv", tmp_path / "out", time="seconds", **OPTIONS)["fingerprint"]
    rows = intervals(frame, "rows").assign(duration=lambda rows: rows["end"] - rows["start"] + 1)
    kept = rows.drop(columns={"end": "duration", "duration": "end"}.get(end, []))
    kept.to_csv(tmp_path / "labels.csv", index=False)
    options = OPTIONS | {"intervals": tmp_path / "labels.csv", "interval_unit": "rows", "time": "seconds"}
    assert prepare(tmp_path / "data.csv", tmp_path / "out", **options)["fingerprint"] == expected


def test_domains_without_a_label_are_told_as_such(tmp_path):
    table().drop(columns="label").to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "labels.csv").write_text("rec,start,end,label\nr1,0,1,sit\nr2,0,1,walk\n")
    with pytest.raises(InputError, match=r"makes 2 domain\(s\), u, v \(without a label: w\)"):
        check_table(
            tmp_path / "data.csv", domain=["dom"], recording="rec", intervals=str(tmp_path / "labels.csv"),
            time="seconds",
        )  # fmt: skip


BAD = {
    "blank lines": (["r1,0,1,sit", "", "", "r1,x,2,sit"], "line 5: start 'x' is no number"),
    "overlap behind a blank line": (["r1,0,1,sit", "", "r1,0.5,2,walk"], "line 4: overlaps line 2"),
    "a cell more": (["r1,0,1,sit", "r1,1,2,sit,"], "line 3 has 5 cells, the header 4"),
    "a cell more everywhere": (["9,r1,0,1,sit", "9,r1,1,2,sit"], "line 2 has 5 cells, the header 4"),
    "an open quote": (['"r1,0,1,sit', "r1,1,2,sit"], "save the intervals as a csv in UTF-8"),
    "start twice": (["rec,start,start,end,label", "r1,0,1,2,sit"], "two columns are called 'start'"),
    "contradiction": (
        ["rec,start,end,duration,label", "r1,0,1,1,sit", "r1,1,2,2.5,sit"],
        "line 3: duration 2.5 is not from start to end (correct or leave out one",
    ),
    "unknown": (["r9,0,1,sit"], "line 2: there is no recording 'r9', did you mean 'r3'?"),
    "overlap": (["r1,0,1,sit", "r1,0.5,2,walk"], "line 3: overlaps line 2"),
    "outside": (["r1,0,1,sit", "r2,2,9,walk"], "line 3: is outside of recording r2"),
    "backward": (["r1,1,1,sit"], "line 2: does not end after its start"),
    "text": (["r1,0,x,sit"], "line 2: end 'x' is no number"),
    "several texts": (
        ["r1,0,x,sit", "r2,,1,sit"],
        "line 3: start '' is no number; line 2: end 'x' is no number",
    ),
    "empty": (["r1,0,1,"], "column 'label' is empty throughout"),
    "several": (["r9,0,1,sit", "r8,0,1,sit", "r3,5,9,sit"], "'r8', did you mean 'r3'?; line 4: is outside"),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_fault_is_one_clear_message(tmp_path, fault):
    rows, words = BAD[fault]
    table().drop(columns="label").to_csv(tmp_path / "data.csv", index=False)
    header = [] if rows[0].startswith("rec,") else ["rec,start,end,label"]
    (tmp_path / "labels.csv").write_text("\n".join([*header, *rows]))
    with pytest.raises(InputError) as error:
        prepare(
            tmp_path / "data.csv",
            tmp_path / "out",
            intervals=tmp_path / "labels.csv",
            time="seconds",
            **OPTIONS,
        )
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_what_intervals_need_is_asked_for(tmp_path):
    table().drop(columns=["label", "seconds"]).to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "labels.csv").write_text("1 1 5 250 1232\n")
    options = OPTIONS | {"intervals": tmp_path / "labels.csv"}
    with pytest.raises(InputError, match=r"sampling_rate; or give samples \(from 0"):
        prepare(tmp_path / "data.csv", tmp_path / "out", **options)
    with pytest.raises(InputError, match="holds no intervals"):
        prepare(tmp_path / "data.csv", tmp_path / "out", interval_unit="rows", **options)
    with pytest.raises(InputError, match="names these; give --recording"):
        prepare(tmp_path / "data.csv", tmp_path / "out", **options | {"recording": None})
    (tmp_path / "labels.csv").write_text("rec,from,until,label\nr1,0,1,sit\n")
    with pytest.raises(InputError, match="need a column of the start, start or onset"):
        prepare(tmp_path / "data.csv", tmp_path / "out", interval_unit="rows", **options)


@pytest.mark.slow
@pytest.mark.skipif(not HAPT.is_file(), reason="HAPT is not at hand (set TSDG_REAL_DATA to its folder)")
def test_hapt_by_its_intervals(tmp_path):
    """As its own file of labels has them: rows from 1, the end included."""
    with np.load(HAPT) as arrays:
        label, recording = arrays["label"], arrays["recording"]
    starts = np.flatnonzero(np.r_[True, (np.diff(label) != 0) | (np.diff(recording) != 0)])
    ends, begins = np.r_[starts[1:], len(label)], np.searchsorted(recording, recording[starts])
    rows = {
        "recording": recording[starts],
        "start": starts - begins + 1,
        "end": ends - begins,
        "label": label[starts],
    }
    pd.DataFrame(rows)[label[starts] > 0].to_csv(tmp_path / "labels.txt", sep=" ", index=False)
    options = {
        "domains": {f"P{n}": {"user": n} for n in (1, 2, 3)}, "window": 128, "stride": 64,
        "classes": list(range(1, 7)), "sampling_rate": 50,
    }  # fmt: skip
    expected = prepare(HAPT, tmp_path / "out", **options)["fingerprint"]
    options |= {"intervals": tmp_path / "labels.txt", "interval_unit": "rows"}
    assert prepare(HAPT, tmp_path / "out", **options)["fingerprint"] == expected
