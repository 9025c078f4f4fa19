"""Tables of the data sets: counts beside the paper's where these are known."""

import json

import pandas as pd
import pytest

from tsdg.data.mimic3.simulate import simulate
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.results.about import domains as domain_table
from tsdg.results.about.datasets import render


def test_tables_from_cards(tmp_path, tiny_folder):
    from tsdg.data.mimic3.prepare import prepare

    simulate(tmp_path / "raw", patients=200)
    card = prepare(tmp_path / "raw", tmp_path / "mimic3")
    paths = render([tiny_folder, tmp_path / "mimic3"], tmp_path / "tables")
    assert [path.name for path in paths] == [
        "datasets.csv", "datasets.tex", "datasets_samplesize.csv", "datasets_samplesize.tex",
    ]  # fmt: skip
    about = pd.read_csv(paths[0], index_col="dataset")
    assert about.loc["tiny", "windows"] == len(WindowedDataset.load(tiny_folder).windows)
    assert about.loc["mimic3"].to_dict() == {
        "domains": 4, "classes": 2, "channels": 11, "window": 24, "stride": 24,
        "windows": card["cohort"]["drawn"], "simulated": True,
    }  # fmt: skip
    counts = pd.read_csv(paths[2])
    here = counts[counts["dataset"] == "mimic3"].set_index(["domain", "class"])
    assert here.loc[("B", "died"), "windows"] == card["counts"]["B"]["died"]
    assert here.loc[("C", "died"), "paper"] == 1179
    assert counts[counts["dataset"] == "tiny"]["paper"].isna().all()
    text = paths[3].read_text()
    assert "Simulated raw files: MIMIC-III." in text
    rows = [line.removesuffix(r" \\").split(" & ") for line in text.splitlines() if "&" in line]
    of_mimic = next(k for k, row in enumerate(rows) if row[0] == "MIMIC-III")
    labels = [label for label in rows[of_mimic][1:] if label]
    assert set(labels) == {"died", "survived"}
    assert rows[of_mimic + 1][:3] == ["A", *(f"{card['counts']['A'][label]} (164)" for label in labels)]
    assert len({len(row) for row in rows}) == 1


def test_domains_stand_where_their_two_attributes_meet(tmp_path):
    domains = {
        "two": {name: {"user": user, "model": model} for name, (user, model) in
                {"A": "ax", "B": "ay", "C": "bx", "D": "bx"}.items()},
        "one": {"P": {"age": 30}, "Q": {}},
        "many": {f"P{user}": {"user": user, "group": (user + 1) // 2} for user in range(1, 5)},
    }  # fmt: skip
    for name, of in domains.items():
        (tmp_path / name).mkdir()
        card = {
            "domains": of,
            "classes": [],
            "channels": [],
            "window": {"length": 1, "stride": 1},
            "counts": {},
        }
        (tmp_path / name / "card.json").write_text(json.dumps(card))
    csv, tex = domain_table.render([tmp_path / name for name in domains], tmp_path)
    text = tex.read_text()
    assert r"two, user & model x & model y \\" in text
    assert "a & A & B \\\\\nb & C, D &  \\\\\n" in text
    assert "P & 30 &  \\\\\nQ &  &  \\\\\n" in text
    assert "many, group & domains & " in text
    assert "1 & P1, P2 &  \\\\\n2 & P3, P4 &  \\\\\n" in text
    assert len(pd.read_csv(csv)) == 17


def test_of_many_domains_one_row_tells_the_windows(tmp_path):
    counts = {f"P{user}": {"walk": user, "sit": 7} for user in range(1, 14)}
    card = {
        "domains": {domain: {} for domain in counts},
        "classes": ["walk", "sit"],
        "channels": [],
        "counts": counts,
    }
    (tmp_path / "card.json").write_text(json.dumps(card | {"window": {"length": 1, "stride": 1}}))
    *_, csv, tex = render([tmp_path], tmp_path / "tables")
    assert "each of 13 & 1 to 13 & 7 to 7 \\\\" in tex.read_text()
    assert "P1" not in tex.read_text()
    assert len(pd.read_csv(csv)) == 26


@pytest.mark.parametrize("card", [None, "[]", '{"domains": {}}', '"x"', '{"domains": 3}'])
def test_a_folder_without_a_card_is_named(tmp_path, card):
    (tmp_path / "none").mkdir()
    if card:
        (tmp_path / "none/card.json").write_text(card)
    with pytest.raises(InputError, match=r"none/card\.json: (unreadable|field) .*tsdg prepare"):
        render([tmp_path / "none"], tmp_path)
