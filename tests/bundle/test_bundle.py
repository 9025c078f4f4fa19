"""A model to take away: the function that was trained, and what refuses to feed it anything else."""

import json
from copy import deepcopy
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
import torch

import tiny_study
from synthetic_records import make_record
from tiny_study import PARAMS
from tsdg.bundle.draws import selected_draw
from tsdg.bundle.export import export
from tsdg.bundle.model import Bundle, Model, write_onnx
from tsdg.bundle.predict import predict
from tsdg.commands.main import main
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning.calibration import fit_temperature
from tsdg.learning.inputs import Windows
from tsdg.learning.network_inputs import INPUTS
from tsdg.learning.networks import build
from tsdg.learning.sources import Sources
from tsdg.runs.fingerprint import training_fingerprint
from tsdg.runs.training import Trainer
from tsdg.runs.writing import write
from tsdg.study.run import Run, run_path
from tsdg.study.selection import DEFAULT, Selection
from tsdg.study.study import Study

pytest.importorskip("safetensors")


@pytest.fixture(scope="module")
def study():
    params = deepcopy(PARAMS)
    params["datasets"]["tiny"]["standardize"] = "sources"
    params["protocols"]["small"] = {"seeds": 1, "draws": "fixed", "iterations": 30, "evaluate_every": 30}
    params["variants"]["mtl"] = {"label": "MTL", "method": "mtl"}
    return Study(params)


@pytest.fixture(scope="module")
def exported(study, tiny_folder):
    return export(study, tiny_folder, variant="erm")


@pytest.fixture
def bundle(exported):
    """A bundle whose card may be changed."""
    return Bundle(deepcopy(exported.card), exported.model)


def test_the_model_is_the_trained_network_on_raw_windows(study, tiny, bundle, tmp_path):
    config = study.config("tiny", "erm")
    trainer = Trainer(tiny, Windows(tiny), config, targets=[None], seeds=[0], hparams=[{}])
    trainer.train()
    index = torch.arange(0, len(tiny.windows), 5)
    expected = trainer.method.logits(trainer.windows[index[None]][0])[0]
    assert trainer.sources[0].names == ["A", "B", "C", "D"]
    bundle.save(tmp_path / "bundle")
    raw = np.stack([tiny.signals[s : s + 12].T for s in tiny.windows["start"].iloc[index.numpy()]])
    for model in (bundle, Bundle.load(tmp_path / "bundle")):
        torch.testing.assert_close(model.logits(torch.from_numpy(raw)), expected, rtol=1e-4, atol=1e-5)


def test_a_narrow_network_is_exported_as_it_is(study, tiny_folder, tmp_path):
    narrow = Study(study.params, ["datasets.tiny.width=16", "iterations=2", "evaluate_every=2"])
    export(narrow, tiny_folder, variant="erm").save(tmp_path)
    loaded = Bundle.load(tmp_path)
    assert loaded.card["network"] == {"backbone": "har", "width": 16}
    assert loaded.model.network.features == 16


def test_options_of_a_backbone_are_exported_with_it(study, tiny, tiny_folder, tmp_path):
    overrides = [
        "datasets.tiny.backbone={name: tcn, width: 4, norm: layer}",
        "iterations=2",
        "evaluate_every=2",
    ]
    short = Study(study.params, overrides)
    trainer = Trainer(
        tiny, Windows(tiny), short.config("tiny", "erm"), targets=[None], seeds=[0], hparams=[{}]
    )
    trainer.train()
    export(short, tiny_folder, variant="erm").save(tmp_path)
    loaded = Bundle.load(tmp_path)
    assert loaded.card["network"] == {"backbone": "tcn", "width": 4, "norm": "layer"}
    raw = np.stack([tiny.signals[s : s + 12].T for s in tiny.windows["start"].iloc[:5]])
    expected = trainer.method.logits(trainer.windows[torch.arange(5)[None]][0])[0]
    torch.testing.assert_close(loaded.logits(torch.from_numpy(raw)), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("seen", INPUTS)
def test_what_the_network_sees_is_exported_with_it(study, tmp_path, monkeypatch, seen):
    monkeypatch.setattr(tiny_study, "LENGTH", 36)
    data = WindowedDataset.load(tiny_study.write_tiny(tmp_path / "tiny"))
    overrides = [f"variants.erm.input={seen}", "datasets.tiny.width=4", "iterations=2", "evaluate_every=2"]
    short = Study(study.params, overrides)
    config = short.config("tiny", "erm")
    trainer = Trainer(data, Windows(data), config, targets=[None], seeds=[0], hparams=[{}])
    trainer.train()
    export(short, tmp_path / "tiny", variant="erm").save(tmp_path / "bundle")
    loaded = Bundle.load(tmp_path / "bundle")
    assert loaded.card["network"] == {"backbone": "har", "width": 4, "input": seen}
    index = torch.arange(0, len(data.windows), 5)
    expected = trainer.method.logits(trainer.windows[index[None]][0])[0]
    raw = np.stack([data.signals[s : s + 36].T for s in data.windows["start"].iloc[index.numpy()]])
    torch.testing.assert_close(loaded.logits(torch.from_numpy(raw)), expected, rtol=1e-4, atol=1e-4)


def test_the_card_says_what_the_model_is(bundle, study, tiny):
    card = json.loads(json.dumps(bundle.card, allow_nan=False))
    assert list(card["domains"]) == list(card["validation"]) == ["A", "B", "C", "D"]
    assert card["classes"] == ["slow", "fast"]
    assert [scale["channel"] for scale in card["standardize"]] == ["x", "y"]
    assert card["draw"] == "fixed"
    assert card["data"] == tiny.fingerprint
    notes = " ".join(card["notes"])
    assert "fitted on validation windows of the domains trained on" in notes
    assert "split: random" in notes


def test_the_temperature_undoes_overconfidence():
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=2, size=(20000, 4))
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    labels = (p.cumsum(1) < rng.uniform(size=(len(p), 1))).sum(1)
    assert fit_temperature(3 * logits, labels) == pytest.approx(3, rel=0.05)
    assert fit_temperature(logits / 2, labels) == pytest.approx(0.5, rel=0.05)


def test_the_temperature_is_fitted_on_validation_windows_alone(study, tiny, bundle):
    config = study.config("tiny", "erm")
    split = {"seed": 0, "fraction": config["validation_fraction"], "method": config["split"]}
    sources = Sources(tiny, "ABCD", None, **split)

    def fitted(parts):
        rows = tiny.windows.iloc[np.concatenate([parts[name] for name in "ABCD"])]
        x = np.stack([tiny.signals[start : start + 12].T for start in rows["start"]])
        return fit_temperature(bundle.logits(torch.from_numpy(x)).numpy(), rows["label"].to_numpy())

    assert bundle.card["temperature"] == pytest.approx(fitted(sources.evaluation), rel=1e-3)
    assert bundle.card["temperature"] != pytest.approx(fitted(sources.train), rel=0.02)


def test_the_draw_is_selected_on_sources_alone(params, tmp_path):
    study = Study(params, ["protocol=large"])

    def recorded(number, validation, target, domain="A", seed=0, **other):
        run = Run("tiny", "vrex", domain, seed, number)
        sources = [name for name in "ABCD" if name != domain]
        record = make_record(run, [(40, validation, target)], sources)
        settings = {"config": study.config("tiny", "vrex"), "hparams": study.hparams(run)}
        code = {"version": "0", "fingerprint": training_fingerprint(study.config("tiny", "vrex"))}
        write(tmp_path / run_path(run), record | settings | {"code": code} | other)

    for number, (validation, target) in enumerate([(0.7, 0.99), (0.9, 0.5), (0.8, 0.6)]):
        for domain in "ABCD":
            recorded(number, validation, target, domain)
    recorded(2, 0.8, 0.6, seed=1)
    selected = partial(selected_draw, study, "tiny", runs=tmp_path, fingerprint="f")
    assert selected("vrex")[0] == 2  # finished most often
    recorded(1, 0.9, 0.6, seed=1, hparams={"lambda": -1.0})
    assert selected("vrex")[0] == 2  # the other record is outdated
    recorded(1, 0.9, 0.6, seed=1)
    assert selected("vrex")[0] == 1
    assert selected("erm")[0] == 0  # has nothing to search
    with pytest.raises(InputError, match="give --draw fixed"):
        selected("vrex", fingerprint="other data")


def test_the_draw_is_selected_where_groups_alone_were_held_out(params, tmp_path):
    params["tables"]["tiny"] = {
        "dataset": "tiny", "holdout": "site", "rows": ["vrex"], "metrics": ["accuracy"], "caption": "Sites.",
    }  # fmt: skip
    study = Study(params, ["protocol=large"])
    config = study.config("tiny", "vrex")
    for number, sources in ((0, "CD"), (1, "CD"), (2, "BCD")):  # the last are no group's
        run = Run("tiny", "vrex", "site=north", 0, number)
        record = make_record(run, [(40, 0.5 + number / 10, 0.5)], list(sources))
        code = {"version": "0", "fingerprint": training_fingerprint(config)}
        settings = {"config": config, "hparams": study.hparams(run), "code": code}
        write(tmp_path / run_path(run), record | settings)
    assert selected_draw(study, "tiny", "vrex", tmp_path, "f")[0] == 1


@pytest.fixture
def recorded_draws(params, tmp_path):
    """Three draws of V-REx without A, each the choice of a policy, with folds of three sources."""
    params["tables"]["tiny"] |= {"rows": ["vrex"], "ours": [], "targets": ["A"]}
    study = Study(params, ["protocol=large"])
    config = study.config("tiny", "vrex")
    settings = {"config": config, "code": {"version": "0", "fingerprint": training_fingerprint(config)}}
    values = ((0.9, 0.5, 0.1), (0.65, 0.65, 0.2), (0.5, 0.5, 0.9))  # on B, on C and D, left out
    for number, (one, others, left_out) in enumerate(values):
        for held_out in ("A", "A+B", "A+C", "A+D"):
            run = Run("tiny", "vrex", held_out, 0, number)
            record = make_record(run, [(40, 0.5, 0.5)], sorted(set("ABCD") - set(held_out)))
            checkpoint = record["checkpoints"][0]
            for domain, scores in checkpoint["validation"].items():
                scores["accuracy"] = one if domain == "B" else others
            if held_out != "A":
                checkpoint["target"]["domains"] = {
                    name: {"accuracy": left_out} for name in held_out.split("+")
                }
            write(tmp_path / run_path(run), record | settings | {"hparams": study.hparams(run)})
    return params


@pytest.mark.parametrize(
    ("policy", "draw", "why"),
    [
        ("worst-source", 1, "best by the worst source's validation accuracy, 65.0 %"),
        ("leave-one-source-out", 2, "left out in turn, 90.0 % over 1 runs of 3 draws"),
        (
            "oracle",
            1,
            "best by source validation",
        ),
    ],
)
def test_the_draw_is_selected_by_the_policy_of_the_table(recorded_draws, tmp_path, policy, draw, why):
    recorded_draws["tables"]["tiny"]["selection"] = policy
    study = Study(recorded_draws, ["protocol=large"])
    chosen, words = selected_draw(study, "tiny", "vrex", tmp_path, "f")
    if policy == "oracle":  # by the mean over sources, as without a table
        assert (chosen, words) == selected_draw(study.under(DEFAULT), "tiny", "vrex", tmp_path, "f")
    else:
        assert chosen == draw
    assert why in words


def test_tables_of_different_policies_choose_nothing_to_take_away(recorded_draws, tmp_path):
    table = recorded_draws["tables"]["tiny"]
    recorded_draws["tables"]["other"] = table | {"selection": "worst-source"}
    study = Study(recorded_draws, ["protocol=large"])
    with pytest.raises(InputError, match=r"\(tiny by source-validation, other by worst-source\): "):
        selected_draw(study, "tiny", "vrex", tmp_path, "f")
    worst, oracle = Selection("worst-source"), Selection("oracle")
    assert selected_draw(study.under(worst), "tiny", "vrex", tmp_path, "f")[0] == 1
    with pytest.raises(InputError, match="--selection oracle: it looks at the target"):
        selected_draw(study.under(oracle), "tiny", "vrex", tmp_path, "f")


def test_where_seeds_draw_anew_the_draw_is_selected_among_the_seeds_own(params, tmp_path):
    params["protocols"]["anew"] = {"seeds": 2, "draws": 3, "search": "anew"}
    study = Study(params, ["protocol=anew"])
    for seed, best in ((0, 2), (1, 1)):
        for number in range(3):
            run = Run("tiny", "vrex", "A", seed, number)
            record = make_record(run, [(40, 0.9 if number == best else 0.5 - seed / 10, 0.5)], "BCD")
            record |= {"config": study.config("tiny", "vrex"), "hparams": study.hparams(run)}
            record["code"] = {"version": "0", "fingerprint": training_fingerprint(record["config"])}
            write(tmp_path / run_path(run), record)
    for seed, best in ((0, 2), (1, 1)):
        assert selected_draw(study, "tiny", "vrex", tmp_path, "f", seed)[0] == best


def test_a_method_that_needs_its_domain_is_refused(study, tiny_folder):
    with pytest.raises(InputError, match="MTL looks at all windows of a domain"):
        export(study, tiny_folder, variant="mtl")


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        ("9999", "--draw 9999: not a draw of vrex under protocol large; choose fixed, or of 0-2"),
        ("0-3", "'0-3' is"),
    ],
)
def test_one_draw_of_the_protocol_is_exported(project, tiny_folder, draw, words, capsys):
    command = ["export", "--data", str(tiny_folder), "--variant", "vrex", "--set", "protocol=large"]
    try:
        code = main([*command, "--draw", draw])
    except SystemExit as exit:
        code = exit.code
    assert code == 2
    assert words in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backbone", "channels", "length", "seen"),
    [
        ("resnet1d", 3, 40, "raw"),
        ("inception", 3, 40, "raw"),
        ("tcn", 3, 40, "raw"),
        ("transformer", 3, 40, "raw"),
        ("wdcnn", 1, 1500, "raw"),
        ("har", 3, 40, "raw"),
        ("bearings", 1, 300, "zscore"),
        ("bearings", 1, 1800, "spectrum"),
        ("har", 3, 128, "spectrogram"),
    ],
)
def test_onnx_gives_the_same_logits(tmp_path, backbone, channels, length, seen):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    network = build(
        backbone,
        channels=channels,
        length=length,
        classes=5,
        generators=[torch.Generator().manual_seed(0)],
        input=seen,
    )
    for name, value in network.named_buffers():  # statistics as after a training
        value.uniform_(0.5, 2) if name.endswith("var") else value.normal_()
    model = Model(network, torch.arange(channels), 1.0 + torch.arange(channels))
    bundle = Bundle({"channels": ["c"] * channels, "window": {"length": length}}, model)
    session = onnxruntime.InferenceSession(write_onnx(bundle, tmp_path))
    for count in (1, 7):
        x = torch.randn(count, channels, length, generator=torch.Generator().manual_seed(count))
        x[0, 0, 3] = float("nan")
        (logits,) = session.run(["logits"], {"windows": x.numpy()})
        np.testing.assert_allclose(logits, bundle.logits(x).numpy(), atol=1e-4)


# ------------------------------------------------------------------------------------------------ predict


def recordings(tiny, *, seconds=None):
    """Two recordings of the tiny data set as a user's table, the second of class fast."""
    parts = []
    for name in ("A0", "A1"):
        start = tiny.windows.query("recording == @name")["start"].min()
        table = pd.DataFrame(np.array(tiny.signals[start : start + 180]), columns=["x", "y"])
        parts.append(table.assign(recording=name, seconds=np.arange(180) / (seconds or 1)))
    return pd.concat(parts)[["y", "seconds", "recording", "x"]]


def test_windows_and_votes(bundle, tiny, tmp_path):
    bundle.card["temperature"] = 2.0
    bundle.card["columns"] = {"recording": "file_no", "time": "not there"}
    recordings(tiny).rename(columns={"recording": "file_no"}).to_csv(tmp_path / "new.csv", index=False)
    windows, votes = predict(bundle, tmp_path / "new.csv")
    rows = tiny.windows[tiny.windows["recording"].isin(["A0", "A1"])]
    x = np.stack([tiny.signals[s : s + 12].T for s in rows["start"]])
    logits = bundle.logits(torch.from_numpy(x)).double()
    scaled = (logits / 2).softmax(1)
    np.testing.assert_allclose(windows[["p_slow", "p_fast"]], scaled, atol=1e-5)
    np.testing.assert_allclose(windows["confidence"], scaled.amax(1), atol=1e-5)
    assert windows["start"].tolist() == [*range(0, 169, 6)] * 2
    assert votes["recording"].tolist() == ["A0", "A1"]
    for vote in votes.itertuples():
        share = (windows.loc[windows["recording"] == vote.recording, "class"] == vote[2]).mean()
        assert vote.share == share >= 0.5
        assert vote.windows == 29


def test_any_kind_of_file_is_classified_by_its_names_and_rate(bundle, tiny, tmp_path):
    expected = predict(bundle, write_csv(recordings(tiny), tmp_path / "new.csv"))[0]
    (tmp_path / "new").mkdir()
    for name, table in recordings(tiny).groupby("recording"):
        signals = {f"{name}_{channel}": table[[channel]].to_numpy() for channel in "xy"}
        scipy.io.savemat(tmp_path / "new" / f"machine_{name}.mat", signals | {"sr": 50.0})
    bundle.card |= {"channels": ["*_x", "*_y"], "columns": {"recording": "recording", "rate": "sr"}}
    bundle.card["sampling_rate"] = 50
    found = predict(bundle, tmp_path / "new", files="machine_{recording}.mat")[0]
    pd.testing.assert_frame_equal(found.drop(columns="seconds"), expected)
    with pytest.raises(InputError, match="has a rate of 25 Hz, and the model takes 50 Hz"):
        predict(bundle, tmp_path / "new", files="machine_{recording}.mat", sampling_rate=25)


def write_csv(table, path):
    table.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        (lambda t: t.rename(columns={"x": "X"}), {}, "needs channel 'x', did you mean 'X'?"),
        (lambda t: t, {"time": "seconds"}, "recording A0 has a rate of 25 Hz, and the model takes 50 Hz"),
        (lambda t: t, {"sampling_rate": 100}, "rate of 100 Hz"),
        (lambda t: t.rename(columns={"seconds": "time"}), {}, "rate of 25 Hz"),
        (lambda t: t, {}, "its rate is not known, and the model takes 50 Hz; name the column"),
        (
            lambda t: t.iloc[:11],
            {"sampling_rate": 50},
            "has 11 time steps without a gap, and the model takes windows of 12",
        ),
        (lambda t: t.assign(x="high"), {}, "'x' holds text"),
        (lambda t: t.iloc[:0], {}, "holds no rows"),
    ],
)
def test_what_does_not_fit_is_refused(bundle, tiny, tmp_path, change, options, words):
    bundle.card["sampling_rate"] = 50
    change(recordings(tiny, seconds=25)).to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(InputError) as error:
        predict(bundle, tmp_path / "new.csv", **options)
    assert words in str(error.value)


def test_padding_is_that_of_training(bundle, tiny, tmp_path):
    recordings(tiny).iloc[:11].to_csv(tmp_path / "new.csv", index=False)
    bundle.card["window"]["short"] = "pad"
    assert len(predict(bundle, tmp_path / "new.csv")[0]) == 1


def leaves(tree, path=()):
    """Paths of all values of a tree of JSON."""
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, key))


def edited(card, path, value):
    """A card with another value at a path, or without it."""
    card = deepcopy(card)
    place = card
    for key in path[:-1]:
        place = place[key]
    if value is ABSENT:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return card


ABSENT = object()
WRONG = (ABSENT, None, True, 0, -1, 2**70, 0.5, -1e-9, 1e999, "", "x", [], ["x", "x"], {}, {"x": 1})


def test_an_edit_of_a_card_is_refused(bundle, tmp_path):
    """One that a schema can see by its place; any other, since the card is not what was exported."""
    bundle.save(tmp_path)
    card, seen = json.loads((tmp_path / "card.json").read_text()), 0
    for path in leaves(card):
        for value in WRONG:
            changed = edited(card, path, value)
            if changed == card and json.dumps(changed) == json.dumps(card):
                continue
            (tmp_path / "card.json").write_text(json.dumps(changed).replace("Infinity", "1e999"))
            with pytest.raises(InputError, match="make it again with `tsdg export`"):
                Bundle.load(tmp_path)
            seen += 1
    assert seen > 1000
    (tmp_path / "card.json").write_text(json.dumps(card, indent=4, sort_keys=True))  # laid out anew
    Bundle.load(tmp_path)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("temperature",), -1.0, "temperature is -1.0 where a number > 0 belongs"),
        (("temperature",), 0, "temperature is 0 where a number > 0 belongs"),
        (("temperature",), float("nan"), "it is not JSON, which has no NaN"),
        (("standardize", 1, "deviation"), 0, "standardize.1.deviation is 0 where a number > 0 belongs"),
        (("standardize", 0, "channel"), "y", "standardize is not of the channels, in their order"),
        (("classes",), ["a", "a"], "classes holds 'a' twice"),
        (("classes",), ["a"], "classes does not hold 2 or more names"),
        (("window", "stride"), -1, "window.stride is -1 where a whole number >= 1 belongs"),
        (("network", "backbone"), "hra", "network: backbone 'hra' is not known"),
        (("sampling_rate",), "50", "sampling_rate is '50' where a number or null belongs"),
        (("validation", "B", "accuracy"), 7, "validation.B.accuracy is 7 where a number <= 1 belongs"),
        (("columns",), ABSENT, "it lacks columns"),
        (
            ("given",),
            {"center": "domain", "reference": None, "one_kind": 1.0, "all_kinds": 2.0},
            "given centres features, and the network's input is raw",
        ),
        (("format",), 1, "its format is 1 where this version reads 2"),
    ],
)
def test_what_is_wrong_in_a_card_is_told(bundle, tmp_path, path, value, words):
    """Even in one that says it is whole."""
    Bundle(edited(bundle.card, path, value), bundle.model).save(tmp_path)
    with pytest.raises(InputError) as error:
        Bundle.load(tmp_path)
    assert f"card.json: not the card of a bundle, {words}" in str(error.value)


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "card.json").write_bytes(b"\0" * 5),
        lambda folder: (folder / "card.json").write_text("[" * 100_000),
        lambda folder: (folder / "card.json").write_text("[1]"),
        lambda folder: (folder / "weights.safetensors").write_bytes(b"\0" * 5),
        lambda folder: (folder / "weights.safetensors").write_bytes(other_weights(folder)),
    ],
)
def test_a_damaged_bundle_is_refused(bundle, tmp_path, damage):
    bundle.save(tmp_path)
    damage(tmp_path)
    with pytest.raises(InputError, match="make it again with `tsdg export`"):
        Bundle.load(tmp_path)


def other_weights(folder):
    """The weights with one bit of the last one flipped."""
    weights = bytearray((folder / "weights.safetensors").read_bytes())
    weights[-1] ^= 1
    return bytes(weights)


def test_weights_that_are_not_finite_are_refused(bundle, tmp_path):
    model = deepcopy(bundle.model)
    next(model.network.parameters()).data[:] = float("nan")
    Bundle(bundle.card, model).save(tmp_path)
    with pytest.raises(InputError, match="holds values that are not finite"):
        Bundle.load(tmp_path)


def test_from_the_command_line(project, tiny_folder, tiny, capsys):
    arguments = ["export", "--data", str(tiny_folder), "--variant", "ours-learned", "--out", "bundle"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    first, missing, checkpoint, *_ = out.splitlines()
    assert first.startswith("Ours (learned) (method ours-learned) on all domains of tiny, A, B, C, D: ")
    assert first.endswith("draw fixed (the only one of the protocol)")
    assert "no current record of ours-learned on tiny under protocol small" in missing
    assert checkpoint.startswith("ours-learned iteration ")
    assert "Ours (learned) on A, B, C, D: source validation" in out
    weights, card = (Path("bundle", name).stat().st_mode for name in ("weights.safetensors", "card.json"))
    assert weights == card
    assert checkpoint.endswith(" %")
    assert "target" not in checkpoint
    recordings(tiny).to_parquet("new.parquet")
    assert main(["predict", "bundle", "new.parquet"]) == 0
    assert pd.read_csv("new_classes.csv").shape == (58, 6)
    assert pd.read_csv("new_classes_votes.csv")["windows"].tolist() == [29, 29]
    assert main(["predict", "bundle", "new.parquet"]) == 0  # its own files may be made again
    before = Path("new.parquet").read_bytes()
    Path("mine_votes.csv").write_text("recording,verdict\n")
    for out in ("new.parquet", "mine.csv"):
        capsys.readouterr()
        assert main(["predict", "bundle", "new.parquet", "--out", out]) == 2
        assert "no output of `tsdg predict`; choose another name" in capsys.readouterr().err
    assert Path("new.parquet").read_bytes() == before
    assert Path("mine_votes.csv").read_text() == "recording,verdict\n"
    assert main(["predict", "nothing", "new.parquet"]) == 2
    assert "nothing: not a bundle" in capsys.readouterr().err


CUT = {
    "npz": lambda path, x: np.savez(path, X=x, channels=np.array(["x", "y"])),
    "turned": lambda path, x: np.savez(path, X=x.transpose(0, 2, 1), channels=np.array(["x", "y"])),
    "csv": lambda path, x: pd.DataFrame(
        {f"{name}_{t}": x[:, t, c] for c, name in enumerate("xy") for t in range(x.shape[1])}
    ).to_csv(path, index=False),
}


@pytest.mark.parametrize("form", CUT)
def test_windows_already_cut_are_classified_as_they_are(bundle, tiny, tmp_path, form):
    x = tiny.signals[tiny.windows["start"].to_numpy()[:9, None] + np.arange(12)]
    path = tmp_path / ("new.csv" if form == "csv" else "new.npz")
    CUT[form](path, x)
    bundle.card["sampling_rate"] = None
    bundle.card["window"]["cut"] = "windows"
    said = []
    windows, votes = predict(
        bundle, path, axes=None if form == "csv" else "NCT" if form == "turned" else "NTC", say=said.append
    )
    p = bundle.logits(torch.from_numpy(x.transpose(0, 2, 1).copy())).softmax(1).numpy()
    assert windows["class"].tolist() == [bundle.card["classes"][k] for k in p.argmax(1)]
    assert len(votes) == 9
    assert any("indows of 12 time steps" in line or "window of 12 time steps" in line for line in said)


def test_a_unit_and_gaps_may_be_given_to_predict_and_are_said(bundle, tmp_path, capsys):
    bundle.card["sampling_rate"] = 10.0
    time = np.r_[np.arange(30), 37 + np.arange(30)] * 100_000  # in us, as if in s; a gap of 8 periods
    table = pd.DataFrame({"t": time, "x": np.sin(time), "y": np.cos(time)})
    table.to_csv(tmp_path / "new.csv", index=False)
    bundle.save(tmp_path / "bundle")
    arguments = ["predict", str(tmp_path / "bundle"), str(tmp_path / "new.csv"), "--time", "t"]
    assert main([*arguments, "--time-unit", "us"]) == 0
    assert "note: Time: t, in us." in capsys.readouterr().out
    apart = pd.read_csv(tmp_path / "new_classes.csv")
    assert main([*arguments, "--time-unit", "us", "--gap", "10"]) == 0
    assert len(pd.read_csv(tmp_path / "new_classes.csv")) > len(apart)


def gaps(*stretches, hz):
    """Times of stretches of so many steps, 1000 s apart."""
    return np.concatenate([1000 * k + np.arange(n) / hz for k, n in enumerate(stretches)])


@pytest.mark.parametrize("resample", [None, 50.0])
@pytest.mark.parametrize("hz", [50, 48.08])
def test_a_window_is_where_and_when_the_file_has_it(bundle, tmp_path, hz, resample):
    """Also behind stretches that are too short, at a rate within the tolerance, of a time not from 0."""
    bundle.card |= {"sampling_rate": 50.0, "resample": resample}
    time, said = 7 + gaps(5, 30, 24, hz=hz), []
    table = pd.DataFrame({"time": time, "x": np.sin(time), "y": np.cos(time)})
    windows, _ = predict(bundle, write_csv(table, tmp_path / "new.csv"), stride=12, say=said.append)
    starts = windows["start"].to_numpy()
    if resample is None or hz == 50:
        assert starts.tolist() == [5, 17, 35, 47]
    assert set(starts) >= {5, 35}
    np.testing.assert_allclose(windows["seconds"], time[starts] - 7, atol=1 / hz if resample else 1e-9)
    if resample:
        np.testing.assert_allclose(np.diff(windows["seconds"])[[0]], 12 / 50)
    assert "1 stretches are shorter than a window and left out." in said


def test_without_a_time_seconds_are_by_the_given_rate(bundle, tmp_path):
    bundle.card["sampling_rate"] = 50.0
    table = pd.DataFrame({"x": np.sin(np.arange(30)), "y": 0.0})
    windows, _ = predict(bundle, write_csv(table, tmp_path / "new.csv"), stride=12, sampling_rate=48.0)
    assert windows["seconds"].tolist() == [0, 12 / 48]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sampling_rate": 25}, "sampling_rate: 25 Hz is given, and its time says 50 Hz; leave"),
        ({"axes": "NTC"}, "axes: is of windows already cut, and these are time steps; leave it out"),
    ],
)
def test_what_contradicts_the_file_is_refused(bundle, tmp_path, options, words):
    bundle.card["sampling_rate"] = 50.0
    table = pd.DataFrame({"time": gaps(30, hz=50), "x": 1.0, "y": 0.0})
    with pytest.raises(InputError) as error:
        predict(bundle, write_csv(table, tmp_path / "new.csv"), **options)
    assert words in str(error.value)
    assert "`resample`" not in str(error.value)


def test_a_model_of_joined_sensors_takes_the_files_anew(bundle, tmp_path):
    bundle.card |= {"sampling_rate": 10.0, "resample": 10.0, "channels": ["x", "watch.x"]}
    for name, rate in (("phone", 20), ("watch", 15)):
        time = np.arange(6 * rate) / rate
        table = pd.DataFrame({"recording": "a", "time": time, "x": np.sin(time)})
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    with pytest.raises(InputError, match=r"needs channel 'watch\.x'"):
        predict(bundle, tmp_path / "phone.csv")
    windows, _ = predict(bundle, tmp_path / "phone.csv", join=[tmp_path / "watch.csv"])
    assert len(windows) == 9  # of 12 steps, 6 apart, in 60


def test_a_model_of_orders_follows_the_shaft(bundle, tmp_path):
    """At twice the speed, the same vibration is the same windows."""
    bundle.card |= {"sampling_rate": 16, "order": {"column": "rpm", "unit": "rpm", "per_revolution": 16}}
    told = []
    for hz in (2.0, 4.0):
        time = np.arange(int(800 / hz)) / 100
        turns = 2 * np.pi * hz * time
        table = pd.DataFrame({"time": time, "x": np.sin(turns), "y": np.cos(3 * turns), "rpm": 60 * hz})
        table.to_csv(tmp_path / "new.csv", index=False)
        told.append(predict(bundle, tmp_path / "new.csv")[0])
    assert "seconds" not in told[0]
    inner = slice(2, -2)  # away from the filter's ends
    slow, fast = (table[inner].drop(columns="start") for table in told)
    pd.testing.assert_frame_equal(slow, fast, rtol=0.05, atol=0.02)
    np.testing.assert_allclose(told[0]["start"], 2 * told[1]["start"], atol=2)  # as the files have them
