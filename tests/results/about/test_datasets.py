"""Tables of the data sets: counts beside the paper's where these are known."""

import pandas as pd
import pytest

from tsdg.data.mimic3.simulate import simulate
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
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
    assert f"MIMIC-III & survived & {card['counts']['A']['survived']} (164)" in text
    assert [len(line.split("&")) for line in text.splitlines() if "&" in line] == [6] * 5


@pytest.mark.parametrize("card", [None, "[]", '{"domains": {}}', '"x"', '{"domains": 3}'])
def test_a_folder_without_a_card_is_named(tmp_path, card):
    (tmp_path / "none").mkdir()
    if card:
        (tmp_path / "none/card.json").write_text(card)
    with pytest.raises(InputError, match=r"none/card\.json: unreadable .*tsdg prepare"):
        render([tmp_path / "none"], tmp_path)
