"""Selection by leaving sources out: which trainings judge the hyperparameters of which run.

Where a target T is held out, each group G of its sources is left out in turn. The training of that fold holds
out T and G together: it learns from neither, and what it reaches on G judges its draw. It is a run like any
other, whose target is the list of all these domains; the one for T and G is that for G and T as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from tsdg.errors import InputError
from tsdg.study import targets
from tsdg.study.layout import Panel
from tsdg.study.run import Run
from tsdg.study.selection import LEFT_OUT

if TYPE_CHECKING:
    from tsdg.study.study import Study


class Fold(NamedTuple):
    """A training that judges the hyperparameters of another.

    Attributes
    ----------
    run : Run
        Of the same hyperparameters, seed and draw.
    left_out : tuple of str
        The sources of the other that are held out with its target, on which it is judged.
    """

    run: Run
    left_out: tuple[str, ...]


Folds = Mapping[Run, Sequence[Fold]]


def of_table(study: Study, table: str) -> dict[Run, list[Fold]]:
    """The folds of each run of a table; none for a table of another selection, and where one draw is all."""
    if study.selection(table).policy != LEFT_OUT:
        return {}
    rows = [row for row in study.table(table)["rows"] if len(study.draws(row)) > 1]
    found = {}
    for panel in study.panels(table):
        by_target = of_panel(study, panel)
        for run in study.runs(panel.dataset, rows, panel.targets):
            folds = by_target[run.target]
            found[run] = [Fold(replace(run, target=name), left_out) for name, left_out in folds]
    return found


def held_out(study: Study, table: str, panel: Panel) -> list[str]:
    """All targets that a panel of a table trains: its own, then those of folds."""
    if study.selection(table).policy != LEFT_OUT:
        return list(panel.targets)
    judging = [name for of_target in of_panel(study, panel).values() for name, _ in of_target]
    return list(dict.fromkeys([*panel.targets, *judging]))


def of_panel(study: Study, panel: Panel) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Of each target of a panel its folds: what is held out, and what of it are sources.

    A group of sources is another target of the panel, or a domain that is in none.

    Raises
    ------
    InputError
        A target leaves fewer than two groups of sources.
    """
    domains = study.dataset(panel.dataset)["domains"]
    held_out = {name: study.target(panel.dataset, name).domains for name in panel.targets}
    found = {}
    for name, own in held_out.items():
        left = [domain for domain in domains if domain not in own]
        groups = []
        for other in held_out.values():
            if set(other) <= set(left):
                groups.append(other)
                left = [domain for domain in left if domain not in other]
        groups += [(domain,) for domain in left]
        if len(groups) < 2:
            raise InputError(
                f"target {name} leaves one group of sources, {', '.join(groups[0])}: leaving it out leaves "
                "nothing to learn from; hold out smaller groups, or leave `selection` out"
            )
        found[name] = [(targets.together(domains, (*own, *group)).name, group) for group in groups]
    return found
