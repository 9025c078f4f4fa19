"""The training jobs of a study: which runs share one, and where its log lies."""

import hashlib
import json
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from tsdg.study.run import Run, run_path
from tsdg.study.study import Study, pack_shapes

TOY_BLOCK = 5  # seeds of the toy study in one job, of which starting Python is a small part


class Pack(NamedTuple):
    """Runs that one job takes of each of some variants and of every seed."""

    dataset: str
    variants: tuple[str, ...]
    targets: tuple[str, ...]
    draws: tuple[int | str, ...]

    @property
    def label(self) -> str:
        """The pack's name in the path of its log."""
        ends = [self.targets[0], self.targets[-1], *map(draw_name, (self.draws[0], self.draws[-1]))]
        return "-".join(dict.fromkeys(ends))


class TrainingJob(NamedTuple):
    """A job: its log, below ``logs/train`` and without ``.log``, and its runs, all of one seed."""

    log: str
    runs: tuple[Run, ...]


def draw_name(draw: int | str) -> str:
    """A draw as it stands in paths: ``hp3``, or ``fixed``."""
    return "fixed" if draw == "fixed" else f"hp{draw}"


def packs(study: Study) -> list[Pack]:
    """Packs of the runs that the tables want, `runs_per_job` at most in each."""
    targets: dict[tuple[str, str], set[str]] = {}
    for run in _wanted(study):
        targets.setdefault((run.dataset, run.variant), set()).add(run.target)
    alike: dict[tuple, list[str]] = {}
    for (dataset, variant), wanted in targets.items():
        alike.setdefault((dataset, frozenset(wanted), tuple(study.draws(variant))), []).append(variant)
    found = []
    for (dataset, wanted, draws), variants in alike.items():
        # Blocks of all domains, so that a table with more targets leaves the blocks as they are.
        for shape in pack_shapes(
            list(study.dataset(dataset)["domains"]), draws, study.params["runs_per_job"]
        ):
            chosen = tuple(target for target in shape.targets if target in wanted)
            if chosen:
                found.append(Pack(dataset, tuple(variants), chosen, shape.draws))
    return found


def training_jobs(study: Study) -> list[TrainingJob]:
    """All jobs of the study's tables and of its toy study, as Snakemake makes them."""
    jobs = []
    if study.params["runs_per_job"] == 1:
        jobs = [TrainingJob(run_path(run).removesuffix(".json"), (run,)) for run in _wanted(study)]
    else:
        for pack in packs(study):
            for variant, seed in product(pack.variants, range(study.protocol["seeds"])):
                rest = product(pack.targets, [seed], pack.draws)
                runs = tuple(Run(pack.dataset, variant, *run) for run in rest)
                jobs.append(TrainingJob(f"{pack.dataset}/{variant}/{pack.label}/seed{seed}", runs))
    blocks: dict[tuple[str, int], list[Run]] = {}
    for run in study.toy_runs() if "toy" in study.params else ():
        blocks.setdefault((run.variant, run.seed // TOY_BLOCK * TOY_BLOCK), []).append(run)
    return jobs + [
        TrainingJob(f"toy/{variant}/seed{first}", tuple(runs)) for (variant, first), runs in blocks.items()
    ]


def job_identity(study: Study, runs: Iterable[Run]) -> str:
    """A short hash of a job's settings and runs: two studies' jobs may have logs of one name."""
    runs = sorted(set(runs))
    first = runs[0]
    if first.dataset == "toy":
        settings = json.dumps(study.toy_config(first.variant), sort_keys=True)
    else:
        settings = study.identity(first.dataset, first.variant)
    text = json.dumps([settings, *map(run_path, runs)])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _wanted(study: Study) -> Iterable[Run]:
    """Runs of all tables, each once, in their order."""
    return dict.fromkeys(run for table in study.tables for run in study.table_runs(table))
