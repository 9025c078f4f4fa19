"""The numbers that figures draw, by hand; and that each kind draws."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from layouts import layout, panel
from synthetic_records import grid, make_record, metrics
from tsdg.errors import InputError
from tsdg.learning.metrics import reliability
from tsdg.results import figures
from tsdg.results.figures import optimization
from tsdg.results.figures.confusion import confusions
from tsdg.results.figures.forest import interval, paired_differences
from tsdg.results.figures.neighbours import neighbour_fractions
from tsdg.results.figures.optimization import iteration_times, mean_losses
from tsdg.results.figures.reliability import pooled_bins
from tsdg.results.selected import joined_runs
from tsdg.results.selection import select
from tsdg.runs.record import typed
from tsdg.runs.writing import write
from tsdg.study.figure_kinds import FIGURE_KINDS
from tsdg.study.layout import Protocol, joined
from tsdg.study.run import Run, run_path

PROTOCOL = Protocol("paper", seeds=2, draws=1, iterations=100, reduced=True)


def shape(dataset, rows, targets, title=None, **more):
    shown = panel(dataset, targets, ["ece"], title=title or dataset.title())
    return layout(rows, shown, protocol=PROTOCOL, **more)


def chosen(folder, accuracies):
    """Selected runs {(variant, target, seed): accuracy; None: missing}."""
    runs = []
    for (variant, target, seed), accuracy in accuracies.items():
        run = Run("one", variant, target, seed, "fixed")
        runs.append(run)
        if accuracy is not None:
            write(folder / run_path(run), make_record(run, ((100, 0.5, accuracy),)))
    return select(runs, folder)


def test_differences_are_paired_by_seed(tmp_path):
    accuracies = {
        ("erm", "A", 0): 0.5, ("erm", "A", 1): 0.6, ("erm", "B", 0): 0.7, ("erm", "B", 1): 0.7,
        ("x", "A", 0): 0.6, ("x", "A", 1): 0.8, ("x", "B", 0): 0.7, ("x", "B", 1): None,
    }  # fmt: skip
    table = joined([shape("one", ["x", "erm", "gone"], ["A", "B"])], metrics=["accuracy"])
    found = paired_differences(chosen(tmp_path, accuracies), table, "erm")
    assert set(found["variant"]) == {"x"}
    drawn = {(row.target, row.seed): round(row.difference, 9) for row in found.itertuples()}
    assert drawn == {("A", 0): 10, ("A", 1): 20, ("B", 0): 0, ("Average", 0): 5}


def test_interval_is_students():
    values = np.array([1.0, 4.0, 2.5])
    assert interval(values) == pytest.approx(tuple(ttest_1samp(values, 0).confidence_interval(0.95)))
    assert np.isnan(interval(values[:1])).all()


def test_neighbour_fractions_count_the_runs_with_both():
    runs = [{"A": "B", "B": "A", "C": "B"}, {"A": "B", "B": "D", "D": "A"}, {"A": "C", "B": "A", "C": "A"}]
    found = neighbour_fractions(runs, list("ABCDE"))
    expected = [
        [1, 2 / 3, 1 / 2, 0, np.nan],
        [2 / 3, 1, 0, 1, np.nan],
        [1 / 2, 1 / 2, 1, np.nan, np.nan],
        [1, 0, np.nan, 1, np.nan],
        [*[np.nan] * 4, 1],
    ]
    np.testing.assert_array_equal(found, expected)


def test_pooled_bins_are_those_of_all_samples_together():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.4, 0.4, 0.4], 90)
    y = rng.integers(0, 3, 90)
    parts = [reliability(p[rows], y[rows]) for rows in (slice(5), slice(5, 60), slice(60, None))]
    assert 0 in parts[0]["count"]  # an empty bin, whose means are None
    pd.testing.assert_frame_equal(pooled_bins(parts), pd.DataFrame(reliability(p, y), dtype=float))


def test_losses_are_means_over_runs_and_times_count_clusters():
    plain = make_record(Run("one", "ours", "A", 0, "fixed"))
    plain["config"]["clusters"] = {"A": 0, "B": 1, "C": 1}
    plain["timing"] = {"seconds_per_iteration": 0.02, "runs_at_once": 4}
    plain["machine"] = {"device": "cuda", "device_name": "Card"}
    losses = [{"iteration": [50, 100], "loss": [1.0, None]}, {"iteration": [50, 100], "loss": [3.0, 5.0]}]
    records = [typed(plain | {"losses": one}) for one in losses]
    assert mean_losses(records)["loss"].to_dict() == {50: 2.0, 100: 5.0}
    [time] = iteration_times(records[:1]).itertuples(index=False)
    assert (time.clusters, time.milliseconds, time.device) == (2, 20, "CUDA Card, 4 runs at once")


def test_no_two_of_many_lines_look_alike():
    assert len(set(optimization.looks([f"v{k}" for k in range(30)]).values())) == 30


CLUSTERS = {"one": {"A": "north", "B": "north", "C": "south"}, "two": {"A": "", "B": "", "C": ""}}
OPTIONS = {
    "accuracy": {},
    "forest": {"baseline": "erm"},
    "reliability": {"rows": ["erm", "ours"]},
    "confusion": {"rows": ["erm", "ours"]},
    "neighbours": {"variant": "ours", "clusters": CLUSTERS},
    "optimization": {"variant": "ours"},
    "transfer": {"variant": "ours", "metadata": {"one": {"A": {}, "B": {}}}},
}


def test_classes_are_counted_over_seeds_and_weighed_within_each(tmp_path):
    runs = grid(["erm"], "A", [0, 1, 2], ["fixed"], dataset="one")
    for run, counts in zip(runs, ([[30, 10], [0, 0]], [[6, 4], [15, 5]], None), strict=True):
        record = make_record(run, ((100, 0.5, 0.7),), "BC")
        n = sum(map(sum, counts)) if counts else 100
        accuracy = (counts[0][0] + counts[1][1]) / n if counts else 0.7
        record["checkpoints"][0]["target"] |= {"confusion": counts, "n": n, "accuracy": accuracy}
        write(tmp_path / run_path(run), record)
    shown = joined([shape("one", ["erm"], ["A"])])
    table = confusions(select(runs, tmp_path), shown, tmp_path).set_index(["true", "predicted"])
    assert table["windows"].to_dict() == {("0", "0"): 36, ("0", "1"): 14, ("1", "0"): 15, ("1", "1"): 5}
    assert table.loc[("0", "0"), ["mean", "n"]].tolist() == [(75 + 60) / 2, 2]
    assert table.loc[("1", "1"), ["mean", "n"]].tolist() == [25, 1]  # no seed 0: the class is not there


def test_every_kind_of_params_is_drawn():
    assert list(figures.DRAW) == list(FIGURE_KINDS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(set(figures.DRAW) - {"transfer"}))
@pytest.mark.parametrize(
    "present", [lambda run: run.dataset == "one", lambda run: False], ids=["half", "none"]
)
def test_every_kind_draws_what_there_is(kind, present, tmp_path):
    layouts = [shape(dataset, ["erm", "ours"], list("ABC"), ours=["ours"]) for dataset in CLUSTERS]
    selected = []
    for dataset in CLUSTERS:
        runs = grid(["erm", "ours"], "ABC", [0, 1], ["fixed"], dataset=dataset)
        for run in filter(present, runs):
            sources = [domain for domain in "ABC" if domain != run.target]
            record = make_record(run, ((100, 0.5, 0.6),), sources, simulated=True)
            bins = reliability(np.repeat([[0.7, 0.3], [0.4, 0.6]], [60, 40], axis=0), np.zeros(100, int))
            record["checkpoints"][0]["target"] = metrics(0.6) | {
                "reliability": bins,
                "confusion": [[60, 40], [0, 0]],
            }
            record["config"]["clusters"] = {"A": 0, "B": 0, "C": 1}
            record["losses"] = {"iteration": [50, 100], "loss": [2.0, 1.0], "consistency": [0.0, None]}
            if run.variant == "ours":
                record["neighbours"] = [
                    {"iteration": 0, "of": dict(zip(sources, sources[::-1], strict=True))}
                ]
            write(tmp_path / run_path(run), record)
        selected.append(select(runs, tmp_path))
    draw, table = figures.DRAW[kind], joined(layouts)
    arguments = (joined_runs(selected), table, tmp_path)
    first = draw(*arguments, tmp_path / "1", "f", **OPTIONS[kind])
    assert [path.name for path in first] == ["f.pdf", "f.png", *["f.csv"] * (kind == "confusion")]
    second = draw(*arguments, tmp_path / "2", "f", **OPTIONS[kind])
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.parametrize("kind", sorted(set(figures.DRAW) - {"forest"}))
@pytest.mark.parametrize("change", ["absent", "other iteration", "other accuracy", "other run"])
def test_a_record_that_has_changed_since_it_was_selected_is_refused(kind, change, tmp_path):
    run = Run("one", "ours", "A", 0, "fixed")
    path = tmp_path / run_path(run)
    write(path, make_record(run, ((100, 0.5, 0.6),)))
    selected = select([run], tmp_path)
    if change == "absent":
        path.unlink()
    elif change == "other run":
        write(path, make_record(Run("one", "ours", "A", 1, "fixed"), ((100, 0.5, 0.6),)))
    else:
        checkpoint = (50, 0.5, 0.6) if change == "other iteration" else (100, 0.5, 0.7)
        write(path, make_record(run, (checkpoint,)))
    table = joined([shape("one", ["ours"], ["A"])])
    options = OPTIONS[kind] | ({"rows": ["ours"]} if "rows" in OPTIONS[kind] else {})
    words = (
        "of run" if change == "other run" else "not what it was when its run was selected: run `tsdg select`"
    )
    with pytest.raises(InputError, match=f"fixed.json: .*{words}"):
        figures.DRAW[kind](selected, table, tmp_path, tmp_path / "out", "f", **options)


def test_dollars_in_labels_are_drawn(tmp_path):
    labels = {"erm": "$\\nocommand$", "x": "Plain"}
    table = joined([shape("one", ["erm", "x"], ["A"], labels=labels, title="$a_$")])
    selected = chosen(tmp_path, {(variant, "A", 0): 0.5 for variant in labels})
    figures.DRAW["forest"](selected, table, tmp_path, tmp_path / "out", "f", baseline="erm")
