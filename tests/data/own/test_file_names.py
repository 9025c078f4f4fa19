"""Names of files and folders that say what is in them."""

import re

import numpy as np
import pandas as pd
import pytest

from tsdg.data.kinds import KINDS
from tsdg.data.own.check import check_table
from tsdg.data.own.file_names import read_names
from tsdg.data.own.prepare import prepare
from tsdg.errors import InputError


@pytest.fixture
def folder(tmp_path):
    """Six recordings in folders of three sites, and two other files."""
    raw = tmp_path / "raw"
    rng = np.random.default_rng(0)
    for site in ("north", "south", "west"):
        (raw / site).mkdir(parents=True)
        for label in ("sit", "walk"):
            table = pd.DataFrame(rng.normal(size=(30, 2)), columns=["x", "y"])
            table.to_csv(raw / site / f"{label}_load2_10.csv", index=False)
    (raw / "README.md").write_text("recorded in spring")
    (raw / "west" / "notes.csv").write_text("when,what\n1,2\n")
    return raw


def test_a_folder_needs_no_metadata_where_names_say_it(tmp_path, folder):
    pattern = "{domain}/{label}_load{load}_{recording}.csv"
    said = []
    _, entry = check_table(folder, files=pattern, window=10, said_before=said.extend)
    assert said[0] == f"{folder}: 6 files match {pattern}; 2 not, such as README.md, west/notes.csv"
    first = "north/sit_load2_10.csv"  # names the recording too, as number 10 is there more than once
    assert said[2].split() == [first, "north", "sit", "2", first]
    assert said[8:11] == ["domain: north 2, south 2, west 2", "label: sit 3, walk 3", "load: 2 6"]
    assert list(entry["domains"]) == ["north", "south", "west"]
    card = prepare(folder, tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    assert card["counts"]["west"] == {"sit": 3, "walk": 3}
    full = {"kind": "table", "raw": str(folder), "source": "own", "prepare": entry["prepare"]}
    names = KINDS["table"].raw_names(full)
    assert names == [f"{site}/{label}_load2_10.csv" for site in ("north", "south", "west")
                     for label in ("sit", "walk")]  # fmt: skip
    assert [source["file"] for source in card["sources"]] == [name.split("/")[1] for name in names]


def test_numbers_in_names_are_in_their_order(tmp_path):
    for name in ("a10.csv", "a9.csv", "b1.csv", ".a1.csv"):
        (tmp_path / name).touch()
    table, others = read_names(tmp_path, "{recording}.csv")
    assert table["file"].tolist() == ["a9.csv", "a10.csv", "b1.csv"]
    assert others == []


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("{label}{recording}.csv", "two parts that nothing stands between"),
        ("*/{label}*.csv", "two parts that nothing stands between"),
        ("{file}.csv", "a field cannot be called 'file'"),
        ("*.csv", "is no pattern with fields"),
        ("{label.csv", "is no pattern with fields"),
        ("{label}.mat", "none of 8 files matches '{label}.mat', such as README.md"),
        ("{label}/{label}_load2_10.csv", "README.md; {label} is there twice, and has to be the same"),
        ("{domain}/{label}_{recording}.csv", "north/sit_load2_10.csv is domain 'north' and label 'sit' and "
         "recording 'load2_10', or domain 'north' and label 'sit_load2' and recording '10'; make"),
    ],
)  # fmt: skip
def test_a_pattern_that_is_no_plain_one_is_refused(folder, pattern, words):
    with pytest.raises(InputError, match=re.escape(words)):
        check_table(folder, files=pattern)


def test_digits_make_a_pattern_plain(folder):
    table, _ = read_names(folder, "{domain}/{label}_load{load:d}_*.csv")
    assert table["label"].tolist() == ["sit", "walk"] * 3
    assert set(table["load"]) == {"2"}
    assert len(read_names(folder, "{site}/{label}_{rest}_{recording:d}.csv")[0]) == 6
