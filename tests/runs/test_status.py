"""The status tells a running job from one that broke off, and a record from what is left of one."""

import json
import subprocess
import sys
from itertools import product

import pytest
import yaml
from test_plan import record

from synthetic_records import make_record
from tsdg.commands.main import main
from tsdg.runs import log as joblog
from tsdg.runs.compact import expanded
from tsdg.runs.feature_cache import feature_file
from tsdg.runs.writing import write
from tsdg.study.jobs import training_jobs
from tsdg.study.run import run_path
from tsdg.study.study import Study

HOLD = """
import sys
from tsdg.runs.log import job_log
with job_log():
    print("on its way", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def held(tmp_path):
    """Start a process that holds a log."""
    started = []

    def start(log):
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as file:
            process = subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=file)
        started.append(process)
        while "on its way" not in log.read_text():
            assert process.poll() is None
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_log_tells_how_its_job_is(held, tmp_path):
    log = tmp_path / "job.log"
    assert joblog.state(log) == "absent"
    process = held(log)
    assert joblog.state(log) == "running"
    process.communicate()
    assert joblog.state(log) == "complete"
    process = held(log)
    process.kill()
    process.wait()
    assert joblog.state(log) == "broken"
    log.write_text("process 1 on here\ntsdg train: interrupted; what was finished is kept\n")
    assert joblog.state(log) == "interrupted"


def test_the_log_of_another_study_is_not_of_this_one(tmp_path):
    log = tmp_path / "job.log"
    for first, expected in (
        ("process 1 on here, study aaaaaaaaaaaa, Slurm job 7", "broken"),
        ("process 1 on here, study bbbbbbbbbbbb", "absent"),
        ("process 1 on here", "broken"),
    ):
        log.write_text(first + "\nkilled\n")
        assert joblog.state(log, "aaaaaaaaaaaa") == expected


def test_the_states(project, params, held, capsys):
    study = Study(params)
    a, d, learned_a, learned_d = study.table_runs("tiny")
    runs, logs = project / "results/runs", project / "logs/train"

    def counted():
        capsys.readouterr()
        code = main(["status"])
        out = capsys.readouterr().out
        row = next(line for line in out.splitlines() if line.strip().startswith("tiny"))
        return code, [int(number) for number in row.split()[1:]], out

    record(study, a, runs)
    made = make_record(d, checkpoints=[], diverged=True)
    path = record(study, d, runs)
    ended = {key: made[key] for key in ("status", "diverged_at", "checkpoints")}
    write(path, expanded(json.loads(path.read_text())) | ended)
    process = held(logs / run_path(learned_a).replace(".json", ".log"))
    code, numbers, out = counted()
    assert (code, numbers) == (0, [4, 1, 1, 1, 0, 1])
    assert "diverged  in running jobs  failed" in out

    process.kill()
    process.wait()
    code, numbers, out = counted()
    assert (code, numbers) == (1, [4, 1, 1, 0, 1, 1])
    assert "    on its way" in out
    assert "rm " not in out
    assert (
        "again: tsdg train --data results/data/tiny --dataset tiny --variant ours-learned --target A" in out
    )

    # An outdated record is to be made again, whatever the log of its job says.
    record(study, learned_a, runs, iterations=5)
    code, numbers, out = counted()
    assert (code, numbers) == (0, [4, 1, 1, 0, 0, 2])
    assert "     1 config.iterations was 5 and is 6" in out

    path = runs / run_path(learned_d)
    path.parent.mkdir(parents=True)
    path.write_text('{"format": 1')
    code, numbers, out = counted()
    assert (code, numbers) == (1, [4, 1, 1, 0, 1, 1])
    assert str(run_path(learned_d)) in out
    assert "Delete it" in out
    first, _, then = out.partition(f"\n    rm results/runs/{run_path(learned_d)}\n")
    assert "count as there until they are deleted" in first
    assert then.startswith("The next snakemake trains what failed again")
    path.unlink()
    assert counted()[:2] == (0, [4, 1, 1, 0, 0, 2])


def test_the_command_that_repeats_is_given_what_the_status_was(project, params, capsys):
    (project / "params.yaml").rename("study.yaml")
    options = ["--params", "study.yaml", "--set", "iterations=5", "--set", "runs_per_job=8"]
    (log,) = {job.log for job in training_jobs(Study(params, ["runs_per_job=8"])) if "/erm/" in job.log}
    log = project / f"logs/train/{log}.log"
    log.parent.mkdir(parents=True)
    log.write_text("process 1 on here\n")
    (project / "mine").mkdir()
    assert main(["status", *options, "--runs", "mine"]) == 1
    again = capsys.readouterr().out.split("again: ")[1].splitlines()[0]
    assert again == (
        "tsdg train --data results/data/tiny --dataset tiny --variant erm --target A D --seed 0 --draw fixed "
        "--params study.yaml --set iterations=5 --set runs_per_job=8 --out mine"
    )


def test_a_record_of_another_run_is_not_done(project, params, capsys):
    study, runs = Study(params), project / "results/runs"
    a, d, *_ = study.table_runs("tiny")
    (runs / run_path(d)).parent.mkdir(parents=True)
    record(study, a, runs).rename(runs / run_path(d))
    assert main(["status"]) == 1
    assert "D/seed0/fixed.json: the record says that it is of run" in capsys.readouterr().out
    assert main(["plan", "tiny"]) == 0
    assert "tiny     4     0         4     4" in capsys.readouterr().out


@pytest.mark.parametrize("card", ["[]", '"x"', '{"fingerprint": null}', "[" * 100_000, None])
@pytest.mark.parametrize(
    "command", [["status"], ["plan"], ["select", "tiny"]], ids=lambda command: command[0]
)
def test_a_damaged_card_is_one_message(project, command, card, capsys):
    path = project / "results/data/tiny/card.json"
    if card is None:
        path.mkdir(parents=True)
    else:
        path.parent.mkdir(parents=True)
        path.write_text(card)
    assert main(command) == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert "results/data/tiny/card.json: " in error
    assert "; run `tsdg prepare` for this data set again" in error


def test_a_folder_in_place_of_a_log_is_one_message(project, params, capsys):
    (project / "logs/train" / run_path(Study(params).table_runs("tiny")[0]).replace(".json", ".log")).mkdir(
        parents=True
    )
    assert main(["status"]) == 2
    assert "a folder where a job's log belongs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "flag"),
    [("status", "--logs"), *product(["status", "plan", "select", "prune"], ["--runs", "--data"])],
)
def test_a_folder_that_is_named_must_be_there(project, command, flag, capsys):
    (project / "file").touch()
    for place in ("nothere", "file"):
        assert main([command, *(["tiny"] if command == "select" else []), flag, place]) == 2
        assert f"{flag} {place}: no such folder" in capsys.readouterr().err


def test_prune_deletes_what_no_table_wants_when_told_to(project, params, capsys):
    study = Study(params, ["draws=2", "seeds=2"])
    runs = project / "results/runs"
    wanted = record(study, study.runs("tiny", ["ours-learned"], ["A"])[0], runs)
    others = [
        record(study, study.runs("tiny", ["ours-learned"], ["A"])[1], runs),  # a draw
        record(study, study.runs("tiny", ["vrex"], ["A"])[0], runs),  # a variant
        record(study, study.runs("tiny", ["erm"], ["B"])[0], runs),  # a target
    ]
    settings = ("--set", "draws=1")
    assert main(["prune", *settings]) == 0
    assert "3 records that no table wants" in capsys.readouterr().out
    assert all(path.exists() for path in others)
    assert main(["prune", *settings, "--yes"]) == 0
    assert [path for path in runs.rglob("*") if path.is_file()] == [wanted]
    assert not others[1].parent.exists()


def test_prune_deletes_features_that_no_row_reads(project, params, capsys):
    params["variants"]["line"] = {
        "label": "Line", "method": "estimator", "features": "statistics",
        "estimator": "sklearn.linear_model.LogisticRegression",
    }  # fmt: skip
    params["tables"]["tiny"]["rows"].append("line")
    (project / "params.yaml").write_text(yaml.safe_dump(params))
    folder = project / "results/data/tiny"
    folder.mkdir(parents=True)
    (folder / "card.json").write_text('{"fingerprint": "now"}')
    read = feature_file(folder, "now", "statistics")
    others = [feature_file(folder, "before", "statistics"), feature_file(folder, "now", "spectrum")]
    for path in (read, *others):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert main(["prune"]) == 0
    assert "2 files of features" in capsys.readouterr().out
    assert main(["prune", "--yes"]) == 0
    assert list(read.parent.iterdir()) == [read]


def test_watching_looks_again_until_ctrl_c(project, capsys, monkeypatch):
    waited = []

    def sleep(seconds):
        waited.append(seconds)
        if len(waited) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", sleep)
    assert main(["status", "--watch", "7"]) == 0
    out, err = capsys.readouterr()
    assert (waited, out.count("in all"), err) == ([7, 7, 7], 3, "")
