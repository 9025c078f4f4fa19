"""Jobs take every run of the study once, and are those that the workflow makes."""

from collections import Counter

import pytest

from tsdg.study.jobs import pack_shapes, training_jobs, training_rules
from tsdg.study.run import filled, run_path
from tsdg.study.study import Study


@pytest.mark.parametrize("size", [1, 2, 8])
def test_every_run_is_in_one_job(toy_params, size):
    study = Study(toy_params, ["protocol=large", f"runs_per_job={size}"])
    jobs = training_jobs(study)
    taken = [run for job in jobs for run in job.runs]
    assert len(set(taken)) == len(taken)
    assert set(taken) == {*study.table_runs("tiny"), *study.table_runs("toy")}
    assert max(len(job.runs) for job in jobs if job.runs[0].dataset != "toy") <= size
    assert len({job.log for job in jobs}) == len(jobs)


def test_the_jobs_of_a_pack(params):
    study = Study(params, ["protocol=large", "runs_per_job=8"])
    # ERM has one draw, the other three, of which blocks of two are made; the table has two of four targets.
    assert [(rule.variants, len(rule.records), rule.log) for rule in training_rules(study)] == [
        (("erm",), 2, "{dataset}/{variant}/A-D-hp0/seed{seed}"),
        (("ours-learned",), 4, "{dataset}/{variant}/A-D-hp0-hp1/seed{seed}"),
        (("ours-learned",), 2, "{dataset}/{variant}/A-D-hp2/seed{seed}"),
    ]


@pytest.mark.parametrize("size", [1, 2, 8])
def test_a_rules_records_are_those_of_its_jobs_runs(toy_params, size):
    rules = training_rules(Study(toy_params, ["protocol=large", f"runs_per_job={size}"]))
    for rule in rules:
        for runs in rule.groups:
            assert [filled(record, runs[0]) for record in rule.records] == [run_path(run) for run in runs]
            assert {run.dataset for run in runs} <= set(rule.datasets)
            assert {run.variant for run in runs} <= set(rule.variants)
    assert len({rule.name for rule in rules}) == len(rules)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 20, 64])
@pytest.mark.parametrize("draws", [["fixed"], [0], list(range(3)), list(range(20))], ids=len)
@pytest.mark.parametrize("targets", ["ABCDEFGH", "ABC"])
def test_jobs_hold_every_run_once(targets, draws, size):
    shapes = pack_shapes(list(targets), draws, size)
    runs = Counter((target, draw) for shape in shapes for target in shape.targets for draw in shape.draws)
    assert runs == Counter((target, draw) for target in targets for draw in draws)
    assert max(len(shape.targets) * len(shape.draws) for shape in shapes) <= size


@pytest.mark.parametrize("size", [1, 3, 8, 16, 60])
def test_more_draws_leave_full_jobs_as_they_are(size):
    before, after = (pack_shapes(list("ABC"), list(range(draws)), size) for draws in (20, 40))
    assert set(before) < set(after)
