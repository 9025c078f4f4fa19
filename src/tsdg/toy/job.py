"""A job of the toy study: some seeds of one variant, one after another."""

from collections.abc import Iterable
from pathlib import Path

import torch

from tsdg import methods
from tsdg.data.toy import NAME, TARGET
from tsdg.methods.plugins import blamed
from tsdg.runs.job import Job
from tsdg.runs.machine import keep_freed_memory
from tsdg.runs.recipe import Recipes
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study
from tsdg.toy.train import train


def toy_runs(variant: str, seeds: Iterable[int]) -> list[Run]:
    """The runs of some seeds."""
    return [Run(NAME, variant, TARGET, seed, "fixed") for seed in seeds]


def train_job(
    study: Study, variant: str, seeds: Iterable[int], out: Path, *, keep: bool = False
) -> list[Path]:
    """Train every seed of a variant that has no valid record yet; return all records' paths.

    One thread: on a CPU, processes side by side are faster than packs of runs. `keep` is that of
    `tsdg.runs.job.Job`.
    """
    torch.set_num_threads(1)
    keep_freed_memory()
    recipes = Recipes(study)
    job = Job(toy_runs(variant, seeds), recipes, out, keep=keep)
    for run in job.missing:
        recipe = recipes.of(run)
        method = recipe.config["method"]
        with blamed(methods.get(method), method):
            record = train(run, recipe.config, recipe.hparams)
        job.keep(run, record)
        if record["status"] == "finished":
            print(f"{run_path(run)}: {_end(record)}", flush=True)
    return job.finish()


def _end(record: dict) -> str:
    if record["stopped_at"] is not None:
        return f"stopped at iteration {record['stopped_at']}"
    config = record["config"]
    return f"source risk not below {config['risk_threshold']} after {config['iterations']} iterations"
