"""Order tracking: what turns with a shaft has one order, whatever its speed."""

import re

import numpy as np
import pandas as pd
import pytest

from tsdg.data.describe import describe
from tsdg.data.own.check import check_table
from tsdg.data.own.order import by_angle
from tsdg.data.own.prepare import prepare
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning.features import Features

RATE, SECONDS, PER = 2000, 8, 64
DOMAINS = {name: {"machine": name} for name in "uvw"}
ORDERS = {"inner": 5.4, "outer": 3.6}
TIME = np.arange(RATE * SECONDS) / RATE


def machine(speed, order, *, noise=0.0):
    """A vibration of an order at a speed, revolutions a second."""
    revolutions = np.cumsum(np.broadcast_to(speed, TIME.shape)) / RATE
    rng = np.random.default_rng(0)
    return np.sin(2 * np.pi * order * revolutions) + noise * rng.normal(size=TIME.size)


def folder(path, speeds, column=None):
    """A file a recording; the speed is a column, or stands in the metadata."""
    path.mkdir()
    rows = []
    for name, speed in zip("uvw", speeds, strict=True):
        for label, order in ORDERS.items():
            table = pd.DataFrame({"t": TIME, "x": machine(speed, order, noise=0.1)})
            if column:
                table[column] = np.round(60 * speed, 3)
            table.to_csv(path / f"{name}_{label}.csv", index=False)
            rows.append({"file": f"{name}_{label}.csv", "machine": name, "label": label})
    meta = pd.DataFrame(rows)
    if not column:
        meta["hz"] = np.repeat(speeds, 2)
    meta.to_csv(path / "metadata.csv", index=False)
    return path


def orders(data):
    """Order of the peak of each window's spectrum, by class."""
    x = data.signals[data.windows["start"].to_numpy()[:, None] + np.arange(data.card["window"]["length"]), 0]
    spectrum = np.abs(np.fft.rfft(x * np.hanning(x.shape[1]), axis=1))
    peaks = np.fft.rfftfreq(x.shape[1], 1 / data.card["sampling_rate"])[spectrum.argmax(1)]
    return {name: peaks[data.windows["label"] == k] for k, name in enumerate(data.classes)}


@pytest.mark.parametrize("column", ["rpm", None])
def test_a_chirp_becomes_a_tone_of_its_order(tmp_path, column):
    ramp = np.linspace(10, 40, TIME.size)
    speeds = [ramp, ramp[::-1], 25 + 5 * np.sin(TIME)] if column else [12.0, 20.0, 33.0]
    given = {"order": column} if column else {"order": "hz", "order_unit": "Hz"}
    raw = folder(tmp_path / "raw", speeds, column)
    options = {"domains": DOMAINS, "time": "t", "channels": ["x"], "window": 640, "per_revolution": PER}
    card = prepare(raw, tmp_path / "out", **options, **given)
    data = WindowedDataset.load(tmp_path / "out")
    assert card["sampling_rate"] == PER
    assert card["channels"] == ["x"]
    found = orders(data)
    for name, order in ORDERS.items():
        assert np.abs(found[name] - order).max() <= PER / 640, name  # which is one line of the spectrum
    assert "windows of 640 time steps (10 revolutions)" in describe(data)[0]
    x = data.signals[: 4 * 640].reshape(4, 1, 640)
    assert np.isfinite(Features(["spectrum", "envelope"], card["sampling_rate"])(x)).all()


def test_what_is_above_half_the_samples_a_revolution_is_filtered_and_not_mistaken():
    revolutions = np.cumsum(np.linspace(10, 40, TIME.size)) / RATE
    wanted, alias = np.sin(2 * np.pi * 5 * revolutions), np.sin(2 * np.pi * 25 * revolutions)
    angle = revolutions - revolutions[0]
    even, at = by_angle(np.stack([wanted, alias], 1), angle, RATE / 10, 32)
    inside = slice(100, -100)
    np.testing.assert_allclose(
        even[inside, 0], np.sin(2 * np.pi * 5 * (at + revolutions[0]))[inside], atol=0.02
    )
    assert np.abs(even[inside, 1]).max() < 0.02


def test_a_standstill_ends_a_stretch_and_is_told(tmp_path):
    speed = np.where((TIME > 3) & (TIME < 4), 0.0, 20.0)
    raw = folder(tmp_path / "raw", [speed] * 3, "rpm")
    options = {"domains": DOMAINS, "time": "t", "channels": ["x"], "window": 320, "per_revolution": PER}
    card = prepare(raw, tmp_path / "out", order="rpm", **options)
    assert "11,994 time steps at standstill are in no window." in card["notes"]
    assert card["counts"]["u"] == {"inner": 28, "outer": 28}  # of 60 and 80 revolutions


def test_check_proposes_windows_by_revolutions(tmp_path):
    raw = folder(tmp_path / "raw", [np.full(TIME.size, speed) for speed in (10.0, 20.0, 30.0)], "rpm")
    lines, entry = check_table(raw, domain=["machine"], order="rpm", per_revolution=PER)
    assert entry["prepare"]["channels"] == ["x"]
    assert entry["prepare"]["window"] == 4 * PER
    assert any("64 samples a revolution" in line for line in lines)
    prepare(raw, tmp_path / "out", domains=entry["domains"], **entry["prepare"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": "rmp"}, "no column 'rmp', did you mean 'rpm'?"),
        ({"order": "rpm", "resample": 50.0}, "leave one of them out"),
        ({"order": "label"}, "label is 'inner', where a speed belongs, rpm"),
        ({"order": "t"}, "'t' is the time; name the column of the shaft's speed"),
        ({"order": "fast"}, "fast is up to 1e+09 rpm, more than half a revolution a sample at 2000 Hz"),
        ({"order": "still"}, "still is at most 1e-09 rpm, a revolution in 60,000,0"),
        ({"order": "rpm", "per_revolution": 99_999_999}, "for each of the recording's; give at most 200000"),
        ({"order_unit": "Hz"}, "order_unit: is of the speed of a shaft"),
        ({"per_revolution": 64}, "per_revolution: is of the speed of a shaft"),
        ({"axes": "NTC"}, "axes: is of windows already cut"),
        ({"resample": 1e-9}, "resample: 1e-09 Hz is 5e-13 times its rate, 2000 Hz; give one within 1,000"),
        ({"resample": 1e9}, "resample: 1e+09 Hz is 5e+05 times its rate"),
        ({"order": "zero"}, "zero is missing in places, or 0 throughout"),
    ],
)
def test_a_fault_is_one_clear_message(tmp_path, options, words):
    table = pd.DataFrame({"t": TIME[:400], "x": TIME[:400], "rpm": 600.0, "zero": 0.0, "label": "inner"})
    table = table.assign(fast=1e9, still=1e-9)
    table.assign(machine="u", recording="r").to_csv(tmp_path / "data.csv", index=False)
    given = {"domains": DOMAINS, "time": "t", "channels": ["x"], "window": 8}
    with pytest.raises(InputError, match=re.escape(words)):
        prepare(tmp_path / "data.csv", tmp_path / "out", **given, **options)
