"""A plan counts what Snakemake would train, and takes hours from records or from a probe."""

import math

import pytest

from synthetic_records import make_record
from tsdg.commands.main import main
from tsdg.runs.current import CurrentRecords
from tsdg.runs.fingerprint import training_fingerprint
from tsdg.runs.plan import START, chosen_tables, plan
from tsdg.runs.writing import write
from tsdg.study.run import run_path
from tsdg.study.study import Study


def record(study, run, folder, **changed):
    """A record of a run as training would make it now, on data that are not prepared."""
    made = make_record(run)
    config = study.config(run.dataset, run.variant)
    made["config"], made["hparams"] = config | changed, study.hparams(run)
    made["checkpoints"][0]["iteration"] = made["config"]["iterations"]
    made["code"]["fingerprint"] = training_fingerprint(config)
    made["timing"] = {"seconds_per_iteration": 0.5, "runs_at_once": 1}
    write(folder / run_path(run), made)
    return folder / run_path(run)


def counts(study, tmp_path):
    return plan(study, chosen_tables(study, []), CurrentRecords(study, tmp_path, tmp_path))


def test_counts_and_hours(params, tmp_path):
    params["tables"]["more"] = params["tables"]["tiny"] | {"rows": ["erm"], "ours": [], "targets": ["A", "B"]}
    study = Study(params, ["protocol=large", "iterations=36"])
    erm, ours = (study.runs("tiny", [variant], ["A"]) for variant in ("erm", "ours-learned"))
    record(study, erm[0], tmp_path)
    record(study, erm[1], tmp_path, iterations=35)  # of another setting
    planned = counts(study, tmp_path)
    table = planned.table.set_index("table")
    # tiny: 2 targets x 2 seeds x (1 draw of ERM, 3 of the other); more: 2 x 2 of ERM, A's shared.
    assert table[["runs", "done", "to_train", "jobs"]].T.to_dict("list") == {
        "tiny": [16, 1, 15, 15],
        "more": [4, 1, 3, 3],
        "in all": [18, 1, 17, 17],
    }
    assert table.loc["more", "hours"] * 3600 == pytest.approx(3 * (START + 36 * 0.5))
    assert math.isnan(table.loc["tiny", "hours"])
    assert planned.unknown == ["tiny ours-learned"]
    record(study, ours[0], tmp_path)
    assert counts(study, tmp_path).unknown == []


def test_of_a_pack_what_is_missing_is_trained(params, tmp_path):
    study = Study(params, ["runs_per_job=4"])
    first, _ = study.runs("tiny", ["erm"], ["A", "D"])
    path = record(study, first, tmp_path)
    table = counts(study, tmp_path).table.set_index("table")
    assert list(table.loc["tiny", ["done", "to_train", "jobs"]]) == [1, 3, 2]
    # What an interrupted job has kept is not trained again.
    (tmp_path / ".finished" / run_path(first)).parent.mkdir(parents=True)
    path.replace(tmp_path / ".finished" / run_path(first))
    table = counts(study, tmp_path).table.set_index("table")
    assert list(table.loc["tiny", ["done", "to_train", "jobs"]]) == [1, 3, 2]


def test_a_table_alone_needs_no_job_whose_runs_of_it_are_done(params, tmp_path):
    params["tables"]["mine"] = params["tables"]["tiny"] | {"rows": ["erm"], "ours": [], "targets": ["A"]}
    study = Study(params, ["runs_per_job=4"])
    (own,) = study.table_runs("mine")
    packed = [run for run in study.table_runs("tiny") if run.variant == "erm"]
    found = CurrentRecords(study, tmp_path, tmp_path)

    def counted():
        return plan(study, chosen_tables(study, ["mine"]), found).table.iloc[0]

    assert list(counted()[["runs", "done", "to_train", "jobs"]]) == [1, 0, len(packed), 1]
    other = record(study, packed[-1], tmp_path / ".finished")
    assert list(counted()[["to_train", "jobs"]]) == [len(packed) - 1, 1]
    other.unlink()
    record(study, own, tmp_path)
    assert list(counted()[["runs", "done", "to_train", "jobs"]]) == [1, 1, 0, 0]


def test_settings_are_worked_out_once_a_variant_not_once_a_run(params, tmp_path, monkeypatch):
    asked, config = [], Study.config
    monkeypatch.setattr(Study, "config", lambda self, *kind: asked.append(kind) or config(self, *kind))
    study = Study(params, ["protocol=large"])
    for run in study.table_runs("tiny")[::2]:
        record(study, run, tmp_path)
    asked.clear()
    counts(study, tmp_path)
    kinds = {(run.dataset, run.variant) for run in study.table_runs("tiny")}
    assert set(asked) == kinds
    assert max(map(asked.count, kinds)) <= 3


def test_the_command(project, capsys):
    # The network made for windows as long as the synthetic ones.
    assert (
        main(["plan", "results/tables/tiny.tex", "--probe", "--set", "datasets.tiny.backbone=bearings"]) == 0
    )
    out, err = capsys.readouterr()
    assert "tiny     4     0         4     4" in out
    assert "?" not in out
    assert err.count("(synthetic windows)") == 2
    assert err.count(" s an iteration of one run") == 2
    assert ": 0 s" not in err
    assert main(["plan", "tny"]) == 2
    assert "'tny' is not a table, did you mean 'tiny'?" in capsys.readouterr().err
