"""The workflow on a real Slurm: where jobs go, and what becomes of them when a cluster does its worst."""

import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import psutil
import pytest
import torch
from slurm import Slurm
from tiny import PROJECT, Workflow, environment, tsdg

pytestmark = pytest.mark.skipif(bool(Slurm.missing()), reason=Slurm.missing())
# No accounting here; and what takes seconds on a real cluster does not here.
PROFILE = (
    "--profile", str(PROJECT / "profiles/slurm"), "--slurm-status-command", "squeue",
    "--slurm-init-seconds-before-status-checks", "1", "--seconds-between-status-checks", "1",
)  # fmt: skip
PLUGIN = """\
from tsdg.methods.base import Method


class Mine(Method):
    title, citation = "Mine", "Nobody"

    def losses(self, x, y, draws):
        raise ValueError("no such thing")


METHODS = {"mine": Mine}
"""
LONG = "set=[iterations=60,evaluate_every=60]"


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    slurm = Slurm(tmp_path_factory.mktemp("slurm"))
    try:
        slurm.start()
        yield slurm
    finally:
        slurm.stop()


class Cluster(Workflow):
    """A workflow that submits its jobs."""

    def __init__(self, folder: Path, slurm: Slurm):
        super().__init__(folder)
        self.slurm = slurm

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen]:
        """Snakemake in the background; what it says is in `snakemake.out`."""
        with (self.folder / "snakemake.out").open("w") as output:
            process = subprocess.Popen(
                [word for word in self.command(*PROFILE, *arguments) if word not in ("--cores", "2")],
                cwd=self.folder, env=environment() | self.slurm.environment, stdout=output, stderr=output,
            )  # fmt: skip
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    @property
    def output(self) -> str:
        return (self.folder / "snakemake.out").read_text()

    def wait(self, process: subprocess.Popen, what: str, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + 400
        while not condition():
            assert process.poll() is None, f"over before {what}:\n{self.output}"
            assert time.monotonic() < deadline, f"no {what}:\n{self.output}"
            time.sleep(0.05)

    def kept(self, variant: str) -> dict[str, bytes]:
        """Finished runs of a pack under way."""
        folder = self.folder / "results/runs/.finished"
        return {
            str(p.relative_to(folder)): p.read_bytes() for p in folder.glob(f"*/{variant}/*/*/[!.]*.json")
        }

    def process(self, variant: str) -> tuple[int, str]:
        """Process and Slurm job of a training, from its log."""
        [log] = self.folder.glob(f"logs/train/bearings/{variant}/*/seed0.log")
        found = re.match(r"process (\d+) on .*, Slurm job (\d+)\n", log.read_text())
        assert found, log.read_text()
        return int(found[1]), found[2]


@contextmanager
def dead(processes: Sequence[psutil.Process]) -> Iterator[None]:
    """Processes that do nothing more, as those of a node without power."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    yield
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def test_cancelled_timed_out_and_on_a_node_that_dies(
    finished: Workflow, slurm: Slurm, tmp_path: Path
) -> None:
    finished.copy(tmp_path)
    cluster = Cluster(tmp_path, slurm)
    table = "results/tables/small.tex"
    with cluster.started("--retries", "3", "--config", LONG, "--", table) as process:
        cluster.wait(process, "first runs of erm", lambda: cluster.kept("erm"))
        slurm("scancel", cluster.process("erm")[1])
        cancelled = cluster.kept("erm")

        cluster.wait(process, "first runs of vrex", lambda: cluster.kept("vrex"))
        hung, job = cluster.process("vrex")
        slurm("scontrol", "update", f"jobid={job}", f"endtime={datetime.now():%Y-%m-%dT%H:%M:%S}")
        subprocess.run(["kill", "-STOP", str(hung)], check=True)
        timed_out = cluster.kept("vrex")
        assert 1 <= len(timed_out) < 6, "the job should hang after the first run and before the last"

        cluster.wait(process, "further runs of vrex", lambda: len(cluster.kept("vrex")) > len(timed_out))
        with dead(slurm.processes()):
            slurm("scontrol", "update", f"nodename={slurm.host}", "state=down", "reason=test")
            slurm("scontrol", "update", f"nodename={slurm.host}", "state=resume")
            died = cluster.kept("vrex")
        assert process.wait(timeout=400) == 0, cluster.output
    assert (tmp_path / table).exists()
    assert len(cluster.records()) == 9

    # No run that was finished is trained again.
    for path, record in (cancelled | timed_out | died).items():
        assert (tmp_path / "results/runs" / path).read_bytes() == record
    [log] = tmp_path.glob("logs/train/bearings/vrex/*/seed0.log")
    assert f"{len(died)} of 6 runs are recorded already" in log.read_text()
    # Three attempts of one job, each with more memory; without a GPU to ask for, in the CPU partition.
    jobs = [job for job in slurm.jobs() if job["JobState"] != "COMPLETED"]
    assert {job["JobState"] for job in jobs} == {"CANCELLED", "TIMEOUT", "NODE_FAIL"}
    assert {job["Partition"] for job in slurm.jobs()} == {"cpu"}
    memory = [job["MinMemoryNode"] for job in slurm.jobs() if "vrex" in job["Comment"]]
    assert memory[:3] == ["2000M", "4000M", "6000M"]


def test_what_cannot_heal_is_tried_once(finished: Workflow, slurm: Slurm, tmp_path: Path) -> None:
    finished.copy(tmp_path)
    cluster = Cluster(tmp_path, slurm)
    (tmp_path / "mine.py").write_text(PLUGIN)
    partitions = tmp_path / "partitions.yaml"
    partitions.write_text("partitions:\n  short:\n    max_runtime: 1d\n  cpu:\n    max_runtime: 1d\n")
    elsewhere = ("--slurm-partition-config", str(partitions), "--retries", "3")
    changes = (
        "plugins=[mine.py]",
        "variants={mine: {label: Mine, method: mine}}",
        "tables={small: {rows: [mine]}}",
    )
    asked = ("--config", *changes, "figures={gains: null}", "ranking=null", "--", "results/tables/small.tex")
    before = len(slurm.jobs())
    with cluster.started(*elsewhere, *asked) as process:
        assert process.wait(timeout=400) == 1
    assert f"{partitions}: this cluster has no partition short; it has cpu, gpu" in cluster.output
    assert len(slurm.jobs()) == before
    with cluster.started("--retries", "3", *asked) as process:
        assert process.wait(timeout=400) == 1
    assert len(slurm.jobs()) == before + 1
    assert "Not tried again, as it would fail in the same way: ValueError: no such thing" in cluster.output
    with cluster.started("--retries", "3", "--default-resources", "slurm_partition=short", *asked) as process:
        assert process.wait(timeout=400) == 1
    assert len(slurm.jobs()) == before + 1
    assert "Trying to restart" not in cluster.output
    assert "partition" in cluster.output.partition("Not tried again")[2].splitlines()[0]
    assert "names of partitions stand in" in cluster.output


@pytest.mark.skipif(torch.cuda.is_available(), reason="the job would find the GPU")
def test_a_job_that_fails_on_the_gpu_partition(finished: Workflow, slurm: Slurm, tmp_path: Path) -> None:
    finished.copy(tmp_path)
    cluster = Cluster(tmp_path, slurm)
    before = len(slurm.jobs())
    changes = ("device=cuda", "tables={small: {rows: [erm]}}", "figures={gains: null}", "ranking=null")
    with cluster.started("--retries", "1", "--config", *changes, "--", "results/tables/small.tex") as process:
        assert process.wait(timeout=400) == 1
    jobs = slurm.jobs()[before:]
    assert [job["Partition"] for job in jobs] == ["gpu", "gpu"]
    assert [job["TresPerJob"] for job in jobs] == ["gres:gpu:1"] * 2
    assert [job["MinMemoryNode"] for job in jobs] == ["2000M", "4000M"]
    assert [job["TimeLimit"] for job in jobs] == ["00:15:00", "00:30:00"]
    # The end of the job's log, and what to do.
    assert "PyTorch finds no GPU" in cluster.output
    assert "tsdg select small" in cluster.output
    same = ("tables.small.rows=[erm]", "figures.gains=null", "ranking=null")
    status = tsdg(tmp_path, "status", *(f"--set={change}" for change in same), fails=True)
    assert "PyTorch finds no GPU" in status
