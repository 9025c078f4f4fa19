"""Records and logs lie where the package says: the rules of the workflow make exactly its jobs."""

import re
from pathlib import Path

import pytest
import yaml
from tiny import STUDY, Workflow

from tiny_study import TOY
from tsdg.study.jobs import training_jobs
from tsdg.study.run import LOGS, RECORDS, run_path
from tsdg.study.study import Study


@pytest.mark.parametrize("size", [1, 2])
def test_the_rules_make_the_jobs_of_the_package(tmp_path: Path, size: int) -> None:
    params = {**STUDY, "runs_per_job": size, "toy": TOY | {"seeds": 7}}
    workflow = Workflow(tmp_path)
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    asked = ("results/tables/small.csv", "results/tables/target_risk.csv")
    said = workflow.run("--dry-run", "--forceall", "--", *asked)
    jobs = re.findall(r"^    output: (results/runs/.+)\n    log: (.+)$", said, flags=re.MULTILINE)
    made = {log: set(records.split(", ")) for records, log in jobs}
    assert made == {
        f"{LOGS}/{job.log}.log": {f"{RECORDS}/{run_path(run)}" for run in job.runs}
        for job in training_jobs(Study(params))
    }


def test_a_dry_run_prints_the_first_jobs_of_a_rule(tmp_path):
    workflow = Workflow(tmp_path)
    asked = "--config", "set=[seeds=40]", "runs_per_job=1", "--", "results/selected/small.csv"
    said = workflow.run("--dry-run", *asked)
    assert said.count("rule train:") == 100
    assert said.count("further jobs of rule train") == 1
    assert int(re.search(r"^train +(\d+)$", said, re.MULTILINE)[1]) > 100
    said = workflow.run("--dry-run", "--quiet", "rules", *asked)
    assert "rule train" not in said
    assert re.search(r"^train +\d+$", said, re.MULTILINE)
