"""Sensors at other rates in files of their own are joined by time."""

import numpy as np
import pandas as pd
import pytest

from tsdg.data.kinds import KINDS
from tsdg.data.own.check import check_table
from tsdg.data.own.prepare import prepare
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError

DOMAINS = {name: {"user": name} for name in "uvw"}
SECONDS, RATE = 20, 25
EPOCH = 1_657_533_977


def wave(time, rec, hz=2.0):
    """What every sensor sees at a moment."""
    return np.sin(2 * np.pi * hz * time + rec)


def sensor(rate, names, *, begin=0.0, seconds=SECONDS, zero=0.0, scale=1.0, jitter=0.0, whole=False, **more):
    """A file of a sensor: three recordings."""
    tables = []
    for rec in range(3):
        time = begin + np.arange(int(seconds * rate)) / rate
        time = time + np.random.default_rng(rec).uniform(-jitter, jitter, len(time)) / rate
        stamps = (zero + time) * scale
        table = pd.DataFrame({"rec": f"r{rec}", "t": np.round(stamps).astype(np.int64) if whole else stamps})
        tables.append(table.assign(**{name: wave(time, rec) for name in names}, **more))
    return pd.concat(tables, ignore_index=True)


def phone(**options):
    """The first file, with labels and users."""
    table = sensor(100, "x", **options)
    half = table.groupby("rec").cumcount() < len(table) / 6
    return table.assign(
        user=table["rec"].map({"r0": "u", "r1": "v", "r2": "w"}), label=np.where(half, "sit", "walk")
    )


def prepared(folder, first, *others, **options):
    """The data set, and the options it was made by."""
    first.to_csv(folder / "phone.csv", index=False)
    for name, table in zip(("watch", "gyro"), others, strict=False):
        table.to_csv(folder / f"{name}.csv", index=False)
    join = [str(folder / f"{name}.csv") for name, _ in zip(("watch", "gyro"), others, strict=False)]
    options = {
        "domains": DOMAINS, "recording": "rec", "time": "t", "window": 50, "resample": RATE, "join": join,
    } | options  # fmt: skip
    card = prepare(folder / "phone.csv", folder / "out", **options)
    return WindowedDataset.load(folder / "out"), card


@pytest.mark.parametrize(
    ("rate", "how"),
    [
        (60.0, {}),
        (60.0, {"jitter": 0.2}),
        (10.0, {}),
        (60.0, {"zero": EPOCH, "scale": 1e9, "whole": True}),
        (60.0, {"begin": 3.013, "seconds": 10}),
    ],
)
def test_what_sensors_see_at_one_moment_stands_in_one_row(tmp_path, rate, how):
    epoch = {"zero": EPOCH, "scale": 1e3, "whole": True} if "zero" in how else {}
    data, card = prepared(tmp_path, phone(**epoch), sensor(rate, "x", **how), channels=["x", "watch.x"])
    assert card["channels"] == ["x", "watch.x"]
    assert card["sampling_rate"] == RATE
    assert [source["file"] for source in card["sources"]] == ["phone.csv", "watch.csv"]
    x, other = data.signals.T
    apart = np.abs(x - other)
    allowed = 0.2 if how.get("jitter") else 0.06
    assert np.quantile(apart, 0.95) < allowed
    assert len(x) == pytest.approx(3 * how.get("seconds", SECONDS) * RATE, abs=12)


def test_three_files_labels_and_gaps(tmp_path):
    hole = sensor(50, "y")
    hole = hole[(hole["t"] < 5) | (hole["t"] > 6)]
    data, card = prepared(tmp_path, phone(), sensor(60, "x"), hole)
    assert card["channels"] == ["x", "watch.x", "y"]
    assert card["counts"]["u"] == {"sit": 3, "walk": 5}  # of sit 5 s and less than 4 s
    windows = data.signals[data.windows["start"].to_numpy()[:, None] + np.arange(50), 2]
    assert np.isfinite(windows).all()


def test_what_a_low_rate_cannot_hold_is_filtered(tmp_path):
    fast = sensor(200, "x")
    fast["x"] = np.sin(2 * np.pi * 40 * fast["t"])  # which at 25 Hz would be 10 Hz
    data, _ = prepared(tmp_path, phone(), fast)
    assert np.abs(data.signals[10:-10, 1]).mean() < 0.02


def test_check_leaves_out_times_and_its_entry_prepares(tmp_path):
    phone().to_csv(tmp_path / "phone.csv", index=False)
    sensor(60, "xy", Index=0).assign(Index=lambda t: np.arange(len(t))).to_csv(
        tmp_path / "watch.csv", index=False
    )
    join = [str(tmp_path / "watch.csv")]
    _, entry = check_table(
        tmp_path / "phone.csv", domain=["user"], recording="rec", join=join, resample=RATE, window=50
    )
    assert entry["prepare"]["channels"] == ["x", "watch.x", "y"]
    prepare(tmp_path / "phone.csv", tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    assert KINDS["table"].other_files(entry) == join


def test_faults_are_one_clear_message(tmp_path):
    with pytest.raises(
        InputError, match=r"watch.csv: recording r0: its times, 100 to 119.98.* do not overlap"
    ):
        prepared(tmp_path, phone(), sensor(60, "x", begin=100))
    with pytest.raises(InputError, match="give `resample`"):
        prepared(tmp_path, phone(), sensor(60, "x"), resample=None)
    with pytest.raises(InputError, match="there is no recording 'r0', did you mean 'R0'"):
        prepared(tmp_path, phone(), sensor(60, "x").assign(rec=lambda t: t["rec"].str.upper()))
    with pytest.raises(InputError, match="there is no column 't'"):
        prepared(tmp_path, phone(), sensor(60, "x").rename(columns={"t": "moment"}))
    with pytest.raises(InputError, match=r"watch\.csv: join: none of its columns"):
        prepared(tmp_path, phone(), sensor(60, "x"), channels=["x"])


def test_recordings_that_the_other_sensor_lacks_are_left_out_and_told(tmp_path):
    more = pd.concat([phone(), phone().query("rec == 'r0'").assign(rec="r9")])
    _, card = prepared(tmp_path, more, sensor(60, "x"))
    assert "1 recordings are not in watch.csv: r9." in card["notes"]
