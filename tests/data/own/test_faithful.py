"""What a file holds is what is read, and what is suspicious in it is said."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tsdg.data.own.check import check_table
from tsdg.data.own.prepare import prepare
from tsdg.data.own.raw import open_source
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning.inputs import Windows

DOMAINS = {name: {"dom": name} for name in "uvw"}
LENGTH = 24


def table(rows=LENGTH, seed=0):
    """A recording of each of two classes in each of three domains."""
    rng = np.random.default_rng(seed)
    return pd.concat(
        [
            pd.DataFrame({"rec": d + k, "dom": d, "label": k, "x": rng.normal(size=rows), "y": rng.normal(size=rows)})  # noqa: E501
            for d in "uvw" for k in ("sit", "walk")
        ],
        ignore_index=True,
    )  # fmt: skip


def said(tmp_path, frame, **options):
    """What `check` says of a table, and its entry."""
    frame.to_csv(tmp_path / "data.csv", index=False)
    options = {"domain": ["dom"], "recording": "rec", "window": 8} | options
    lines, entry = check_table(tmp_path / "data.csv", **options)
    return "\n".join(lines) + "\n", entry["prepare"]


TEXTS = st.text(st.characters(categories=("L", "N", "P", "Zs")), min_size=1, max_size=5) | st.sampled_from(
    ["NA", "null", "None", "nan", "N/A", "true", "1.0", "-0", "1e5", '"', ",", "'"]
)
CELLS = st.floats(allow_infinity=False) | st.sampled_from([-0.0, 0.1, 16777217.0, 1e-40, 3e38])


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    labels=st.lists(TEXTS, min_size=2, max_size=3, unique_by=lambda text: text.strip()),
    cells=st.lists(CELLS, min_size=1, max_size=12),
    empty=st.booleans(),
)
def test_csv_parquet_and_npz_of_a_table_are_one_data_set(labels, cells, empty):
    size = 8 * 3 * len(labels)
    x = np.resize(np.array(cells), size)
    x[np.abs(x) > 3e38] = np.nan  # beyond float32
    frame = pd.DataFrame({"x": x, "y": np.arange(size) * 0.1})
    frame["label"] = np.tile(np.repeat(np.array(labels, object), 8), 3)
    frame["dom"] = np.repeat(["u", "v", "w"], size // 3)
    frame["rec"] = [f"r{n // 8}" for n in range(size)]
    if empty:
        frame.loc[:3, "label"] = ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame.to_csv(folder / "t.csv", index=False)
        frame.to_parquet(folder / "t.parquet")
        signal = frame[["x", "y"]].to_numpy()
        rest = {column: frame[column].to_numpy(dtype=str) for column in ("label", "dom", "rec")}
        np.savez(folder / "t.npz", signal=signal, columns=np.array(["x", "y"]), **rest)
        options = {"domains": DOMAINS, "window": 4, "recording": "rec", "channels": ["x", "y"]}
        results = []
        for form in ("csv", "parquet", "npz"):
            try:
                results.append(prepare(folder / f"t.{form}", folder / "out", **options)["fingerprint"])
            except InputError as error:
                results.append(str(error).split(": ", 1)[1])
    assert results[0] == results[1] == results[2]


def test_only_an_empty_cell_is_empty(tmp_path):
    frame = table().replace({"label": {"walk": "null"}, "dom": {"w": "NA"}})
    text, options = said(tmp_path, frame)
    assert options["classes"] == ["null", "sit"]
    assert "NA" in text
    assert "label (none)" not in text


def test_an_index_without_a_name_is_no_channel(tmp_path):
    table().sample(frac=1, random_state=0).sort_values("rec", kind="stable").to_parquet(
        tmp_path / "data.parquet"
    )
    _, entry = check_table(tmp_path / "data.parquet", domain=["dom"], recording="rec", window=8)
    assert entry["prepare"]["channels"] == ["x", "y"]


def test_a_channel_that_begins_empty_is_one(tmp_path, monkeypatch):
    monkeypatch.setattr("tsdg.data.own.tables._BYTES", 300)
    frame = table()
    frame.loc[:60, "y"] = np.nan
    frame["note"] = np.where(frame.index > 60, "ok", "")
    frame["nothing"] = ""
    assert said(tmp_path, frame)[1]["channels"] == ["x", "y"]
    assert prepare(
        tmp_path / "data.csv", tmp_path / "out", domains=DOMAINS, window=8, recording="rec", channels=["y"]
    )


@pytest.mark.parametrize("index", [pa.uint32(), pa.int8()])
def test_categories_are_texts(tmp_path, index):
    arrow = pa.Table.from_pandas(table(), preserve_index=False)
    for name in ("rec", "dom", "label"):
        codes = arrow[name].combine_chunks().dictionary_encode().cast(pa.dictionary(index, pa.large_string()))
        arrow = arrow.set_column(arrow.schema.get_field_index(name), name, codes)
    pa.parquet.write_table(arrow, tmp_path / "data.parquet")
    _, entry = check_table(tmp_path / "data.parquet", domain=["dom"], recording="rec", window=8)
    assert entry["prepare"]["classes"] == ["sit", "walk"]


def test_texts_written_as_bytes_are_texts(tmp_path):
    arrow = pa.Table.from_pandas(table(), preserve_index=False)
    for name in ("rec", "dom", "label"):
        arrow = arrow.set_column(arrow.schema.get_field_index(name), name, arrow[name].cast(pa.binary()))
    pa.parquet.write_table(arrow, tmp_path / "data.parquet")
    _, entry = check_table(tmp_path / "data.parquet", domain=["dom"], recording="rec", window=8)
    assert entry["prepare"]["classes"] == ["sit", "walk"]


def test_the_first_offending_value_is_named(tmp_path):
    frame = table().astype({"x": object})
    frame.loc[0, "x"], frame.loc[30, "x"] = "NaN", "?"
    with pytest.raises(InputError, match=r"'x' holds the text '\?' in row 31"):
        said(tmp_path, frame, channels=["x", "y"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull"),
        ("x,label\n1,a\n".encode("utf-16"), "UTF-16; save the file as UTF-8"),
        ("x,label\n1,süß\n".encode("latin-1"), "iconv -f LATIN1"),
    ],
)
def test_a_file_that_is_no_utf8_text_is_named(tmp_path, content, words):
    (tmp_path / "data.csv").write_bytes(content)
    with pytest.raises(InputError, match=words):
        check_table(tmp_path / "data.csv", domain=["label"])


def test_what_is_suspicious_is_said(tmp_path):
    frame = table()
    frame.loc[[3, 30, 31], "x"] = -999
    twin = frame[frame["rec"] == "usit"].assign(rec="copy", dom="v")
    rare = frame[frame["rec"] == "wwalk"].assign(rec="odd", label="rare").iloc[:8]
    text, _ = said(tmp_path, pd.concat([frame, twin, rare]))
    assert "suspicious values: x -999 (4 times)" in text
    assert "duplicate recordings: copy is usit under another name" in text
    assert "classes of one domain: rare in w alone" in text
    assert "imbalance: sit 55% of the windows, rare 4.5%; whoever always says sit" in text
    assert "suspicious values" not in said(tmp_path, table())[0]
    steps = table().assign(t=np.tile(np.arange(LENGTH), 6))
    assert "50 times the rate" in said(tmp_path, steps, time="t", resample=50)[0]


def test_a_class_without_a_window_is_dropped_or_refused(tmp_path):
    frame = table()
    frame.loc[5:7, "label"] = "fall"
    text, options = said(tmp_path, frame)
    assert options["classes"] == ["sit", "walk"]
    assert "Label fall is no class: its longest stretch is 3 time steps, a window 8." in text
    with pytest.raises(InputError, match="'fall' has no window: its longest stretch is 3"):
        said(tmp_path, frame, classes=["fall", "sit", "walk"])
    frame["label"] = frame["label"].replace("walk", "sit")
    with pytest.raises(InputError, match=r"one class only, sit; .* no window of 8 is of fall"):
        said(tmp_path, frame)


def test_nothing_is_carried_into_a_padded_window_or_over_a_gap(tmp_path):
    frame = table().assign(t=np.tile(np.arange(LENGTH) / 10, 6))
    frame.loc[frame.index % LENGTH > 11, "t"] += 3600  # an hour
    frame.loc[12, "x"] = np.nan  # the first after it
    frame.loc[LENGTH : LENGTH + 2, "label"] = "sit"  # three steps, padded; the first is missing
    frame.loc[LENGTH, "x"] = np.nan
    frame.to_csv(tmp_path / "data.csv", index=False)
    options = {"domains": DOMAINS, "window": 4, "recording": "rec", "time": "t", "channels": ["x"]}
    prepare(tmp_path / "data.csv", tmp_path / "out", short="pad", **options)
    data = WindowedDataset.load(tmp_path / "out")
    views = Windows(data).views.numpy()[data.windows["start"], 0]
    raw = data.signals[data.windows["start"].to_numpy()[:, None] + np.arange(4), 0]
    assert np.isnan(raw).sum() == 2
    np.testing.assert_array_equal(np.isnan(views), np.isnan(raw))


def test_a_text_without_a_mark_of_its_coding_is_told_by_its_line(tmp_path):
    rows = "x,label\n" + "1,a\n" * 70 + "1,süß\n"
    for coding, words in (("utf-16-le", "NUL characters, as UTF-16"), ("latin-1", "line 72 is not UTF-8")):
        (tmp_path / "data.csv").write_bytes(rows.encode(coding))
        with pytest.raises(InputError, match=words):
            check_table(tmp_path / "data.csv", domain=["label"])


@pytest.mark.parametrize("name", ["metadata.csv", "a.csv", "X.npy"])
def test_a_link_out_of_the_folder_is_not_followed(tmp_path, monkeypatch, name):
    folder = tmp_path / "raw"
    folder.mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    (folder / "a.csv").write_text("x,label\n1,a\n")
    (folder / "metadata.csv").write_text("file,who\na.csv,1\n")
    if name == "X.npy":
        (folder / "metadata.csv").unlink()
        np.save(folder / "X.npy", np.zeros((2, 3, 1)))
    open_source(folder)
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    with pytest.raises(InputError, match=rf"{name}: is a link to .*outside of"):
        open_source(folder)
    (tmp_path / "link").symlink_to(folder)  # a link to all of it is the user's own
    (folder / name).unlink()
    (tmp_path / name).rename(folder / name)
    open_source(tmp_path / "link")


def test_an_npz_of_more_than_the_memory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "x.npz", signal=np.zeros((1 << 20, 2), np.float32))
    monkeypatch.setattr("os.sysconf", lambda name: 1024)
    with pytest.raises(InputError, match=r"x\.npz: its arrays are .* GB, and this machine has"):
        open_source(tmp_path / "x.npz")
