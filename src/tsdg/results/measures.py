"""Numbers that claims are about, by run: metrics of selected runs, and what figures show of their records."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from tsdg.results.reading import read_records
from tsdg.results.selected import shown_runs
from tsdg.runs.record import Record
from tsdg.study.claims import MEASURES
from tsdg.study.layout import AVERAGE, Layout
from tsdg.study.metric import METRICS

COLUMNS = ("dataset", "variant", "target", "seed", "metric", "value")
Metadata = Mapping[str, Mapping[str, Mapping[str, Any]]]  # of each domain of each data set


def measured(
    selected: pd.DataFrame, layout: Layout, metrics: Iterable[str], metadata: Metadata, runs: str | Path
) -> pd.DataFrame:
    """A row of `COLUMNS` for each measure of each finished run, and for each seed's average over targets.

    A seed that lacks a target has no average.
    """
    shown, rows = shown_runs(selected, layout), []
    names = list(dict.fromkeys(metrics))
    of_records = [name for name in names if name.partition("/")[0] in MEASURES]
    for name in (name for name in names if name not in of_records):
        rows += [(*_place(run), name, METRICS[name].scale * getattr(run, name)) for run in shown.itertuples()]
    if of_records:
        found = [(_place(run), record) for run, record, _ in read_records(shown, runs)]
        for name in of_records:
            rows += [(*place, name, value) for place, value in _of_records(name, found, metadata)]
    table = pd.DataFrame(rows, columns=list(COLUMNS)).dropna(subset=["value"])
    return pd.concat([table, *_averages(table, layout)], ignore_index=True)


def _place(run: Any) -> tuple[str, str, str, int]:
    return run.dataset, run.variant, run.target, run.seed


def _averages(table: pd.DataFrame, layout: Layout) -> Iterable[pd.DataFrame]:
    for panel in layout.panels:
        own = table[(table["dataset"] == panel.dataset) & table["target"].isin(panel.targets)]
        by_seed = own.groupby(["dataset", "variant", "seed", "metric"])["value"].agg(["mean", "size"])
        whole = by_seed[by_seed["size"] == len(panel.targets)].reset_index()
        yield whole.rename(columns={"mean": "value"}).assign(target=AVERAGE)[list(COLUMNS)]


def _of_records(
    name: str, found: Sequence[tuple[tuple, Record]], metadata: Metadata
) -> Iterable[tuple[tuple, float]]:
    family, _, of = name.partition("/")
    if family == "half":
        return [(place, half_reached(record.losses, of)) for place, record in found]
    if family == "time":
        seconds = {place: record.timing.seconds_per_iteration for place, record in found}
        return [
            ((dataset, row, target, seed), 100 * t / (seconds.get((dataset, of, target, seed)) or math.nan))
            for (dataset, row, target, seed), t in seconds.items()
        ]
    share = same_as_neighbour if family == "neighbours" else same_by_chance
    return [
        (place, share(record.neighbours[-1].of if record.neighbours else {}, metadata[place[0]], of))
        for place, record in found
    ]


def half_reached(losses: Mapping[str, Sequence[Any]], part: str) -> float:
    """Iteration by which a part of the loss has half fallen from its greatest value to its last.

    NaN where it never falls.
    """
    pairs = zip(losses["iteration"], losses.get(part, []), strict=False)
    steps = [(step, value) for step, value in pairs if value is not None]
    values = [value for _, value in steps]
    if not values or max(values) <= values[-1]:
        return math.nan
    top = values.index(max(values))
    middle = (values[top] + values[-1]) / 2
    return next(float(step) for step, value in steps[top:] if value <= middle)


def same_as_neighbour(neighbours: Mapping[str, str], domains: Mapping[str, Mapping], field: str) -> float:
    """Percent of the sources whose nearest neighbour has the same metadata; NaN where there are none."""
    alike = [domains[one].get(field) == domains[other].get(field) for one, other in neighbours.items()]
    return 100 * fmean(alike) if alike else math.nan


def same_by_chance(neighbours: Mapping[str, str], domains: Mapping[str, Mapping], field: str) -> float:
    """The same if neighbours were drawn at random: percent of the other sources with the same metadata."""
    values = [domains[one].get(field) for one in neighbours]
    if len(values) < 2:
        return math.nan
    return 100 * fmean((values.count(value) - 1) / (len(values) - 1) for value in values)
