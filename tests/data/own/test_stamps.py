"""Times as devices write them: unit, ties and rate are recognized, said, and no time is a channel."""

import numpy as np
import pandas as pd
import pytest

from tsdg.data.own.check import check_table
from tsdg.data.own.prepare import prepare
from tsdg.data.own.sampling import resampled
from tsdg.data.own.stamps import names_a_clock, rate_of, spread, unit_of
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError

EPOCH = 1657533977.0
DOMAINS = {name: {"dom": name} for name in "uvw"}


def table(stamps, name="timestamp", **columns):
    """Six recordings of the same stamps, two a domain, of a class each."""
    rng = np.random.default_rng(0)
    parts = [
        pd.DataFrame({"rec": f"r{n}", "dom": "uvw"[n // 2], "label": "ab"[n % 2], name: s} | columns).assign(
            x=rng.normal(size=len(s)), y=rng.normal(size=len(s))
        )
        for n, s in enumerate([stamps] * 6 if isinstance(stamps, np.ndarray) else stamps)
    ]
    return pd.concat(parts, ignore_index=True)


def checked(tmp_path, frame, **options):
    """The text of `check`, its entry, and the card that the entry makes."""
    frame.to_csv(tmp_path / "data.csv", index=False)
    lines, entry = check_table(
        tmp_path / "data.csv", **({"domain": ["dom"], "recording": "rec", "window": 16} | options)
    )
    card = prepare(tmp_path / "data.csv", tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    return "\n".join(lines), entry["prepare"], card


STEPS = np.arange(64) / 100


@pytest.mark.parametrize(
    ("stamps", "unit"),
    [
        (EPOCH + STEPS, "s"),
        (np.round((EPOCH + STEPS) * 1e3), "ms"),
        (np.round((EPOCH + STEPS) * 1e6), "us"),
        ((int(EPOCH) * 10**9 + np.round(STEPS * 1e9).astype(np.int64)), "ns"),
        (STEPS, "s"),
        (7.7e11 + np.round(STEPS * 1e9), "ns"),  # a phone's time since it was switched on
        (np.round(STEPS * 1e6), "us"),
    ],
)
def test_the_unit_is_told_by_magnitude(tmp_path, stamps, unit):
    assert unit_of(stamps.astype(float)) == unit
    text, options, card = checked(tmp_path, table(stamps))
    assert options["channels"] == ["x", "y"]
    assert options["time"] == "timestamp"
    assert f"time: timestamp, in {unit}" in text
    assert card["sampling_rate"] == pytest.approx(100, rel=1e-3)
    assert options.get("time_unit", "s") == unit


def test_a_unit_that_is_given_overrides(tmp_path):
    text, _, card = checked(tmp_path, table(np.arange(64.0) * 10), time_unit="ms")
    assert "rate: 100 Hz" in text
    assert card["sampling_rate"] == pytest.approx(100)


@pytest.mark.parametrize("scale", [1, 1e3])
def test_ties_are_spread_or_dropped(tmp_path, scale):
    stamps = (
        np.round((EPOCH if scale == 1e3 else 0) + np.arange(64.0) * (1 if scale == 1 else 0.01), 2) * scale
    )
    stamps[[3, 19, 40]] = stamps[[2, 18, 39]]
    text, options, card = checked(tmp_path, table(stamps))
    assert options["channels"] == ["x", "y"]
    assert options["ties"] == "spread"
    assert "ties: 4.76% of the times" in text
    assert card["sampling_rate"] == pytest.approx(1 if scale == 1 else 100, rel=1e-3)
    assert WindowedDataset.load(tmp_path / "out").signals.shape == (6 * 64, 2)
    checked(tmp_path, table(stamps), ties="drop")
    assert WindowedDataset.load(tmp_path / "out").signals.shape == (6 * 61, 2)
    options = {"recording": "rec", "time": "timestamp"}
    with pytest.raises(InputError, match="is the same in rows 3 and 4; give ties: spread"):
        prepare(tmp_path / "data.csv", tmp_path / "out", domains=DOMAINS, window=16, **options)


def test_ties_share_the_time_to_the_next():
    np.testing.assert_allclose(spread(np.array([0, 1, 1, 3, 4, 4])), [0, 1, 2, 3, 4, 5])
    batches = np.repeat(np.arange(5) * 0.1, 10)  # ten rows at once
    np.testing.assert_allclose(np.diff(spread(batches)), 0.01)
    assert np.diff(spread(np.array([0.0, 1, 2, 2, 1000, 1001])))[2] <= 5  # not across a gap


def test_the_rate_is_the_mean_of_a_recording(tmp_path):
    """Whole milliseconds at 102.5 Hz; medians would say 100 and 111.1."""
    recordings = [np.round((phase + np.arange(200)) / 102.5, 3) for phase in (0, 0.3, 0.5, 0.7, 0.9, 0.2)]
    text, options, card = checked(tmp_path, table(recordings))
    assert card["sampling_rate"] == pytest.approx(102.5, rel=2e-3)
    assert "irregular" not in text
    assert "resample" not in options
    assert rate_of(np.r_[STEPS, 60 + STEPS]) == pytest.approx(100)


def test_recordings_of_other_rates_are_brought_to_one(tmp_path):
    recordings = [np.round((EPOCH + np.arange(64) * (0.009 if n % 2 else 0.01)) * 1e3) for n in range(6)]
    text, options, card = checked(tmp_path, table(recordings))
    assert "rate: 100 to 111.1 Hz" in text
    assert (options["resample"], card["sampling_rate"]) == (100, 100)
    assert checked(tmp_path, table(recordings), window=None)[1]["window"] == 32  # 64 steps at 111 Hz are 58
    assert sum(sum(row.values()) for row in card["counts"].values()) == 3 * (4 + 3)


@pytest.mark.parametrize("where", [0, 3])
@pytest.mark.parametrize("resample", [{}, {"resample": 50}])
def test_a_recording_of_one_row_breaks_nothing(tmp_path, where, resample):
    frame = table(STEPS)
    one = frame.iloc[[0]].assign(rec="one")
    parts = [part for _, part in frame.groupby("rec")]
    frame = pd.concat([*parts[:where], one.assign(dom=parts[where]["dom"].iloc[0]), *parts[where:]])
    _, _, card = checked(tmp_path, frame, **resample)
    assert card["sampling_rate"] == pytest.approx(resample.get("resample", 100))


def test_gaps_are_counted_by_an_option(tmp_path):
    stamps = STEPS + np.arange(64) // 8 * 0.1  # bursts of eight
    frame = table(stamps)
    counts = {}
    for gap in (5, 20):
        text, _, card = checked(tmp_path, frame, gap=gap, window=8)
        counts[gap] = sum(sum(row.values()) for row in card["counts"].values())
        assert ("gaps: none" in text) == (gap == 20)
    assert counts == {5: 48, 20: 48}
    with pytest.raises(InputError, match="longest stretch of one class is 8 time steps"):
        checked(tmp_path, frame, gap=5)
    assert checked(tmp_path, frame, gap=20)[2]["window"]["length"] == 16


@pytest.mark.parametrize("name", ["Time (s)", "arrival_time", "creationTime", "t", "ts", "epoch", "millis"])
def test_a_times_name(tmp_path, name):
    assert names_a_clock(name)
    assert checked(tmp_path, table(STEPS, name))[1]["channels"] == ["x", "y"]


def test_what_has_no_times_name_or_goes_back(tmp_path):
    assert not any(
        names_a_clock(name) for name in ("x", "temperature", "acc_x", "station", "estimate", "gate")
    )
    _, options, _ = checked(tmp_path, table(STEPS, "q7"))  # even steps: a time or a count, of any name
    assert (options["channels"], options["time"]) == (["x", "y"], "q7")
    frame = table(STEPS).assign(t=np.random.default_rng(0).normal(size=6 * 64))  # t is no time here
    assert checked(tmp_path, frame)[1]["channels"] == ["x", "y", "t"]
    lines, entry = check_table(tmp_path / "data.csv", domain=["dom"], window=16)
    assert "recording: rec, since times go back only where it changes" in "\n".join(lines)
    assert (entry["prepare"]["recording"], entry["prepare"]["time"]) == ("rec", "timestamp")
    frame.drop(columns="rec").to_csv(tmp_path / "data.csv", index=False)
    lines, entry = check_table(tmp_path / "data.csv", domain=["dom"], window=16)  # no name of a recording
    assert "left out: timestamp" in "\n".join(lines)
    assert "it goes backwards in places: is the name of a recording missing?" in "\n".join(lines)
    assert "time" not in entry["prepare"]


def test_two_clocks_leave_one_time(tmp_path):
    frame = table(np.round((EPOCH + STEPS) * 1e3)).assign(time_s=np.tile(STEPS, 6))
    text, options, _ = checked(tmp_path, frame)
    assert options["channels"] == ["x", "y"]
    assert options["time"] == "timestamp"
    assert "left out: time_s" in text


def test_resampling_to_the_mean_rate_changes_nothing():
    from tsdg.data.own.recordings import Recording

    signal = np.random.default_rng(0).normal(size=(64, 1)).astype(np.float32)
    part = Recording("r", {}, signal, np.zeros(64, np.int32), STEPS)
    np.testing.assert_array_equal(resampled(part, 100.0, 100.0).signal, signal)


def test_the_window_that_is_proposed_fits(tmp_path):
    """Recordings of 64 steps have none of 128; a class of three steps has none at all."""
    text, options, card = checked(tmp_path, table(STEPS), window=None)
    assert "window: 64 time steps, since stretches of a class are short" in text
    assert options["window"] == 64
    assert all(count == 1 for row in card["counts"].values() for count in row.values())
    frame = table(STEPS)
    frame.loc[30:32, "label"] = "c"
    assert checked(tmp_path, frame, window=None)[1]["window"] == 64
    assert checked(tmp_path, table(np.arange(400) / 100), window=None)[1]["window"] == 128
