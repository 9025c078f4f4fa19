"""The numbers of a table: means over seeds, their spreads and ranks, and what is missing of them.

Means are over seeds, of each seed's selected run. The spread of a target is the standard deviation (n-1) over
seeds; the spread of the average is that over seeds of the seed's mean over targets, for the seeds that have
every target. The worst of several targets is the one whose mean is worst, with its own spread and seeds.
"""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from scipy.special import stdtrit

from tsdg.errors import InputError
from tsdg.results.best import places
from tsdg.study.layout import AVERAGE, WORST, Layout, Panel
from tsdg.study.metric import METRICS

GAPS = ("missing", "diverged", "undefined")
CONFIDENCE = 0.95  # of intervals

BySeed = Mapping[int, float]


class Summary(NamedTuple):
    """Mean over `n` seeds and standard deviation (n-1); NaN where there are too few."""

    mean: float
    std: float
    n: int


def margin(std: float, n: int, confidence: float = CONFIDENCE) -> float:
    """Half of Student's interval of the mean of `n` values; NaN for fewer than two."""
    return float(stdtrit(n - 1, (1 + confidence) / 2)) * std / math.sqrt(n) if n > 1 else math.nan


def over_seeds(values: BySeed) -> Summary:
    """Of one target."""
    numbers = list(values.values())
    mean = statistics.fmean(numbers) if numbers else math.nan
    return Summary(mean, statistics.stdev(numbers) if len(numbers) > 1 else math.nan, len(numbers))


def over_targets(values: Mapping[Any, BySeed]) -> Summary:
    """Of the average over targets; nothing where a target has no value."""
    targets = list(values.values())
    if not all(targets):
        return Summary(math.nan, math.nan, 0)
    whole = [seed for seed in targets[0] if all(seed in target for target in targets)]
    by_seed = over_seeds({seed: statistics.fmean(target[seed] for target in targets) for seed in whole})
    return by_seed._replace(mean=statistics.fmean(over_seeds(target).mean for target in targets))


def of_worst(values: Mapping[Any, BySeed], *, higher_is_better: bool) -> Summary:
    """Of the target with the worst mean; nothing where a target has no value."""
    targets = [over_seeds(target) for target in values.values()]
    if not all(target.n for target in targets):
        return Summary(math.nan, math.nan, 0)
    worst = min if higher_is_better else max
    return worst(targets, key=lambda target: target.mean)


def summarise(selected: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """The table in long form.

    Parameters
    ----------
    selected
        As `tsdg.results.selection.select` returns it; what the layout does not name is ignored.
    layout : Layout

    Returns
    -------
    DataFrame
        A row for each data set, variant, target (and "Average", and of several "Worst") and metric:
        ``label``, ``unit``, ``selection``; ``mean``, ``std`` and ``n`` (seeds, of the ``seeds`` expected) by
        each seed's own draw; ``shared_mean``, ``shared_std``, ``shared_n`` by one draw for all seeds;
        ``given``, what the new domain gives to the row; ``rank`` (1 best, 2 second, else empty) among the
        rows that it gives as much, but of those that the oracle has selected; ``missing``, ``diverged``,
        ``undefined``: the seeds concerned, in words; ``partial``, whether there is a mean, but not of all
        that was to be run, on any of the targets. Over targets of which one has no value average and worst
        are empty.
    """
    if selected.duplicated(["rule", "dataset", "variant", "target", "seed"]).any():
        raise InputError("selected runs: a run is there twice; give every file of selected runs once.")
    runs = {(r.rule, r.dataset, r.variant, r.target, r.seed): r for r in selected.itertuples()}
    table = pd.DataFrame(
        {
            "dataset": panel.dataset,
            "variant": variant,
            "label": layout.labels[variant],
            "given": layout.level(variant).title,
            "target": target,
            "metric": metric,
            "unit": METRICS[metric].unit,
            "selection": panel.selection.name,
            "seeds": len(layout.seeds(variant)),
            **cell,
        }
        for panel in layout.panels
        for metric in panel.metrics
        for variant in layout.ordered
        for target, cell in _cells(runs, layout, panel, variant, metric)
    )
    results = {panel.dataset: panel.selection.is_result for panel in layout.panels}
    ranks = _ranks(table).where(table["dataset"].map(results))
    table.insert(list(table.columns).index(GAPS[0]), "rank", ranks)
    return table


def _cells(
    runs: Mapping[tuple, Any], layout: Layout, panel: Panel, variant: str, metric: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of a variant and metric: each target, then all of them, with its numbers and gaps."""

    def chosen(rule: str) -> dict[str, dict[int, Any]]:
        return {
            target: {
                seed: runs.get((rule, panel.dataset, variant, target, seed)) for seed in layout.seeds(variant)
            }
            for target in panel.targets
        }

    def values(of_targets: dict[str, dict[int, Any]]) -> dict[str, BySeed]:
        return {
            target: {
                seed: getattr(run, metric) * METRICS[metric].scale
                for seed, run in of_seeds.items()
                if run is not None and not math.isnan(getattr(run, metric))
            }
            for target, of_seeds in of_targets.items()
        }

    def cell(own: Summary, shared: Summary, gaps: dict[str, str], of: Sequence[str]) -> dict[str, Any]:
        some = not math.isnan(own.mean) and any(map(short, of))
        of_shared = {f"shared_{name}": value for name, value in shared._asdict().items()}
        return own._asdict() | of_shared | gaps | {"partial": some}

    def short(target: str) -> bool:
        return gaps[target]["missing"] != "" or len(own[target]) < len(found[target])

    found = chosen("per_seed")
    own, shared = values(found), values(chosen("shared"))
    ensemble = layout.is_ensemble(variant)
    gaps = {target: _gaps(found[target], own[target], ensemble=ensemble) for target in panel.targets}
    for target in panel.targets:
        yield target, cell(over_seeds(own[target]), over_seeds(shared[target]), gaps[target], [target])
    together = _joined_gaps(gaps)
    yield AVERAGE, cell(over_targets(own), over_targets(shared), together, panel.targets)
    if len(panel.targets) > 1:
        worst = partial(of_worst, higher_is_better=METRICS[metric].higher_is_better)
        yield WORST, cell(worst(own), worst(shared), together, panel.targets)


def _gaps(runs: Mapping[int, Any], values: BySeed, *, ensemble: bool) -> dict[str, str]:
    """In words: seeds without a run, with fewer draws than expected, with diverged draws, without a value.

    An ensemble has runs of all seeds.
    """
    missing, diverged, undefined = [], [], []
    for seed, run in runs.items():
        place = "all seeds" if ensemble else f"seed {seed}"
        if run is None or run.status == "missing":
            missing.append(place)
            continue
        of, what = ("", "runs") if ensemble else (f"{place}: ", "draws")
        if run.draws_found < run.draws_expected:
            missing.append(f"{of}{run.draws_expected - run.draws_found} of {run.draws_expected} {what}")
        if run.draws_diverged:
            some = f"{of}{run.draws_diverged} of {run.draws_expected} {what}"
            diverged.append(some if run.status == "finished" else place)
        if run.status == "finished" and seed not in values:
            undefined.append(place)
    return {gap: "; ".join(words) for gap, words in zip(GAPS, (missing, diverged, undefined), strict=True)}


def _joined_gaps(gaps: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {
        gap: ", ".join(f"{target} ({own[gap]})" for target, own in gaps.items() if own[gap]) for gap in GAPS
    }


def _ranks(table: pd.DataFrame) -> pd.Series:
    """Place of each printed value among those of a data set, target, metric and level."""
    ranks = pd.Series(pd.NA, index=table.index, dtype="Int64")
    for (_, _, name, _), group in table.groupby(["dataset", "target", "metric", "given"]):
        metric = METRICS[str(name)]
        found = places(map(metric.printed, group["mean"]), higher_is_better=metric.higher_is_better)
        ranks[group.index] = pd.array(found, dtype="Int64")
    return ranks
