"""A user's own recordings in the workflow, simulated ones in their place."""

import shutil
from pathlib import Path

import pytest
import yaml
from tiny import STUDY, Workflow

from tsdg.data.own.raw import SIMULATED
from tsdg.data.own.simulate import simulate

ENTRY = {
    "kind": "table",
    "raw": "recordings",
    "source": "own",
    "prepare": {"window": 64, "time": "time", "channels": ["acc-x", "acc-y"], "classes": {1: "go", 4: "sit"}},
    "backbone": "auto",
    "split": "blocked",
    "standardize": "sources",
    "domains": {f"P{number}": {"user": number} for number in (1, 2, 3)},
}


@pytest.fixture
def own(tmp_path: Path) -> Workflow:
    """A workflow of recordings in one file."""
    workflow = Workflow(tmp_path)
    table = STUDY["tables"]["small"] | {"dataset": "mine"}
    entry = ENTRY | {"raw": f"recordings/{SIMULATED}"}
    away = entry | {"raw": "recordings/away.csv"}
    study = STUDY | {"datasets": {"mine": entry, "away": away}, "tables": {"mine": table}, "figures": {}}
    del study["ranking"]
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
    simulate(tmp_path / "recordings", people=3, seconds=6)
    return workflow


def test_from_a_file_to_its_table(own: Workflow) -> None:
    assert "Without away" not in own.run("results/data/mine/card.json")
    text = own.run("results/tables/mine.tex", "results/figures/mine.pdf", "results/tables/datasets.tex")
    assert "Without away: its raw files are not in recordings" in text
    for name in ("tables/mine.tex", "figures/mine.pdf", "tables/datasets_samplesize.csv"):
        assert (own.folder / "results" / name).stat().st_size > 100
    assert own.plan("results/tables/mine.tex") == {}
    changed = own.plan("results/tables/mine.tex", "--config", "datasets={mine: {prepare: {stride: 32}}}")
    assert changed["prepare"] == 1
    assert changed["train"] >= 1
    # Where the file is not there, `all` has no table to make, and a folder's files are the inputs.
    shutil.move(own.folder / "recordings" / SIMULATED, own.folder / "recordings" / "1.csv")
    text = own.run("--dry-run", fails=True)
    assert "no table can be made: mine's raw files are not in recordings" in text
    (own.folder / "recordings/metadata.csv").write_text("file\n1.csv\n")
    text = own.run("--dry-run", "results/tables/mine.tex", "--config", "datasets={mine: {raw: recordings}}")
    assert "recordings/metadata.csv, recordings/1.csv" in text
    (own.folder / "recordings/metadata.csv").write_text("fil\n1.csv\n")
    text = own.run("--dry-run", "--config", "datasets={mine: {raw: recordings}}", fails=True)
    assert "datasets.mine is not valid: recordings/metadata.csv: has no column 'file'" in text
    assert "Traceback" not in text
