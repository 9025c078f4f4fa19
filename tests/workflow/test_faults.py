"""Faults on one machine: nothing finished is lost, no half is taken for a whole, and the message helps."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
from tiny import Workflow, environment, tsdg

LONG = "set=[iterations=60,evaluate_every=60]"


@pytest.fixture
def copy(finished: Workflow, tmp_path: Path) -> Workflow:
    """The finished study, results included."""
    shutil.copytree(finished.folder, tmp_path, dirs_exist_ok=True)
    return Workflow(tmp_path)


@contextmanager
def started(workflow: Workflow, *arguments: str) -> Iterator[subprocess.Popen]:
    """Snakemake in the background, with a process group of its own."""
    with (workflow.folder / "snakemake.out").open("w") as output:
        process = subprocess.Popen(
            workflow.command(*arguments), cwd=workflow.folder, env=environment(), start_new_session=True,
            stdout=output, stderr=output,
        )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for_kept(workflow: Workflow, process: subprocess.Popen, pattern: str) -> dict[Path, bytes]:
    """Records of finished runs in a pack under way, as soon as there is one; those of before are kept too."""
    deadline = time.monotonic() + 300
    while not (kept := _long(workflow.folder.glob(f"results/runs/.finished/{pattern}/[!.]*.json"))):
        assert process.poll() is None, (workflow.folder / "snakemake.out").read_text()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return kept


def _long(paths: Iterable[Path]) -> dict[Path, bytes]:
    records = {path: path.read_bytes() for path in paths}
    return {path: text for path, text in records.items() if json.loads(text)["config"]["iterations"] == 60}


def test_a_killed_training_leaves_the_rest_and_a_table_with_the_gap(copy: Workflow) -> None:
    table = "results/tables/small.tex"
    with started(copy, "--config", LONG, "--", table) as process:
        kept = wait_for_kept(copy, process, "bearings/erm/*/*")
        [log] = copy.folder.glob("logs/train/bearings/erm/*/seed0.log")
        os.kill(int(log.read_text().split()[1]), signal.SIGKILL)
        assert process.wait(timeout=300) == 1
    # The other variant was trained, nothing of erm looks finished, and the message says how to go on.
    assert {path.parts[3] for path in copy.records()} == {"vrex"}
    output = (copy.folder / "snakemake.out").read_text()
    assert "erm on cpu: 3 run(s) of 60 iterations" in output
    commands = re.findall(r"^    (tsdg .*)$", output, flags=re.MULTILINE)
    assert len(commands) == 2
    look, make = commands
    status = tsdg(copy.folder, *look.split()[1:], "small", fails=True)
    assert re.search(r"small +9 +\d +0 +0 +[23] +0", status)
    assert "again: tsdg train --data results/data/bearings" in status
    before = (copy.folder / table).read_bytes()
    for part in make.split(" && "):
        tsdg(copy.folder, *part.split()[1:])
    gap = "results/selected/small.csv"
    assert "3 runs have no" in tsdg(copy.folder, *make.split()[1:5], "--out", gap, fails=True)
    assert "Missing runs: ERM" in (copy.folder / "results/partial/tables/small.tex").read_text()
    assert (copy.folder / table).read_bytes() == before
    # The same command again trains what is missing.
    copy.run("--config", LONG, "--", table)
    assert len(copy.records()) == 9
    for path, record in kept.items():
        assert Path(str(path).replace("/.finished", "")).read_bytes() == record
    assert f"{len(kept)} of 3 runs are recorded already" in log.read_text()


def test_a_killed_snakemake_goes_on(finished: Workflow, tmp_path: Path) -> None:
    killed = finished.copy(tmp_path)
    path = "results/runs/bearings/erm/A/seed0/hp0.json"
    with started(killed, "--config", LONG, "--", path) as process:
        kept = wait_for_kept(killed, process, "bearings/erm/*/*")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    kept = {path: path.read_bytes() for path in kept}
    assert len(kept) < 3, "the kill should come before the last run"
    assert killed.records() == []
    assert "--unlock" in killed.run("--config", LONG, "--", path, fails=True)
    killed.run("--unlock")
    killed.run("--config", LONG, "--", path)
    assert len(killed.records()) == 3
    for path, record in kept.items():
        assert Path(str(path).replace("/.finished", "")).read_bytes() == record
    assert not (tmp_path / "results/runs/.finished").exists()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_what_ends_well_without_snakemake_is_not_trained_again(
    finished: Workflow, tmp_path: Path, how: signal.Signals
) -> None:
    left = finished.copy(tmp_path)
    path = "results/runs/bearings/vrex/A/seed0/hp0.json"
    with started(left, "--config", LONG, "--", path) as process:
        wait_for_kept(left, process, "bearings/vrex/*/*")
        [log] = left.folder.glob("logs/train/bearings/vrex/*/seed0.log")
        process.send_signal(how)
        status = process.wait(timeout=300)
        deadline = time.monotonic() + 300
        while "complete" not in log.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
    if how == signal.SIGINT:
        output = (left.folder / "snakemake.out").read_text()
        ended_well = status == 0  # the last job was through when Snakemake noticed
        assert ("What is finished is kept; the same command goes on." in output) != ended_well
        assert "What failed" not in output
    records = {path: (tmp_path / path).read_bytes() for path in left.records()}
    assert len(records) == 6
    left.run("--unlock")
    left.run("--config", LONG, "--", path)
    if how == signal.SIGKILL:
        assert "6 of 6 runs are recorded already" in log.read_text()
    assert records == {path: (tmp_path / path).read_bytes() for path in left.records()}
    assert not (tmp_path / "results/runs/.finished").exists()


def test_what_is_made_by_hand_of_gaps_does_not_stand_for_the_whole(
    finished: Workflow, tmp_path: Path
) -> None:
    started = finished.copy(tmp_path)
    started.run("--", "results/runs/bearings/vrex/A/seed0/hp0.json")
    table = "results/tables/small.tex"
    for part in ("select small", "table small", "figure small", "figure gains", "summary small"):
        assert "3 runs have no current record" in tsdg(tmp_path, *part.split())
    made = started.plan("--", table, "results/figures/gains.png", "results/metrics.json")
    assert made == {"train": 1, "select": 1, "table": 1, "figure": 1, "summary": 1}
    started.run("--", table)
    assert "Missing" not in (tmp_path / table).read_text()


def test_a_damaged_record_is_named_and_made_again_alone(copy: Workflow) -> None:
    path = "results/runs/bearings/vrex/B/seed0/hp1.json"
    record = copy.folder / path
    record.write_text(record.read_text()[:1000])
    output = copy.run("--", "results/tables/small.tex", fails=True)
    assert f"{path}: unusable run record, it is truncated" in output
    assert "Delete it and run the same command again" in output
    assert re.search(rf"    rm {path}\n.*    tsdg select small \S+ \S+ && ", output, re.DOTALL)
    assert path in tsdg(copy.folder, "status", fails=True)
    record.unlink()
    # The same command misses it, though the table is there, and of its pack trains that run alone.
    others = {p: (copy.folder / p).read_bytes() for p in copy.records()}
    assert copy.plan("--", "results/tables/small.tex") == {"train": 1, "select": 1, "table": 1}
    copy.run("--", "results/tables/small.tex")
    assert len(copy.records()) == 9
    assert {p: (copy.folder / p).read_bytes() for p in others} == others
    [log] = copy.folder.glob("logs/train/bearings/vrex/*/seed0.log")
    assert "5 of 6 runs are recorded already" in log.read_text()
    assert copy.plan("--", "results/tables/small.tex") == {}


def test_what_a_failed_job_deleted_is_made_again(copy: Workflow) -> None:
    """Snakemake notes a failed job's new parameters, deletes its output, and misses what no one asks for."""
    record, change = copy.folder / "results/runs/bearings/vrex/B/seed0/hp1.json", "checkpoint=best"
    whole, time_of = record.read_bytes(), record.stat()
    targets = ("results/tables/small.tex", "results/figures/gains.png", "results/metrics.json")
    record.write_bytes(whole[:1000])
    copy.run("--config", change, "--", *targets, fails=True)
    record.write_bytes(whole)
    os.utime(record, ns=(time_of.st_atime_ns, time_of.st_mtime_ns))
    made = {"select": 1, "table": 1, "figure": 1, "summary": 1}
    assert copy.plan("--config", change, "--", *targets) == made
    copy.run("--config", change, "--", *targets)
    assert copy.plan("--config", change, "--", *targets) == {}


def test_a_run_that_diverges_is_a_result(copy: Workflow) -> None:
    change = "variants={vrex: {hparams: {lambda: 1.0e+39, annealing: 0}}}"
    copy.run("--config", change, "--", "results/tables/small.tex")
    table = pd.read_csv(copy.folder / "results/tables/small.csv")
    gone = table[(table["variant"] == "vrex") & (table["target"] != "Average")]
    assert gone["mean"].isna().all()
    assert gone["diverged"].notna().all()
    assert "div." in (copy.folder / "results/tables/small.tex").read_text()
    status = tsdg(copy.folder, "status", "--set", "variants.vrex.hparams={lambda: 1.0e+39, annealing: 0}")
    assert re.search(r"small +\d +3 +[1-9]", status)
    assert copy.plan("--config", change, "--", "results/tables/small.tex") == {}
