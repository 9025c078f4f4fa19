"""What other tools get of records is what stands in them, of every model that they hold."""

import json
import shutil
import sys
from copy import deepcopy

import pandas as pd
import pytest
import yaml

from synthetic_records import make_record
from tiny_study import PARAMS
from tsdg.commands.main import main
from tsdg.results import exchange
from tsdg.runs.compact import expanded
from tsdg.runs.record import typed
from tsdg.study.run import Run

SHUFFLED = "adapted, batches, shuffled"


@pytest.fixture(scope="module")
def trained_once(tiny_folder, tmp_path_factory):
    """A project with records of three of the four runs of its table."""
    params, project = deepcopy(PARAMS), tmp_path_factory.mktemp("project")
    params["protocols"]["small"] |= {
        "seeds": 2, "iterations": 8, "evaluate_every": 4, "average": {"from": 0.5}, "adapt": ["batches"]
    }  # fmt: skip
    params["tables"]["tiny"] |= {"rows": ["vrex"], "ours": []}
    (project / "params.yaml").write_text(yaml.safe_dump(params))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        train = ("train", "--data", str(tiny_folder), "--variant", "vrex", "--draw", "fixed")
        assert main([*train, "--target", "A", "D", "--seed", "0"]) == 0
        assert main([*train, "--target", "A", "--seed", "1"]) == 0
    return project


@pytest.fixture
def trained(trained_once, tmp_path, monkeypatch):
    """A copy of it, entered."""
    shutil.copytree(trained_once, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plain(project, target, seed):
    path = f"results/runs/tiny/vrex/{target}/seed{seed}/fixed.json"
    return expanded(json.loads((project / path).read_text()))


def test_csv_has_each_checkpoint_of_each_model(trained, capsys):
    assert main(["records"]) == 0
    assert "1 of 4 runs have no current record" in capsys.readouterr().err
    table = pd.read_csv(trained / "results/records.csv").set_index(["target", "seed", "weights", "iteration"])
    assert len(table) == 3 * (2 + 1 + 2)  # of the last weights, the averaged, adapted in two ways
    record = plain(trained, "D", 0)
    first, last = record["checkpoints"]
    own = table.loc["D", 0]
    for row, scores in (
        (own.loc["last", 4], first["target"]),
        (own.loc["averaged", 8], last["averaged"]["target"]),
        (own.loc[SHUFFLED, 8], last["adapted"]["batches, shuffled"]),
    ):
        assert (row["accuracy"], row["ece"], row["windows"]) == (
            scores["accuracy"],
            scores["ece"],
            scores["n"],
        )
    assert own.loc["averaged", 8]["temperature"] == last["averaged"]["temperature"]
    sources = [scores["accuracy"] for scores in first["validation"].values()]
    assert own.loc["last", 4]["validation"] == pytest.approx(sum(sources) / len(sources))
    assert own.loc["last", 4]["hparams.lambda"] == record["hparams"]["lambda"]


def test_a_training_that_diverged_at_once_is_told():
    runs = [Run("tiny", name, "A", 0, 3) for name in ("diverged", "sound")]
    records = [make_record(runs[0], [], diverged=True), make_record(runs[1])]
    records[1] |= {"hparams": {"lambda": 0.1}, "timing": {"seconds_per_iteration": 0.2, "runs_at_once": 4}}
    table = exchange.table(typed(record) for record in records).set_index("variant")
    assert table["status"].to_dict() == {"diverged": "diverged", "sound": "finished"}
    assert table.loc["diverged", exchange.MEASURES[0] : "hparams.lambda"].isna().all()
    assert table["iterations"].to_dict() == {"diverged": 7, "sound": 100}
    assert table.loc["sound", "seconds"] == pytest.approx(100 * 0.2 / 4)  # its share


@pytest.mark.parametrize("tool", ["mlflow", "tensorboard"])
def test_a_folder_that_is_not_empty_is_left_alone(trained, capsys, tool):
    assert main(["records", "--to", tool, "results"]) == 2
    assert f"--to {tool} results: that is not empty" in capsys.readouterr().err


def test_nothing_trained_is_told(project, capsys):
    assert main(["records"]) == 2
    assert "no run has a current record" in capsys.readouterr().err
    assert not (project / "results").exists()


def test_what_is_not_installed_is_named(trained, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    assert main(["records", "--to", "mlflow", "there"]) == 2
    assert "pip install 'tsdg[mlflow]'" in capsys.readouterr().err
    assert not (trained / "there").exists()


def test_mlflow_gives_back_what_it_got(trained, capsys):
    client = pytest.importorskip("mlflow").MlflowClient
    assert main(["records", "--to", "mlflow", "there"]) == 0
    store = client(capsys.readouterr().out.split()[-1])
    (experiment,) = store.search_experiments(filter_string="name = 'tiny'")
    run = next(
        run
        for run in store.search_runs([experiment.experiment_id])
        if (run.data.params["target"], run.data.params["seed"]) == ("D", "0")
    )
    checkpoints = plain(trained, "D", 0)["checkpoints"]
    found = store.get_metric_history(run.info.run_id, "averaged/nll")
    assert [(one.step, one.value) for one in found] == [
        (one["iteration"], one["averaged"]["target"]["nll"]) for one in checkpoints if "averaged" in one
    ]


def test_tensorboard_gives_back_what_it_got(trained):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    assert main(["records", "--to", "tensorboard", "there"]) == 0
    log = reader.EventAccumulator(str(trained / "there/tiny/vrex/D/seed0/fixed")).Reload()
    checkpoints = plain(trained, "D", 0)["checkpoints"]
    assert [(one.step, one.value) for one in log.Scalars("nll")] == [
        (one["iteration"], pytest.approx(one["target"]["nll"])) for one in checkpoints
    ]
