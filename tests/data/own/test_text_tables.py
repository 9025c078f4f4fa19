"""Text tables and feather files give what a csv gives."""

import gzip
import re

import numpy as np
import pandas as pd
import pytest

from tsdg.data.own import tables
from tsdg.data.own.check import check_table
from tsdg.data.own.prepare import prepare
from tsdg.data.own.raw import open_source, source_files
from tsdg.data.own.recordings import Columns
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError

DOMAINS = {name: {"user": number} for number, name in enumerate("ABC")}
STEPS = 40


def people():
    """A recording of each of three people, one half of it sit, the other walk."""
    rng = np.random.default_rng(0)
    label = np.repeat(["sit", "walk"], STEPS // 2)
    parts = [
        pd.DataFrame({"recording": f"r{user}", "user": user, "x": rng.normal(size=STEPS), "label": label})
        for user in range(3)
    ]
    return pd.concat(parts, ignore_index=True)


def test_every_table_is_one_data_set(tmp_path):
    people().to_csv(tmp_path / "t.csv", index=False)
    people().to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    people().to_csv(tmp_path / "t.txt", index=False, sep=";")
    people().to_csv(tmp_path / "t.csv.gz", index=False)
    people().to_csv(tmp_path / "T.TSV.GZ", index=False, sep="\t", compression="gzip")
    people().to_feather(tmp_path / "t.feather")
    options = {"domains": DOMAINS, "window": 10, "channels": ["x"]}
    cards = {path.name: prepare(path, tmp_path / "out", **options) for path in tmp_path.glob("[tT].*")}
    assert len(cards) == 6
    assert len({card["fingerprint"] for card in cards.values()}) == 1
    assert "Cells are separated by ';', as its first line says." in cards["t.txt"]["notes"]
    assert source_files(tmp_path / "t.csv.gz") == ["t.csv.gz"]


def test_a_file_that_is_not_compressed_as_it_says_is_refused(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(b"x,label\n1,a\n")
    with pytest.raises(InputError, match="holds text or something else, not what its name says"):
        check_table(tmp_path / "t.csv.gz", domain=["label"])
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(people().to_csv().encode())[:-9])
    with pytest.raises(InputError, match=re.escape("t.csv.gz: ")):
        check_table(tmp_path / "t.csv.gz", domain=["user"])


@pytest.mark.parametrize("zipped", [False, True])
def test_several_spaces_are_one_separator(tmp_path, zipped, monkeypatch):
    monkeypatch.setattr(tables, "_BYTES", 1000)  # blocks that end within lines
    rows = np.column_stack([[1, 2] * 6, np.arange(12 * 30).reshape(12, 30)])
    np.savetxt(tmp_path / ("t.txt.gz" if zipped else "t.txt"), rows, fmt="%16.7e", newline="  \r\n")
    source = open_source(tmp_path / ("t.txt.gz" if zipped else "t.txt"))  # as UCR's were until 2018
    assert source.names == ["label", *(f"x_{step}" for step in range(30))]
    assert source.settled == {"rows": "windows"}
    blocks = list(source.read(Columns(source.names), source))
    np.testing.assert_array_equal(np.concatenate([block.signal for block in blocks]), rows)


def test_rows_that_a_semicolon_ends_need_names_of_columns(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_BYTES", 200)
    frame = people().assign(x=lambda rows: rows["x"].round(6))
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = {"domains": DOMAINS, "window": 10, "channels": ["x"]}
    expected = prepare(tmp_path / "t.csv", tmp_path / "out", **options)["fingerprint"]
    lines = (tmp_path / "t.csv").read_text().splitlines()[1:]
    text = ";\n".join([*lines[:9], ";".join(lines[9:12]), *lines[12:]]) + ";\n\n"  # three rows in one line
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(InputError, match=r"the first row holds numbers \(0.12573\); .* --header"):
        check_table(tmp_path / "t.txt", domain=["user"])
    names = list(frame)
    card = prepare(tmp_path / "t.txt", tmp_path / "out", header=names, **options)
    assert card["fingerprint"] == expected
    for header, words in (
        (names[:3], "names 3 columns, and the first line has 4 cells"),
        (["r0", "0", "0.12573", "sit"], "its first line has these names"),
    ):
        with pytest.raises(InputError, match=words):
            prepare(tmp_path / "t.txt", tmp_path / "out", header=header, **options)
    (tmp_path / "t.txt").write_text(text.replace("walk;", "walk,;", 1))
    with pytest.raises(InputError, match=r"Expected 4 columns, got 5: r0,0,.*,walk,"):
        prepare(tmp_path / "t.txt", tmp_path / "out", header=names, **options)
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"header: is of texts"):
        prepare(tmp_path / "t.parquet", tmp_path / "out", header=names, **options)


def test_ucr_files_are_windows_with_the_label_first(tmp_path):
    rng = np.random.default_rng(0)
    windows = rng.normal(size=(3, 12, 30))
    label = np.repeat([-1, 1], 6)  # sorted, so that nothing else says that a row is a window
    for index, part in enumerate(windows):
        np.savetxt(tmp_path / f"{index}.tsv", np.column_stack([label, part]), delimiter="\t", fmt="%.9g")
    table = pd.DataFrame({"file": [f"{n}.tsv" for n in range(3)], "user": range(3)})
    table.to_csv(tmp_path / "metadata.csv", index=False)
    lines, entry = check_table(tmp_path, domain=["user"])
    assert any("a row is a window, its label first" in line for line in lines)
    prepare(tmp_path, tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    data = WindowedDataset.load(tmp_path / "out")
    np.testing.assert_allclose(data.signals.reshape(36, 30), windows.reshape(36, 30), rtol=1e-6)
    assert data.windows["label"].tolist() == [0] * 6 + [1] * 6 + [0] * 6 + [1] * 6 + [0] * 6 + [1] * 6
