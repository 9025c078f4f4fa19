"""Networks that are given something of the new domain: its mean, or batch statistics at evaluation."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import tiny_study
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning import adaptation, metrics
from tsdg.learning.calibration import tempered
from tsdg.learning.inputs import Windows
from tsdg.learning.network_inputs import SpectrumInput
from tsdg.learning.networks import build
from tsdg.results.captions import caption
from tsdg.results.selection import select
from tsdg.runs.record import typed
from tsdg.runs.training import Trainer, train
from tsdg.runs.writing import plain, write
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study

WAYS = ["all", "batches", "blend", "t3a"]
LONG = 36  # time steps, whose spectrum has 18


@pytest.fixture
def data(tmp_path, monkeypatch):
    """The tiny data set with windows long enough for a spectrum, of three classes."""
    monkeypatch.setattr(tiny_study, "LENGTH", LONG)
    plain = WindowedDataset.load(tiny_study.write_tiny(tmp_path / "tiny"))
    label = 2 * plain.windows["label"]
    label[::3] = 1
    return WindowedDataset(
        plain.signals, plain.windows.assign(label=label), plain.card | {"classes": ["slow", "rest", "fast"]}
    )


def config(params, **row):
    params["variants"]["erm"] |= row
    params["datasets"]["tiny"] |= {"reference": "rest", "width": 4}
    return Study(params).config("tiny", "erm")


def trainer_of(data, settings, targets=("D",), seeds=(0,), **more):
    return Trainer(
        data, Windows(data), settings, targets=targets, seeds=seeds, hparams=[{}] * len(targets), **more
    )


def gathered(data, rows):
    return np.stack([data.signals[s : s + LONG].T for s in data.windows["start"].to_numpy()[rows]])


@pytest.mark.parametrize("center", ["domain", "reference"])
def test_a_network_sees_spectra_less_the_mean_of_their_domain(data, params, center):
    trainer = trainer_of(data, config(params, input="spectrum", center=center))
    trainer.train()
    (sources,) = trainer.sources
    spectrum = SpectrumInput(2, LONG)
    label = trainer.dataset.windows["label"].to_numpy()
    assert trainer.dataset.classes == (["slow", "fast"] if center == "reference" else data.classes)

    def seen(rows):
        return spectrum(torch.from_numpy(gathered(data, rows))[None]).numpy()[0]

    for name, rows in sources.evaluation.items():
        of_mean = np.flatnonzero((data.windows["domain"] == name) & (data.windows["label"] == 1))
        if center == "domain":
            of_mean = rows if name == "D" else sources.train[name]
        assert (label[rows] >= 0).all()
        x = torch.from_numpy(seen(rows) - seen(of_mean).mean(0))[None]
        expected = trainer.method.logits(x)[0].double().softmax(-1).numpy()
        ((found, _),) = trainer._probabilities([name])
        np.testing.assert_allclose(found, expected, atol=1e-5)
    (batch,) = trainer._batches(1, None)
    assert batch[0].shape == (1, 3, 8, 2, 18)


def test_labels_of_the_target_change_nothing_but_the_order_that_is_by_class(data, params):
    there = np.flatnonzero(data.windows["domain"] == "D")
    windows = data.windows.copy()
    windows.loc[there, "label"] = np.random.default_rng(0).permutation(windows.loc[there, "label"])
    other = WindowedDataset(data.signals, windows, data.card)
    settings = config(params, input="spectrum", center="domain", adapt=WAYS)
    found = []
    for one in (data, other):
        trainer = trainer_of(one, settings)
        trainer.train()
        found.append([trainer._probabilities(["D"])[0][0]])
        found[-1] += [trainer._by(way, "shuffled" * (way != "all"), ["D"])[0][0] for way in WAYS]
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_packed_runs_adapt_and_are_centred_as_they_are_alone(data, params):
    settings = config(params, input="spectrum", center="domain", adapt=WAYS)
    places = [("A", 0), ("D", 1), ("C", 0)]  # of different sizes
    targets, seeds = zip(*places, strict=True)
    together = trainer_of(data, settings, targets, seeds).train()
    for result, (target, seed) in zip(together, places, strict=True):
        trainer = trainer_of(data, settings, [target], [seed])
        (alone,) = trainer.train()
        probabilities, labels = trainer._by("all", "", [target])[0]
        calibrated = tempered(probabilities, alone.checkpoints[-1]["temperature"])
        adapted, own = result.checkpoints[-1]["adapted"], alone.checkpoints[-1]["adapted"]
        assert list(own) == [
            "all",
            *(f"{way}, {order}" for way in WAYS[1:] for order in ("shuffled", "by class")),
        ]
        for way, scores in own.items():
            assert adapted[way]["nll"] == pytest.approx(scores["nll"], rel=1e-3), way
            assert adapted[way]["ece_calibrated"] == pytest.approx(scores["ece_calibrated"], abs=1e-3), way
            assert adapted[way]["n"] == scores["n"] == result.checkpoints[-1]["target"]["n"]
        ece = metrics.expected_calibration_error(calibrated, labels)
        assert own["all"]["ece_calibrated"] == pytest.approx(ece)


def test_a_record_holds_adapted_scores_of_its_last_checkpoint(data, params):
    run = Run("tiny", "erm", "site=south", 0, "fixed")
    settings = config(params, adapt=["all"], average={"from": 0.5})
    (record,) = train(
        data,
        [run],
        settings | {"iterations": 4, "evaluate_every": 2},
        [{}],
        groups={"site=south": ["C", "D"]},
    )
    first, last = record["checkpoints"]
    assert "adapted" not in first
    assert list(last["adapted"]["all"]["domains"]) == ["C", "D"]
    assert typed(plain(record)).of_weights("adapted, all").checkpoints[0].target.n == last["target"]["n"]
    averaged = typed(plain(record)).of_weights("averaged").checkpoints[-1]
    assert averaged.target.nll == last["averaged"]["target"]["nll"]
    del last["adapted"]
    with pytest.raises(ValueError, match="its last checkpoint lacks the network adapted, all"):
        typed(plain(record))
    unadapted, *_ = train(data, [run], config(params, adapt=[]), [{}], groups={"site=south": ["C", "D"]})
    assert "adapted" not in unadapted["checkpoints"][-1]


def test_a_row_shows_what_trainings_of_another_reach_adapted_at_its_own_level(data, params, tmp_path):
    params["variants"] |= {
        "shuffled": {"label": "ERM, shuffled", "of": "erm", "weights": "adapted, batches, shuffled"},
        "ordered": {"label": "ERM, by class", "of": "erm", "weights": "adapted, batches, by class"},
    }
    params["tables"]["tiny"]["rows"] = ["erm", "shuffled", "ordered"]
    del params["tables"]["tiny"]["ours"]
    with pytest.raises(InputError, match=r"variant shuffled shows networks adapted by batches, and erm is"):
        Study(params)
    params["variants"]["erm"]["adapt"] = ["batches"]
    study = Study(params)
    run = Run("tiny", "erm", "D", 0, "fixed")
    (record,) = train(data, [run], study.config("tiny", "erm"), [{}])
    write(tmp_path / run_path(run), record)
    found = select(
        study.shown_runs("tiny"), tmp_path, readings=study.readings("tiny"), one_for_all=False
    ).set_index(["variant", "target"])
    last = record["checkpoints"][-1]
    assert found.loc[("erm", "D"), "accuracy"] == last["target"]["accuracy"]
    for name, order in (("shuffled", "shuffled"), ("ordered", "by class")):
        assert found.loc[(name, "D"), "accuracy"] == last["adapted"][f"batches, {order}"]["accuracy"]
    layout = study.layout("tiny")
    assert [level.given for level, _ in layout.sections] == ["none", "domain"]
    assert (
        "Adapted to each domain of a target when they are evaluated: ERM, shuffled (batches, shuffled)"
        in caption(found.reset_index(), layout)
    )


def normalized(x, norm):
    """Batch normalization of ``(N, T, C)`` by its own statistics, and leaky ReLU, as PyTorch has them."""
    y = F.batch_norm(x.transpose(1, 2), None, None, norm.weight[0], norm.bias[0], training=True, eps=norm.eps)
    return F.leaky_relu(y.transpose(1, 2), 0.01)[None]


def test_statistics_of_all_windows_are_those_of_one_batch(data):
    x = torch.from_numpy(gathered(data, np.arange(50)))
    network = build("har", channels=2, length=LONG, classes=3, generators=[torch.Generator()], width=4)
    network.eval()
    index = torch.arange(50)[None]
    with torch.no_grad():
        found = adaptation.features_by_all(network, lambda part: x[part], index, torch.ones(1, 50), 7)
        z = x[None].transpose(2, 3)
        for conv, norm in zip(network.featurizer.convs, network.featurizer.norms, strict=True):
            z = normalized(conv(z)[0], norm)
        torch.testing.assert_close(found, z.mean(2), rtol=1e-4, atol=1e-5)
        one = adaptation.features_by_batches(network, lambda part: x[part], index, torch.ones(1, 50), 1.0)
        torch.testing.assert_close(one, found, rtol=1e-4, atol=1e-5)
        none = adaptation.features_by_batches(network, lambda part: x[part], index, torch.ones(1, 50), 0.0)
        torch.testing.assert_close(none, network.featurizer(x[None]))


def official_t3a(z, weight, bias, supports, batch):
    """T3A sample by sample in plain Python."""
    unit = [w / np.linalg.norm(w) for w in weight]

    def judged(v):
        logits = weight @ v + bias
        p = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        return -(p * np.log(p)).sum(), logits.argmax()

    memory = [(*judged(w), u) for w, u in zip(weight, unit, strict=True)]
    found = []
    for start in range(0, len(z), batch):
        part = z[start : start + batch]
        memory += [(*judged(v), v / np.linalg.norm(v)) for v in part]
        kept = []
        for k in range(len(weight)):
            kept += sorted((m for m in memory if m[1] == k), key=lambda m: m[0])[:supports]
        memory = kept
        means = np.array(
            [sum([m[2] for m in memory if m[1] == k], np.zeros(z.shape[1])) for k in range(len(weight))]
        )
        norms = np.linalg.norm(means, axis=1, keepdims=True)
        found.append(part @ (means / np.maximum(norms, 1e-12)).T)
    return np.concatenate(found)


def test_t3a_is_that_of_its_paper(monkeypatch):
    monkeypatch.setattr(adaptation, "BATCH", 16)
    rng = np.random.default_rng(0)
    z = rng.normal(size=(50, 6)) + 2 * rng.integers(0, 3, (50, 1))
    network = build("har", channels=1, length=20, classes=3, generators=[torch.Generator()] * 2, width=6)
    classifier = adaptation.of_run(network.double().classifier, 1)
    last = [layer for layer in classifier.children() if not isinstance(layer, nn.ReLU)][-1]
    with torch.no_grad():
        weight, bias = last.weight[0].numpy(), last.bias[0].numpy()
        found = adaptation.t3a(torch.from_numpy(z), nn.Sequential(last), supports=5).numpy()
    np.testing.assert_allclose(found, official_t3a(z, weight, bias, 5, 16), atol=1e-9)


def test_the_order_by_class_is_one_class_after_the_other(data, params):
    trainer = trainer_of(data, config(params, adapt=["batches"]))
    rows = trainer.sources[0].evaluation["D"]
    label = data.windows["label"].to_numpy()
    assert (np.diff(label[trainer._ordered(rows, "by class", 0, "D")]) >= 0).all()
    shuffled = trainer._ordered(rows, "shuffled", 0, "D")
    assert sorted(shuffled) == rows.tolist()
    assert (np.diff(label[shuffled]) < 0).any()
    probabilities, labels = trainer._by("batches", "by class", ["D"])[0]
    assert metrics.evaluate(probabilities, labels)["n"] == len(rows)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            {"center": "domain"},
            r"variants\.erm: center: domain is of spectra, and the network's input is raw",
        ),
        ({"method": "mtl", "adapt": ["t3a"]}, "adapt: method 'mtl' looks at other windows"),
    ],
)
def test_what_cannot_be_given_is_one_message(data, params, row, words):
    with pytest.raises(InputError, match=words):
        Trainer(data, Windows(data), config(params, **row), targets=["D"], seeds=[0], hparams=[{"a": 0.9}])
