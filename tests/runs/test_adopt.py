"""Records that edited code takes over: if it gives the same numbers, and then without a trace of time."""

import json
import re
import shutil
from copy import deepcopy
from itertools import product

import pytest

from tiny_study import PARAMS
from tsdg.errors import InputError
from tsdg.methods.vrex import VREx
from tsdg.runs import adopt as adoption
from tsdg.runs.adopt import adopt, compared, outdated, sample
from tsdg.runs.current import STAGING, CurrentRecords
from tsdg.runs.job import train_job
from tsdg.runs.writing import is_sealed
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study
from tsdg.toy.train import train as toy_train

VARIANTS, TARGETS, DRAWS = ("erm", "vrex"), ("A", "D"), (0, 1)
RUNS = [Run("tiny", *run) for run in product(VARIANTS, TARGETS, [0], DRAWS)]
SETTINGS = ["iterations=12", "evaluate_every=6"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory, tiny_folder):
    """A project with records of 12 iterations, evaluated every 6, by code of another time."""
    root = tmp_path_factory.mktemp("adopt")
    (root / "results/data").mkdir(parents=True)
    (root / "results/data/tiny").symlink_to(tiny_folder)
    study, job = Study(deepcopy(PARAMS), SETTINGS), {"targets": TARGETS, "seeds": [0], "draws": DRAWS}
    with pytest.MonkeyPatch.context() as patch:
        often(patch)
        for variant in VARIANTS:
            train_job(study, tiny_folder, variant=variant, out=root / "results/runs", **job)
    for run in RUNS:
        path = root / "results/runs" / run_path(run)
        record = json.loads(path.read_bytes())
        record["code"]["fingerprint"] = "before"
        path.write_text(json.dumps(record))
    return root


def often(patch):
    """Losses are kept every five iterations."""
    for module in ("losses", "training"):
        patch.setattr(f"tsdg.runs.{module}.LOG_EVERY", 5)


@pytest.fixture
def project(trained, tmp_path, monkeypatch):
    """A copy of the project, entered, and what of its records is current."""
    often(monkeypatch)
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True, symlinks=True)
    monkeypatch.chdir(tmp_path)
    return CurrentRecords(Study(deepcopy(PARAMS), SETTINGS))


def contents(found):
    records = {run: json.loads((found.runs / run_path(run)).read_bytes()) for run in RUNS}
    for record in records.values():
        record.pop("checksum")
    return records


def test_records_of_the_same_numbers_are_adopted(project):
    before, lines = contents(project), []
    times = {run: (project.runs / run_path(run)).stat().st_mtime_ns for run in RUNS}
    said = adopt(RUNS, project, toy_train, say=lines.append)
    assert said == "8 records, 0 of them known to Snakemake, are adopted"
    assert len(lines) == 4  # two runs of each variant
    assert all("up to iteration 6, to the bit" in line for line in lines)
    for run, record in contents(project).items():
        code = before[run]["code"]
        today = {"adopted_from": "before", **code, "fingerprint": project.recipes.of(run).code}
        assert record["code"] == today
        assert {**record, "code": code} == before[run]
        assert (project.runs / run_path(run)).stat().st_mtime_ns == times[run]
        assert project.find(run) is not None
        assert is_sealed((project.runs / run_path(run)).read_bytes())
    assert adopt(RUNS, project, toy_train) == "no record is outdated by its code alone"


def test_other_numbers_are_refused_by_run_place_and_both_values(project, monkeypatch):
    before, penalty = contents(project), VREx.penalty
    monkeypatch.setattr(VREx, "penalty", lambda *given: penalty(*given) * (1 + 1e-6))
    with pytest.raises(InputError) as error:
        adopt(RUNS, project, toy_train)
    path, number = r"results/runs/tiny/vrex/\w/seed0/hp\d\.json", r"[\d.e-]+"
    assert re.match(
        rf"{path}: losses\.\w+ at iteration 5 was {number} and is {number}\. Nothing is adopted",
        str(error.value),
    )
    assert contents(project) == before


def test_other_metrics_are_refused(project, monkeypatch):
    monkeypatch.setattr("tsdg.learning.metrics.brier_score", lambda *given: 0.5)
    with pytest.raises(InputError, match=r"target\.brier at iteration 6 was"):
        adopt(RUNS, project, toy_train)


def test_what_comes_later_is_seen_in_whole_runs_and_a_dry_run_changes_nothing(project, monkeypatch):
    before = contents(project)
    monkeypatch.setattr("tsdg.methods.base.Method.rate", lambda self: 1.0)
    assert "8 records" in adopt(RUNS, project, toy_train, dry_run=True, size=1)
    assert contents(project) == before
    with pytest.raises(InputError, match=r"at iteration 1[02] was"):
        adopt(RUNS, project, toy_train, whole=True)


def test_after_a_kill_the_rest_is_adopted(project, monkeypatch):
    stamp, done = adoption.stamp, []

    def killed(one, root):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(one)
        stamp(one, root)

    monkeypatch.setattr(adoption, "stamp", killed)
    with pytest.raises(KeyboardInterrupt):
        adopt(RUNS, project, toy_train, size=1)
    monkeypatch.setattr(adoption, "stamp", stamp)
    assert adopt(RUNS, project, toy_train, size=1).startswith("5 records")
    assert all(project.find(run) for run in RUNS)


def test_records_of_other_settings_or_data_are_left_alone(project):
    other = Study(deepcopy(PARAMS), [*SETTINGS, "learning_rate=0.1"])
    assert outdated(RUNS, CurrentRecords(other)) == []
    path = project.runs / run_path(RUNS[0])
    record = json.loads(path.read_bytes())
    path.write_text(json.dumps(record | {"data": {"fingerprint": "other", "simulated": False}}))
    (project.runs / run_path(RUNS[1])).write_text("{")
    kept = project.runs / STAGING / run_path(RUNS[2])
    kept.parent.mkdir(parents=True)
    (project.runs / run_path(RUNS[2])).rename(kept)
    found = {one.run: one.path for one in outdated(RUNS, project)}
    assert list(found) == RUNS[2:]
    assert found[RUNS[2]] == kept


def test_a_sample_has_every_variant_and_other_targets_and_draws(project):
    chosen = [one.run for one in sample(outdated(RUNS, project), 2)]
    assert [run.variant for run in chosen] == ["erm", "erm", "vrex", "vrex"]
    assert {run.target for run in chosen} == set(TARGETS)
    assert {run.draw for run in chosen} == set(DRAWS)
    assert len(sample(outdated(RUNS, project), 100)) == len(RUNS)


def record(torch, loss=1.0, later=0.5, accuracy=0.5):
    return {
        "machine": {"device": "cpu", "device_name": "x", "torch": torch, "numpy": "2", "threads": 1},
        "timing": {"runs_at_once": 1},
        "losses": {"iteration": [50, 100], "loss": [loss, later]},
        "checkpoints": [{"iteration": 100, "validation": {}, "target": {"accuracy": accuracy}}],
    }


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"loss": 1.004}, None),
        ({"loss": 1.1}, "losses.loss at iteration 50 was 1.0 and is 1.1, on another kind of machine"),
        ({"later": 3.0}, None),
        ({"accuracy": 0.53}, None),
        (
            {"accuracy": 0.58},
            "target.accuracy at iteration 100 was 0.5 and is 0.58, on another kind of machine",
        ),
    ],
)
def test_on_another_kind_of_machine_close_is_enough(change, problem):
    assert compared(record("1"), record("2", **change), 100)[1] == problem
    on_the_same = compared(record("1"), record("1", **change), 100)[1]
    assert (on_the_same is None) == (change == {})


def test_a_metric_that_records_did_not_hold_yet_is_no_difference():
    old, new = record("1"), record("1")
    new["checkpoints"][0]["target"]["confusion"] = [[1, 0], [1, 0]]
    assert compared(old, new, 100)[1] is None
    assert "target.confusion.0.0 at iteration 100 is no longer there" in compared(new, old, 100)[1]
