"""Windows that are already cut: taken from arrays and tables as they are, and never from one by mistake."""

import numpy as np
import pandas as pd
import pytest

from tsdg.data.own.check import check_table
from tsdg.data.own.cut import numbered
from tsdg.data.own.prepare import prepare
from tsdg.data.split import TRAIN, VALIDATION, split
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.runs.job import train_job
from tsdg.runs.record import read
from tsdg.study.study import Study

N, T, C = 24, 40, 3
WINDOWS = np.random.default_rng(0).normal(size=(N, T, C)).astype(np.float32)
LABEL, DOMAIN = np.arange(N) % 2, np.arange(N) % 3


def taken(tmp_path, raw, **options):
    """The lines of `check`, its entry, and the data set that the entry makes."""
    lines, entry = check_table(raw, **options)
    prepare(raw, tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    return "\n".join(lines), entry, WindowedDataset.load(tmp_path / "out")


def wide(windows=WINDOWS, names="xyz", **columns):
    """A table with a row a window."""
    cells = {f"{name}_{t}": windows[:, t, c] for c, name in enumerate(names) for t in range(windows.shape[1])}
    return pd.DataFrame({"label": LABEL, "dom": DOMAIN} | columns | cells)


@pytest.mark.parametrize("form", ["npz", "folder of npy"])
@pytest.mark.parametrize("axes", ["NTC", "NCT"])
@pytest.mark.parametrize(
    "names", [("X", "y", "domain"), ("data", "labels", "subject"), ("signal", "label", "d")]
)
def test_arrays_are_taken_whatever_their_axes_and_names(tmp_path, form, axes, names):
    x = WINDOWS if axes == "NTC" else WINDOWS.transpose(0, 2, 1)
    arrays = dict(zip(names, (x, LABEL, DOMAIN), strict=True))
    raw = tmp_path / ("win.npz" if form == "npz" else "win")
    if form == "npz":
        np.savez(raw, **arrays)
    else:
        raw.mkdir()
        for name, array in arrays.items():
            np.save(raw / name, array)
    text, entry, data = taken(tmp_path, raw)
    assert f"{axes}, the shorter axis being the channels'" in text
    assert entry["prepare"]["axes"] == axes
    np.testing.assert_array_equal(data.signals.reshape(N, T, C), WINDOWS)
    assert data.windows["label"].tolist() == LABEL.tolist()
    assert data.windows["domain"].tolist() == [f"{names[2]}{k}" for k in DOMAIN]


def test_axes_that_are_alike_are_asked_about(tmp_path):
    np.savez(tmp_path / "win.npz", X=WINDOWS[:, :C], y=LABEL, domain=DOMAIN)
    with pytest.raises(InputError, match="which axis is the time"):
        check_table(tmp_path / "win.npz")
    data = taken(tmp_path, tmp_path / "win.npz", axes="NCT")[2]
    assert data.card["window"] == {"length": 8, "stride": 8, "short": "pad", "cut": "windows"}
    np.testing.assert_array_equal(data.signals[data.windows["start"][1] + np.arange(C)].T, WINDOWS[1, :C])


def test_a_wide_table_is_taken_where_its_rows_say_so(tmp_path):
    raw = tmp_path / "wide.csv"
    wide().to_csv(raw, index=False)
    text, entry, data = taken(tmp_path, raw, domain=["dom"])
    assert "A row is a window, since label, dom change from row to row" in text
    assert entry["prepare"]["channels"] == ["x", "y", "z"]
    assert entry["prepare"]["rows"] == "windows"
    np.testing.assert_allclose(data.signals.reshape(N, T, C), WINDOWS, rtol=1e-6)
    order = np.lexsort((LABEL, DOMAIN))  # now the labels do not change from row to row, but ids do
    wide(id=[f"w{n}" for n in range(N)]).iloc[order].to_csv(raw, index=False)
    assert "since every id has one row" in taken(tmp_path, raw, domain=["dom"])[0]


def test_a_wide_table_of_which_nothing_tells_is_asked_about(tmp_path):
    raw = tmp_path / "wide.parquet"
    wide().iloc[np.lexsort((LABEL, DOMAIN))].to_parquet(raw)
    with pytest.raises(InputError, match=r"is a row a window\?.* x_0 to x_39"):
        check_table(raw, domain=["dom"])
    assert taken(tmp_path, raw, domain=["dom"], rows="windows")[2].card["channels"] == ["x", "y", "z"]
    assert len(check_table(raw, domain=["dom"], rows="steps", window=2)[1]["prepare"]["channels"]) == T * C


def test_numbered_channels_of_time_steps_stay_such(tmp_path):
    """Sensors whose values move slowly, an axis 1 to 3, and anything with a time."""
    steps = np.cumsum(np.random.default_rng(0).normal(size=(240, 16)), 0)
    of_row = {"label": np.arange(240) // 20 % 2, "dom": np.arange(240) // 80}
    for width, more in ((16, {}), (3, {}), (16, {"time": np.arange(240) / 10})):
        cells = {f"ch_{k}": steps[:, k] for k in range(width)}
        pd.DataFrame(of_row | more | cells).to_csv(tmp_path / "steps.csv", index=False)
        assert taken(tmp_path, tmp_path / "steps.csv", domain=["dom"], window=10)[2].cut is None


def test_numbers_of_columns():
    assert numbered(["t0_acc", "t1_acc", "t2_acc", "id"]) == {"acc": ["t0_acc", "t1_acc", "t2_acc"]}
    assert numbered(["2", "0", "1", "label"]) == {"x": ["0", "1", "2"]}
    assert numbered(["a[0]", "a[1]", "a[2]", "b1", "b3", "b4"]) == {"a": ["a[0]", "a[1]", "a[2]"]}


def test_windows_without_order_are_blocked_by_recording_or_not_at_all(tmp_path):
    sessions = np.arange(N) // 3 % 4 * 3 + DOMAIN
    np.savez(tmp_path / "win.npz", X=WINDOWS, y=LABEL, domain=DOMAIN, session=sessions)
    _, entry, data = taken(tmp_path, tmp_path / "win.npz")
    assert (entry["split"], data.cut) == ("blocked", "recordings")
    for seed in range(5):
        parts = split(data.windows, seed=seed, method="blocked", cut=data.cut)
        sides = data.windows.assign(part=parts).groupby("recording")["part"].nunique()
        assert (sides == 1).all()
        assert set(parts) == {TRAIN, VALIDATION}
    np.savez(tmp_path / "win.npz", X=WINDOWS, y=LABEL, domain=DOMAIN)
    _, entry, data = taken(tmp_path, tmp_path / "win.npz")
    assert entry["split"] == "random"
    with pytest.raises(InputError, match="no column names the recording"):
        split(data.windows, seed=0, method="blocked", cut=data.cut)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"y": LABEL.astype(object)}, "array 'y' holds Python objects.*`y.astype"),
        ({"y": np.eye(2)[LABEL]}, "save `y.argmax"),
        ({"X": WINDOWS.astype(str)}, "windows are numbers"),
        ({"X": np.where(WINDOWS > 3, np.inf, WINDOWS)}, "is infinite"),
        ({"y": LABEL[:-1]}, r"must be \(24,\)"),
    ],
)
def test_faulty_arrays_are_named(tmp_path, arrays, words):
    np.savez(tmp_path / "win.npz", **({"X": WINDOWS, "y": LABEL, "domain": DOMAIN} | arrays))
    with pytest.raises(InputError, match=words):
        check_table(tmp_path / "win.npz")


def test_files_of_torch_are_refused_with_what_converts_them(tmp_path):
    (tmp_path / "train.pt").write_bytes(b"PK\3\4")
    with pytest.raises(InputError, match=r"torch.load\('train.pt'\).*numpy.savez\('train.npz'"):
        check_table(tmp_path / "train.pt")


def test_windows_of_one_row_repeated_are_refused(tmp_path):
    wide().to_csv(tmp_path / "wide.csv", index=False)
    with pytest.raises(InputError, match=r"one row repeated.*rows: windows"):
        check_table(tmp_path / "wide.csv", domain=["dom"], rows="steps", short="pad", window=4)


@pytest.mark.parametrize("length", [4, 40])
def test_the_entry_of_windows_trains(tmp_path, params, length):
    wide(WINDOWS[:, :length]).to_csv(tmp_path / "wide.csv", index=False)
    _, entry, _ = taken(tmp_path, tmp_path / "wide.csv", domain=["dom"])
    params["datasets"]["mine"] = entry
    params["tables"]["mine"] = {"dataset": "mine", "rows": ["erm"], "metrics": ["accuracy"], "caption": "-"}
    study = Study(params)
    prepare(entry["raw"], tmp_path / "mine", domains=entry["domains"], **entry["prepare"])
    job = {"targets": ["dom1"], "seeds": [0], "draws": ["fixed"], "out": tmp_path / "runs"}
    (path,) = train_job(study, tmp_path / "mine", dataset="mine", variant="erm", **job)
    assert read(path).checkpoints[-1].target.n == N // 3
