"""A plan counts what Snakemake would train, and takes hours from records or from a probe."""

from importlib.resources import files

import pandas as pd
import pytest

from synthetic_records import make_record
from tsdg.commands.main import main
from tsdg.learning.backbones.options import DEFAULTS
from tsdg.runs import expected
from tsdg.runs.current import CurrentRecords
from tsdg.runs.expected import Expected, Work
from tsdg.runs.fingerprint import training_fingerprint
from tsdg.runs.plan import START, Plan, chosen_tables, plan, text
from tsdg.runs.writing import write
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study

SECONDS = pd.read_csv(files("tsdg.runs") / "seconds.csv")


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
    found = CurrentRecords(study, tmp_path, tmp_path)
    return plan(study, chosen_tables(study, []), found, expected=lambda run: 2.0)


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
    # The rest of tiny's, 12 of the other row, are not measured.
    assert table.loc["tiny", "hours"] * 3600 == pytest.approx(15 * START + 36 * (3 * 0.5 + 12 * 2))
    assert planned.estimated == ["tiny ours-learned"]
    record(study, ours[0], tmp_path)
    assert counts(study, tmp_path).estimated == []


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


def test_people_are_told_times_in_words():
    rows = [("few", 1, 0, 1, 1, 0.07), ("in all", 9, 0, 9, 9, 59335.0)]
    planned = Plan(pd.DataFrame(rows, columns=["table", "runs", "done", "to_train", "jobs", "hours"]), [])
    _, few, whole, times = text(planned, 2).splitlines()
    assert few.endswith(" 4 min")
    assert whole.endswith(" 6.8 years")
    assert times == "Times are of one core or one GPU; 2 at a time take 3.4 years."


def test_what_was_never_trained_is_expected_by_its_size(params, tmp_path):
    params["variants"]["mldg"] = {"label": "MLDG", "method": "mldg"}
    params["variants"]["linear"] = {
        "label": "L", "method": "estimator", "estimator": "sklearn.dummy.DummyClassifier",
        "features": "statistics",
    }  # fmt: skip
    study = Study(params, ["protocol=large"])

    def seconds(variant, target, slower=1):
        speed = slower * float(SECONDS[SECONDS["network"] == "probe"]["seconds"].iloc[0])
        found = CurrentRecords(study, tmp_path, tmp_path)
        return Expected(study, found, lambda: speed)(Run("tiny", variant, target, 0, "fixed"))

    one = seconds("erm", "A")
    assert 0 < one < 60
    assert seconds("erm", "A", slower=3) == pytest.approx(3 * one)
    assert seconds("erm", "not A") == pytest.approx(one / 3)  # one source in place of three
    assert 2 < seconds("mldg", "A") / one < 5
    assert seconds("linear", "A") > 0


def test_every_network_has_seconds():
    assert {*DEFAULTS, "probe"} <= set(SECONDS["network"])
    for row in SECONDS[SECONDS["network"] != "probe"].itertuples():
        work = Work(row.network, row.input, row.width, row.steps, row.windows)
        assert expected.seconds(work) == row.seconds
        assert expected.seconds(work._replace(windows=3 * row.windows)) == pytest.approx(3 * row.seconds)
    unknown = Work("mine", "zscore", 1, 500, 64)
    assert expected.seconds(unknown) > 0
