"""The next domain: a closed form, coverage by simulation, and probabilities that come true."""

import math

import numpy as np
import pytest
from scipy import stats

from layouts import layout, panel
from synthetic_records import grid, save
from tsdg.results.next_domain import compare, describe, pairs, predict, render
from tsdg.results.selection import select
from tsdg.study.layout import Protocol

PROTOCOL = Protocol("paper", seeds=2, draws=1, iterations=100)


@pytest.mark.parametrize("targets", [4, 9])
def test_of_one_seed_the_next_domain_follows_students_t(targets):
    """With a flat prior of tau the integral is known: n - 2 degrees of freedom, and all sums of squares."""
    values = np.random.default_rng(targets).normal(2, 3, targets)
    spread = math.sqrt(((values - values.mean()) ** 2).sum() / (targets - 2) * (1 + 1 / targets))
    exact = stats.t(targets - 2, values.mean(), spread)
    found = predict([[value] for value in values])
    for value in (-4, 0, 1, 3, 8):
        assert found.below(value) == pytest.approx(exact.cdf(value), abs=0.004)
    assert found.quantile(0.9) == pytest.approx(exact.ppf(0.9), abs=0.05 * spread)
    assert found.within == 0


def test_seeds_are_averaged_out_and_domains_are_not():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 6, (8, 40))
    alike = predict(list(1.5 + noise))
    apart = predict(list(rng.normal(1.5, 6, (8, 1)) + noise))
    assert (
        alike.quantile(0.975) - alike.quantile(0.025) < 8 < 20 < apart.quantile(0.975) - apart.quantile(0.025)
    )
    assert (alike.within, apart.within) == (pytest.approx(6, rel=0.1), pytest.approx(6, rel=0.1))
    assert alike.between < 2 < 4 < apart.between
    same = predict([[2.0, 2.0], [2.0], [2.0]])
    assert (same.below(1), same.below(3)) == (0, 1)


@pytest.mark.parametrize("shared", [0.0, 0.5])
def test_intervals_hold_the_next_domain_and_probabilities_come_true(shared):
    """Of domains that are independent, and of domains that share a part of what makes them differ."""
    rng = np.random.default_rng(1)
    below, better, is_better = [], [], []
    for _ in range(150):
        common = math.sqrt(shared) * rng.normal()
        domains = rng.normal(0, 10) + 5 * (common + math.sqrt(1 - shared) * rng.normal(size=9))
        found = predict(list(domains[:8, None] + rng.normal(0, 6, (8, 3))))
        below.append(found.below(domains[8]))
        better.append(1 - found.below(1))
        is_better.append(domains[8] > 1)
    covered = np.mean([0.025 < one < 0.975 for one in below])
    assert 0.92 <= covered <= 0.995
    sure, chance, came = np.array(better) > 0.8, np.array(better), np.array(is_better)
    assert came[sure].mean() == pytest.approx(chance[sure].mean(), abs=0.08)
    assert came[~sure].mean() == pytest.approx(chance[~sure].mean(), abs=0.1)


def test_pairs_are_all_with_the_baseline_and_ours_with_all():
    shape = layout(["line", "erm", "irm", "ours"], panel("d", "A"), baselines=["line"], ours=["ours"])
    first = [("line", "erm"), ("irm", "erm"), ("ours", "erm")]
    assert pairs(shape) == [*first, ("ours", "line"), ("ours", "irm")]
    assert pairs(shape, "irm")[:2] == [("line", "irm"), ("erm", "irm")]


def test_a_table_of_two_data_sets_by_hand(tmp_path):
    runs = [
        run for dataset in ("one", "two") for run in grid(["a", "b"], "1234", [0, 1], [0], dataset=dataset)
    ]
    for run in runs:  # the ECE of a is 10 points lower on one, as low on two
        worse = 0.1 if (run.variant, run.dataset) == ("b", "one") else 0
        save(tmp_path, run, ((100, 0.5, 0.5, 0.2 + worse + run.seed / 50 + int(run.target) / 100),))
    panels = [panel(dataset, "1234", ["ece"]) for dataset in ("one", "two")]
    shape = layout(["a", "b"], *panels, protocol=PROTOCOL)
    found = compare(select(runs, tmp_path), shape, baseline="b").set_index("dataset")
    assert found["difference"].to_dict() == pytest.approx({"one": 10, "two": 0, "all": 5})
    assert found["better"].to_dict() == pytest.approx({"one": 1, "two": 0, "all": 0.5}, abs=1e-6)
    assert found["equivalent"].to_dict() == pytest.approx({"one": 0, "two": 1, "all": 0.5}, abs=1e-6)
    assert found[["targets", "runs", "rope"]].loc["all"].tolist() == [8, 16, 1]
    table = found.reset_index()
    text = render(table, shape, describe(table, shape), tmp_path)[1].read_text()
    assert r"a & b & $+10.0$ & $+10.0$ to $+10.0$ & 100 & 0 & 0" in text
    wide = compare(select(runs, tmp_path), shape, baseline="b", rope=20)
    assert wide["equivalent"].tolist() == pytest.approx([1, 1, 1])
