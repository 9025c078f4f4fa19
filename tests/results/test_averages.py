"""The averages are those of the table, and a gap is null."""

import json

from synthetic_records import grid, save
from tsdg.commands.main import main
from tsdg.results.selected import write_csv
from tsdg.results.selection import select
from tsdg.study import settings
from tsdg.study.study import Study


def test_averages_are_the_tables_own(project, tmp_path):
    for run in grid(["erm", "ours-learned"], ["A", "D"], [0], ["fixed"], dataset="tiny"):
        if (run.variant, run.target) != ("ours-learned", "D"):
            save(tmp_path / "runs", run, [(6, 0.5, 0.5 if run.target == "A" else 0.75, 0.125)])
    runs = grid(["erm", "ours-learned"], ["A", "D"], [0], ["fixed"], dataset="tiny")
    under = settings.of_table(Study.load(), "tiny")
    write_csv(select(runs, tmp_path / "runs", settings=under), tmp_path / "results/selected/tiny.csv")
    assert main(["summary", "tiny"]) == 0
    assert json.loads((tmp_path / "results/partial/metrics.json").read_text()) == {
        "tiny": {
            "tiny": {
                "erm": {"accuracy": 62.5, "ece": 12.5},
                "ours-learned": {"accuracy": None, "ece": None},
            }
        }
    }
    csv = (tmp_path / "results/partial/metrics.csv").read_text().splitlines()
    assert csv == [
        "table,dataset,variant,accuracy,ece",
        "tiny,tiny,erm,62.5,12.5",
        "tiny,tiny,ours-learned,,",
    ]
