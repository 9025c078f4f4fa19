"""Claims beside what was measured: whether each holds, and by which numbers."""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from tsdg.data import paper
from tsdg.files import write_text
from tsdg.results.latex import document, escape, ruled
from tsdg.results.measures import COLUMNS, measured
from tsdg.results.power import seeds_needed
from tsdg.results.tables import write
from tsdg.study.claims import Claim, measure
from tsdg.study.layout import Layout
from tsdg.study.study import Study

HOLDS, NOT_SHOWN, CONTRADICTED, NOT_RUN = "holds", "not shown", "contradicted", "not run"
LEVEL = 0.95
RULE = (
    "A comparison is made seed by seed: it holds where the 95% interval of the mean difference (Student's t) "
    "lies wholly beyond the margin, is contradicted where it lies wholly on the other side, and is not shown "
    "where the margin is in it or there are fewer than two seeds. A claim of several comparisons holds where "
    "as many hold as it says, and is contradicted where too many are. Differences are positive where the "
    "claim's side is better. Nothing is corrected for the number of claims. Seeds needed are those that, by "
    "the spread measured, show the paper's difference, or where it prints none the one measured, four times "
    "out of five."
)
Printed = Mapping[tuple[str, str, str, str], float]  # the paper's, by data set, row, target and metric


class Evidence(NamedTuple):
    """What claims about a table are checked by.

    Attributes
    ----------
    targets : {data set: targets}
    values : DataFrame
        See `tsdg.results.measures.measured`.
    printed : mapping
        See `printed_by_paper`.
    simulated : tuple of str
        Data sets whose raw files are.
    """

    targets: Mapping[str, Sequence[str]]
    values: pd.DataFrame
    printed: Printed
    simulated: tuple[str, ...] = ()


def evidence(study: Study, table: str, selected: pd.DataFrame | None, runs: str | Path) -> Evidence:
    """Of a table's selected runs, whose records lie in the folder `runs`; without them nothing is run."""
    layout = study.layout(table)
    targets = {panel.dataset: panel.targets for panel in layout.panels}
    printed = printed_by_paper(layout)
    if selected is None:
        return Evidence(targets, pd.DataFrame(columns=list(COLUMNS)), printed)
    metrics = [metric for claim in study.claims if claim.table == table for metric in claim.metrics]
    metadata = {dataset: study.dataset(dataset)["domains"] for dataset in targets}
    simulated = selected.loc[selected["simulated"].fillna(False), "dataset"].unique()
    values = measured(selected, layout, metrics, metadata, runs)
    return Evidence(targets, values, printed, tuple(simulated))


def check(study: Study, found: Mapping[str, Evidence]) -> tuple[pd.DataFrame, list[str]]:
    """The comparisons of all claims, given the evidence of each table, and what must be said of its runs."""
    comparisons = pd.concat(
        evaluate(claim, there.targets, there.values, there.printed)
        for claim in study.claims
        for there in [found[claim.table]]
    )
    protocol = study.protocol
    remarks = [f"{'Reduced protocol' if protocol.reduced else 'Protocol'} {protocol.name}."]
    if across := [claim.name for claim in study.claims if claim.across_levels]:
        remarks.append(
            "The new domain gives more to some rows than to what they are compared with: "
            f"{', '.join(across)}."
        )
    if names := dict.fromkeys(name for there in found.values() for name in there.simulated):
        remarks.append(f"Simulated raw files ({', '.join(names)}): these are not results on real recordings.")
    return comparisons, remarks


def printed_by_paper(layout: Layout) -> dict[tuple[str, str, str, str], float]:
    """What the paper prints of a table."""
    return {
        (panel.dataset, number.row, number.target, number.metric): number.value
        for panel in layout.panels
        if panel.paper
        for number in paper.numbers(panel.paper).itertuples()
    }


def evaluate(
    claim: Claim, targets: Mapping[str, Sequence[str]], values: pd.DataFrame, printed: Printed
) -> pd.DataFrame:
    """The comparisons of a claim.

    Parameters
    ----------
    targets : {data set: targets}
    values : DataFrame
        See `tsdg.results.measures.measured`.
    printed : mapping
        See `printed_by_paper`.

    Returns
    -------
    DataFrame
        A row a comparison: ``claim``, ``says``, ``dataset``, ``target``, ``metric``, ``row``, ``than``;
        ``value``, ``than_value``, ``difference``, its ``low`` and ``high``, over ``n`` seeds; ``margin``;
        ``paper``, ``paper_than``, ``paper_difference``; the seeds ``needed``, see `RULE`; ``status``, and the
        claim's as ``claim_status``.
    """
    places = ["dataset", "variant", "target", "metric"]
    by_seed = {key: part.set_index("seed")["value"] for key, part in values.groupby(places)}
    sign = 1 if measure(claim.metric).higher_is_better else -1
    nothing = pd.Series(dtype=float)
    rows = []
    for dataset, (row, other) in product(targets, claim.pairs):
        if claim.dataset not in (None, dataset):
            continue
        for target in claim.targets(targets[dataset]):
            keys = [
                (dataset, row, target, claim.metric),
                (dataset, other or row, target, claim.than_metric or claim.metric),
            ]
            ours, than = (by_seed.get(key, nothing) for key in keys)
            known, known_than = (printed.get(key, math.nan) for key in keys)
            if claim.than_value is not None:
                than, known_than = pd.Series(claim.than_value, index=ours.index), claim.than_value
            both = pd.DataFrame({"ours": ours, "than": than}, dtype=float).dropna()
            difference = sign * (both["ours"] - both["than"])
            low, high = _interval(difference)
            printed_difference = sign * (known - known_than)
            expected = difference.mean() if math.isnan(printed_difference) else printed_difference
            rows.append(
                {
                    "claim": claim.name,
                    "says": claim.says,
                    "dataset": dataset,
                    "target": target,
                    "metric": claim.metric,
                    "row": row,
                    "than": other or claim.than_metric or f"{claim.than_value:g}",
                    "value": both["ours"].mean(),
                    "than_value": both["than"].mean(),
                    "difference": difference.mean(),
                    "low": low,
                    "high": high,
                    "n": len(both),
                    "margin": claim.margin,
                    "paper": known,
                    "paper_than": known_than,
                    "paper_difference": printed_difference,
                    "needed": seeds_needed(expected - claim.margin, difference.std()),
                    "status": _status(len(both), low, high, claim.margin),
                }
            )
    return pd.DataFrame(rows).assign(claim_status=claim_status([r["status"] for r in rows], claim.at_least))


def _interval(differences: pd.Series) -> tuple[float, float]:
    n = len(differences)
    if n < 2:
        return math.nan, math.nan
    mean = differences.mean()
    half = stats.t.ppf((1 + LEVEL) / 2, n - 1) * differences.std() / np.sqrt(n)
    return mean - half, mean + half


def _status(n: int, low: float, high: float, margin: float) -> str:
    if not n:
        return NOT_RUN
    return HOLDS if low > margin else CONTRADICTED if high < margin else NOT_SHOWN


def claim_status(statuses: Sequence[str], at_least: int | None = None) -> str:
    """Of a claim of which so many comparisons must hold; by default all."""
    needed = len(statuses) if at_least is None else at_least
    if statuses.count(HOLDS) >= needed:
        return HOLDS
    if statuses.count(CONTRADICTED) > len(statuses) - needed:
        return CONTRADICTED
    return NOT_RUN if NOT_RUN in statuses else NOT_SHOWN


def render(comparisons: pd.DataFrame, remarks: Sequence[str], out: str | Path) -> list[Path]:
    """Write ``claims.csv`` (the comparisons), ``claims.tex`` (a row a claim) and ``claims.md`` (both)."""
    claims = [_line(part) for _, part in comparisons.groupby("claim", sort=False)]
    heads = ["Claim", "By", "The paper", "Here", "Status"]
    text = " ".join(["The paper's claims, and what is measured here.", RULE, *remarks])
    rows = [[escape(cell) for cell in line] for line in claims]
    tex = document("claims", text, "p{88mm}p{42mm}p{36mm}p{46mm}l", ruled(heads, [rows]))
    paths = write("claims", comparisons, tex, out)
    words = ["# Claims", "", text, "", *_markdown(heads, claims), "", "## Comparisons", ""]
    details = [
        [c.claim, f"{c.dataset} {c.target}", c.row, c.than, *_numbers(c), _seeds(c), c.status]
        for c in comparisons.itertuples()
    ]
    heads = ["Claim", "Where", "Row", "Than", "Paper", "Here", "Seeds, needed", "Status"]
    markdown = Path(out, "claims.md")
    write_text(markdown, "\n".join([*words, *_markdown(heads, details)]) + "\n")
    return [*paths, markdown]


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines]


def _line(part: pd.DataFrame) -> list[str]:
    """A claim: its words, measure, the paper's numbers, ours, status."""
    first = part.iloc[0]
    by = measure(first["metric"]).heading
    if len(part) == 1:
        printed, here = _numbers(next(part.itertuples()))
    else:
        known = part.dropna(subset=["paper_difference"])
        beyond = int((known["paper_difference"].round(6) > known["margin"]).sum())
        printed = f"holds in {beyond} of {len(known)}" if len(known) else ""
        counts = part["status"].value_counts()
        here = ", ".join(f"{name} in {counts[name]}" for name in _STATUSES if name in counts)
    return [first["says"], by, printed, here, first["claim_status"]]


def _seeds(comparison: Any) -> str:
    """How many there are, and how many it takes."""
    if math.isnan(comparison.needed):
        return str(comparison.n)
    needed = "above 10,000" if math.isinf(comparison.needed) else f"{comparison.needed:.0f}"
    return f"{comparison.n}, {needed}"


_STATUSES = (HOLDS, NOT_SHOWN, CONTRADICTED, NOT_RUN)


def _numbers(comparison: Any) -> tuple[str, str]:
    """The paper's numbers and ours, as text."""
    metric = measure(comparison.metric)

    def text(one: float, other: float, difference: float) -> str:
        return f"{metric.printed(one)} / {metric.printed(other)}: {difference:+.{metric.decimals}f}"

    printed = here = ""
    if not math.isnan(comparison.paper_difference):
        printed = text(comparison.paper, comparison.paper_than, comparison.paper_difference)
    if comparison.n:
        here = text(comparison.value, comparison.than_value, comparison.difference)
        if not math.isnan(comparison.low):
            ends = (f"{end:+.{metric.decimals}f}" for end in (comparison.low, comparison.high))
            here += f" ({' to '.join(ends)})"
    return printed, here
