"""What an exported model takes of a new domain: as the recorded evaluation had it, or one message."""

import numpy as np
import pandas as pd
import pytest
import torch

import tiny_study
from tiny_study import LINE
from tsdg.bundle.export import export
from tsdg.bundle.model import Bundle, write_onnx
from tsdg.bundle.predict import predict
from tsdg.data.integrity import fingerprint
from tsdg.data.windows import WindowedDataset, checksum
from tsdg.errors import InputError
from tsdg.learning.inputs import Windows
from tsdg.runs.estimation import Fitting
from tsdg.runs.training import Trainer
from tsdg.study.study import Study

pytest.importorskip("safetensors")
NETWORK = {
    "method": "erm",
    "input": "spectrum",
    "backbone": {"name": "tcn", "width": 8, "depth": 2},
}
ROWS = {
    "centred": LINE | {"center": "domain", "label": "Centred"},
    "reference": LINE | {"center": "reference", "label": "Reference"},
    "faults": LINE | {"omit_reference": True, "label": "Faults"},
    "network-centred": NETWORK | {"center": "domain", "label": "Centred network"},
    "network-reference": NETWORK | {"center": "reference", "label": "Network, reference"},
}


@pytest.fixture
def folder(tmp_path):
    """The tiny data set with a third class, every third window of class fast."""
    import json

    folder = tiny_study.write_tiny(tmp_path / "tiny")
    data = WindowedDataset.load(folder)
    label = data.windows["label"].copy()
    label[(label == 1) & (np.arange(len(label)) % 3 == 0)] = 2
    data.windows.assign(label=label).to_parquet(folder / "windows.parquet")
    card = data.card | {"classes": ["slow", "fast", "rest"]}
    counts = pd.crosstab(data.windows["domain"], label).reindex(columns=range(3), fill_value=0)
    card["counts"] = {
        d: dict(zip(card["classes"], map(int, row), strict=True))
        for d, row in zip(counts.index, counts.to_numpy(), strict=True)
    }
    (folder / "card.json").write_text(json.dumps(card))
    card["fingerprint"] = fingerprint(WindowedDataset.load(folder))
    card["checksum"] = checksum(card)
    (folder / "card.json").write_text(json.dumps(card))
    return folder


@pytest.fixture
def study(params):
    """Its data set `three` has all domains but D, which `tiny` holds out."""
    params["variants"] |= ROWS
    params["variants"]["erm"]["adapt"] = ["all"]
    params["datasets"]["tiny"] |= {"reference": "rest", "width": 4}
    params["datasets"]["three"] = {"of": "tiny", "domains": ["A", "B", "C"]}
    return Study(params)


def recordings(folder, path, labels=(0, 1, 2), domain="D"):
    """Windows of a domain as recordings of a user's table, one window each."""
    data = WindowedDataset.load(folder)
    rows = data.windows[(data.windows["domain"] == domain) & data.windows["label"].isin(labels)]
    parts = [
        pd.DataFrame(np.array(data.signals[start : start + 12]), columns=["x", "y"]).assign(
            recording=f"r{number}"
        )
        for number, start in enumerate(rows["start"])
    ]
    pd.concat(parts).to_csv(path, index=False)
    return path, rows["label"].to_numpy()


@pytest.mark.parametrize("row", ["centred", "reference", "network-centred", "network-reference", "erm"])
def test_a_prediction_is_the_recorded_evaluation(folder, study, tmp_path, row):
    data = WindowedDataset.load(folder)
    config, omitted = study.config("tiny", row), row.endswith("reference")
    path, _ = recordings(folder, tmp_path / "new.csv", (0, 1) if omitted else (0, 1, 2))
    reference = recordings(folder, tmp_path / "rest.csv", (2,))[0] if omitted else None
    if config["method"] == "erm":
        trainer = Trainer(data, Windows(data), config, targets=["D"], seeds=[0], hparams=[{}])
        trainer.train()
        ((expected, _),) = trainer._by("all", "", ["D"]) if row == "erm" else trainer._probabilities(["D"])
    else:
        fitting = Fitting(data, Windows(data), config, target="D", seed=0, hparams={})
        fitting.train()
        expected = fitting.probabilities("D", fitting.sources.evaluation["D"])
    export(study, folder, dataset="three", variant=row).save(tmp_path / "bundle")
    bundle, said = Bundle.load(tmp_path / "bundle"), []
    bundle.card["temperature"] = 1.0
    assert bundle.card["classes"] == (["slow", "fast"] if omitted else ["slow", "fast", "rest"])
    windows, _ = predict(bundle, path, reference=reference, adapt=not omitted, say=said.append)
    found = windows[[f"p_{name}" for name in bundle.card["classes"]]].to_numpy()
    np.testing.assert_allclose(found, expected, atol=2e-4)
    assert any(text.startswith("Reference: the mean of" if omitted else "Adapted: ") for text in said)
    if row == "erm":
        assert np.abs(predict(bundle, path)[0][["p_slow"]].to_numpy()[:, 0] - expected[:, 0]).max() > 1e-3


def test_a_row_without_the_reference_class_is_exported_without_it(folder, study, tmp_path):
    export(study, folder, variant="faults").save(tmp_path)
    assert Bundle.load(tmp_path).card["classes"] == ["slow", "fast"]


def test_one_kind_and_few_windows_are_refused_and_so_is_what_a_model_does_not_take(folder, study, tmp_path):
    bundles = {
        row: export(study, folder, dataset="three", variant=row) for row in ("centred", "reference", "faults")
    }
    every, _ = recordings(folder, tmp_path / "every.csv")
    slow, _ = recordings(folder, tmp_path / "slow.csv", (0,))
    few = tmp_path / "few.csv"
    pd.read_csv(every).iloc[:240].to_csv(few, index=False)
    for row, options, words in [
        ("centred", {}, "less their domain's mean: give --adapt"),
        ("centred", {"reference": slow, "adapt": True}, "--reference: the model takes no reference"),
        (
            "reference",
            {},
            "takes recordings of class rest of the same domain: give them with --reference FILE",
        ),
        ("reference", {"reference": slow, "adapt": True}, "--adapt: the model takes nothing of the windows"),
        ("faults", {"adapt": True}, "--adapt: the model takes nothing of the windows"),
    ]:
        with pytest.raises(InputError, match=words):
            predict(bundles[row], every, **options)
    for given, doubted in ((every, True), (slow, False)):
        said = []
        predict(bundles["reference"], every, reference=given, say=said.append)
        assert any("is each of them rest?" in text for text in said) == doubted
    with pytest.raises(InputError, match=r"few\.csv: 20 windows are few for statistics; give 30 or more"):
        predict(bundles["centred"], few, adapt=True)
    with pytest.raises(
        InputError, match=r"slow\.csv: --adapt: its windows differ by .* give recordings of all"
    ):
        predict(bundles["centred"], pd_twice(slow), adapt=True)


def pd_twice(path):
    """A file with each recording twice."""
    table = pd.read_csv(path)
    pd.concat([table, table.assign(recording=table["recording"] + "b")]).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(("row", "name"), [("centred", "domain"), ("network-reference", "reference")])
def test_onnx_of_a_centred_model_takes_the_windows_that_it_is_centred_by(folder, study, tmp_path, row, name):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    bundle = export(study, folder, dataset="three", variant=row)
    session = onnxruntime.InferenceSession(write_onnx(bundle, tmp_path))
    generator = torch.Generator().manual_seed(0)
    windows, given = (torch.randn(n, 2, 12, generator=generator) for n in (5, 40))
    (logits,) = session.run(["logits"], {"windows": windows.numpy(), name: given.numpy()})
    bundle.model.network.centre.copy_(bundle.model.mean_of(given))
    np.testing.assert_allclose(logits, bundle.logits(windows).numpy(), atol=1e-4)
    assert (
        np.abs(logits - session.run(["logits"], {"windows": windows.numpy(), name: windows.numpy()})[0]).max()
        > 1e-3
    )


def test_a_centred_network_is_as_good_on_its_sources_as_its_trainer_says(folder, study):
    card = export(study, folder, dataset="three", variant="network-centred").card
    data, config = WindowedDataset.load(folder), study.config("three", "network-centred")
    trainer = Trainer(data, Windows(data), config, targets=[None], seeds=[0], hparams=[{}])
    (result,) = trainer.train()
    for name, scores in card["validation"].items():
        found = result.checkpoints[-1]["validation"][name]
        assert scores["ece"] == pytest.approx(found["ece"], abs=1e-4), name


def test_an_ensemble_of_centred_networks_is_refused(folder, study):
    params = study.params | {"protocol": "small"}
    params["variants"]["many"] = {"label": "Many", "of": "network-centred", "ensemble": True}
    params["protocols"]["small"] |= {"seeds": 3}
    with pytest.raises(InputError, match="many: an ensemble of centred networks cannot be exported"):
        export(Study(params), folder, dataset="three", variant="many")
