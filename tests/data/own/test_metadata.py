"""What is the same in all of a recording, or of a window, from a table of its own."""

import numpy as np
import pandas as pd
import pytest

from tsdg.data.kinds import KINDS
from tsdg.data.own.check import check_table
from tsdg.data.own.prepare import prepare
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError

STEPS = 40
STAYS = pd.DataFrame({"stay": range(6), "ward": list("uvwuvw"), "outcome": list("aaabbb")})
OPTIONS = {"domains": {name: {"ward": name} for name in "uvw"}, "window": 20, "recording": "stay"}


def long():
    """A recording of each stay, as they are told of in another table."""
    x = np.random.default_rng(0).normal(size=6 * STEPS)
    return pd.DataFrame({"stay": np.repeat(STAYS["stay"], STEPS), "t": np.tile(np.arange(STEPS), 6), "x": x})


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "tsv"])
def test_columns_of_recordings_are_as_if_they_stood_in_the_file(tmp_path, suffix):
    options = OPTIONS | {"label": "outcome", "channels": ["x"]}
    long().merge(STAYS).to_csv(tmp_path / "whole.csv", index=False)
    expected = prepare(tmp_path / "whole.csv", tmp_path / "out", **options)["fingerprint"]
    long().to_csv(tmp_path / "long.csv", index=False)
    more = pd.concat([STAYS.iloc[::-1], pd.DataFrame({"stay": [9], "ward": ["z"], "outcome": ["c"]})])
    path = tmp_path / f"stays.{suffix}"
    if suffix == "parquet":
        more.to_parquet(path)
    else:
        more.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    card = prepare(tmp_path / "long.csv", tmp_path / "out", metadata=path, **options)
    assert card["fingerprint"] == expected
    assert [source["file"] for source in card["sources"]] == ["long.csv", path.name]


def test_check_proposes_an_entry_with_it_and_takes_minutes(tmp_path):
    long().assign(t=lambda rows: 5 * rows["t"]).to_csv(tmp_path / "long.csv", index=False)
    STAYS.iloc[:5].to_csv(tmp_path / "stays.csv", index=False)
    options = {"metadata": str(tmp_path / "stays.csv"), "recording": "stay", "label": "outcome"}
    options |= {"window": 20, "time": "t", "time_unit": "min"}
    lines, entry = check_table(tmp_path / "long.csv", domain=["ward"], **options)
    assert "note: 1 recordings are not in stays.csv: 5." in lines
    assert "rate: 0.003333 Hz" in lines
    assert KINDS["table"].other_files(entry) == [str(tmp_path / "stays.csv")]
    card = prepare(tmp_path / "long.csv", tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    assert card["counts"]["w"] == {"a": 2, "b": 0}


def test_windows_have_a_row_each_in_their_order(tmp_path):
    windows = np.random.default_rng(0).normal(size=(24, 30, 2))
    np.savez(tmp_path / "t.npz", X=windows, y=np.tile([0, 1], 12))
    wards = np.repeat(list("uvw"), 8)
    pd.DataFrame({"ward": wards}).to_csv(tmp_path / "wards.csv", index=False)
    options = {"label": "y", "domains": OPTIONS["domains"], "window": 30}
    prepare(tmp_path / "t.npz", tmp_path / "out", metadata=tmp_path / "wards.csv", **options)
    data = WindowedDataset.load(tmp_path / "out")
    assert data.windows["domain"].tolist() == wards.tolist()
    assert data.windows["label"].tolist() == [0, 1] * 12
    for count in (23, 25):
        pd.DataFrame({"ward": np.resize(wards, count)}).to_csv(tmp_path / "wards.csv", index=False)
        with pytest.raises(InputError, match=rf"it has {count} rows, and there are 24"):
            prepare(tmp_path / "t.npz", tmp_path / "out", metadata=tmp_path / "wards.csv", **options)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.concat([STAYS, STAYS.iloc[2:3]]), "stay '2' is there twice"),
        (STAYS.rename(columns={"stay": "stai"}), "has no column 'stay', did you mean 'stai'"),
        (STAYS.assign(x=1), r"x is a column of .*long\.csv too"),
        (
            STAYS.assign(stay=range(10, 16)),
            r"has none of the recordings \(stay\), such as '0'; .* 10, 11",
        ),
        (STAYS.iloc[:0], "has none of the recordings"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(tmp_path, table, words):
    long().to_csv(tmp_path / "long.csv", index=False)
    table.to_csv(tmp_path / "stays.csv", index=False)
    with pytest.raises(InputError, match=words):
        prepare(
            tmp_path / "long.csv",
            tmp_path / "out",
            metadata=tmp_path / "stays.csv",
            label="outcome",
            **OPTIONS,
        )


def test_the_column_of_the_recording_is_asked_for(tmp_path):
    long().to_csv(tmp_path / "long.csv", index=False)
    STAYS.to_csv(tmp_path / "stays.csv", index=False)
    with pytest.raises(
        InputError, match=r"stay is a column of .* if it names the recording, give --recording stay"
    ):
        check_table(tmp_path / "long.csv", metadata=str(tmp_path / "stays.csv"), domain=["ward"])


def test_a_table_that_is_none_is_refused(tmp_path):
    long().to_csv(tmp_path / "long.csv", index=False)
    (tmp_path / "t.npz").write_bytes(b"PK")
    (tmp_path / "empty.csv").touch()
    (tmp_path / "folder").mkdir()
    faults = {
        "none.csv": "there is no such file", "t.npz": "is no table", "empty.csv": "is empty",
        "folder": "is a folder",
    }  # fmt: skip
    for name, words in faults.items():
        with pytest.raises(InputError, match=f"{name}: metadata: {words}"):
            prepare(tmp_path / "long.csv", tmp_path / "out", metadata=tmp_path / name, **OPTIONS)
