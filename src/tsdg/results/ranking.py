"""Which method is better over many targets: average ranks, Friedman's test, and Wilcoxon's of every pair.

A block is one target of one data set; a method's value in it is the mean over seeds, as the tables print it.
Demšar, Journal of Machine Learning Research 7, 2006; for the tests of pairs Benavoli, Corani & Mangili, the
same journal 17, 2016.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
from scipy import stats

from tsdg.errors import InputError
from tsdg.results.best import LEGEND, marked, places
from tsdg.results.captions import notes
from tsdg.results.latex import document, escape, ruled
from tsdg.results.numbers import summarise
from tsdg.results.tables import write
from tsdg.study.layout import Layout
from tsdg.study.metric import METRICS

ALPHA = 0.05
FEWEST_METHODS = 3  # fewer have no ranking to test
FEWEST_BLOCKS = 6  # of fewer, no signed-rank test of a pair can reach 5%: 2 / 2^5 is more


@dataclass(frozen=True)
class Ranking:
    """The outcome.

    Attributes
    ----------
    ranks : DataFrame
        Blocks (data set, target) by variants: 1 is best, ties share the mean of their ranks.
    left_out : list of (data set, target)
        Blocks in which a variant has no value.
    friedman : float
        p-value of the hypothesis that all variants are alike; NaN where there is too little to test.
    pairs : DataFrame
        Variants by variants: p-value of Wilcoxon's signed-rank test, after Holm. All 1 where Friedman's test
        finds nothing, all NaN where there was none.
    """

    ranks: pd.DataFrame
    left_out: list[tuple[str, str]]
    friedman: float
    pairs: pd.DataFrame

    @property
    def average(self) -> pd.Series:
        """Average rank of every variant."""
        return self.ranks.mean()


def block_values(selected: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """Blocks (data set, target) by variants, each panel's one metric as printed in the tables."""
    table = summarise(selected, layout)
    values = table.pivot(index=["dataset", "target"], columns="variant", values="mean")
    places = [(panel.dataset, target) for panel, target in layout.places]
    return values.reindex(index=pd.MultiIndex.from_tuples(places), columns=list(layout.rows))


def rank(values: pd.DataFrame, *, higher_is_better: bool) -> Ranking:
    """Rank and test variants.

    Parameters
    ----------
    values : DataFrame
        Blocks by variants.
        A variant without any value is left out.
    higher_is_better : bool

    Raises
    ------
    InputError
        No block has a value of every variant.
    """
    values = values.dropna(axis="columns", how="all")
    whole = values.dropna()
    if whole.empty:
        raise InputError(
            "nothing to rank: no target has a value of every method; train what is missing, or take out of "
            "the tables that are ranked what has failed"
        )
    left_out = [block for block in values.index if block not in whole.index]
    ranks = whole.rank(axis=1, ascending=not higher_is_better)
    variants = list(values.columns)
    friedman = math.nan
    pairs = pd.DataFrame(math.nan, index=variants, columns=variants)
    if len(variants) >= FEWEST_METHODS and len(whole) >= FEWEST_BLOCKS:
        friedman = _friedman(whole)
        pairs.loc[:, :] = _wilcoxon_holm(whole) if friedman < ALPHA else 1.0
    return Ranking(ranks, left_out, friedman, pairs)


def _friedman(values: pd.DataFrame) -> float:
    if (values.nunique(axis=1) == 1).all():
        return 1.0  # all alike in every block, which the statistic cannot say
    return float(stats.friedmanchisquare(*(values[name] for name in values)).pvalue)


def _wilcoxon_holm(values: pd.DataFrame) -> np.ndarray:
    tests = posthocs()
    return tests.posthoc_wilcoxon(values.to_numpy().T, zero_method="zsplit", p_adjust="holm").to_numpy()


def posthocs() -> ModuleType:
    """The package scikit-posthocs."""
    try:
        return import_module("scikit_posthocs")
    except ModuleNotFoundError:
        raise InputError("a ranking needs scikit-posthocs: pip install scikit-posthocs") from None


def rank_table(ranking: Ranking, layout: Layout) -> pd.DataFrame:
    """A row for each variant, best first.

    Returns
    -------
    DataFrame
        ``variant``, ``label``, ``average_rank``, ``rank_{data set}`` (over its blocks alone), ``blocks``,
        ``p_to_first`` (of the pair with the first variant; the first has none).
    """
    average = ranking.average.sort_values(kind="stable")
    by_dataset = ranking.ranks.groupby(level=0).mean()
    table = pd.DataFrame({"variant": average.index, "average_rank": average.to_numpy()})
    table.insert(1, "label", [layout.labels[variant] for variant in average.index])
    for panel in layout.panels:
        own = by_dataset.loc[panel.dataset] if panel.dataset in by_dataset.index else {}
        table[f"rank_{panel.dataset}"] = [own.get(variant, math.nan) for variant in average.index]
    table["blocks"] = len(ranking.ranks)
    table["p_to_first"] = [ranking.pairs.loc[average.index[0], variant] for variant in average.index]
    table.loc[0, "p_to_first"] = math.nan
    return table


def render(ranking: Ranking, layout: Layout, remarks: Sequence[str], out_folder: str | Path) -> list[Path]:
    """Write ``ranking.csv`` (`rank_table`) and ``ranking.tex``.

    Parameters
    ----------
    remarks : sequence of str
        Sentences of the caption, see `describe`.
    """
    table = rank_table(ranking, layout)
    columns = ["average_rank", *(f"rank_{dataset}" for dataset in layout.titles)]
    p = ["--" if math.isnan(value) else escape(_p(value)) for value in table["p_to_first"]]
    rows = zip(map(escape, table["label"]), *(_printed(table[column]) for column in columns), p, strict=True)
    lines = ruled(["Method", "All", *layout.titles.values(), "p to first"], [rows])
    text = f"{' '.join(remarks)} {LEGEND}"
    return write(
        "ranking", table, document("ranking", text, f"l{'r' * (len(columns) + 1)}", lines), out_folder
    )


def _printed(ranks: pd.Series) -> list[str]:
    """A column of ranks as LaTeX."""
    numbers = [f"{value:.2f}" for value in ranks]
    marks = zip(numbers, places(numbers, higher_is_better=False), strict=True)
    return ["--" if number == "nan" else marked(number, place) for number, place in marks]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def describe(
    ranking: Ranking,
    selected: pd.DataFrame,
    layout: Layout,
    *,
    without: Sequence[str] = (),
    others: Sequence[str] = (),
    dropped: Sequence[str] = (),
    apart: Sequence[str] = (),
    twice: Sequence[str] = (),
) -> list[str]:
    """What a reader must know, in sentences.

    Parameters
    ----------
    without : sequence of str
        Data sets that the study names for the ranking and that are not at hand.
    others : sequence of str
        Data sets of tables that share too few methods.
    dropped : sequence of str
        Methods that not every table has.
    apart : sequence of str
        Methods to which the new domain gives something else.
    twice : sequence of str
        Rows that show what another row shows.
    """
    titles = layout.titles
    measured: dict[str, list[str]] = {}
    for panel in layout.panels:
        measured.setdefault(METRICS[panel.metrics[0]].label, []).append(panel.title)
    metric = "; ".join(f"{label} on {', '.join(names)}" for label, names in measured.items())
    if len(measured) == 1:
        [metric] = measured
    found = [
        f"Average ranks ({metric}) of {len(ranking.average)} methods over {len(ranking.ranks)} targets of "
        f"{', '.join(titles.values())}; 1 is best."
    ]
    if without:
        found.append(f"Without {', '.join(without)}, which is not at hand.")
    if others:
        found.append(f"Their tables share too few methods, and are left out: {', '.join(others)}.")
    if dropped:
        found.append(f"Not in every table, and left out: {', '.join(dropped)}.")
    if apart:
        found.append(f"The new domain gives something else to, and left out: {', '.join(apart)}.")
    if twice:
        found.append(f"Counted once, as another row shows the same: {', '.join(twice)}.")
    if lacking := [layout.labels[v] for v in layout.rows if v not in ranking.average]:
        found.append(f"Without a value on any target, and left out: {', '.join(lacking)}.")
    if ranking.left_out:
        listing = ", ".join(f"{titles[dataset]} {target}" for dataset, target in ranking.left_out)
        found.append(f"Targets left out, in which a method has no value: {listing}.")
    if math.isnan(ranking.friedman):
        found.append(f"No test was made: it takes {FEWEST_METHODS} methods and {FEWEST_BLOCKS} targets.")
        return found + notes(selected, layout)
    pairs = "no pair was tested"
    if ranking.friedman < ALPHA:
        pairs = "pairs by Wilcoxon's signed-rank test with Holm's correction"
    p = f"{'' if ranking.friedman < 0.001 else '= '}{_p(ranking.friedman)}"
    found.append(f"Friedman's test of no difference: p {p}; {pairs}.")
    found.append("Targets of one data set share recordings and sources: take p-values as a guide.")
    return found + notes(selected, layout)
