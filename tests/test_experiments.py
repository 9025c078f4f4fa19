"""What the scripts behind the reproduction compute."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tsdg.results.figures.forest import interval
from tsdg.runs.training import train
from tsdg.study.layout import Panel
from tsdg.study.run import Run
from tsdg.study.study import Study

sys.path.insert(0, str(Path(__file__).parents[1] / "docs/experiments"))
claims, compare, divergence, seed_parts, seeds, target_statistics = (
    import_module(name)
    for name in ("claims", "compare", "divergence", "seed_parts", "seeds", "target_statistics")
)


def record(params, dataset, variant, seed):
    study, run = Study(params), Run("tiny", variant, "D", seed, "fixed")
    return train(dataset, [run], study.config("tiny", variant), [study.hparams(run)])[0]


def test_the_sources_statistics_are_those_of_a_record(params, tiny, tiny_folder, tmp_path, monkeypatch):
    settings, out = tmp_path / "params.yaml", tmp_path / "out.csv"
    settings.write_text(yaml.safe_dump(params))
    words = f"--params {settings} --data {tiny_folder} --targets D --seeds 0 1 --out {out}"
    monkeypatch.setattr(sys, "argv", ["target_statistics.py", *words.split()])
    target_statistics.main()
    first = out.read_text()
    target_statistics.main()
    assert out.read_text() == first  # nothing is trained twice
    shares = target_statistics.recall(pd.read_csv(out)).set_index(["statistics", "seed"])["all"]
    assert set(shares.index.get_level_values(0)) == set(target_statistics.STATISTICS)
    for seed in (0, 1):
        accuracy = record(params, tiny, "erm", seed)["checkpoints"][-1]["target"]["accuracy"]
        assert shares["sources", seed] == pytest.approx(100 * accuracy)


def test_the_parts_of_a_seed_make_the_seed(params, tiny):
    study, parts = Study(params), seed_parts.PARTS

    def last(seeds):
        run = Run("tiny", "ours-learned", "D", seeds["split"], "fixed")
        checkpoint = seed_parts.Parted(study, tiny, run, seeds).train()[0].checkpoints[-1]
        return checkpoint["validation"], checkpoint["target"]

    whole = record(params, tiny, "ours-learned", 1)["checkpoints"][-1]
    ones = {**dict.fromkeys(parts, 1), "rounding": 0}
    assert last(ones) == (whole["validation"], whole["target"])
    for part in parts:
        assert last({**ones, part: 2}) != last(ones), part


def test_the_mean_of_endless_new_seeds_lies_in_the_interval_of_the_mean():
    values = np.array([3.0, 7.0, 4.0, 9.0])
    assert seeds.prediction(values, seeds=10**12) == pytest.approx(interval(values))


def test_an_average_over_targets_weighs_them_alike_and_wants_them_all():
    runs = pd.DataFrame(
        [("erm", "A", 0.9), ("erm", "A", 0.7), ("erm", "A", 0.8), ("erm", "B", 0.4), ("vrex", "A", 0.5)],
        columns=["variant", "target", "accuracy"],
    )
    erm, vrex = compare.over_targets(runs, "accuracy").to_dict("records")
    assert erm == {"variant": "erm", "A": "80.0 ± 10.0 (3)", "B": "40.0", "Average": "60.0"}
    assert vrex == {"variant": "vrex", "A": "50.0", "B": "", "Average": ""}


def test_a_variant_of_another_data_set_is_another_variant():
    runs = pd.DataFrame(
        [("bearings", "erm", "A", 0, 0.5), ("bearings-coin", "erm", "A", 0, 0.9)],
        columns=["dataset", "variant", "target", "seed", "accuracy"],
    )
    (paired,) = seeds.differences(seeds.named(runs), "erm").to_dict("records")
    assert (paired["variant"], paired["pairs"], paired["mean"]) == ("bearings-coin/erm", 1, pytest.approx(40))


def test_shares_of_variance():
    targets, variants = np.array([10.0, 50.0, 90.0, 70.0]), np.array([[0.0], [3.0], [6.0]])
    means = pd.DataFrame(targets + variants, index=["a", "b", "c"])
    row = compare.together(means).iloc[0]
    of_variants = np.var(variants) / (np.var(variants) + np.var(targets))
    assert row["share of variants"] == f"{of_variants:.0%}" == "1%"
    assert (row["share of targets"], row["share left"]) == ("99%", "0%")
    assert row["p (Friedman)"] == "0.02"  # one order on four targets: chi-squared of 8, two degrees


def test_a_claim_on_averages_takes_seeds_that_have_every_target():
    rows = [("d", "erm", "A", 0, 0.5, 0.1), ("d", "erm", "B", 0, 0.7, 0.3), ("d", "erm", "A", 1, 0.9, 0.1)]
    rows += [("other", "erm", "B", 1, 0.9, 0.1), ("d", "erm", "C", 1, 0.9, 0.1)]
    runs = pd.DataFrame(rows, columns=["dataset", "variant", "target", "seed", "accuracy", "ece"])
    found = claims.values(runs, (Panel("d", "D", ("A", "B"), ("accuracy",)),))
    assert set(found["dataset"]) == {"d"}
    by_place = found[found["metric"] == "accuracy"].set_index(["target", "seed"])["value"]
    assert by_place.round(9).to_dict() == {("A", 0): 50, ("B", 0): 70, ("A", 1): 90, ("Average", 0): 60}


def test_divergence_is_that_of_a_machine_on_the_other_half():
    first, other = np.random.default_rng(0).normal(size=(2, 2, 400, 3))
    first[0] *= [1e3, 1, 1]  # of the half that is learned from alone, as a test by itself would not be
    machine = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    for shift in (0.0, 1.0):
        second = other + np.array([0, shift, 0])
        machine.fit(np.concatenate([first[0], second[0]]), [0] * 400 + [1] * 400)
        accuracy = machine.score(np.concatenate([first[1], second[1]]), [0] * 400 + [1] * 400)
        expected = 2 * (1 - 2 * (1 - accuracy))
        assert divergence.divergence(first, second, divergence.linear) == pytest.approx(expected)
    assert divergence.divergence(first, other + np.array([0, 99, 0]), divergence.svm) == 2


def windows_of(*starts_by_label):
    """Windows of 10 steps; a class has a recording of its own."""
    parts = [
        pd.DataFrame({"start": starts, "label": k, "recording": str(k)})
        for k, starts in enumerate(starts_by_label)
    ]
    return pd.concat(parts, ignore_index=True).assign(length=10)


def test_halves_share_no_time_step_of_a_recording():
    windows = windows_of([30, 0, 5, 35, 10, 15, 20, 25], [0, 3, 40])
    (first, second), (third, fourth) = divergence.halves(windows)
    starts = windows["start"].to_numpy()
    assert sorted(starts[first]) == [0, 5, 10]  # 15 overlaps the second half
    assert sorted(starts[second]) == [20, 25, 30, 35]
    assert (starts[third].tolist(), starts[fourth].tolist()) == ([], [3, 40])


def test_shares_of_classes_do_not_tell_domains_apart():
    rng = np.random.default_rng(0)
    windows = {
        "A": windows_of(range(0, 9000, 10), range(0, 900, 10)),
        "B": windows_of(range(0, 900, 10), range(0, 9000, 10)),
    }
    z = {
        name: rng.normal(size=(len(part), 2)) + 9 * part[["label"]].to_numpy()
        for name, part in windows.items()
    }
    (row,) = divergence.measured(z, windows, {"A": "fan end", "B": "fan end"}, ()).itertuples()
    assert (row.pairs, row.windows) == (divergence.WITHIN, 45)
    assert abs(row.linear) < 0.4
    # And a shift of each class in a direction of its own is seen by class.
    z["B"] = z["B"] + np.array([[0, 9], [0, -9]])[windows["B"]["label"]]
    (row,) = divergence.measured(z, windows, {"A": "fan end", "B": "drive end"}, ["B"]).itertuples()
    assert (row.pairs, row.linear_by_class) == (divergence.TARGET, 2)


def test_a_rank_correlation_within_rows_leaves_out_what_rows_differ_by():
    x = np.array([[1.0, 2, 3], [11, 12, 13], [21, 22, 23]])
    y = np.array([[29.0, 28, 27], [19, 18, 17], [9, 8, 7]])
    found, p = divergence.rank_correlation(x, -y)
    assert found == pytest.approx(1)
    assert p == pytest.approx(2 / 6**3, abs=0.005)
    assert divergence.rank_correlation(x, -y, together=True)[1] == pytest.approx(2 / 6, abs=0.02)
    assert divergence.rank_correlation(x, y)[0] == pytest.approx(-1)
