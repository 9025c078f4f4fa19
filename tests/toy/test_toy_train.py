"""A toy training: where it stops, what it says of itself, and that it can be repeated."""

import json

import numpy as np
import pytest
import torch

from tsdg.data.toy import generate
from tsdg.methods.erm import ERM
from tsdg.runs.record import read
from tsdg.streams import numpy_stream
from tsdg.study.run import Run
from tsdg.study.study import Study
from tsdg.toy import tables
from tsdg.toy import train as toy
from tsdg.toy.divergence import h_divergence
from tsdg.toy.job import train_job

RUN = Run("toy", "erm", "D", 0, "fixed")


def scripted(monkeypatch, errors):
    """Let the error rates of A, B, C be these at the first check, the second, ..."""
    values = iter(error for check in errors for error in check)
    monkeypatch.setattr(toy, "_error", lambda *_: next(values))


def record(study, **changed):
    return toy.train(RUN, study.config("toy", "erm") | changed, study.hparams(RUN))


def test_stops_when_the_mean_over_sources_is_below_the_threshold(toy_study, monkeypatch):
    # On the threshold is not below it; one source below does not stop, one above does not hinder.
    scripted(monkeypatch, [(0.1, 0.1, 0.4), (0.0, 0.3, 0.31), (0.1, 0.1, 0.39)])
    updates = []
    keep = ERM.update
    monkeypatch.setattr(ERM, "update", lambda self, *batch: updates.append(batch) or keep(self, *batch))
    found = record(toy_study, iterations=50)
    assert found["stopped_at"] == len(updates) == found["checkpoints"][0]["iteration"] == 30
    np.testing.assert_allclose(found["losses"]["source_risk"], [0.2, 0.61 / 3, 0.59 / 3])
    assert all(x.shape == (1, 3, 8, 2, 200) for x, _ in updates)


def test_a_run_that_never_meets_the_rule_says_so(toy_study, tmp_path, capsys):
    [path] = train_job(toy_study, "erm", [0], tmp_path)
    found = read(path)
    assert found.stopped_at is None
    assert found.finished
    assert found.checkpoints[0].iteration == 20
    assert set(found.divergence) == {"A", "B", "C"}
    assert "source risk not below 0.2 after 20 iterations" in capsys.readouterr().out


def test_the_last_iteration_is_checked_too(toy_study):
    assert record(toy_study, iterations=3, risk_threshold=0.999)["stopped_at"] == 3


def test_a_diverged_run_is_a_record(toy_study, tmp_path, monkeypatch, capsys):
    nan = {"loss": torch.tensor([torch.nan]), "cross_entropy": torch.tensor([torch.nan])}
    monkeypatch.setattr(ERM, "update", lambda *_: nan)
    [path] = train_job(toy_study, "erm", [0], tmp_path)
    found = read(path)
    assert (found.status, found.diverged_at) == ("diverged", 1)
    assert "diverged at iteration 1" in capsys.readouterr().out


@pytest.mark.slow
def test_again_is_the_same_and_not_trained_twice(toy_params, tmp_path, capsys):
    study = Study(toy_params, ["toy.iterations=2"])
    one, same = (train_job(study, "ours", [0, 1], tmp_path / name) for name in "ab")
    for paths in zip(one, same, strict=True):
        a, b = (json.loads(path.read_text()) for path in paths)
        for key in ("timing", "machine", "checksum"):
            del a[key], b[key]
        assert a == b
    assert read(one[0]).losses != read(one[1]).losses
    tex, csv = zip(
        *(tables.target_risk(study, tmp_path / name, tmp_path / name) for name in "ab"), strict=True
    )
    assert tex[0].read_bytes() == tex[1].read_bytes()
    assert csv[0].read_bytes() == csv[1].read_bytes()

    stamp = one[0].stat().st_mtime_ns
    capsys.readouterr()
    train_job(study, "ours", [0], tmp_path / "a")
    assert one[0].stat().st_mtime_ns == stamp
    assert "recorded already" in capsys.readouterr().out
    # With another threshold it is another run.
    train_job(Study(toy_params, ["toy.iterations=2", "toy.risk_threshold=0.9"]), "ours", [0], tmp_path / "a")
    assert (read(same[0]).stopped_at, read(one[0]).stopped_at) == (None, 2)


@pytest.mark.slow
def test_what_an_interrupted_job_has_finished_is_kept(toy_study, tmp_path, monkeypatch):
    seeds, interrupted = [], True

    def watched(run, config, hparams):
        if interrupted and seeds:
            raise KeyboardInterrupt
        seeds.append(run.seed)
        return toy.train(run, config, hparams)

    monkeypatch.setattr("tsdg.toy.job.train", watched)
    with pytest.raises(KeyboardInterrupt):
        train_job(toy_study, "erm", [0, 1], tmp_path)
    assert not list(tmp_path.glob("toy/**/*.json")), "a job's records appear together"
    interrupted = False
    paths = train_job(toy_study, "erm", [0, 1], tmp_path)
    assert seeds == [0, 1]
    assert [read(path).run.seed for path in paths] == [0, 1]


def test_divergence_is_of_the_trained_network_s_features(toy_study, monkeypatch):
    kept = []
    build = toy._method
    monkeypatch.setattr(toy, "_method", lambda *args: kept.append(build(*args)) or kept[-1])
    found = record(toy_study, iterations=2)
    method, data = kept[0].eval(), generate(0)
    with torch.no_grad():
        z = {n: method.network.featurizer(torch.from_numpy(s.x)[None])[0].numpy() for n, s in data.items()}
        target = method.logits(torch.from_numpy(data["D"].x)[None])[0].argmax(-1).numpy()
    expected = h_divergence(z["B"], z["D"], numpy_stream(0, "divergence", "B"))
    splits = [split["value"] for split in found["divergence"]["B"]["splits"]]
    assert splits[0] == pytest.approx(expected.value, abs=0.03)
    assert len(set(splits)) > 1
    assert found["divergence"]["B"]["value"] == pytest.approx(sum(splits) / 5)
    assert found["checkpoints"][0]["target"]["accuracy"] == pytest.approx(np.mean(target == data["D"].y))


def test_ours_regularizes_the_given_pair(toy_study):
    run = Run("toy", "ours", "D", 0, "fixed")
    method = toy._method(run, toy_study.config("toy", "ours"), toy_study.hparams(run))
    torch.testing.assert_close(
        method.weights(None, None, {})[0], torch.tensor([[0.25, 0.25, 0], [0.25, 0.25, 0], [0, 0, 0.5]])
    )
    assert method.hparams["lambda"].tolist() == [1]
