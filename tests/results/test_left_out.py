"""The law of leaving sources out: trainings that judge see neither, and their choice is that by hand."""

import json
from statistics import fmean

import pytest

from synthetic_records import make_record, metrics
from tiny_study import write_tiny
from tsdg.errors import InputError
from tsdg.results.selection import select
from tsdg.runs.compact import expanded
from tsdg.runs.job import train_job
from tsdg.runs.writing import write
from tsdg.study import folds
from tsdg.study.folds import Fold
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study

RUNS = [Run("one", "vrex", "T", 0, draw) for draw in (0, 1, 2)]
FOLDS = {
    run: [
        Fold(Run("one", "vrex", "G+T", 0, run.draw), ("G",)),
        Fold(Run("one", "vrex", "H+I+T", 0, run.draw), ("H", "I")),
    ]
    for run in RUNS
}


def save(folder, run, accuracies, target, **more):
    """A record whose checkpoint says what it reached on each domain that it holds out."""
    record = make_record(run, ((100, 0.5, target),), ("S", "U"), **more)
    held_out = accuracies | {"T": target}
    for checkpoint in record["checkpoints"]:
        checkpoint["target"]["domains"] = {name: metrics(value) for name, value in held_out.items()}
    write(folder / run_path(run), record)


def judged(folder, values, target=0.5, **more):
    """Records of all draws, {draw: accuracies on G, H and I}."""
    for run in RUNS:
        write(folder / run_path(run), make_record(run, ((100, 1 - run.draw / 10, target),), ("S", "U")))
        g, h, i = values[run.draw]
        first, second = (fold.run for fold in FOLDS[run])
        save(folder, first, {"G": g}, target, **more)
        save(folder, second, {"H": h, "I": i}, target)


def best(folder):
    return select(RUNS, folder, folds=FOLDS).iloc[0]


def test_each_source_counts_alike_and_what_is_said_of_the_target_not_at_all(tmp_path):
    values = {0: (0.9, 0.3, 0.3), 1: (0.6, 0.5, 0.7), 2: (0.5, 0.5, 0.5)}
    for target in (0.0, 1.0):
        judged(tmp_path, values, target)
        assert best(tmp_path).draw == "1"
        assert best(tmp_path).validation == pytest.approx(0.6)
        assert best(tmp_path).accuracy == target
    assert select(RUNS, tmp_path).iloc[0].draw == "0"  # by its own validation


def test_a_draw_without_all_of_its_folds_is_missing_and_a_diverged_fold_has_nothing_right(tmp_path):
    judged(tmp_path, {0: (0.9, 0.3, 0.3), 1: (0.6, 0.5, 0.7), 2: (0.5, 0.5, 0.5)})
    fold = FOLDS[RUNS[1]][0].run
    write(tmp_path / run_path(fold), make_record(fold, (), ("S", "U"), diverged=True))
    assert best(tmp_path)[["draw", "draws_found", "draws_diverged"]].tolist() == ["0", 3, 0]  # 0.5 each
    (tmp_path / run_path(FOLDS[RUNS[0]][1].run)).unlink()
    assert best(tmp_path)[["draw", "draws_found"]].tolist() == ["2", 2]
    write(tmp_path / run_path(FOLDS[RUNS[2]][0].run), make_record(FOLDS[RUNS[2]][0].run, None, ("S", "U")))
    with pytest.raises(InputError, match="has no accuracy on G, by which hyperparameters are judged"):
        best(tmp_path)


@pytest.mark.slow
def test_trainings_that_judge_see_neither_what_they_leave_out_nor_the_target(params, tiny_folder, tmp_path):
    params["protocols"]["large"] = {"seeds": 1, "draws": 2, "iterations": 4, "evaluate_every": 4}
    params["tables"]["tiny"] |= {"rows": ["vrex"], "ours": [], "targets": ["A"]}
    params["tables"]["tiny"] |= {"selection": "leave-one-source-out"}
    params["datasets"]["tiny"]["standardize"] = "sources"
    study = Study(params, ["protocol=large"])

    def trained(data, out, targets):
        made = {"variant": "vrex", "targets": targets, "seeds": [0], "draws": [0, 1], "out": out}
        train_job(study, data, dataset="tiny", **made)

    def record(out, run):
        return expanded(json.loads((out / run_path(run)).read_text()))

    of_run = folds.of_table(study, "tiny")
    trained(tiny_folder, tmp_path / "runs", ["A", *(fold.run.target for fold in next(iter(of_run.values())))])
    by_hand = {}
    for run, judging in of_run.items():
        scores = []
        for fold in judging:
            found = record(tmp_path / "runs", fold.run)
            assert {"A", *fold.left_out}.isdisjoint(found["sources"])
            assert set(found["checkpoints"][-1]["validation"]) == set("BCD") - set(fold.left_out)
            scores += [
                found["checkpoints"][-1]["target"]["domains"][name]["accuracy"] for name in fold.left_out
            ]
        assert len(scores) == 3
        by_hand[run.draw] = fmean(scores)
    selected = select(study.shown_runs("tiny"), tmp_path / "runs", folds=of_run).iloc[0]
    assert selected.draw == str(max(by_hand, key=lambda draw: (by_hand[draw], -draw)))
    assert selected.validation == pytest.approx(max(by_hand.values()))
    # Other signals of what is held out change no number of the training.
    trained(write_tiny(tmp_path / "tiny", changed="AB"), tmp_path / "other", ["A+B"])
    run = Run("tiny", "vrex", "A+B", 0, 1)
    before, after = record(tmp_path / "runs", run), record(tmp_path / "other", run)
    assert before["losses"] == after["losses"]
    assert before["checkpoints"][-1]["validation"] == after["checkpoints"][-1]["validation"]
    assert before["checkpoints"][-1]["target"] != after["checkpoints"][-1]["target"]
