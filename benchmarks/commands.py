"""Processor time of the commands that read a study and its records, on synthetic records.

``python benchmarks/commands.py`` makes those of the table Bearings, all 6,384, in a scratch folder first;
with ``--more hhar ablation bearings_diff_dist kernel_choice bearings_repaired hapt`` there are 33,960, and
`status` and `plan` are of all these tables.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tsdg.learning import metrics
from tsdg.runs.recipe import Recipes
from tsdg.runs.writing import FORMAT, write
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study

ROOT = Path(__file__).parents[1]
TABLE, CLASSES = "bearings", 10
COMMANDS = ("--help", f"select {TABLE}", f"table {TABLE}", f"policies {TABLE}")


def records(study: Study, tables: Sequence[str] = (TABLE,)) -> Iterator[tuple[Run, dict[str, Any]]]:
    """A record for each run of some tables of single domains, as long as a real one."""
    rng = np.random.default_rng(0)
    scores = [scored(rng) for _ in range(100)]
    recipes = Recipes(study)
    for run in dict.fromkeys(run for table in tables for run in study.table_runs(table)):
        recipe = recipes.of(run)
        every, end = recipe.config.get("evaluate_every", 1), recipe.config["iterations"]
        logged = [*range(50, end, 50), end]
        sources = [name for name in study.dataset(run.dataset)["domains"] if name != run.target]
        yield (
            run,
            {
                "format": FORMAT,
                "status": "finished",
                "run": vars(run),
                "config": recipe.config,
                "hparams": recipe.hparams,
                "sources": sources,
                "classes": list(map(str, range(CLASSES))),
                "data": {"fingerprint": "synthetic", "simulated": True},
                "code": {"fingerprint": recipe.code},
                "machine": {"device": "cpu"},
                "timing": {"seconds_per_iteration": 0.06, "runs_at_once": 1},
                "checkpoints": [
                    {
                        "iteration": iteration,
                        "validation": {name: scores[rng.integers(100)][0] for name in sources},
                        "target": scores[rng.integers(100)][1],
                    }
                    for iteration in range(every, end + 1, every)
                ],
                "losses": {"iteration": logged}
                | {name: rng.random(len(logged)) for name in ("loss", "cross_entropy", "penalty")},
            },
        )


def scored(rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a record says of a source and of the target, of noise that is right by half."""
    labels = rng.integers(0, CLASSES, 400)
    probabilities = rng.dirichlet(np.ones(CLASSES), 400)
    probabilities[::2] = 0.5 * probabilities[::2] + 0.5 * np.eye(CLASSES)[labels[::2]]
    of_target = metrics.evaluate_target("t", {"t": (probabilities, labels)})
    return metrics.evaluate(probabilities, labels), of_target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--protocol", default="paper", help="of params.yaml: how many records")
    parser.add_argument("--more", nargs="*", default=[], help="further tables of single domains")
    options = parser.parse_args()
    tables = [TABLE, *options.more]
    with tempfile.TemporaryDirectory() as folder:
        study = Study.load(ROOT / "params.yaml", [f"protocol={options.protocol}"])
        count = 0
        for run, record in records(study, tables):
            write(Path(folder) / "results/runs" / run_path(run), record)
            count += 1
        (Path(folder) / "params.yaml").write_text(study.dump())
        print(f"{count} records\n| command | processor seconds |\n|---|---|")
        for words in (*COMMANDS, f"status {' '.join(tables)}", f"plan {' '.join(tables)}"):
            command = [sys.executable, "-m", "tsdg", *words.split()]
            process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(process.pid, 0)
            if status:
                raise SystemExit(f"tsdg {words}: failed")
            print(f"| tsdg {words} | {used.ru_utime + used.ru_stime:.2f} |")


if __name__ == "__main__":
    main()
