"""What is tried again on a cluster, and what is not."""

import pytest

from tsdg.runs.failure import lasting, unknown_partitions

TRACEBACK = 'Traceback (most recent call last):\n  File "mine.py", line 3, in losses\n'
BEGUN = "process 7 on node1, study 0123456789ab, Slurm job 3\nvrex on cpu: 6 run(s) of 60 iterations\n"


@pytest.mark.parametrize(
    ("log", "error"),
    [
        (
            f"{TRACEBACK}ValueError: no such thing\nThis is of the plug-in mine.py, method 'mine'.",
            "ValueError: no",
        ),
        (f"{TRACEBACK}KeyError: 'x'", "KeyError: 'x'"),
        ("tsdg train: error: 'emr' is not a variant; there are erm, vrex", "tsdg train: error: 'emr'"),
        (
            "tsdg train: error: device `cuda` was asked for, but PyTorch finds no GPU: use `--device cpu`",
            None,
        ),
        ("tsdg train: error: results/runs: No space left on device; choose another place", None),
        (f"{TRACEBACK}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", None),
        (f"{TRACEBACK}MemoryError", None),
        (f"{TRACEBACK}RuntimeError: CUDA error: an illegal memory access was encountered", None),
        (f"{TRACEBACK}ImportError: libcudart.so.12: cannot open shared object file", None),
        (f"ValueError: of a run that went on\n{BEGUN}{BEGUN}60 of 60 iterations", None),  # then killed
        (BEGUN, None),
        ("", None),
    ],
)
def test_only_what_can_heal_is_tried_again(tmp_path, log, error):
    path = tmp_path / "seed0.log"
    assert lasting(path, "") is None
    path.write_text(BEGUN + log)
    found = lasting(path, "For further error details see the cluster/cloud log.")
    assert found is None if error is None else found.startswith(error)


@pytest.mark.parametrize(
    ("said", "again"),
    [
        (
            "sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission failed",
            False,
        ),
        ("sbatch: error: Batch job submission failed: Requested node configuration is not available", False),
        ("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", True),
        ("sbatch: error: Unable to contact slurm controller (connect failure)", True),
    ],
)
def test_what_the_queue_refuses(said, again):
    message = (
        f"SLURM sbatch failed. The error message was '{said}'.\n    sbatch call:\n        sbatch again\n"
    )
    assert (lasting(None, message) is None) == again


def test_partitions_that_slurm_does_not_have_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert unknown_partitions(["gpu"]) is None
    (tmp_path / "sinfo").write_text("#!/bin/sh\necho cpu; echo long\n")
    (tmp_path / "sinfo").chmod(0o755)
    assert unknown_partitions(["cpu", "long"]) is None
    assert "no partition gpu; it has cpu, long" in unknown_partitions(["cpu", "gpu"])
