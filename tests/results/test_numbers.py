"""Means, spreads, ranks and gaps, by hand."""

import math
import statistics
from dataclasses import replace

import pandas as pd
import pytest

from golden import GOLDEN, ONE_SEED, layout, selected
from synthetic_records import grid, save
from tsdg.errors import InputError
from tsdg.results.best import places
from tsdg.results.numbers import of_worst, over_seeds, over_targets, summarise
from tsdg.results.selection import select
from tsdg.study.run import Run


def cells(table):
    return table.set_index(["variant", "target", "metric"])


def test_the_averages_spread_is_over_seeds_of_each_seeds_mean_over_targets():
    # Over targets (72, 60) it would be 8.5, of both spreads (2, 10) together 6.
    values = {"P": {0: 70.0, 1: 72.0, 2: 74.0}, "Q": {0: 60.0, 1: 70.0, 2: 50.0}}
    found = over_targets(values)
    assert (found.mean, found.n) == (66, 3)
    assert found.std == statistics.stdev([65, 71, 62])
    # Seeds 1 and 2 have not every target: the mean is of all there is, the spread of whole seeds alone.
    gaps = {"P": {0: 70.0, 1: 72.0}, "Q": {0: 60.0, 2: 50.0}}
    assert over_targets(gaps) == (63, pytest.approx(math.nan, nan_ok=True), 1)
    one = {"P": {0: 70.0, 1: 72.0, 2: 74.0}, "Q": {0: 60.0, 1: 70.0}}
    assert over_targets(one) == (68.5, statistics.stdev([65, 71]), 2)
    assert over_targets({"P": {0: 70.0}, "Q": {}}) == pytest.approx((math.nan, math.nan, 0), nan_ok=True)


def test_both_rules_have_means_and_spreads_of_their_own(tmp_path):
    values = {  # (draw, seed): source validation, and accuracy on P and Q
        (0, 0): (0.9, 0.70, 0.60),
        (0, 1): (0.6, 0.72, 0.70),
        (1, 0): (0.5, 0.10, 0.20),
        (1, 1): (0.8, 0.30, 0.80),
    }
    for (draw, seed), (validation, *accuracies) in values.items():
        for target, accuracy in zip("PQ", accuracies, strict=True):
            save(tmp_path, Run("toy", "erm", target, seed, draw), ((100, validation, accuracy),))
    shape = layout(["erm"], ours=[], metrics=["accuracy"], protocol=replace(ONE_SEED, seeds=2))
    table = cells(summarise(select(grid(["erm"], "PQ", [0, 1], [0, 1]), tmp_path), shape))
    average = table.loc["erm", "Average", "accuracy"]
    assert (average["mean"], average["shared_mean"]) == (pytest.approx(60), pytest.approx(68))
    assert average["std"] == pytest.approx(statistics.stdev([65, 55]))
    assert average["shared_std"] == pytest.approx(statistics.stdev([65, 71]))
    of_p = table.loc["erm", "P", "accuracy"]
    assert (of_p["std"], of_p["shared_std"]) == pytest.approx(
        (statistics.stdev([70, 30]), statistics.stdev([70, 72]))
    )
    assert over_seeds({}).n == 0


def test_the_worst_target_is_by_the_metrics_direction_and_has_its_own_spread(tmp_path):
    values = {"P": {0: 70.0, 1: 80.0}, "Q": {0: 60.0, 1: 86.0}, "R": {0: 90.0}}
    assert of_worst(values, higher_is_better=True) == (73, statistics.stdev([60, 86]), 2)
    assert of_worst(values, higher_is_better=False)[::2] == (90, 1)
    assert math.isnan(of_worst(values | {"S": {}}, higher_is_better=False).mean)
    runs = selected(tmp_path, GOLDEN)  # of Q's NLL, 2 - accuracy, the larger is the worse
    worst = cells(summarise(runs, layout(metrics=["accuracy", "nll"])))["mean"].xs("Worst", level="target")
    assert worst["erm"].to_dict() == pytest.approx({"accuracy": 60, "nll": 1.4})
    assert "Worst" not in set(summarise(runs, layout(targets="P"))["target"])


@pytest.mark.parametrize("metric", ["accuracy", "nll"])  # the helper's NLL is 2 - accuracy: lower is better
def test_what_prints_alike_ranks_alike_and_the_next_print_is_second(tmp_path, metric):
    values = {"erm": 0.4, "irm": 0.6, "ours": 0.5996, "rsc": 0.6, "dann": 0.3}
    runs = selected(tmp_path, {(variant, "P"): [value] for variant, value in values.items()}, seeds=1)
    shape = layout(list(values), "P", [metric], labels={}, ours=[], protocol=ONE_SEED)
    table = summarise(runs, shape)
    assert table[table.target == "P"]["rank"].fillna(0).tolist() == [2, 1, 1, 1, 0]


def test_what_has_no_number_has_no_place():
    assert places(["nan", "2.0", "10.0", "-0.0", "0.0"], higher_is_better=False) == [None, 2, None, 1, 1]
    assert places(["2.0", "10.0", "nan"], higher_is_better=True) == [2, 1, None]


def test_runs_that_are_there_twice_are_refused(tmp_path):
    runs = selected(tmp_path, GOLDEN)
    with pytest.raises(InputError, match="a run is there twice"):
        summarise(pd.concat([runs, runs]), layout())
