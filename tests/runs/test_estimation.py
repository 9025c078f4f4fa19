"""Runs of estimators: what scikit-learn would give by itself, from the sources alone, whatever else runs."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiny_study import LINE, write_tiny
from tsdg.commands.main import main
from tsdg.data.split import TRAIN, VALIDATION, split
from tsdg.data.windows import WindowedDataset, write
from tsdg.errors import InputError
from tsdg.learning.features import Features
from tsdg.learning.inputs import Windows
from tsdg.runs import estimation
from tsdg.runs.estimation import Fitting, train
from tsdg.runs.fingerprint import _of_estimator
from tsdg.runs.recipe import Recipes
from tsdg.runs.record import read, typed
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study

BOTH = LINE["features"]


def made(params, *, standardize=None, **changed):
    params["variants"]["row"] = LINE | changed
    params["datasets"]["tiny"] |= {"standardize": standardize} if standardize else {}
    return Study(params)


def config(params, **changed):
    return made(params, **changed).config("tiny", "row")


def run(target="D", seed=0):
    return Run("tiny", "row", target, seed, "fixed")


def fitted(data, settings, target="D", seed=0, **more):
    fitting = Fitting(data, Windows(data), settings, target=target, seed=seed, hparams={}, **more)
    return fitting, fitting.train()


def scores(record):
    """A record without what may differ when it is made again."""
    return {key: value for key, value in record.items() if key not in ("timing", "machine")}


def gathered(data, rows):
    """Windows ``(N, C, T)`` of rows of the windows table, by slices."""
    starts, length = data.windows["start"].to_numpy()[rows], data.card["window"]["length"]
    return np.stack([data.signals[start : start + length].T for start in starts])


def test_a_record_is_what_scikit_learn_gives_on_the_same_windows(tiny, params):
    (record,) = train(tiny, [run()], config(params, arguments={"C": 0.1}), [{}])
    typed(json.loads(json.dumps(record)))
    windows, parts = tiny.windows, split(tiny.windows, fraction=0.2, seed=0, method="random")
    label, domain = windows["label"].to_numpy(), windows["domain"].to_numpy()
    features = Features(BOTH)(gathered(tiny, np.arange(len(windows))))
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
    model.fit(features[(domain != "D") & (parts == TRAIN)], label[(domain != "D") & (parts == TRAIN)])
    (checkpoint,) = record["checkpoints"]
    assert record["sources"] == list(checkpoint["validation"]) == ["A", "B", "C"]
    for name, scored in [*checkpoint["validation"].items(), ("D", checkpoint["target"])]:
        rows = domain == name if name == "D" else (domain == name) & (parts == VALIDATION)
        p = model.predict_proba(features[rows])
        assert scored["n"] == rows.sum()
        assert scored["accuracy"] == np.mean(p.argmax(1) == label[rows])
        assert scored["nll"] == pytest.approx(-np.log(p[np.arange(len(p)), label[rows]]).mean(), abs=1e-9)
    assert checkpoint["target"]["accuracy"] > 0.6


def test_the_code_of_a_class_of_ones_own_and_the_version_of_an_installed_one_count(
    tiny, params, tmp_path, monkeypatch
):
    helper, module = tmp_path / "own_helper.py", tmp_path / "own_class.py"
    monkeypatch.syspath_prepend(tmp_path)
    imports = "from sklearn.neighbors import KNeighborsClassifier\nimport own_helper\n"
    text = "class Own(KNeighborsClassifier):\n    def fit(self, x, y):  # twice\n"
    text += "        return super().fit({}, y)\n"
    own = {"steps": [["own", {"class": "own_class.Own"}]]}

    def code(**changed):
        _of_estimator.cache_clear()
        return Recipes(made(params, **changed)).of(run()).code

    def pair(factor, words):
        helper.write_text(f"FACTOR = {factor}\n")
        module.write_text(imports + words)
        return code(estimator="own_class.Own"), code(estimator="sklearn.pipeline.Pipeline", arguments=own)

    first = pair(2, text.format("x * own_helper.FACTOR"))
    (record,) = train(tiny, [run()], config(params, estimator="own_class.Own", arguments={}), [{}])
    assert record["code"]["fingerprint"] == first[0]
    assert pair(2, text.replace("  # twice", "").format("x * own_helper.FACTOR")) == first
    edited, beside = (
        pair(2, text.format("x + own_helper.FACTOR")),
        pair(3, text.format("x * own_helper.FACTOR")),
    )
    assert all(len({*prints}) == 3 for prints in zip(first, edited, beside, strict=True))
    module.write_text("class Own(:")
    with pytest.raises(InputError, match=r"estimator own_class\.Own: its module is no Python"):
        code(estimator="own_class.Own")
    before = code(estimator="yaml.Loader")
    monkeypatch.setattr("tsdg.runs.fingerprint.version", lambda name: "0")
    assert code(estimator="yaml.Loader") != before


def test_what_is_learned_does_not_depend_on_the_target(tiny, params, tmp_path):
    other = WindowedDataset.load(write_tiny(tmp_path / "other", changed=["D"]))
    for more in ({}, {"random_filter": {"copies": 2}}):
        (ours, first), (theirs, second) = (fitted(data, config(params, **more)) for data in (tiny, other))
        np.testing.assert_array_equal(ours.estimator.fitted.coef_, theirs.estimator.fitted.coef_)
        assert first.checkpoints[0]["validation"] == second.checkpoints[0]["validation"]
        assert first.checkpoints[0]["target"] != second.checkpoints[0]["target"]


def test_a_run_gives_the_same_alone_and_among_others_and_from_features_that_were_kept(
    tiny, tiny_folder, params, tmp_path, monkeypatch
):
    settings = config(params, random_filter={"copies": 1})
    runs = [run("D"), run("A"), run("D", seed=1)]
    alone = [train(tiny, [one], settings, [{}])[0] for one in runs]
    folder = write_tiny(tmp_path / "tiny")
    for _ in range(2):
        together = train(tiny, runs[::-1], settings, [{}] * 3, folder=folder)[::-1]
        assert list(map(scores, together)) == list(map(scores, alone))
    assert len(list((folder / "features").iterdir())) == 1
    monkeypatch.setattr(estimation, "in_blocks", lambda *_: pytest.fail("computed again"))
    train(tiny, runs[:1], config(params), [{}], folder=folder)
    write_tiny(folder)  # prepared again: what was kept is gone
    assert not (folder / "features").exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda path, x: path.write_bytes(b""),
        lambda path, x: path.write_bytes(path.read_bytes()[:-100]),
        lambda path, x: path.write_bytes(path.read_bytes().replace(x[3].tobytes(), x[4].tobytes())),
        lambda path, x: np.save(path, x[:100]),
        lambda path, x: np.save(path, x.astype(str)),
        lambda path, x: np.save(path, np.full_like(x, np.nan)),
    ],
)
def test_features_that_were_kept_and_damaged_are_made_again(tiny, params, tmp_path, damage):
    folder, settings = write_tiny(tmp_path / "tiny"), config(params)
    first = train(tiny, [run()], settings, [{}], folder=folder)
    (kept,) = (folder / "features").iterdir()
    before = kept.read_bytes()
    damage(kept, np.load(kept))
    assert kept.read_bytes() != before
    assert list(map(scores, train(tiny, [run()], settings, [{}], folder=folder))) == list(map(scores, first))
    assert kept.read_bytes() == before


def test_other_features_or_data_are_kept_in_another_file(tiny, params, tmp_path):
    folder = tmp_path / "tiny"
    other = WindowedDataset.load(write_tiny(tmp_path / "other", changed=["A"]))
    for data, features in ((tiny, BOTH), (tiny, "statistics"), (other, BOTH)):
        train(data, [run()], config(params, features=features), [{}], folder=folder)
    assert len(list((folder / "features").iterdir())) == 3


def test_filtered_copies_of_a_domain_are_drawn_apart_from_other_domains_and_targets(tiny, params):
    settings = config(params, random_filter={"copies": 2, "deviation": 1.5})

    def copies(target, seed=0):
        fitting = Fitting(tiny, Windows(tiny), settings, target=target, seed=seed, hparams={})
        return fitting._filtered("B", fitting.sources.train["B"])

    first, second = copies("A")
    for ours, theirs in zip((first, second), copies("D"), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert np.abs(first - second).mean() > 0.1
    assert np.abs(first - copies("A", seed=1)[0][: len(first)]).mean() > 0.1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"deviation": 1000.0}, "deviation: 1000.0: give a number of nepers from 0 to 10"),
        ({"deviation": np.nan}, "deviation: nan"),
        ({"smoothness": 1e-9}, "smoothness: 1e-09: give a number from 0.0833333, .* to 0.5"),
        ({"smoothness": np.inf}, "smoothness: inf"),
    ],
)
def test_a_filter_that_windows_cannot_have_is_one_message(tiny, params, settings, message):
    with pytest.raises(InputError, match=message):
        train(tiny, [run()], config(params) | {"random_filter": settings}, [{}])


def test_copies_with_hardly_a_filter_are_the_windows_once_more(tiny, params):
    none = config(params, random_filter={"copies": 2, "deviation": 1e-9})
    ours, _ = fitted(tiny, none)
    theirs, _ = fitted(tiny, config(params, arguments={"C": 3}))
    np.testing.assert_allclose(ours.estimator.fitted.coef_, theirs.estimator.fitted.coef_, atol=1e-3)


class Nearest(KNeighborsClassifier):
    """Takes windows (N, C, T), as aeon's classifiers do."""

    def fit(self, x, y):
        assert x.ndim == 3
        return super().fit(x.reshape(len(x), -1), y)

    def predict_proba(self, x):
        return super().predict_proba(x.reshape(len(x), -1))


def test_windows_as_they_are_go_to_a_class_that_takes_them(tiny, params):
    settings = config(params, estimator=f"{__name__}.Nearest", features="windows")
    fitting, _ = fitted(tiny, settings)
    np.testing.assert_array_equal(fitting.computed(np.arange(5)), gathered(tiny, np.arange(5)))
    standard, result = fitted(tiny, settings | {"standardize": "sources"})
    x = standard.computed(np.concatenate(list(standard.sources.train.values())))
    np.testing.assert_allclose(x.mean((0, 2)), 0, atol=1e-5)
    np.testing.assert_allclose(x.std((0, 2)), 1, atol=1e-5)
    assert result.checkpoints[0]["target"]["accuracy"] > 0.6


def test_minirocket_of_the_params_file_is_fitted(tiny, params):
    pytest.importorskip("aeon")
    row = Study.load(Path(__file__).parents[2] / "params.yaml").variant("minirocket-ridge")
    settings = config(params, **{key: row[key] for key in ("features", "estimator", "arguments")})
    _, result = fitted(tiny, settings)
    assert result.checkpoints[0]["target"]["accuracy"] > 0.6


def test_minirocket_without_its_package_is_one_message(tiny, params, monkeypatch):
    monkeypatch.setitem(sys.modules, "aeon.transformations.collection.convolution_based", None)
    row = Study.load(Path(__file__).parents[2] / "params.yaml").variant("minirocket-ridge")
    settings = config(params, **{key: row[key] for key in ("features", "estimator", "arguments")})
    with pytest.raises(
        InputError, match=r"estimator aeon\..*MiniRocket: cannot be imported: .*; install the package"
    ):
        fitted(tiny, settings)


def test_missing_values_are_filled_from_sources_and_without_that_refused(tiny, params, tmp_path):
    signals = np.array(tiny.signals)
    signals[:7] = np.nan  # of domain A, where nothing is before it
    write(tmp_path / "gaps", [signals], windows=tiny.windows, card=tiny.card)
    gaps = WindowedDataset.load(tmp_path / "gaps")
    with pytest.raises(InputError, match="standardize: sources"):
        fitted(gaps, config(params))
    _, result = fitted(gaps, config(params, standardize="sources"), folder=tmp_path / "gaps")
    assert result.checkpoints[0]["target"]["accuracy"] > 0.6
    assert not (tmp_path / "gaps" / "features").exists()  # they differ from run to run


def test_from_the_command_line(params, project, tmp_path, capsys):
    data = str(write_tiny(tmp_path / "tiny"))
    params["variants"]["line"] = LINE | {"search": {"C": {"default": 1, "kind": "power", "values": [-2, 0]}}}
    params["tables"]["tiny"] |= {"rows": ["line"], "baselines": ["line"], "ours": []}

    def command(*words, **changed):
        params["variants"]["line"] |= changed
        (project / "params.yaml").write_text(yaml.safe_dump(params))
        code = main([*words])
        return code, capsys.readouterr()

    train_a = ["train", "--data", data, "--variant", "line", "--target", "A", "D", "--draw", "fixed"]
    code, told = command(*train_a)
    assert (code, told.out.count("source validation")) == (0, 2)
    assert "2 of 2 runs are recorded already" in command(*train_a)[1].out
    params["training"]["batch_size"] = 9  # of networks alone
    assert "2 of 2 runs are recorded already" in command(*train_a)[1].out
    records = [read(f"results/runs/{run_path(Run('tiny', 'line', target, 0, 'fixed'))}") for target in "AD"]
    assert [record.hparams for record in records] == [{"C": 1.0}] * 2
    assert "2" in command("plan", "tiny")[1].out
    assert command("select", "tiny")[0] == 0
    assert command("table", "tiny")[0] == 0
    assert r"Logistic &" in (project / "results/tables/tiny.tex").read_text()
    assert "recorded already" not in command(*train_a, features="spectrum")[1].out
    code, told = command(*train_a, estimator="sklearn.linear_model.LogisticRegresion")
    assert (code, told.err.count("\n")) == (2, 1)
    assert "did you mean 'LogisticRegression'" in told.err
