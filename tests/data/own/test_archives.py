"""Windows already cut, as archives of time series classification have them."""

import warnings

import numpy as np
import pytest

from tsdg.data.own import archives
from tsdg.data.own.check import check_table
from tsdg.data.own.prepare import prepare
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError

WINDOWS = np.random.default_rng(0).normal(size=(18, 30, 2)).round(4)  # N, T, C; six of each domain
LABEL = ["a", "b", "b"] * 6


def cells(values):
    return ",".join(str(value) for value in values)


def write_ts(path, windows, labels):
    lines = [":".join([*map(cells, window.T), label]) for window, label in zip(windows, labels, strict=True)]
    head = "# two classes\n@problemName Mine\n@timeStamps false\n@univariate false\n@classLabel true a b\n"
    path.write_text(head + "@data\n" + "\n".join(lines) + "\n")


def write_arff(path, windows, labels):
    lines = ["\\n".join(map(cells, window.T)) for window in windows]
    steps = "".join(f"@attribute t{step} numeric\n" for step in range(windows.shape[1]))
    head = f"@relation Mine\n\n@attribute Mine relational\n{steps}@end M\n@attribute class {{a,b}}\n\n@data\n"
    rows = [f"'{line}',{label}" for line, label in zip(lines, labels, strict=True)]
    path.write_text(head + "\n".join(rows) + "\n")


@pytest.mark.parametrize("form", ["ts", "arff"])
def test_files_of_a_domain_each_are_windows(tmp_path, form, monkeypatch):
    monkeypatch.setattr(archives, "_BYTES", 2000)  # four windows at once
    raw = tmp_path / "raw"
    raw.mkdir()
    write = {"ts": write_ts, "arff": write_arff}[form]
    for k, domain in enumerate(("u", "v", "w")):
        write(raw / f"mine_{domain}.{form}", WINDOWS[6 * k : 6 * k + 6], LABEL[6 * k : 6 * k + 6])
    _, entry = check_table(raw, files=f"*_{{domain}}.{form}")
    assert list(entry["domains"]) == ["u", "v", "w"]
    assert entry["split"] == "random"
    prepare(raw, tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    data = WindowedDataset.load(tmp_path / "out")
    np.testing.assert_array_equal(data.signals.reshape(WINDOWS.shape), WINDOWS.astype(np.float32))
    assert data.windows["label"].tolist() == [0, 1, 1] * 6


def test_series_of_unequal_lengths_are_recordings(tmp_path):
    lengths = np.random.default_rng(0).integers(20, 50, 18)
    series = [np.random.default_rng(n).normal(size=(length, 2)).round(4) for n, length in enumerate(lengths)]
    raw = tmp_path / "raw"
    raw.mkdir()
    for k, domain in enumerate(("u", "v", "w")):
        path = raw / f"mine_{domain}.ts"
        write_ts(path, series[6 * k : 6 * k + 6], LABEL[6 * k : 6 * k + 6])
        path.write_text(path.read_text().replace("@univariate", "@equalLength false\n@univariate"))
    lines, entry = check_table(raw, files="*_{domain}.ts", window=10)
    assert f"{raw}: 18 recordings of {min(lengths)} to {max(lengths)} time steps" in "\n".join(lines)
    assert entry["split"] == "blocked"
    card = prepare(raw, tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    data = WindowedDataset.load(tmp_path / "out")
    assert data.windows.groupby("recording", sort=False).size().tolist() == (lengths // 10).tolist()
    assert data.windows["recording"].iloc[-1] == "w mine_w-6"
    np.testing.assert_array_equal(data.signals, np.concatenate(series).astype(np.float32))
    assert card["channels"] == ["channel0", "channel1"]


def test_a_first_series_of_one_step_is_no_fault(tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    rng = np.random.default_rng(0)
    for domain in "uvw":
        path = raw / f"mine_{domain}.ts"
        write_ts(path, [rng.normal(size=(length, 2)) for length in (1, 40, 40)], ["a", "a", "b"])
        path.write_text(path.read_text().replace("@univariate", "@equalLength false\n@univariate"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lines, entry = check_table(raw, files="*_{domain}.ts")
    assert entry["prepare"]["window"] == 32
    assert entry["prepare"]["channels"] == ["channel0", "channel1"]
    assert f"{raw}: 9 recordings of 1 to 40 time steps (median 40)" in lines


def test_a_flat_arff_is_a_table_with_a_row_a_window(tmp_path):
    head = "@relation Mine\n" + "".join(f"@attribute att{t} numeric\n" for t in range(30))
    head += '@attribute "who" {u,v,w}\n@attribute target {a,b}\n@data\n'
    flat = WINDOWS[..., 0]
    rows = [f"{cells(row)},{'uvw'[n // 6]},{LABEL[n]}" for n, row in enumerate(flat)]
    rows[1] = "?" + rows[1][rows[1].index(",") :]
    (tmp_path / "t.arff").write_text(head + "\n".join(rows) + "\n")
    lines, entry = check_table(tmp_path / "t.arff", domain=["who"])
    assert "label: target, by its name; --label says otherwise" in lines
    prepare(tmp_path / "t.arff", tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    signals = WindowedDataset.load(tmp_path / "out").signals.reshape(flat.shape)
    assert np.isnan(signals[1, 0])
    np.testing.assert_allclose(np.delete(signals, 30), np.delete(flat, 30).astype(np.float32))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.ts", "@classLabel true a b\n1,2,3:a\n", "no line @data"),
        ("t.ts", "@timeStamps true\n@data\n(0,1),(1,2):a\n", "a time with each value"),
        ("t.ts", "@classLabel true a\n@data\n1,2:a\n1,2,x:a\n", "line 4: could not convert string to float"),
        (
            "t.ts",
            "@classLabel true a\n@data\n1,2:a\n1,2,3:a\n",
            "window 2 has 1 channels of 3 time steps, .* or say `@equalLength false`",
        ),
        (
            "t.ts",
            "@equalLength false\n@classLabel true a\n@data\n1,2:a\n1,2,3:4,5,6:a\n",
            "recording 2 has 2 channels, the first 1",
        ),
        ("t.ts", "@classLabel true 1.0 b\n@data\n1,2:1\n1,2:B\n1,2:c\n", "line 5: label 'c' is not one of"),
        ("t.ts", "@classLabel true a\n@data\n1,2:1,2,3:a\n", "line 3: its channels are not of one length"),
        (
            "t.arff",
            "@relation x\n@attribute t string\n@data\nhello\n",
            "String attributes not supported",
        ),
        ("t.arff", "nothing\n", "t.arff: "),
    ],
)
def test_a_faulty_archive_is_refused(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=words):
        check_table(tmp_path / name, domain=["label"])
