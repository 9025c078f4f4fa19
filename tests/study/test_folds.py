"""What is held out to judge hyperparameters, by hand."""

import pytest

from tsdg.errors import InputError
from tsdg.study import folds, settings
from tsdg.study.jobs import training_jobs
from tsdg.study.run import Run
from tsdg.study.study import Study

FIVE = {name: {"user": user, "load": k} for k, (name, user) in enumerate(zip("ABCDE", "xxyyz", strict=True))}


def study(params, table, *overrides):
    params["datasets"]["tiny"] |= {"domains": FIVE, "clusters": ["user"]}
    params["tables"]["tiny"] = {
        "dataset": "tiny", "rows": ["erm", "vrex"], "metrics": ["accuracy"], "caption": "Tiny.",
        "selection": "leave-one-source-out", **table,
    }  # fmt: skip
    return Study(params, ["protocol=large", *overrides])


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"targets": ["A"]}, {"A": {"A+B": "B", "A+C": "C", "A+D": "D", "A+E": "E"}}),
        (
            {"holdout": "user"},
            {
                "user=x": {"A+B+C+D": "CD", "A+B+E": "E"},
                "user=y": {"A+B+C+D": "AB", "C+D+E": "E"},
                "user=z": {"A+B+E": "AB", "C+D+E": "CD"},
            },
        ),
        # What is in no list is left out by itself; what is half in the target is no group.
        ({"holdout": [["A", "B"], ["C", "D"]]}, {
            "A+B": {"A+B+C+D": "CD", "A+B+E": "E"}, "C+D": {"A+B+C+D": "AB", "C+D+E": "E"},
        }),
        ({"targets": ["B+C", "user=x"]}, {
            "B+C": {"A+B+C": "A", "B+C+D": "D", "B+C+E": "E"},
            "user=x": {"A+B+C": "C", "A+B+D": "D", "A+B+E": "E"},
        }),
    ],
)  # fmt: skip
def test_each_group_of_sources_is_left_out_in_turn(params, table, expected):
    table = table | ({"rows": ["erm", "line"]} if table != {"targets": ["A"]} else {})
    line = {"label": "L", "method": "estimator", "features": "statistics", "estimator": "sklearn.svm.SVC"}
    searched = {"C": {"default": 1, "kind": "uniform", "values": [0, 1]}}
    params["variants"]["line"] = line | {"search": searched}
    found = study(params, table)
    [panel] = found.panels("tiny")
    by_target = folds.of_panel(found, panel)
    assert {
        target: {name: "".join(left_out) for name, left_out in of_target}
        for target, of_target in by_target.items()
    } == expected


def test_only_what_is_searched_has_folds_and_each_is_a_run_of_the_table_once(params):
    found = study(params, {})
    of_run = folds.of_table(found, "tiny")
    assert {run.variant for run in of_run} == {"vrex"}
    run = Run("tiny", "vrex", "B", 1, 2)
    assert [fold.run for fold in of_run[run]] == [
        Run("tiny", "vrex", name, 1, 2) for name in ("A+B", "B+C", "B+D", "B+E")
    ]
    # 5 targets and 10 pairs of them, of 2 seeds and 3 draws; of ERM the 5 of 2 seeds.
    assert len(found.table_runs("tiny")) == len(set(found.table_runs("tiny"))) == 15 * 6 + 5 * 2
    assert not folds.of_table(study(params, {}, "protocol=small"), "tiny")
    assert not folds.of_table(study(params, {"selection": "source-validation"}), "tiny")


@pytest.mark.parametrize("size", [1, 7, 60])
def test_folds_are_trained_in_packs_of_equally_many_sources(params, size):
    found = study(params, {}, f"runs_per_job={size}")
    jobs = training_jobs(found)
    assert sorted(run for job in jobs for run in job.runs) == sorted(found.table_runs("tiny"))
    assert all(len({run.target.count("+") for run in job.runs}) == 1 for job in jobs)


def test_another_selection_is_another_setting(params):
    hashes = [
        settings.of_table(study(params, change), "tiny")["tiny", "vrex"]
        for change in ({}, {"selection": "source-validation"}, {"holdout": [["A", "B"]]})
    ]
    assert len(set(hashes)) == 3


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"holdout": [["A", "B"], ["C", "D", "E"]]}, "target A.B leaves one group of sources, C, D, E"),
        ({"holdout": "single-source", "rows": ["erm"]}, "target not A leaves one group of sources, A"),
        (
            {"holdout": "user"},
            "user=x without C, D leaves 1 source domain.s., and row vrex learns from 2",
        ),
        ({"selection": "leave-one-out"}, "did you mean 'leave-one-source-out'"),
    ],
)
def test_too_few_groups_of_sources_are_refused(params, table, words):
    with pytest.raises(InputError, match=f"tables.tiny.selection: .*{words}"):
        study(params, table)
