"""The log of a training job, and what it tells about the job: under way, complete, or broken off.

A job holds its log locked. The kernel gives the lock back when the job ends in whatever way: a log that is
neither locked nor complete is that of a job that broke off. Where a file system keeps locks to one node,
Slurm is asked for the job that the log names.
"""

import fcntl
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, TextIO

from tsdg.errors import InputError

COMPLETE = "complete"
INTERRUPTED = "interrupted"
TAIL = 5  # lines


@contextmanager
def job_log(identity: str | None = None) -> Iterator[None]:
    """Make standard output a job's log, if it is a file: locked, and with a first and a last line.

    `identity`, see `tsdg.runs.recipe.Recipes.identity`, stands in the first line.
    """
    if not _is_file(sys.stdout):
        yield
        return
    with suppress(OSError):  # a file system without locks
        fcntl.flock(sys.stdout, fcntl.LOCK_EX | fcntl.LOCK_NB)
    of = f", study {identity}" if identity else ""
    slurm = f", Slurm job {os.environ['SLURM_JOB_ID']}" if "SLURM_JOB_ID" in os.environ else ""
    print(f"process {os.getpid()} on {socket.gethostname()}{of}{slurm}", flush=True)
    yield
    print(COMPLETE, flush=True)


def _is_file(stream: TextIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except OSError:
        return False


def state(
    log: Path, identity: str | None = None
) -> Literal["absent", "running", "complete", "interrupted", "broken"]:
    """What a log tells of its job.

    Parameters
    ----------
    log : Path
    identity : str, optional
        Of the job, see `tsdg.runs.recipe.Recipes.identity`: the log of another one is as good as absent.
        A log without one is taken.

    Returns
    -------
    str
        ``interrupted`` by Ctrl-C, which is no failure; ``broken`` is every other end before the last run.
    """
    try:
        with open(log, encoding="utf-8", errors="replace") as file:
            if identity and _is_of_another(file.readline(), identity):
                return "absent"
            file.seek(0)
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                fcntl.flock(file, fcntl.LOCK_UN)
            except BlockingIOError:
                return "running"
            except OSError:
                pass
            lines = file.read().splitlines()
    except FileNotFoundError:
        return "absent"
    except IsADirectoryError:
        raise InputError(f"{log}: a folder where a job's log belongs; move it elsewhere") from None
    if lines and lines[-1] == COMPLETE:
        return "complete"
    named = re.search(r", Slurm job (\d+)$", lines[0] if lines else "")
    if named and _queued(named[1]):
        return "running"
    return "interrupted" if lines and INTERRUPTED in lines[-1] else "broken"


def _is_of_another(first: str, identity: str) -> bool:
    named = re.match(r"process \d+ on .*, study ([0-9a-f]{12})(, |$)", first.rstrip("\n"))
    return named is not None and named[1] != identity


def tail(log: Path) -> list[str]:
    """The last lines of a log."""
    return log.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL:]


def _queued(job: str) -> bool:
    """Whether Slurm has a job in its queue."""
    if not shutil.which("squeue"):
        return False
    asked = subprocess.run(
        ["squeue", "--noheader", "--jobs", job, "--states", "RUNNING,COMPLETING,SUSPENDED"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return asked.returncode == 0 and bool(asked.stdout.strip())
