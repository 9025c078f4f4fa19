"""Rows that show another model of the same trainings: averaged weights, ensembles of seeds, both."""

import json

import numpy as np
import pytest

from tsdg.errors import InputError
from tsdg.learning import metrics
from tsdg.results.captions import caption
from tsdg.results.kept import read_kept
from tsdg.results.numbers import summarise
from tsdg.results.reading import read_records
from tsdg.results.selected import read_csv, shown_runs, write_csv
from tsdg.results.selection import select
from tsdg.results.tables import render
from tsdg.runs.compact import expanded
from tsdg.runs.current import CurrentRecords
from tsdg.runs.probabilities import LABELS, PROBABILITIES, packed
from tsdg.runs.record import read
from tsdg.runs.training import train
from tsdg.runs.writing import plain, write
from tsdg.study import settings
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study

DERIVED = {
    "averaged": {"label": "ERM, averaged", "of": "erm", "weights": "averaged"},
    "ensemble": {"label": "ERM, ensemble", "of": "erm", "ensemble": True},
    "both": {"label": "ERM, both", "of": "erm", "weights": "averaged", "ensemble": True},
}
SETTINGS = {"average": {"from": 0.5}, "keep": "probabilities"}
TARGETS = ("site=south", "A")


@pytest.fixture
def derived(params):
    params["variants"] |= DERIVED
    params["protocols"]["small"] |= {"seeds": 3, "iterations": 8, "evaluate_every": 4, **SETTINGS}
    params["tables"]["tiny"] |= {"rows": ["erm", *DERIVED], "ours": [], "targets": list(TARGETS)}
    params["tables"]["tiny"]["metrics"] = ["accuracy", "ece_calibrated"]
    return params


@pytest.fixture
def study(derived):
    return Study(derived)


@pytest.fixture(scope="module")
def trained(tiny, tmp_path_factory):
    """A folder of ERM's records."""
    from tiny_study import PARAMS

    folder, settings_ = tmp_path_factory.mktemp("runs"), SETTINGS
    params = json.loads(json.dumps(PARAMS))
    params["protocols"]["small"] |= {"seeds": 3, "iterations": 8, "evaluate_every": 4, **settings_}
    study = Study(params, ["learning_rate=0.01"])
    runs = [Run("tiny", "erm", target, seed, "fixed") for target in TARGETS for seed in range(3)]
    groups = study.groups("tiny", TARGETS)
    train(
        tiny, runs, study.config("tiny", "erm"), [{}] * 6, groups=groups,
        finished=lambda run, record: write(folder / run_path(run), plain(record)),
    )  # fmt: skip
    return folder


def selected(study, folder):
    return select(
        study.shown_runs("tiny"), folder,
        readings=study.readings("tiny"), settings=settings.of_table(study, "tiny"),
    )  # fmt: skip


def rows(table, variant, target):
    own = table[(table["rule"] == "per_seed") & (table["variant"] == variant) & (table["target"] == target)]
    return list(own.itertuples())


def members(folder, target, weights):
    records = [read(folder / run_path(Run("tiny", "erm", target, seed, "fixed"))) for seed in range(3)]
    return [record.of_weights(weights) for record in records]


def test_derived_rows_need_no_training_of_their_own(study):
    assert {run.variant for run in study.wanted["tiny"]} == {"erm"}
    assert len(study.wanted["tiny"]) == 6
    assert set(study.hparams_table()["variant"]) <= {"erm", "vrex", "ours-metadata", "ours-learned"}


def test_an_averaged_row_shows_the_averaged_weights_of_each_seed(study, trained):
    table = selected(study, trained)
    for target in TARGETS:
        found = rows(table, "averaged", target)
        assert [row.seed for row in found] == [0, 1, 2]
        for row, record in zip(found, members(trained, target, "last"), strict=True):
            averaged = record.checkpoints[-1].averaged
            assert (row.nll, row.accuracy) == (averaged.target.nll, averaged.target.accuracy)
            assert row.validation == averaged.source_accuracy
            assert row.nll != rows(table, "erm", target)[row.seed].nll


@pytest.mark.parametrize(("variant", "weights"), [("ensemble", "last"), ("both", "averaged")])
@pytest.mark.parametrize("target", TARGETS)
def test_an_ensemble_has_the_metrics_of_the_mean_of_probabilities(study, trained, variant, weights, target):
    [row] = rows(selected(study, trained), variant, target)
    records = members(trained, target, weights)
    domains = study.target("tiny", target).domains
    kept = [read_kept(record, record.checkpoints[-1]) for record in records]
    labels = np.concatenate([kept[0][domain].labels for domain in domains])
    each = [np.concatenate([own[domain].probabilities for domain in domains]) for own in kept]
    expected = metrics.evaluate(sum(each) / 3, labels)
    for name in ("accuracy", "macro_f1", "ece", "nll", "brier", "auc"):
        assert getattr(row, name) == pytest.approx(expected[name], abs=1e-9), name
    temperatures = [record.checkpoints[-1].temperature for record in records]
    powers = [p ** (1 / t) for p, t in zip(each, temperatures, strict=True)]
    calibrated = sum(power / power.sum(1, keepdims=True) for power in powers) / 3
    assert row.ece_calibrated == pytest.approx(
        metrics.expected_calibration_error(calibrated, labels), abs=1e-6
    )
    assert row.nll < np.mean([record.checkpoints[-1].target.nll for record in records]), "by convexity"


@pytest.mark.parametrize(
    ("block", "value"), [("labels", 2), ("labels", -1), ("known", np.inf), ("known", -0.1)]
)
def test_what_no_evaluation_keeps_is_damaged(study, trained, tmp_path, block, value):
    for path in trained.glob("tiny/erm/A/seed*/*.json"):
        record = expanded(json.loads(path.read_bytes()))
        last, count = record["checkpoints"][-1], record["checkpoints"][-1]["target"]["n"]
        if block == "labels":
            values = np.zeros(count)
            values[0] = value
            record["windows"]["A"]["labels"] = packed(values, LABELS)
        else:
            values = np.full((count, 2), 0.5)
            values[0, 0] = value
            last["probabilities"]["A"] = packed(values, PROBABILITIES)
        write(tmp_path / path.relative_to(trained), record)
    with pytest.raises(InputError, match="what it keeps of the windows of A does not fit together; delete"):
        selected(study, tmp_path)


def test_tables_and_what_reads_records_take_derived_rows(study, trained, tmp_path):
    table, layout = selected(study, trained), study.layout("tiny")
    write_csv(table, tmp_path / "tiny.csv")
    assert len(read_csv(tmp_path / "tiny.csv")) == len(table) == 2 * 2 * (3 + 3 + 1 + 1)
    for row, _, checkpoint in read_records(shown_runs(table, layout), trained):
        assert checkpoint.target.accuracy == row.accuracy
        assert checkpoint.target.reliability["count"]
    numbers = summarise(table, layout).set_index(["variant", "target", "metric"])
    assert numbers.loc[("ensemble", "A", "accuracy"), ["n", "seeds", "missing"]].tolist() == [1, 1, ""]
    assert np.isnan(numbers.loc[("ensemble", "Average", "accuracy"), "std"])
    words = caption(table, layout)
    assert "Mean of the weights from 50 % of the iterations on: ERM, averaged, ERM, both." in words
    assert "Ensembles, the mean of the seeds' probabilities, which has no spread: ERM, ensemble" in words
    render("tiny", table, layout, tmp_path, trained)
    by_domain = (tmp_path / "tiny_by_domain.csv").read_text()
    assert 'ensemble,"ERM, ensemble",site=south,C' in by_domain


def test_a_seed_that_is_missing_is_said_and_the_others_are_shown(study, trained, tmp_path):
    for path in trained.rglob("*.json"):
        if "seed2" not in path.parts:
            write(tmp_path / path.relative_to(trained), expanded(json.loads(path.read_bytes())))
    table, layout = selected(study, tmp_path), study.layout("tiny")
    numbers = summarise(table, layout).set_index(["variant", "target", "metric"])
    cell = numbers.loc[("ensemble", "A", "accuracy")]
    assert cell["missing"] == "1 of 3 runs"
    assert not np.isnan(cell["mean"])
    assert "† Mean of what there is" in caption(table, layout)
    nothing = summarise(selected(study, tmp_path / "nothing"), layout)
    assert set(nothing[(nothing["variant"] == "both") & (nothing["target"] == "A")]["missing"]) == {
        "all seeds"
    }


def test_a_record_without_probabilities_makes_no_ensemble(study, trained, tmp_path):
    for path in trained.rglob("*.json"):
        record = expanded(json.loads(path.read_bytes()))
        for checkpoint in record["checkpoints"]:
            checkpoint.pop("probabilities", None)
        write(tmp_path / path.relative_to(trained), record)
    with pytest.raises(InputError, match=r"fixed.json: the record keeps no probabilities at iteration 8"):
        selected(study, tmp_path)


def test_the_records_of_a_derived_row_are_current_as_those_of_the_other(
    study, trained, tiny_folder, tmp_path
):
    (tmp_path / "tiny").symlink_to(tiny_folder)
    current = CurrentRecords(study, trained, tmp_path)
    run = Run("tiny", "both", "A", 0, "fixed")
    record = current.find(study.trained(run))
    assert record is None, "its learning rate is another"
    again = CurrentRecords(Study(study.params, ["learning_rate=0.01"]), trained, tmp_path)
    assert again.current(run, again.find(study.trained(run)))
    other = settings.of_table(study, "tiny")
    assert len({other["tiny", row] for row in ("erm", *DERIVED)}) == 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("variants.averaged.of=ermm", "variants.averaged.of: .*'ermm'.*'erm'"),
        ("variants.averaged.of=both", "variants.averaged.of: .*'both'"),
        ("variants.averaged.weights=last", "it is what erm is; give it `weights: averaged`"),
        ("average=false", "tables.tiny: variant averaged shows averaged weights.*average: {from: 0.2}"),
        ("keep=nothing", "tables.tiny: variant ensemble is an ensemble.*`keep: probabilities`"),
        ("seeds=1", "tables.tiny: variant ensemble is an ensemble of seeds, of which protocol small has one"),
    ],
)
def test_what_a_derived_row_lacks_is_said(derived, change, words):
    with pytest.raises(InputError, match=words):
        Study(derived, [change])
