"""A job of the toy study: some seeds of one variant, one after another."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import torch

from tsdg import methods
from tsdg.data.toy import TARGET, generate
from tsdg.errors import InputError
from tsdg.methods.plugins import blamed
from tsdg.runs import record as records
from tsdg.runs.current import is_current
from tsdg.runs.machine import keep_freed_memory
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study
from tsdg.toy.train import fingerprint, train


def train_job(study: Study, variant: str, seeds: Iterable[int], out: Path) -> list[Path]:
    """Train every seed of a variant that has no valid record yet; return all records' paths.

    Each record is written as soon as its run is complete. One thread: on a CPU, processes side by side are
    faster than packs of runs.
    """
    torch.set_num_threads(1)
    keep_freed_memory()
    config, hparams = study.toy_config(variant), study.toy_hparams(variant)
    paths = []
    for seed in seeds:
        run = Run("toy", variant, TARGET, seed, "fixed")
        path = out / run_path(run)
        paths.append(path)
        if _is_current(path, config, hparams, seed):
            print(f"{path}: recorded already", flush=True)
            continue
        with blamed(methods.get(config["method"]), config["method"]):
            record = train(run, config, hparams)
        records.write(path, record)
        if record["status"] == "diverged":
            end = f"diverged at iteration {record['diverged_at']}"
        elif record["stopped_at"] is None:
            end = f"source risk not below {config['risk_threshold']} after {config['iterations']} iterations"
        else:
            end = f"stopped at iteration {record['stopped_at']}"
        print(f"{path}: {end}", flush=True)
    return paths


def _is_current(path: Path, config: dict, hparams: dict, seed: int) -> bool:
    """Whether there is a record of exactly this configuration, data and code."""
    try:
        return is_current(records.read(path), config, hparams, data_fingerprint(seed), "toy.train")
    except InputError:
        return False


@cache
def data_fingerprint(seed: int) -> str:
    """Fingerprint of a seed's data."""
    return fingerprint(generate(seed))
