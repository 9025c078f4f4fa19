"""The draw of hyperparameters that a bundle is trained by: as asked for, or selected among records."""

from math import fsum
from pathlib import Path

from tsdg.errors import InputError
from tsdg.runs.recipe import Recipes
from tsdg.runs.record import read
from tsdg.study.run import draw_order, run_path
from tsdg.study.study import Study


def chosen_draw(
    study: Study,
    dataset: str,
    variant: str,
    wanted: int | str | None,
    runs: Path,
    fingerprint: str,
    seed: int = 0,
) -> tuple[int | str, str]:
    """The draw that is wanted, or else selected, and why."""
    draws = study.draws(variant)
    if wanted is None:
        return selected_draw(study, dataset, variant, runs, fingerprint, seed)
    if wanted not in ("fixed", *draws):
        numbers = f", or of {draws[0]}-{draws[-1]}" if draws != ["fixed"] else ""
        raise InputError(
            f"--draw {wanted}: not a draw of {variant} under protocol {study.params['protocol']}; "
            f"choose fixed{numbers}"
        )
    return wanted, "as asked for"


def selected_draw(
    study: Study, dataset: str, variant: str, runs: Path, fingerprint: str, seed: int = 0
) -> tuple[int | str, str]:
    """The draw with the best source validation over all targets and seeds with a record, and why.

    Accuracy on targets has no say. A draw with more finished records goes before one with fewer. Records of
    other settings, code or data (`fingerprint`) do not count; where each seed has draws of its own, nor do
    those of another `seed`.
    """
    draws = study.draws(variant)
    if len(draws) == 1:
        return draws[0], "the only one of the protocol"
    found = current_validation(study, dataset, variant, runs, fingerprint, seed if study.anew else None)
    if not found:
        raise InputError(
            f"{runs}: no current records of {variant} on {dataset} under protocol "
            f"{study.params['protocol']}, from which a draw could be selected; make the table first, or "
            "give --draw fixed"
        )

    def rank(draw: int | str) -> tuple:
        return -len(found[draw]), -fsum(found[draw]) / len(found[draw]), draw_order(draw)

    best = min(found, key=rank)
    mean = fsum(found[best]) / len(found[best])
    return best, f"best source validation, {mean:.1%} over {len(found[best])} runs of {len(found)} draws"


def current_validation(
    study: Study, dataset: str, variant: str, runs: Path, fingerprint: str, seed: int | None = None
) -> dict[int | str, list[float]]:
    """Source validation of each draw's finished runs with a current record, of a seed or all."""
    recipes = Recipes(study, {study.prepared(dataset): fingerprint})
    found: dict[int | str, list[float]] = {}
    wanted = [run for of_table in study.wanted.values() for run in of_table]
    held_out = [run for run in wanted if (run.dataset, run.variant) == (dataset, variant)]
    for run in dict.fromkeys([*study.runs(dataset, [variant]), *held_out]):
        path = runs / run_path(run)
        if seed in (None, run.seed) and path.exists():
            record = read(path, run)
            if record.finished and not recipes.of(run).difference(record.recipe):
                found.setdefault(run.draw, []).append(record.checkpoints[-1].source_accuracy)
    return found


def has_records(study: Study, dataset: str, variant: str, runs: Path, fingerprint: str) -> bool:
    """Whether a record says what to expect of a variant on a new domain."""
    try:
        return bool(current_validation(study, dataset, variant, runs, fingerprint))
    except InputError:  # a damaged one, of which nothing depends here
        return True
