"""Text tables and feather files give what a csv gives."""

import gzip
import re
import subprocess

import numpy as np
import pandas as pd
import pytest

from tsdg.data.own.check import check_table
from tsdg.data.own.prepare import prepare
from tsdg.data.own.raw import open_source, source_files
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


def test_several_spaces_between_cells_are_refused_with_the_command_that_mends_them(tmp_path):
    rows = np.column_stack([[1, 2] * 6, np.arange(12 * 30).reshape(12, 30)])
    np.savetxt(tmp_path / "t.txt", rows, fmt="%16.7e")  # as UCR's were until 2018
    with pytest.raises(InputError) as refusal:
        check_table(tmp_path / "t.txt", domain=["user"])
    command = re.search("one tab: (awk .*)", str(refusal.value))
    subprocess.run(command[1], shell=True, check=True, cwd=tmp_path)
    source = open_source(tmp_path / "t.tsv")
    assert source.names == ["label", *(f"x_{step}" for step in range(30))]
    assert source.settled == {"rows": "windows"}


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
