"""HHAR: the traps of the official file, on rows made by hand, simulated and, where at hand, real ones."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tsdg.data.hhar.prepare import PLACES, prepare
from tsdg.data.hhar.raw import CLASSES, CSV, ZIP
from tsdg.data.hhar.simulate import COLUMNS, simulate
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError

REAL = Path(os.environ.get("TSDG_REAL_DATA", Path(__file__).parents[3] / "../shared/data")) / "hhar"
real = pytest.mark.skipif(
    not REAL.is_dir(), reason="the real rows are not at hand (set TSDG_REAL_DATA to their folder)"
)
PERIOD = 5_000_000  # nanoseconds


def rows(count, label="walk", *, start=0, user="a", model="nexus4", device=1, value=0.0):
    """A stretch without gaps; x counts the rows from `value`."""
    clock = (start + np.arange(count)) * PERIOD
    table = pd.DataFrame({"Index": range(count), "Arrival_Time": clock // 10**6, "Creation_Time": clock})
    table = table.assign(x=value + np.arange(count), y=2.0, z=-9.5, User=user, Model=model)
    return table.assign(Device=f"{model}_{device}", gt=label)[list(COLUMNS)]


def prepared(folder, *parts, **options):
    """Windows, by their first x times 20, and the card of some rows."""
    folder.mkdir(exist_ok=True)
    pd.concat(parts).to_csv(folder / CSV, index=False)
    card = prepare(folder, folder / "out", **options)
    data = WindowedDataset.load(folder / "out")
    first = data.signals[data.windows["start"], 0] * 20
    return data.windows.assign(first=np.round(first, 3)), card


def test_windows_are_consecutive_rows_divided_by_20(tmp_path):
    windows, card = prepared(tmp_path, rows(300), rows(127, "sit", start=1000), rows(128, "bike", start=2000))
    assert windows["first"].tolist() == [0, 128, 0]
    assert [CLASSES[label] for label in windows["label"]] == ["walk", "walk", "bike"]
    data = WindowedDataset.load(tmp_path / "out")
    np.testing.assert_allclose(data.signals[:128] * 20, rows(128)[["x", "y", "z"]], rtol=1e-6)
    assert card["channels"] == ["x", "y", "z"]
    assert "No windows: domains B, C, D, E, F, G, H, I, J, K, L." in card["notes"]
    assert str(tmp_path) not in (tmp_path / "out/card.json").read_text()


def test_both_devices_of_a_model_belong_to_its_domain_but_share_no_window(tmp_path):
    one, two = rows(200, model="s3"), rows(200, model="s3", device=2, value=1000.0)
    mixed = pd.concat([one, two]).sample(frac=1, random_state=0)
    windows, _ = prepared(tmp_path, mixed)
    assert windows["first"].tolist() == [0, 1000]
    assert set(windows["domain"]) == {"B"}
    assert windows["recording"].nunique() == 2


def test_rows_are_taken_in_the_order_of_time_and_once(tmp_path):
    part = rows(256)
    again = part.iloc[[5, 200, 200]].assign(Index=9999, Arrival_Time=1)
    windows, card = prepared(tmp_path, pd.concat([part, again]).sample(frac=1, random_state=0))
    assert windows["first"].tolist() == [0, 128]
    assert "3 rows that repeat another were dropped." in card["notes"]
    same_time = part.iloc[[5]].assign(x=77.0)  # no duplicate: another value
    assert "0 rows that repeat another were dropped." in prepared(tmp_path, part, same_time)[1]["notes"]


def test_null_between_two_stretches_of_an_activity_ends_the_window(tmp_path):
    parts = rows(200), rows(3, "null", start=200), rows(200, start=203, value=203.0)
    windows, card = prepared(tmp_path, *parts)
    assert windows["first"].tolist() == [0, 203]
    assert "3 rows without a label (null) are in no window." in card["notes"]


def test_a_label_or_a_jump_of_the_clock_ends_the_window(tmp_path):
    windows, _ = prepared(tmp_path, rows(200), rows(200, "sit", start=200, value=200.0))
    assert windows["first"].tolist() == [0, 200]
    for gap, expected in ((5, [0, 128, 256]), (6, [0, 200]), (-100_000, [200, 0])):
        windows, _ = prepared(tmp_path, rows(200), rows(200, start=199 + gap, value=200.0))
        assert windows["first"].tolist() == expected, gap


def test_clocks_of_two_devices_are_not_compared(tmp_path):
    epoch = rows(200, start=280_000_000_000, device=2, value=1000.0)
    windows, _ = prepared(tmp_path, epoch, rows(200))
    assert windows["first"].tolist() == [0, 1000]


def test_legacy_windows_take_the_rows_as_they_come(tmp_path):
    parts = [rows(100), rows(100, device=2, value=500.0), rows(3, "null", start=100), rows(100, start=999)]
    windows, card = prepared(tmp_path, *parts, windows="legacy")
    assert windows["first"].tolist() == [0, 528]
    assert any("in the file's order" in note for note in card["notes"])
    assert card["options"] == {"windows": "legacy"}


def test_domains_are_users_and_models_and_others_are_counted(tmp_path):
    parts = [rows(128, user=user, model=model) for user, model in PLACES.values()]
    windows, card = prepared(tmp_path, *parts, rows(128, user="d"), rows(130, model="gear"))
    assert windows["domain"].tolist() == list("ABCDEFGHIJKL")
    assert card["domains"]["G"] == {"user": "b", "model": "s3mini"}
    assert "128 rows of user d are left out: it is in no domain." in card["notes"]
    assert "130 rows of model gear are left out: it is in no domain." in card["notes"]


def test_the_zip_is_the_csv(tmp_path):
    _, card = prepared(tmp_path / "csv", rows(300))
    (tmp_path / "zip").mkdir()
    with zipfile.ZipFile(tmp_path / "zip" / ZIP, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(tmp_path / "csv" / CSV, f"Activity recognition exp/{CSV}")
    steps = []
    zipped = prepare(
        tmp_path / "zip", tmp_path / "out", progress=lambda done, total: steps.append((done, total))
    )
    assert zipped["fingerprint"] == card["fingerprint"]
    assert steps[-1][0] == steps[-1][1]


def spoil(edit):
    def spoilt(folder):
        table = pd.concat([rows(200), rows(200, "sit")]).astype(object).reset_index(drop=True)
        (folder / CSV).write_text(edit(table).to_csv(index=False))

    return spoilt


def cut(folder):
    prepared(folder, rows(200))
    with zipfile.ZipFile(folder / ZIP, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(folder / CSV, CSV)
    (folder / ZIP).write_bytes((folder / ZIP).read_bytes()[:900])
    (folder / CSV).unlink()


def set_cell(column, value):
    def edit(table):
        table.loc[30, column] = value
        return table

    return spoil(edit)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: None, "holds neither Phones_accelerometer.csv nor Activity recognition exp.zip"),
        (spoil(lambda table: table.drop(columns="gt")), "Phones_accelerometer.csv: damaged or not"),
        (spoil(lambda table: table[:100]), "not one window of 128 rows"),
        (spoil(lambda table: table[:0]), "no rows|not one window"),
        (set_cell("gt", "run"), "gt 'run' is none of null, bike"),
        (set_cell("x", "abc"), "damaged or not in the official layout .*invalid value 'abc'"),
        (set_cell("y", ""), "y is empty in some rows"),
        (set_cell("z", "nan"), "z is (not finite|empty) in some rows|x, y or z is not finite"),
        (set_cell("Creation_Time", ""), "Creation_Time is empty"),
        (lambda folder: (folder / CSV).write_text("<html>"), "damaged or not in the official layout"),
        (lambda folder: (folder / CSV).touch(), "damaged or not in the official layout"),
        (cut, "Activity recognition exp.zip: damaged or not"),
    ],
)
def test_a_bad_file_is_named_with_a_remedy_and_the_old_data_set_stays(tmp_path, damage, words):
    prepared(tmp_path / "old", rows(128))
    raw = tmp_path / "raw"
    raw.mkdir()
    damage(raw)
    with pytest.raises(InputError, match=words) as caught:
        prepare(raw, tmp_path / "old/out")
    assert "tsdg fetch hhar" in str(caught.value)
    assert str(raw) in str(caught.value)
    WindowedDataset.load(tmp_path / "old/out")


def test_an_unknown_option_is_named(tmp_path):
    with pytest.raises(InputError, match="windows: 'device' is unknown"):
        prepare(tmp_path, tmp_path / "out", windows="device")


@pytest.mark.slow
def test_simulated_rows_have_every_trap_and_every_domain(tmp_path):
    simulate(tmp_path / "raw", rows=200_000)
    table = pd.read_csv(tmp_path / "raw" / CSV)
    assert tuple(table.columns[:10]) == COLUMNS
    assert len(table) == pytest.approx(200_000, rel=0.02)
    assert (table["gt"].isna() | (table["gt"] == "null")).any()
    assert table.duplicated(["Creation_Time", "x", "y", "z", "Device"]).any()
    assert (table["Creation_Time"].diff() < 0).any()
    card = prepare(tmp_path / "raw", tmp_path / "out")
    assert card["simulated"] is True
    assert all(count for of_class in card["counts"].values() for count in of_class.values())
    before = (tmp_path / "raw" / CSV).read_bytes()
    simulate(tmp_path / "raw", rows=200_000)
    assert (tmp_path / "raw" / CSV).read_bytes() == before
    simulate(tmp_path / "raw", rows=200_000, seed=1)
    assert (tmp_path / "raw" / CSV).read_bytes() != before


def test_real_rows_are_never_overwritten(tmp_path):
    prepared(tmp_path, rows(128))
    before = (tmp_path / CSV).read_bytes()
    with pytest.raises(InputError, match="not simulated, which would be lost"):
        simulate(tmp_path)
    assert (tmp_path / CSV).read_bytes() == before
    for option in ({"rows": 9}, {"seed": -1}):
        with pytest.raises(InputError, match=next(iter(option))):
            simulate(tmp_path / "new", **option)


@real
def test_the_real_head_gives_the_windows_counted_by_hand(tmp_path):
    """10,000 rows of one stand, in time order; four gaps leave 771, 670, 761, 677 and 7,121 rows."""
    (tmp_path / CSV).symlink_to((REAL / "Phones_accelerometer.head.csv").resolve())
    card = prepare(tmp_path, tmp_path / "out")
    windows = WindowedDataset.load(tmp_path / "out").windows
    assert windows.groupby("recording", sort=False).size().tolist() == [6, 5, 5, 5, 55]
    assert card["counts"]["A"]["stand"] == len(windows) == 76
    assert card["simulated"] is False
    assert prepare(tmp_path, tmp_path / "out", windows="legacy")["counts"]["A"]["stand"] == 10_000 // 128
