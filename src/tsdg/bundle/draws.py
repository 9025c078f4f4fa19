"""The draw of hyperparameters that a bundle is trained by: as asked for, or selected among records."""

from collections.abc import Mapping, Sequence
from math import fsum
from pathlib import Path

from tsdg.errors import InputError
from tsdg.results.outcomes import Outcome, outcomes
from tsdg.results.selection import shared_draw
from tsdg.runs.recipe import Recipes
from tsdg.runs.record import Record
from tsdg.study import folds
from tsdg.study.folds import Fold
from tsdg.study.metric import METRICS
from tsdg.study.run import Run
from tsdg.study.selection import DEFAULT, LEFT_OUT, Selection
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
    """The draw that is best by the policy of the tables, over all targets and seeds with a record, and why.

    A draw with more finished records goes before one with fewer. Records of other settings, code or data
    (`fingerprint`) do not count; where each seed has draws of its own, nor do those of another `seed`.
    """
    draws = study.draws(variant)
    if len(draws) == 1:
        return draws[0], "the only one of the protocol"
    selection = policy(study, dataset, variant)
    wanted, judging = _judged(study, dataset, variant, selection)
    mine = [run for run in wanted if not study.anew or run.seed == seed]
    found = _outcomes(study, dataset, mine, runs, fingerprint, selection, judging)
    best = shared_draw(found, selection)
    values = [outcome.validation for outcome in found if outcome.run.draw == best and outcome.finished]
    if best is None or not values:
        trained = ", with sources left out," if selection.policy == LEFT_OUT else ""
        raise InputError(
            f"{runs}: no current records{trained} of {variant} on {dataset} under protocol "
            f"{study.params['protocol']}, from which a draw could be selected; make the table first, or "
            "give --draw fixed"
        )
    metric = METRICS[selection.metric]
    mean = f"{metric.printed(metric.scale * fsum(values) / len(values))}{metric.unit and ' ' + metric.unit}"
    by = "source validation" if selection == DEFAULT else selection.words
    tried = len({outcome.run.draw for outcome in found if outcome.finished})
    return best, f"best by {by}, {mean} over {len(values)} runs of {tried} draws"


def policy(study: Study, dataset: str, variant: str) -> Selection:
    """What the tables that have a variant on a data set select by, those of the oracle left aside.

    Raises
    ------
    InputError
        They differ, or the oracle is asked to choose.
    """
    if study.one_selection:
        if study.one_selection.is_result:
            return study.one_selection
        raise InputError(
            "--selection oracle: it looks at the target, of which an exported model knows nothing"
        )
    found: dict[Selection, str] = {}
    for table in study.tables:
        datasets = [panel.dataset for panel in study.panels(table)]
        if study.selection(table).is_result and dataset in datasets and variant in study.table(table)["rows"]:
            found.setdefault(study.selection(table), table)
    if len(found) > 1:
        tables = ", ".join(f"{table} by {selection.name}" for selection, table in found.items())
        raise InputError(
            f"{variant} on {dataset} is selected in different ways ({tables}): say by which with "
            "--selection, or give --draw"
        )
    return next(iter(found), DEFAULT)


def _judged(
    study: Study, dataset: str, variant: str, selection: Selection
) -> tuple[list[Run], Mapping[Run, Sequence[Fold]]]:
    """The runs of a variant that have a say, and the folds that judge them."""
    if selection.policy == LEFT_OUT:
        judging = {
            run: of_run
            for table in study.tables
            for run, of_run in folds.of_table(study, table).items()
            if (run.dataset, run.variant) == (dataset, variant)
        }
        return list(judging), judging
    wanted = [run for of_table in study.wanted.values() for run in of_table]
    held_out = [run for run in wanted if (run.dataset, run.variant) == (dataset, variant)]
    return list(dict.fromkeys([*study.runs(dataset, [variant]), *held_out])), {}


def _outcomes(
    study: Study,
    dataset: str,
    wanted: Sequence[Run],
    runs: Path,
    fingerprint: str,
    selection: Selection,
    judging: Mapping[Run, Sequence[Fold]],
) -> list[Outcome]:
    recipes = Recipes(study, {study.prepared(dataset): fingerprint})

    def current(run: Run, record: Record) -> bool:
        return not recipes.of(run).difference(record.recipe)

    return outcomes(wanted, runs, selection=selection, current=current, folds=judging)


def has_records(study: Study, dataset: str, variant: str, runs: Path, fingerprint: str) -> bool:
    """Whether a record says what to expect of a variant on a new domain."""
    wanted, _ = _judged(study, dataset, variant, DEFAULT)
    try:
        found = _outcomes(study, dataset, wanted, runs, fingerprint, DEFAULT, {})
    except InputError:  # a damaged one, of which nothing depends here
        return True
    return any(outcome.finished for outcome in found)
