"""Ranks by hand, tests against scipy, and what is said where there is too little to test."""

import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from scipy import stats

from layouts import layout, panel
from synthetic_records import grid, save
from tsdg.errors import InputError
from tsdg.results.figures.critical_difference import critical_difference
from tsdg.results.ranking import block_values, describe, rank, rank_table, render
from tsdg.results.selected import joined_runs
from tsdg.results.selection import select
from tsdg.study.layout import Protocol, joined

PROTOCOL = Protocol("paper", seeds=1, draws=1, iterations=100)


def blocks(values, names="abc"):
    index = pd.MultiIndex.from_tuples([("one" if k < 2 else "two", str(k)) for k in range(len(values))])
    return pd.DataFrame(values, index=index, columns=list(names), dtype=float)


def test_ranks_with_ties_and_blocks_left_out():
    ranking = rank(blocks([[3, 2, 1], [2, 2, 1], [1, 2, math.nan], [1, 3, 2]]), higher_is_better=True)
    assert ranking.ranks.to_numpy().tolist() == [[1, 2, 3], [1.5, 1.5, 3], [3, 1, 2]]
    assert ranking.left_out == [("two", "2")]
    assert ranking.average.to_dict() == pytest.approx({"a": 5.5 / 3, "b": 4.5 / 3, "c": 8 / 3})
    assert math.isnan(ranking.friedman)
    lower = rank(blocks([[3, 2, 1]]), higher_is_better=False)
    assert lower.ranks.to_numpy().tolist() == [[3, 2, 1]]


def test_friedman_and_holm_are_those_of_the_books():
    rng = np.random.default_rng(3)
    values = blocks(rng.normal([0, 0.4, 2.5, 2.6], 1, (14, 4)), "abcd")
    ranking = rank(values, higher_is_better=True)
    assert ranking.friedman == pytest.approx(stats.friedmanchisquare(*values.to_numpy().T).pvalue)
    pairs = {
        (one, other): stats.wilcoxon(values[one], values[other]).pvalue
        for k, one in enumerate("abcd")
        for other in "abcd"[k + 1 :]
    }
    largest = 0.0  # Holm: the k-th smallest times the number of pairs from it on, never below the ones before
    for k, (pair, p) in enumerate(sorted(pairs.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, p * (len(pairs) - k)))
        assert ranking.pairs.loc[pair] == ranking.pairs.loc[pair[::-1]] == pytest.approx(largest)
    assert ranking.pairs.loc["a", "c"] < 0.05 < ranking.pairs.loc["c", "d"]


def test_no_pair_is_tested_where_friedman_finds_nothing():
    alike = rank(blocks(np.ones((8, 3))), higher_is_better=True)
    assert (alike.friedman, set(alike.pairs.to_numpy().ravel())) == (1.0, {1.0})
    same = np.arange(8.0)[:, None] + [0.0, 0.0, 5.0]  # two methods alike in every block
    assert rank(blocks(same), higher_is_better=True).pairs.loc["a", "b"] == 1
    for few in (
        rank(blocks(same[:5]), higher_is_better=True),
        rank(blocks(same[:, :2], "ab"), higher_is_better=True),
    ):
        assert math.isnan(few.friedman)
        assert few.pairs.isna().all(axis=None)


@pytest.fixture
def tables(tmp_path):
    """Selected runs and layout of two tables; of the second, b is missing at target 1."""
    selected, layouts = [], []
    for dataset, rows in (("one", ["a", "b", "c"]), ("two", ["c", "a", "d", "b"])):
        runs = grid(rows, "1234", [0], [0], dataset=dataset)
        for run in runs:
            if (run.dataset, run.variant, run.target) != ("two", "b", "1"):
                accuracy = {"a": 0.8, "b": 0.6, "c": 0.4, "d": 0.3}[run.variant] + int(run.target) / 50
                save(tmp_path, run, ((100, 0.5, accuracy),))
        shown = panel(dataset, "1234", ["ece"], title=dataset.title())
        layouts.append(layout(rows, shown, protocol=PROTOCOL, ours=["a"]))
        selected.append(select(runs, tmp_path))
    return joined_runs(selected), joined(layouts, metrics=["accuracy"])


def test_table_and_diagram(tables, tmp_path):
    selected, shape = tables
    assert shape.rows == ("b", "c", "a")
    values = block_values(selected, shape)
    assert values.loc[("one", "2")].to_dict() == pytest.approx({"a": 84, "b": 64, "c": 44})
    ranking = rank(values, higher_is_better=True)
    table = rank_table(ranking, shape)
    assert table[["variant", "average_rank", "rank_one", "rank_two", "blocks"]].to_numpy().tolist() == [
        ["a", 1, 1, 1, 7], ["b", 2, 2, 2, 7], ["c", 3, 3, 3, 7],
    ]  # fmt: skip
    words = describe(ranking, selected, shape, without=["Three"], dropped=["D"])
    text = " ".join(words)
    assert "3 methods over 7 targets of One, Two" in text
    assert "Without Three" in text
    assert "left out: D." in text
    assert "no value: Two 1." in text
    made = [*render(ranking, shape, words, tmp_path), *critical_difference(ranking, shape, words, tmp_path)]
    assert [path.name for path in made] == [
        "ranking.csv", "ranking.tex", "critical_difference.pdf", "critical_difference.png",
    ]  # fmt: skip
    assert r"a & \textbf{1.00} & \textbf{1.00} & \textbf{1.00} & -- \\" in made[1].read_text()


def test_too_little_to_test_is_said_and_nothing_to_rank_refused(tables):
    selected, shape = tables
    few = selected[selected["target"] == "2"]
    words = describe(rank(block_values(few, shape), higher_is_better=True), few, shape)
    assert "No test was made: it takes 3 methods and 6 targets." in words
    with pytest.raises(InputError, match="no target has a value of every method"):
        rank(block_values(selected, shape) * math.nan, higher_is_better=True)


def test_a_method_without_any_value_is_left_out_and_named(tables, tmp_path):
    selected, shape = tables
    selected.loc[selected["variant"] == "c", ["accuracy", "status"]] = [math.nan, "diverged"]
    ranking = rank(block_values(selected, shape), higher_is_better=True)
    assert ranking.average.to_dict() == {"a": 1, "b": 2}
    words = describe(ranking, selected, shape)
    assert words[0].startswith("Average ranks (Accuracy) of 2 methods over 7 targets")
    assert "Without a value on any target, and left out: c." in words
    assert critical_difference(ranking, shape, words, tmp_path)


def test_the_diagram_names_every_method_and_joins_those_not_told_apart(tmp_path, monkeypatch):
    names = [f"method {k}" for k in range(9)]
    values = blocks(np.random.default_rng(0).normal(np.arange(9) // 5, 0.3, (14, 9)), names)
    ranking = rank(values, higher_is_better=False)
    drawn = []
    module = "tsdg.results.figures.critical_difference"
    monkeypatch.setattr(f"{module}.save", lambda figure, *_, **__: drawn.append(figure) or [])
    critical_difference(ranking, layout(names, panel("one", "1"), ours=names[:1]), [], tmp_path)
    [ax] = drawn[0].axes
    bars = [list(line.get_xdata()) for line in ax.lines if line.get_linewidth() == 2]
    assert max(map(len, bars)) == 5
    beside: dict[tuple, list[str]] = {}  # an end of a line: the rank and the name that stand at it
    for text in filter(Text.get_visible, ax.texts):
        beside.setdefault(text.xy, []).append(text.get_text())
    assert sorted(beside.values()) == sorted([f"{r:.2f}", name] for name, r in ranking.average.items())
    low, high = ax.get_xlim()
    assert low < 1 < 9 < high  # no dot is cut at the edge
    assert ax.get_xticks()[0] == 1
