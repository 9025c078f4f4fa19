"""How fast this machine is beside the one on which the seconds of `tsdg.runs.expected` were measured."""

import json
import os
import platform
from contextlib import suppress
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from tsdg.files import write_text

REPEATS = 40  # of the probe, of which the fastest counts: others may be at work on the machine
SIZE = 512
SENSIBLE = (1e-5, 10.0)  # seconds of a probe; a kept file may hold anything


def probe() -> float:
    """Processor seconds of a core for products of matrices and sums over memory, as trainings do."""
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(0)
    square = rng.standard_normal((SIZE, SIZE), dtype=np.float32)
    long = rng.standard_normal(8 * SIZE * SIZE, dtype=np.float32)
    taken = []
    with threadpool_limits(1):
        for _ in range(REPEATS):
            start = process_time()
            square @ square
            np.maximum(long, 0.01 * long)
            taken.append(process_time() - start)
    return min(taken)


def measured() -> float:
    """What `probe` says of this machine: measured once, then kept in the user's cache."""
    machine = f"{platform.node()} {platform.processor() or platform.machine()}"
    known: dict[str, Any] = {}
    with suppress(OSError, ValueError, RuntimeError):
        held = json.loads(_cache().read_bytes())
        known = held if isinstance(held, dict) else {}
    seconds = known.get(machine)
    if isinstance(seconds, float) and SENSIBLE[0] <= seconds <= SENSIBLE[1]:
        return seconds
    seconds = probe()
    with suppress(OSError, RuntimeError):
        write_text(_cache(), json.dumps(known | {machine: seconds}, indent=1))
    return seconds


def _cache() -> Path:
    """Where it is kept; raises `RuntimeError` for a user without a home."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "tsdg", "speed.json")
