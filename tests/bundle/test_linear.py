"""An estimator to take away predicts what scikit-learn does: from memory, its files, ONNX, `tsdg predict`."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiny_study import LINE
from tsdg.bundle.export import export
from tsdg.bundle.linear import LinearNetwork
from tsdg.bundle.model import Bundle, Model, write_onnx
from tsdg.bundle.predict import predict
from tsdg.data.split import TRAIN, split
from tsdg.data.windows import WindowedDataset, write
from tsdg.errors import InputError
from tsdg.learning.features import Features
from tsdg.study.study import Study

pytest.importorskip("safetensors")


def study(params, *, standardize=False, **changed):
    params["variants"]["line"] = LINE | changed
    params["datasets"]["tiny"] |= {"standardize": "sources"} if standardize else {}
    return Study(params)


def every_window(data):
    starts, length = data.windows["start"], data.card["window"]["length"]
    return np.stack([data.signals[start : start + length].T for start in starts])


def probabilities(bundle, x):
    assert bundle.card["temperature"] == 1
    return bundle.logits(torch.from_numpy(x)).double().softmax(1).numpy()


def test_the_bundle_predicts_what_scikit_learn_does(params, tiny, tiny_folder, tmp_path):
    bundle = export(study(params, arguments={"C": 0.1}), tiny_folder, variant="line")
    x, label = every_window(tiny), tiny.windows["label"].to_numpy()
    train = split(tiny.windows, fraction=0.2, seed=0, method="random") == TRAIN
    features = Features(LINE["features"])(x)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(features[train], label[train])
    expected = model.predict_proba(features)
    np.testing.assert_allclose(probabilities(bundle, x), expected, atol=1e-6, rtol=0)
    bundle.save(tmp_path)
    loaded = Bundle.load(tmp_path)
    np.testing.assert_allclose(probabilities(loaded, x), expected, atol=1e-6, rtol=0)
    assert loaded.card["method"] == {"name": "estimator", "title": LINE["estimator"], "citation": ""}
    assert loaded.card["validation"].keys() == {"A", "B", "C", "D"}

    person = tiny.windows.query("recording == 'D1'")["start"]
    table = pd.DataFrame(tiny.signals[person.min() : person.max() + 12], columns=["x", "y"])
    table.assign(recording="D1").to_csv(tmp_path / "d1.csv", index=False)
    told, _ = predict(loaded, tmp_path / "d1.csv")
    rows = tiny.windows.index[tiny.windows["recording"] == "D1"]
    np.testing.assert_allclose(told[["p_slow", "p_fast"]], expected[rows], atol=1e-6, rtol=0)


@pytest.mark.parametrize("path", ["RidgeClassifier", "LogisticRegression"])
def test_decisions_of_two_classes_and_of_more(params, tiny, tmp_path, path):
    three = tiny.windows["recording"].str[0].map({"A": 0, "B": 1, "C": 2, "D": 0}).astype("int16")
    card = tiny.card | {"classes": ["a", "b", "none", "c"]}
    windows = tiny.windows.assign(label=three + (three == 2), domain=np.array(list("ABCD"))[three.index % 4])
    write(tmp_path / "four", [np.array(tiny.signals)], windows=windows, card=card)
    asked = study(params, estimator=f"sklearn.linear_model.{path}")
    bundle = export(asked, tmp_path / "four", variant="line")
    p = probabilities(bundle, every_window(tiny))
    assert (p[:, 2] == 0).all()  # no window is of this class
    assert (p.argmax(1) == windows["label"]).mean() > 0.6


def test_missing_values_are_filled_as_in_training(params, tiny, tmp_path):
    signals = np.array(tiny.signals)
    signals[:7] = np.nan
    write(tmp_path / "gaps", [signals], windows=tiny.windows, card=tiny.card)
    bundle = export(study(params, standardize=True), tmp_path / "gaps", variant="line")
    assert [scale["channel"] for scale in bundle.card["standardize"]] == ["x", "y"]
    x = every_window(WindowedDataset.load(tmp_path / "gaps"))[:3]
    means = [scale["mean"] for scale in bundle.card["standardize"]]
    filled = np.where(np.isnan(x), np.float32(means)[:, None], x)
    np.testing.assert_allclose(probabilities(bundle, x), probabilities(bundle, filled), atol=1e-6)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"estimator": "sklearn.tree.DecisionTreeClassifier"}, "only linear models of features"),
        (
            {"estimator": "sklearn.linear_model.SGDClassifier", "arguments": {"loss": "modified_huber"}},
            "no softmax",
        ),
    ],
)
def test_what_is_no_softmax_of_a_linear_map_is_refused(params, tiny_folder, changed, words):
    with pytest.raises(InputError, match=words):
        export(study(params, **changed), tiny_folder, variant="line")


@pytest.mark.slow
def test_onnx_gives_the_same_logits(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    spec = ["statistics", {"spectrum": {"segment": 50, "level": "whitened"}}, "envelope"]
    features, rng = Features(spec, rate=100), np.random.default_rng(0)
    x = rng.standard_normal((7, 2, 200)).astype(np.float32)
    count = features(x).shape[1]
    network = LinearNetwork(
        features, 200,
        mean=features(x).mean(0), deviation=1 + rng.random(count),
        weight=rng.standard_normal((3, count)), bias=rng.standard_normal(3),
    )  # fmt: skip
    model = Model(network, torch.zeros(2), torch.ones(2))
    bundle = Bundle({"channels": ["c"] * 2, "window": {"length": 200}}, model)
    session = onnxruntime.InferenceSession(write_onnx(bundle, tmp_path))
    for rows in (1, 7):
        (logits,) = session.run(["logits"], {"windows": x[:rows]})
        np.testing.assert_allclose(logits, bundle.logits(torch.from_numpy(x[:rows])).numpy(), atol=1e-5)
