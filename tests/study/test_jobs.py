"""Jobs take every run of the study once, and are those that the workflow makes."""

import pytest

from tsdg.study.jobs import packs, training_jobs
from tsdg.study.study import Study


@pytest.mark.parametrize("size", [1, 2, 8])
def test_every_run_is_in_one_job(toy_params, size):
    study = Study(toy_params, ["protocol=large", f"runs_per_job={size}"])
    jobs = training_jobs(study)
    taken = [run for job in jobs for run in job.runs]
    assert len(set(taken)) == len(taken)
    assert set(taken) == {*study.table_runs("tiny"), *study.toy_runs()}
    assert max(len(job.runs) for job in jobs if job.runs[0].dataset != "toy") <= size
    assert len({job.log for job in jobs}) == len(jobs)


def test_the_jobs_of_a_pack(params):
    study = Study(params, ["protocol=large", "runs_per_job=8"])
    # ERM has one draw, the other three, of which blocks of two are made; the table has two of four targets.
    assert [(pack.variants, pack.targets, pack.label) for pack in packs(study)] == [
        (("erm",), ("A", "D"), "A-D-hp0"),
        (("ours-learned",), ("A", "D"), "A-D-hp0-hp1"),
        (("ours-learned",), ("A", "D"), "A-D-hp2"),
    ]
