"""Bundles of other models than the last weights: averaged ones, ensembles of seeds, both."""

import json

import numpy as np
import pandas as pd
import pytest
import torch

from tiny_study import PARAMS
from tsdg.bundle.export import export
from tsdg.bundle.model import Bundle, Model, write_onnx
from tsdg.bundle.predict import predict
from tsdg.errors import InputError
from tsdg.learning.inputs import Windows
from tsdg.runs.training import Trainer
from tsdg.study.study import Study

pytest.importorskip("safetensors")

WEIGHTS = {"averaged": "averaged", "ensemble": "last", "both": "averaged"}


@pytest.fixture
def study():
    params = json.loads(json.dumps(PARAMS))
    params["datasets"]["tiny"]["standardize"] = "sources"
    params["protocols"]["small"] = {
        "seeds": 3, "draws": "fixed", "iterations": 10, "evaluate_every": 10, "average": {"from": 0.5},
    }  # fmt: skip
    for name, weights in WEIGHTS.items():
        entry = {"label": name, "of": "erm", "weights": weights, "ensemble": name != "averaged"}
        params["variants"][name] = entry
    return Study(params)


def trained(study, tiny, seed, weights):
    """A member as plain training gives it, all with the first one's split: probabilities of raw windows."""
    trainer = Trainer(
        tiny, Windows(tiny), study.config("tiny", "erm"),
        targets=[None], seeds=[seed], splits=[0], hparams=[{}],
    )  # fmt: skip
    trainer.train()
    network = trainer.averaged.network if weights == "averaged" else trainer.method.network
    return Model(network.eval(), *(scale[0] for scale in trainer.windows.scales))


@pytest.mark.parametrize("variant", WEIGHTS)
def test_a_bundle_predicts_the_mean_of_its_members_probabilities(study, tiny, tiny_folder, tmp_path, variant):
    export(study, tiny_folder, variant=variant).save(tmp_path / "bundle")
    loaded = Bundle.load(tmp_path / "bundle")
    seeds = [0] if variant == "averaged" else [0, 1, 2]
    x = torch.from_numpy(np.stack([tiny.signals[s : s + 12].T for s in tiny.windows["start"][::5]]))
    members = [trained(study, tiny, seed, WEIGHTS[variant]) for seed in seeds]
    with torch.no_grad():
        each = [member(x).softmax(-1) for member in members]
    mean = torch.stack(each).mean(0)
    torch.testing.assert_close(loaded.logits(x).softmax(-1), mean, rtol=0, atol=1e-6)
    loaded.card["temperature"] = 1.0
    table = pd.DataFrame(tiny.signals[:24], columns=["x", "y"]).assign(recording="r")
    table.to_csv(tmp_path / "r.csv", index=False)
    windows, _ = predict(loaded, tmp_path / "r.csv", stride=12)
    parts = torch.from_numpy(np.array(tiny.signals[:24])).unfold(0, 12, 12)
    with torch.no_grad():
        mean = torch.stack([member(parts).softmax(-1) for member in members]).mean(0)
    found = windows.filter(like="p_").to_numpy()
    np.testing.assert_allclose(found, mean.numpy(), rtol=0, atol=1e-6)
    assert loaded.card.get("members", 1) == len(seeds)
    notes = " ".join(loaded.card["notes"])
    assert ("seeds 0 to 2" in notes) == (variant != "averaged")
    assert ("mean over the end of the training" in notes) == (WEIGHTS[variant] == "averaged")


def test_an_ensemble_is_written_for_onnx(study, tiny_folder, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    bundle = export(study, tiny_folder, variant="ensemble")
    session = onnxruntime.InferenceSession(write_onnx(bundle, tmp_path))
    x = torch.randn(5, 2, 12, generator=torch.Generator().manual_seed(0))
    [logits] = session.run(None, {"windows": x.numpy()})
    np.testing.assert_allclose(logits, bundle.logits(x).numpy(), atol=1e-4)


@pytest.mark.parametrize(
    ("variant", "change", "words"),
    [
        ("averaged", "average=false", "averaged: erm is trained without `average`"),
        ("ensemble", "seeds=1", "ensemble: an ensemble is of the protocol's seeds, and small has one"),
        (
            "averaged",
            "variants.averaged={label: Adapted, of: erm, weights: 'adapted, all'}",
            "averaged: networks are adapted where they are used; export erm",
        ),
    ],
)
def test_what_a_model_lacks_is_said(study, tiny_folder, variant, change, words):
    with pytest.raises(InputError, match=words):
        export(Study(study.params, [change]), tiny_folder, variant=variant)
