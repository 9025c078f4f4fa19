import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from layouts import layout, panel
from synthetic_records import grid, make_record, metrics, save
from tsdg.errors import InputError
from tsdg.results.captions import notes
from tsdg.results.numbers import summarise
from tsdg.results.selected import COLUMNS, read_csv, write_csv
from tsdg.results.selection import select
from tsdg.runs.writing import write
from tsdg.study.run import Run, run_path
from tsdg.study.selection import Selection


def run(seed, draw):
    return Run("toy", "erm", "Z", seed, draw)


def chosen(selected, rule="per_seed"):
    """{seed: (draw, status)}"""
    rows = selected[selected.rule == rule]
    return {row.seed: (row.draw, row.status) for row in rows.itertuples()}


def test_by_hand(tmp_path):
    validation = {  # draw: one value a seed
        0: (0.70, 0.80, 0.60),
        1: (0.90, 0.10, 0.70),
        2: (0.80, 0.75, 0.70),
    }
    runs = [
        save(tmp_path, run(seed, draw), ((50, 1, 1), (100, value, draw / 10 + seed / 100)))
        for draw, values in validation.items()
        for seed, value in enumerate(values)
    ]
    selected = select(runs, tmp_path)
    assert tuple(selected.columns) == COLUMNS
    assert {s: d for s, (d, _) in chosen(selected).items()} == {0: "1", 1: "0", 2: "1"}
    assert {s: d for s, (d, _) in chosen(selected, "shared").items()} == {0: "2", 1: "2", 2: "2"}
    assert set(select(runs, tmp_path, one_for_all=False).rule) == {"per_seed"}
    first = selected[selected.rule == "per_seed"].iloc[0]
    assert (first.accuracy, first.validation, first.iteration) == (0.1, 0.9, 100)
    assert first.nll == pytest.approx(1.9)
    assert first.record == "toy/erm/Z/seed0/hp1.json"
    assert (first.draws_found, first.draws_expected, first.protocol) == (3, 3, "paper")
    assert np.isnan(first.auc)


def test_ties_go_to_the_lower_draw_and_fixed_is_lowest(tmp_path):
    nine, ten = save(tmp_path, run(0, 9)), save(tmp_path, run(0, 10))
    assert chosen(select([ten, nine], tmp_path))[0][0] == "9"
    assert chosen(select([ten, nine], tmp_path), "shared")[0][0] == "9"
    fixed = save(tmp_path, run(0, "fixed"))
    assert chosen(select([ten, nine, fixed], tmp_path))[0][0] == "fixed"


def test_the_mean_over_sources_does_not_depend_on_their_order(tmp_path):
    values = (0.1, 0.2, 0.3, 0.7)
    runs = []
    for draw, order in enumerate(sorted(itertools.permutations(values), key=lambda v: sum(v))):
        record = make_record(run(0, draw), sources="ABCD")
        record["checkpoints"][0]["validation"] = {d: metrics(v) for d, v in zip("ABCD", order, strict=True)}
        write(tmp_path / run_path(run(0, draw)), record)
        runs.append(run(0, draw))
    assert chosen(select(runs, tmp_path))[0][0] == "0"


def test_the_best_checkpoint_is_the_earliest_best(tmp_path):
    only = save(tmp_path, run(0, 0), ((10, 0.5, 0.1), (20, 0.9, 0.2), (30, 0.9, 0.3), (40, 0.6, 0.4)))
    last, best = (select([only], tmp_path, checkpoint=c).iloc[0] for c in ("last", "best"))
    assert (last.iteration, last.accuracy, last.validation) == (40, 0.4, 0.6)
    assert (best.iteration, best.accuracy, best.validation) == (20, 0.2, 0.9)
    with pytest.raises(InputError, match="last"):
        select([only], tmp_path, checkpoint="first")


def test_a_diverged_run_ranks_last(tmp_path):
    diverged = [save(tmp_path, run(seed, 0), ((10, 1.0, 1.0),), diverged=True) for seed in (0, 1)]
    finished = save(tmp_path, run(0, 1), ((100, 0.1, 0.2),))
    selected = select([*diverged, finished], tmp_path)
    assert chosen(selected) == {0: ("1", "finished"), 1: ("0", "diverged")}
    row = selected[(selected.rule == "per_seed") & (selected.seed == 1)].iloc[0]
    assert np.isnan(row.accuracy)
    assert pd.isna(row.iteration)
    assert (row.draws_found, row.draws_diverged) == (1, 1)


def test_missing_records_leave_gaps_that_say_so(tmp_path):
    expected = grid(["erm"], ["Z"], [0, 1, 2], [0, 1])
    save(tmp_path, run(0, 0), ((100, 0.6, 0.6),))
    save(tmp_path, run(1, 0), ((100, 0.6, 0.6),))
    save(tmp_path, run(0, 1), ((100, 0.9, 0.9),))  # better, but there for one seed only
    selected = select(expected, tmp_path)
    assert chosen(selected) == {0: ("1", "finished"), 1: ("0", "finished"), 2: ("", "missing")}
    assert chosen(selected, "shared") == {0: ("0", "finished"), 1: ("0", "finished"), 2: ("", "missing")}
    assert selected[selected.rule == "per_seed"].draws_found.tolist() == [2, 1, 0]
    assert (selected.draws_expected == 2).all()


def test_records_that_cannot_be_compared_are_refused(tmp_path):
    for seed, facts in enumerate(({}, {"iterations": 7}, {"fingerprint": "g"}, {"simulated": True})):
        save(tmp_path, run(seed, 0), **facts)
    for seed, what in ((1, "iterations"), (2, "fingerprint"), (3, "simulated")):
        with pytest.raises(InputError, match=f"{what} differ"):
            select([run(0, 0), run(seed, 0)], tmp_path)


def test_the_csv_is_stable_and_read_back_with_its_types(tmp_path):
    runs = [Run("toy", "1", target, seed, 0) for target in ("NA", "2") for seed in (0, 1)]
    save(tmp_path, runs[0], simulated=True)
    save(tmp_path, runs[2], diverged=True, simulated=True)
    selected = select(runs, tmp_path)
    write_csv(selected, tmp_path / "a" / "selected.csv")
    write_csv(selected.sample(frac=1, random_state=0), tmp_path / "b.csv")
    assert (tmp_path / "a" / "selected.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    pd.testing.assert_frame_equal(read_csv(tmp_path / "b.csv"), selected)
    assert [path.name for path in tmp_path.glob("a/*")] == ["selected.csv"], "a temporary file is left"
    text = (tmp_path / "b.csv").read_text()
    for cut in (3, len(text) // 2, len(text) - 1):
        (tmp_path / "b.csv").write_text(text[:cut])
        with pytest.raises(InputError, match=r"b.csv: it is cut short.*tsdg select"):
            read_csv(tmp_path / "b.csv")
    header, *lines = text.splitlines()
    for column, wrong in (
        ("rule", "best"),
        ("status", "done"),
        ("seed", "2.5"),
        ("accuracy", "7"),
        ("ece", "-1"),
    ):
        cells = lines[0].split(",")
        cells[header.split(",").index(column)] = wrong
        (tmp_path / "b.csv").write_text("\n".join([header, ",".join(cells), *lines[1:], ""]))
        with pytest.raises(InputError, match=r"b.csv: .*tsdg select"):
            read_csv(tmp_path / "b.csv")
    (tmp_path / "b.csv").write_text("rule,variant\nper_seed,erm\n")
    with pytest.raises(InputError, match="tsdg select"):
        read_csv(tmp_path / "b.csv")
    with pytest.raises(InputError, match="tsdg select"):
        read_csv(tmp_path / "none.csv")


def several(folder):
    """Draws of which each policy takes another: validation accuracies of S and T, NLL, target accuracy."""
    values = ((0.9, 0.5, 0.9, 0.3), (0.65, 0.65, 0.4, 0.2), (0.6, 0.6, 0.1, 0.1), (0.5, 0.5, 1, 0.8))
    for draw, (s, t, nll, target) in enumerate(values):
        record = make_record(run(0, draw), ((50, 0.99, 0.99), (100, 0.5, target)))
        scores = {"S": metrics(s), "T": metrics(t)}
        record["checkpoints"][1]["validation"] = {name: one | {"nll": nll} for name, one in scores.items()}
        write(folder / run_path(run(0, draw)), record)
    return [run(0, draw) for draw in range(4)]


@pytest.mark.parametrize(
    ("name", "draw", "validation"),
    [
        ("source-validation", "0", 0.7),
        ("worst-source", "1", 0.65),
        ("source-validation/nll", "2", 0.1),  # of which less is better
        ("oracle", "3", 0.8),
    ],
)
def test_each_policy_takes_its_own_draw_in_both_rules(tmp_path, name, draw, validation):
    selected = select(several(tmp_path), tmp_path, selection=Selection.of(name))
    assert set(selected.draw) == {draw}
    assert selected.validation.tolist() == pytest.approx([validation] * 2)
    assert set(selected.selection) == {name}


def test_the_best_checkpoint_is_that_of_the_policy_and_the_oracle_stops_by_nothing(tmp_path):
    record = make_record(run(0, 0), ((10, 0.5, 0.9), (20, 0.6, 0.2), (30, 0.55, 0.3)))
    record["checkpoints"][1]["validation"] = {"S": metrics(0.9), "T": metrics(0.3)}
    write(tmp_path / run_path(run(0, 0)), record)
    expected = {"source-validation": 20, "worst-source": 30, "oracle": 30}
    for name, iteration in expected.items():
        only = select([run(0, 0)], tmp_path, selection=Selection.of(name), checkpoint="best").iloc[0]
        assert only.iteration == iteration


def test_a_metric_that_records_lack_is_told(tmp_path):
    with pytest.raises(InputError, match=r"hp0.json: the record has no macro_f1 on S, by which"):
        select(several(tmp_path), tmp_path, selection=Selection.of("worst-source/macro_f1"))


def test_what_the_oracle_selects_has_no_place_and_says_what_it_is(tmp_path):
    selected = select(several(tmp_path), tmp_path, selection=Selection.of("oracle"))
    for name, place in (("source-validation", 1), ("oracle", None)):
        shown = replace(panel("toy", "Z"), selection=Selection.of(name))
        table = summarise(selected, layout(["erm"], shown))
        assert table["rank"].fillna(0).unique().tolist() == [place or 0]
        assert ("Oracle, no result: hyperparameters by the target's own accuracy" in " ".join(
            notes(selected, layout(["erm"], shown)))) == (place is None)  # fmt: skip
