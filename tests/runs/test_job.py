"""A job trains what is missing, once, and keeps what is finished whatever happens."""

import errno
import os
from pathlib import Path

import pytest
import yaml

import tsdg.runs.job
import tsdg.runs.recipe
from synthetic_records import make_record
from tiny_study import without, write_tiny
from tsdg.commands.main import main
from tsdg.runs.job import Job, Report
from tsdg.runs.recipe import Recipes
from tsdg.runs.record import read
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study

ITERATIONS = "iterations=2"


@pytest.fixture
def job(project, tiny_folder, monkeypatch):
    """Run `tsdg train`; give its exit code and the runs it trained."""
    trained = []
    real = tsdg.runs.job.train

    def watched(dataset, runs, *args, **kwargs):
        trained.extend(runs)
        return real(dataset, runs, *args, **kwargs)

    monkeypatch.setattr(tsdg.runs.job, "train", watched)

    def call(*more, data=tiny_folder, variant="erm", targets=("A",), settings=(ITERATIONS,)):
        trained.clear()
        sets = [word for setting in settings for word in ("--set", setting)]
        fixed = ["train", "--data", str(data), "--variant", variant, "--out", "runs"]
        code = main([*fixed, "--target", *targets, *sets, *map(str, more)])
        return code, list(trained)

    return call


def run(target, variant="erm", seed=0, draw="fixed"):
    return Run("tiny", variant, target, seed, draw)


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_what_is_recorded_is_not_trained_again(job, project, capsys):
    assert job() == (0, [run("A")])
    before = files(project / "runs")
    assert list(before) == [run_path(run("A"))]
    times = (project / "runs" / run_path(run("A"))).stat().st_mtime_ns
    assert job() == (0, [])
    assert "1 of 1 runs are recorded already" in capsys.readouterr().out
    assert files(project / "runs") == before
    assert (project / "runs" / run_path(run("A"))).stat().st_mtime_ns == times
    code, again = job("--seed", "0", "1", targets=("B", "A"))
    assert (code, again) == (0, [run("B"), run("B", seed=1), run("A", seed=1)])
    assert files(project / "runs").items() >= before.items()


def test_a_group_without_a_class_is_refused_and_half_of_it_is_not(job, project, tmp_path, capsys):
    folder = without(write_tiny(tmp_path / "tiny"), "C", label=1)
    assert job(data=folder, targets=("site=south",)) == (0, [run("site=south")])
    without(folder, "D", label=1)
    assert job("--force", data=folder, targets=("site=south",)) == (2, [])
    assert "'site=south' has no window of class 'fast'" in capsys.readouterr().err


def test_a_record_of_another_run_does_not_count(job, project):
    job()
    place = project / "runs" / run_path(run("A", seed=1))
    place.parent.mkdir()
    (project / "runs" / run_path(run("A"))).rename(place)
    assert job("--seed", "1") == (0, [run("A", seed=1)])
    assert read(place).run.seed == 1


@pytest.mark.parametrize("settings", [("iterations=3",), (ITERATIONS, "learning_rate=0.01")])
def test_another_setting_trains_again(job, project, settings):
    job()
    assert job(settings=settings) == (0, [run("A")])
    assert read(project / "runs" / run_path(run("A"))).config["iterations"] == int(settings[0][-1])
    assert job(settings=settings) == (0, [])


@pytest.mark.parametrize(
    "settings", [("seeds=7",), ("variants.erm.label=Other",), ("protocols.large.iterations=9",)]
)
def test_what_changes_no_result_trains_nothing(job, settings):
    job()
    assert job(settings=(ITERATIONS, *settings)) == (0, [])


def test_a_renamed_protocol_trains_nothing(job, project, params):
    job()
    params["protocols"]["renamed"] = params["protocols"].pop("small")
    params["protocol"] = "renamed"
    (project / "params.yaml").write_text(yaml.safe_dump(params))
    assert job() == (0, [])


def test_other_data_other_code_damage_and_force_train_again(job, project, tmp_path, monkeypatch):
    job()
    path = project / "runs" / run_path(run("A"))
    whole = path.read_bytes()
    assert job("--force") == (0, [run("A")])
    path.write_bytes(whole[: len(whole) // 2])
    assert job() == (0, [run("A")])
    other = write_tiny(tmp_path / "other", changed="B")
    assert job(data=other) == (0, [run("A")])
    assert job(data=other) == (0, [])
    monkeypatch.setattr(tsdg.runs.recipe, "training_fingerprint", lambda *named: "another")
    assert job(data=other) == (0, [run("A")])


def test_a_target_without_windows_is_refused_before_it_trains(job, tmp_path, capsys):
    folder = without(write_tiny(tmp_path / "lacking"), "A")
    assert job(data=folder) == (2, [])
    assert "target 'A' has no window in the prepared data set 'tiny'" in capsys.readouterr().err


def test_metadata_that_the_prepared_data_have_otherwise_are_refused_before_it_trains(job, capsys):
    """Else a group would be held out that the data do not know."""
    own = "datasets.tiny.domains.C.half=1"  # a field that only the study has
    other = "datasets.tiny.domains.C.site=north"
    assert job(targets=("site=north",), settings=(ITERATIONS, other)) == (2, [])
    error = capsys.readouterr().err
    assert "datasets.tiny.domains.C.site: is 'north', but 'south' in" in error
    assert "card.json; correct the study, or prepare" in error
    assert job(targets=("site=north",), settings=(ITERATIONS, own)) == (0, [run("site=north")])


def test_hyperparameters_of_a_draw_that_changed_train_again(job):
    assert job("--draw", 1, variant="vrex") == (0, [run("A", "vrex", draw=1)])
    assert job("--draw", 1, variant="vrex", settings=(ITERATIONS, "seed=4")) == (
        0,
        [run("A", "vrex", draw=1)],
    )


def interrupt_after(monkeypatch, count):
    """The training is interrupted once so many runs have finished."""
    watched = tsdg.runs.job.train

    def interrupted(*args, finished, **kwargs):
        done = []

        def stop(run, record):
            if len(done) == count:
                raise KeyboardInterrupt
            finished(run, record)
            done.append(run)

        return watched(*args, finished=stop, **kwargs)

    monkeypatch.setattr(tsdg.runs.job, "train", interrupted)


def test_an_interrupted_run_leaves_no_file(job, project, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        interrupt_after(patch, 0)
        assert job()[0] == 130
    assert "interrupted" in capsys.readouterr().err
    assert files(project / "runs") == {}
    assert job() == (0, [run("A")])


def test_an_interrupted_pack_goes_on_where_it_was(job, project, monkeypatch):
    with monkeypatch.context() as patch:
        interrupt_after(patch, 1)
        assert job(targets="ABC")[0] == 130
    kept = files(project / "runs")
    assert len(kept) == 1
    assert not (project / "runs" / run_path(run("A"))).exists(), "a job's records appear together"
    assert job(targets="ABC") == (0, [run("B"), run("C")])
    after = files(project / "runs")
    assert sorted(after) == [run_path(run(target)) for target in "ABC"]
    assert after[run_path(run("A"))] == next(iter(kept.values()))


def test_a_kept_run_counts_for_another_job(job, project, monkeypatch):
    with monkeypatch.context() as patch:
        interrupt_after(patch, 1)
        job(targets="AB")
    assert job(targets="A") == (0, [])
    assert sorted(files(project / "runs")) == [run_path(run("A"))]


def test_a_record_that_another_job_was_faster_with_is_kept(job, project, monkeypatch):
    real, kept = tsdg.runs.job.train, {}

    def overtaken(*args, **kwargs):
        with monkeypatch.context() as patch:
            patch.setattr(tsdg.runs.job, "train", real)
            assert job() == (0, [run("A")])
        kept.update(files(project / "runs"))
        return real(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(tsdg.runs.job, "train", overtaken)
        job()
    assert kept
    assert files(project / "runs") == kept


def test_a_kept_run_of_another_setting_does_not_count(job, project, monkeypatch):
    with monkeypatch.context() as patch:
        interrupt_after(patch, 1)
        job(targets="AB")
    assert job(targets="AB", settings=("iterations=3",)) == (0, [run("A"), run("B")])
    made = [read(project / "runs" / run_path(run(target))) for target in "AB"]
    assert [record.config["iterations"] for record in made] == [3, 3]


def test_a_target_given_twice_is_trained_once(job):
    assert job("--seed", 0, 0, targets="AA") == (0, [run("A")])


def test_runs_kept_from_an_equal_protocol_can_be_selected(job, project, params):
    params["protocols"]["more"] = params["protocols"]["small"] | {"seeds": 2}
    params["tables"]["tiny"] |= {"rows": ["erm"], "ours": [], "targets": ["A"]}
    (project / "params.yaml").write_text(yaml.safe_dump(params))
    assert job(settings=()) == (0, [run("A")])
    assert job("--seed", 0, 1, settings=("protocol=more",)) == (0, [run("A", seed=1)])
    assert main(["select", "tiny", "--runs", "runs", "--set", "protocol=more"]) == 0


def test_a_record_that_could_not_be_read_is_not_written(project, params):
    study = Study(params)
    [asked] = study.runs("tiny", ["erm"], ["A"])
    made = make_record(asked)
    del made["checkpoints"][0]["target"]["ece"]
    with pytest.raises(ValueError, match="target lacks ece"):
        Job([asked], Recipes(study), project / "runs").keep(asked, made)
    assert files(project / "runs") == {}


def test_kept_records_are_links_of_those_in_place(job, project):
    assert job("--keep", targets="AB") == (0, [run("A"), run("B")])
    kept, place = (project / "runs" / part / run_path(run("A")) for part in (".finished", ""))
    assert kept.samefile(place)
    # Whoever deletes those in place, or takes another disk for them, loses nothing.
    for target in "AB":
        (project / "runs" / run_path(run(target))).unlink()
    assert job("--keep", targets="AB") == (0, [])
    assert kept.samefile(place)
    assert job("--keep", "--force", targets="AB") == (0, [run("A"), run("B")])
    assert kept.samefile(place)


def test_records_go_to_another_disk(job, project, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "link", refuse)
    assert job(targets="AB") == (0, [run("A"), run("B")])
    assert set(files(project / "runs")) == {run_path(run("A")), run_path(run("B"))}
    assert job(targets="AB") == (0, [])


def test_what_is_in_the_way_is_seen_before_the_training(job, project, capsys):
    runs = project / "runs"
    runs.mkdir()
    (runs / "tiny").symlink_to("nowhere")
    assert job() == (2, [])
    assert f"{Path('runs/tiny')} is a link that leads nowhere" in capsys.readouterr().err
    (runs / "tiny").unlink()
    (runs / "tiny").write_text("")
    assert job() == (2, [])
    assert "is a file where a folder belongs" in capsys.readouterr().err
    (runs / "tiny").unlink()
    (runs / run_path(run("A"))).mkdir(parents=True)
    assert job() == (2, [])
    assert "is a folder where a file belongs" in capsys.readouterr().err
    (runs / run_path(run("A"))).rmdir()
    (runs / ".finished").write_text("")
    assert job(targets="AB") == (2, [])
    assert "nothing was trained" in capsys.readouterr().err


def test_a_folder_that_is_read_only_is_seen_before_the_training(job, monkeypatch, capsys):
    monkeypatch.setattr(os, "access", lambda folder, how: not how & os.W_OK)  # root may write anywhere
    assert job() == (2, [])
    assert "cannot be written to" in capsys.readouterr().err


@pytest.fixture
def left(monkeypatch, capsys):
    """What a report says to be left at a time and iteration."""
    now = [0.0]
    monkeypatch.setattr(tsdg.runs.job, "perf_counter", lambda: now[0])

    def at(report, seconds, iteration):
        now[0] = seconds
        report.checkpoint("run", {"iteration": iteration, "validation": {"A": {"accuracy": 0.5}}})
        return capsys.readouterr().out.strip().partition("%")[2]

    return at


@pytest.mark.parametrize("at_once", [1, 2])
def test_the_time_left_counts_iterations_up_to_the_checkpoint(left, at_once):
    report = Report(2, 100, at_once)  # a second for ten iterations of a run
    assert left(report, 1 * at_once, 10) == f", {20 - at_once} s left"
    report.advance(50 * at_once)
    assert left(report, 5 * at_once, 50) == f", {20 - 5 * at_once} s left"
    assert left(report, 6 * at_once, 60) == f", {20 - 6 * at_once} s left"
    report.advance(50 * at_once)
    assert left(report, 10 * at_once, 100) == ("" if at_once == 2 else ", 10 s left")


@pytest.mark.parametrize("at_once", [1, 2])
def test_what_a_run_that_ended_early_left_out_is_not_left(left, at_once):
    report = Report(at_once + 1, 100, at_once)
    report.advance(50 * at_once)
    for _ in range(at_once):
        report.end_run()
    report.at_once = 1
    report.advance(50)
    assert left(report, 5 * (at_once + 1), 50) == ", 5 s left"


def test_a_job_knows_what_diverged_runs_left_out(job, monkeypatch):
    made = []

    class Kept(Report):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(tsdg.runs.job, "Report", Kept)
    settings = ("iterations=5000", "training.learning_rate=1.0e+30", "evaluate_every=5000")
    assert job(targets=("A", "B"), settings=settings) == (0, [run("A"), run("B")])
    [report] = made
    assert 0 < report.done == report.total < 1000
