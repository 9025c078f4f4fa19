"""The training jobs of a study: which runs share one, and where their records and its log lie.

Whoever starts a job or looks for what it left asks here: the workflow's rules, `tsdg plan`, `tsdg status`.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import NamedTuple

from tsdg.data import toy
from tsdg.study import folds
from tsdg.study.run import RECORD, Run, draw_name, filled, target_folder
from tsdg.study.study import Study
from tsdg.study.targets import LONGEST

TOY_SEEDS = 5  # of the toy study in one job, of which starting Python is a small part


class TrainingJob(NamedTuple):
    """A job: its log, below `tsdg.study.run.LOGS` and without ``.log``, and its runs, all of one variant."""

    log: str
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class TrainingRule:
    """Jobs of one shape, which one rule of the workflow starts.

    Attributes
    ----------
    name : str
    datasets, variants : tuple of str
        Those that it can train.
    records : tuple of str
        What each job makes, below `tsdg.study.run.RECORDS`; what jobs differ in stands in braces.
    log : str
        Of each job, likewise, see `TrainingJob`.
    groups : tuple of tuple of Run
        The runs of each job that the study wants.
    """

    name: str
    datasets: tuple[str, ...]
    variants: tuple[str, ...]
    records: tuple[str, ...]
    log: str
    groups: tuple[tuple[Run, ...], ...]

    @property
    def jobs(self) -> list[TrainingJob]:
        """All jobs of the rule."""
        return [TrainingJob(filled(self.log, runs[0]), runs) for runs in self.groups]


def training_rules(study: Study) -> list[TrainingRule]:
    """The rules that train what the study wants: ``runs_per_job`` runs a job at most, and the toy study's."""
    runs = dict.fromkeys(run for group in study.wanted.values() for run in group)
    toys = [run for run in runs if run.dataset == toy.NAME]
    others = [run for run in runs if run.dataset != toy.NAME]
    packed = study.params["runs_per_job"] > 1
    return (_packs(study, others) if packed else [_single(study, others)]) + _toy_blocks(toys)


def training_jobs(study: Study) -> list[TrainingJob]:
    """All jobs of all rules."""
    return [job for rule in training_rules(study) for job in rule.jobs]


def command(runs: Sequence[Run], data: str) -> list[str]:
    """The words of the command that trains a job's runs; `data` is the folder of their prepared data set."""
    first = runs[0]
    seeds = dict.fromkeys(str(run.seed) for run in runs)
    if first.dataset == toy.NAME:
        return ["tsdg", "toy", "train", "--variant", first.variant, "--seed", *seeds]
    targets = dict.fromkeys(run.target for run in runs)
    draws = dict.fromkeys(draw_name(run.draw) for run in runs)
    words = ["tsdg", "train", "--data", data, "--dataset", first.dataset, "--variant", first.variant]
    return [*words, "--target", *targets, "--seed", *seeds, "--draw", *draws]


def _single(study: Study, runs: Sequence[Run]) -> TrainingRule:
    """The rule that trains each run in a job of its own."""
    return TrainingRule(
        name="train",
        datasets=tuple(study.datasets),
        variants=tuple(name for name, entry in study.variants.items() if "of" not in entry),
        records=(RECORD,),
        log=RECORD.removesuffix(".json"),
        groups=tuple((run,) for run in runs),
    )


def _packs(study: Study, runs: Sequence[Run]) -> list[TrainingRule]:
    """Rules of packs; variants with the same targets and draws share one."""
    targets: dict[tuple[str, str], set[str]] = {}
    for run in runs:
        targets.setdefault((run.dataset, run.variant), set()).add(run.target)
    alike: dict[tuple, list[str]] = {}
    for (dataset, variant), wanted in targets.items():
        alike.setdefault((dataset, frozenset(wanted), tuple(study.draws(variant))), []).append(variant)
    rules: list[TrainingRule] = []
    for (dataset, wanted, draws), variants in alike.items():
        size = study.params["runs_per_job"]
        shapes = [pack_shapes(family, draws, size) for family in _families(study, dataset, wanted)]
        for all_targets, block in chain.from_iterable(shapes):
            if chosen := [target for target in all_targets if target in wanted]:
                names = [draw_name(number) for number in block]
                ends = [target_folder(chosen[0]), target_folder(chosen[-1]), names[0], names[-1]]
                label = "-".join(dict.fromkeys(ends))
                if len(label) > LONGEST:
                    label = f"{hashlib.sha256(label.encode()).hexdigest()[:12]}-{names[0]}-{names[-1]}"
                groups = (
                    tuple(Run(dataset, variant, *run) for run in product(chosen, [seed], block))
                    for variant, seed in product(variants, range(study.protocol.seeds))
                )
                rules.append(
                    TrainingRule(
                        name=f"train_pack_{len(rules)}",
                        datasets=(dataset,),
                        variants=tuple(variants),
                        records=tuple(_record(target=t, draw=draw) for t, draw in product(chosen, names)),
                        log=f"{{dataset}}/{{variant}}/{label}/seed{{seed}}",
                        groups=tuple(groups),
                    )
                )
    return rules


def _families(study: Study, dataset: str, wanted: Collection[str]) -> list[list[str]]:
    """Targets that may share a pack, since they leave equally many sources.

    All domains are one family, so that a table with more targets leaves the packs as they are; the groups of
    each table's `holdout` follow, and what is held out to judge hyperparameters.
    """
    found = [list(study.dataset(dataset)["domains"])]
    known = set(found[0])
    for table in study.tables:
        for panel in study.panels(table):
            if panel.dataset == dataset:
                alike: dict[int, list[str]] = {}
                for name, domains in study.groups(dataset, folds.held_out(study, table, panel)).items():
                    if name in wanted and name not in known:
                        alike.setdefault(len(domains), []).append(name)
                        known.add(name)
                found += alike.values()
    return found


class PackShape(NamedTuple):
    """Targets and draws of the runs that one training job takes, for a given seed."""

    targets: tuple[str, ...]
    draws: tuple[int | str, ...]


def pack_shapes(targets: Sequence[str], draws: Sequence[int | str], size: int) -> list[PackShape]:
    """Divide a variant's runs of one seed into jobs of at most ``size`` runs.

    A job takes as many targets as fit, and of these a block of draws: 1, 2, 4, 5, 10 or a multiple of 20. The
    blocks depend on the targets and ``size`` alone, so that more seeds, or draws beyond a whole number of
    blocks (20, say), leave the earlier jobs as they are.
    """
    together = min(size, len(targets))
    room = size // together
    block = max(n for n in (1, 2, 4, 5, 10, room // 20 * 20) if n <= room)
    blocks = [tuple(draws[start : start + block]) for start in range(0, len(draws), block)]
    groups = [tuple(targets[start : start + together]) for start in range(0, len(targets), together)]
    return [PackShape(group, part) for part in blocks for group in groups]


def _toy_blocks(runs: Sequence[Run]) -> list[TrainingRule]:
    """Blocks that begin at the same seeds whatever their number, so that more seeds leave all others be."""
    blocks: dict[int, dict[str, list[Run]]] = {}
    for run in runs:
        first = run.seed // TOY_SEEDS * TOY_SEEDS
        blocks.setdefault(first, {}).setdefault(run.variant, []).append(run)
    return [
        TrainingRule(
            name=f"toy_train_{first}",
            datasets=(toy.NAME,),
            variants=tuple(variants),
            records=tuple(
                _record(target=run.target, seed=run.seed, draw=draw_name(run.draw))
                for run in next(iter(variants.values()))
            ),
            log=f"{{dataset}}/{{variant}}/seed{first}",
            groups=tuple(map(tuple, variants.values())),
        )
        for first, variants in blocks.items()
    ]


def _record(**known: object) -> str:
    """`RECORD` with what is known in its place."""
    places = ("dataset", "variant", "target", "seed", "draw")
    if "target" in known:
        known["target"] = target_folder(str(known["target"]))
    return RECORD.format(**{place: known.get(place, f"{{{place}}}") for place in places})
