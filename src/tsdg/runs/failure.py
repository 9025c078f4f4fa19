"""Whether a job that failed would fail in the same way again, as far as its log and the queue tell."""

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

_ERROR = re.compile(r"tsdg \S+: error: .+|(?:\w+\.)*\w*(?:Error|Exception)\b.*")
# What another node, more memory or a later time may put right; `choose another place` is an error of a disk.
_HEALS = re.compile(r"GPU|CUDA|cuDNN|[Mm]emory|Import|ModuleNotFound|choose another place")
_QUEUE_HEALS = re.compile(r"contact|tim(?:ed|e) out|[Tt]emporar|[Cc]onnect|again")
_LAST = 4  # lines of a log; below an error may stand whose it is


def lasting(log: Path | None, message: str) -> str | None:
    """The error that would come again; None where another attempt may end well, or nothing is known.

    A job that its node, a time limit or a signal ended leaves no error in its log.

    Parameters
    ----------
    log : Path, optional
        Of the job.
    message : str
        What Snakemake says of the failure.
    """
    if refused := re.search(r"sbatch failed\. The error message was '(.*?)'\.", message, re.DOTALL):
        return None if _QUEUE_HEALS.search(refused[1]) else " ".join(refused[1].split())
    if log is None or not log.is_file():
        return None
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    error = next((line for line in reversed(lines[-_LAST:]) if _ERROR.match(line)), None)
    return None if error is None or _HEALS.search(error) else error


def unknown_partitions(names: Iterable[str]) -> str | None:
    """What is wrong with the names of partitions; None where all are Slurm's, or it cannot be asked."""
    if not shutil.which("sinfo"):
        return None
    asked = subprocess.run(
        ["sinfo", "--all", "--noheader", "--format=%R"], capture_output=True, text=True, check=False
    )
    there = asked.stdout.split()
    unknown = [name for name in names if name not in there]
    if not there or not unknown:
        return None
    return f"this cluster has no partition {', '.join(unknown)}; it has {', '.join(there)}"
