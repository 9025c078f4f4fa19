"""What selection policies pick of the same records, and what the number that each looks at is worth.

Worth is the rank correlation (Spearman's, and Kendall's tau-b) of a policy's validation with the metric on
the target: over the runs of a target, that is draws and seeds, at the checkpoint that counts; and over the
checkpoints of a run. Targets, or runs, are correlated by themselves and their correlations averaged, since a
policy never chooses between targets. Where the validation is the same for all of them, as when it is
saturated, it says nothing, and there is no correlation; these are counted.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pandas as pd
from scipy import stats

from tsdg.errors import InputError
from tsdg.results.captions import notes
from tsdg.results.latex import document, escape, ruled
from tsdg.results.numbers import summarise
from tsdg.results.outcomes import Outcome, judged, outcomes, seen
from tsdg.results.selected import in_order
from tsdg.results.selection import select
from tsdg.results.tables import write
from tsdg.runs.current import CurrentRecords
from tsdg.runs.record import Record, read
from tsdg.study import folds
from tsdg.study.folds import Folds
from tsdg.study.layout import AVERAGE, Layout
from tsdg.study.metric import METRICS
from tsdg.study.run import Run
from tsdg.study.selection import LEFT_OUT, ORACLE, POLICIES, Selection
from tsdg.study.study import Study

Pairs = Sequence[tuple[float, float]]  # validation and target, both turned so that more is better


class Agreement(NamedTuple):
    """Mean rank correlations of several groups, of which `constant` have none."""

    spearman: float
    kendall: float
    groups: int
    constant: int


def agreement(groups: Iterable[Pairs]) -> Agreement:
    """Of groups of two pairs or more."""
    spearman, kendall, constant = [], [], 0
    for pairs in groups:
        if len(pairs) < 2:
            continue
        validation, target = zip(*pairs, strict=True)
        if len(set(validation)) == 1 or len(set(target)) == 1:
            constant += 1
            continue
        spearman.append(float(stats.spearmanr(validation, target).statistic))
        kendall.append(float(stats.kendalltau(validation, target).statistic))
    mean, mean_kendall = (fmean(values) if values else math.nan for values in (spearman, kendall))
    return Agreement(mean, mean_kendall, len(spearman) + constant, constant)


def compare(
    study: Study, table: str, runs: Path, data: Path, metric: str = "accuracy"
) -> tuple[pd.DataFrame, list[str]]:
    """Every policy on the records of a table.

    Parameters
    ----------
    study, table
    runs, data : Path
        Folders of the records and of the prepared data sets.
    metric : str
        That the policies look at.

    Returns
    -------
    DataFrame
        A row for each data set, variant and policy: ``picked``, the mean over seeds of the average over
        targets of the panel's leading ``metric``; ``spearman``, ``kendall`` over ``groups`` targets, of which
        ``constant`` have none; the same over checkpoints, of so many runs, as ``spearman_checkpoints`` ...
    list of str
        What must be said.
    """
    current = CurrentRecords(study, runs, data).current
    reader = cache(read)  # so that all policies read a record once; cleared after each variant
    policies, remarks, absent = list[_Policy](), list[str](), 0
    for policy in POLICIES:
        own = study.under(Selection(policy, metric))
        try:
            policies.append(_Policy(own, own.selection(table), folds.of_table(own, table), [], [], {}))
        except InputError as error:
            remarks.append(f"Without {policy}: {error}.")
    readings = study.readings(table)
    leading = {panel.dataset: panel.leading for panel in study.panels(table)}

    def found(run: Run) -> Record | None:
        return seen(run, runs, readings.get(run.variant), current, reader)

    def training(run: Run) -> tuple[str, str]:
        return run.dataset, study.trained(run).variant

    for _, group in groupby(sorted(study.shown_runs(table), key=training), training):
        expected = sorted(group)
        for one in policies:
            how: dict[str, Any] = {
                "selection": one.selection, "checkpoint": study.checkpoint, "current": current,
                "folds": one.judging, "readings": readings, "reader": reader,
            }  # fmt: skip
            one.selected.append(select(expected, runs, **how))
            taken = outcomes(expected, runs, **how)
            one.found.extend(taken)
            absent += sum(found(fold.run) is None for run in expected for fold in one.judging.get(run, ()))
            if one.selection.policy in (LEFT_OUT, ORACLE):  # which do not choose by checkpoints
                continue
            for run in (outcome.run for outcome in taken if outcome.finished):
                if record := found(run):
                    course = _course(record, one.selection, leading[run.dataset])
                    one.courses.setdefault((run.dataset, run.variant), []).append(course)
        reader.cache_clear()
    if absent:
        remarks.append(
            f"{absent} trainings that leave out a source have no current record: train them by "
            f"--set tables.{table}.selection={LEFT_OUT}."
        )
    layouts = [one.study.layout(table) for one in policies]
    selected = [pd.concat(one.selected) for one in policies]
    rows = [
        row
        for one, own, layout in zip(policies, selected, layouts, strict=True)
        for row in _rows(layout, one.selection, own, one.found, one.judging, one.courses)
    ]
    return pd.DataFrame(rows), [*notes(in_order(selected[0]), layouts[0]), *remarks]


class _Policy(NamedTuple):
    """A policy, and what it finds."""

    study: Study
    selection: Selection
    judging: Folds
    selected: list[pd.DataFrame]
    found: list[Outcome]
    courses: dict[tuple[str, str], list[Pairs]]  # of each run of a data set and variant its checkpoints


def _course(record: Record, selection: Selection, metric: str) -> Pairs:
    values = [
        (judged(record, checkpoint, selection), getattr(checkpoint.target, metric))
        for checkpoint in record.checkpoints
    ]
    return [
        (selection.better(value), _better(metric, target)) for value, target in values if target is not None
    ]


def _better(metric: str, value: float) -> float:
    return value if METRICS[metric].higher_is_better else -value


def _rows(
    layout: Layout,
    selection: Selection,
    selected: pd.DataFrame,
    found: Sequence[Outcome],
    judging: Folds,
    courses: dict[tuple[str, str], list[Pairs]],
) -> list[dict]:
    table = summarise(selected, layout)
    averages = table[table["target"] == AVERAGE].set_index(["dataset", "variant", "metric"])["mean"]
    rows = []
    for panel in layout.panels:
        for variant in layout.ordered:
            own = [
                outcome
                for outcome in found
                if (outcome.run.dataset, outcome.run.variant) == (panel.dataset, variant)
                and outcome.finished
                and outcome.metrics[panel.leading] is not None
                and (selection.policy != LEFT_OUT or outcome.run in judging)
            ]
            by_target = [
                [(selection.better(one.validation), _better(panel.leading, one.metrics[panel.leading] or 0.0))
                 for one in of_target]
                for _, of_target in groupby(own, key=lambda one: one.run.target)
            ]  # fmt: skip
            over_runs = agreement([] if selection.policy == ORACLE else by_target)
            over_checkpoints = agreement(courses.get((panel.dataset, variant), []))
            about = {
                "dataset": panel.dataset,
                "variant": variant,
                "label": layout.labels[variant],
                "policy": selection.name,
                "metric": panel.leading,
                "picked": averages.get((panel.dataset, variant, panel.leading), math.nan),
            }
            checkpoints = {f"{name}_checkpoints": value for name, value in over_checkpoints._asdict().items()}
            rows.append(about | over_runs._asdict() | checkpoints)
    return rows


def render(
    name: str, table: pd.DataFrame, layout: Layout, remarks: Sequence[str], out: str | Path
) -> list[Path]:
    """Write ``{name}.csv`` (`compare`) and ``{name}.tex``: rows by policies."""
    names = list(dict.fromkeys(table["policy"]))
    judging = [policy for policy in names if Selection.of(policy).is_result]
    choosing = [policy for policy in judging if Selection.of(policy).policy != LEFT_OUT]
    keys = [
        *(("picked", policy) for policy in names),
        *(("spearman", policy) for policy in judging),
        *(("spearman_checkpoints", policy) for policy in choosing),
    ]
    heads = [
        "Method",
        *(policy + "*" * (not Selection.of(policy).is_result) for policy in names),
        *(f"runs: {policy}" for policy in judging),
        *(f"checkpoints: {policy}" for policy in choosing),
    ]
    blocks = []
    for panel in layout.panels:
        own = table[table["dataset"] == panel.dataset].set_index(["variant", "policy"])
        metric = METRICS[panel.leading]

        def cell(variant: str, column: str, policy: str, own=own, metric=metric) -> str:
            value = own.loc[(variant, policy), column]
            if math.isnan(value):
                return "--"
            return metric.printed(value) if column == "picked" else f"${value:+.2f}$"

        title = [[escape(f"{panel.title}, {metric.heading}"), *[""] * len(keys)]]
        rows = [
            [escape(layout.labels[variant]), *(cell(variant, *key) for key in keys)]
            for variant in layout.ordered
        ]
        blocks.append([*title, *rows])
    constant, groups = (int(table[column].sum()) for column in ("constant", "groups"))
    text = " ".join(
        [
            "What each selection policy picks, on average over targets and seeds, and Spearman's correlation "
            "of its validation with the target: over the runs of a target (draws and seeds), over the "
            "checkpoints of a run.",
            *[f"In {constant} of {groups} comparisons of runs all are alike, which says nothing."]
            * (constant > 0),
            "* Oracle: by the target itself, which nobody has of a new domain; no result.",
            *remarks,
        ]
    )
    return write(name, table, document(name, text, f"l{'r' * len(keys)}", ruled(heads, blocks)), out)
