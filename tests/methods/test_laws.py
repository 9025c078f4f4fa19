"""Each law is broken by a method that breaks it, and by no other."""

import numpy as np
import pytest
import torch

from tsdg.methods import PLUGINS, laws
from tsdg.methods.base import Method, cross_entropy
from tsdg.methods.search import Distribution


class Risk(Method):
    """A method that keeps all laws, for the others to break one."""

    title = "Risk"
    citation = "none"

    def losses(self, x, y, draws):
        return {"loss": self.risk(x, y)}

    def risk(self, x, y):
        return cross_entropy(self.classify(self.features(x)), y).mean(-1)


class Scalar(Risk):
    def losses(self, x, y, draws):
        return {"loss": self.risk(x, y).mean()}


class Numbered(Risk):
    def losses(self, x, y, draws):
        return {"loss": (risk := self.risk(x, y)), 5: risk.detach()}


class Mixed(Risk):
    def losses(self, x, y, draws):
        risk = self.risk(x, y)
        return {"loss": risk + risk.mean()}


class SharedWeights(Risk):
    """The objective is each run's own, the step is not."""

    def step(self, x, y, draws):
        losses = super().step(x, y, draws)
        with torch.no_grad():
            weight = self.network.classifier[0].weight
            weight.copy_(weight.mean(0, keepdim=True).expand_as(weight))
        return losses


class Hidden(Risk):
    def losses(self, x, y, draws):
        return {"loss": self.risk(x, y).nan_to_num(0.0)}


class Global(Risk):
    def losses(self, x, y, draws):
        return {"loss": self.risk(x + 0.01 * torch.randn_like(x[:1]), y)}


class OneStream(Risk):
    """All runs draw from the stream of the last."""

    def draws(self, batch):
        noise = np.stack([self.streams[-1].normal(size=batch) for _ in self.streams])
        return {"noise": torch.from_numpy(noise)}

    def losses(self, x, y, draws):
        return {"loss": self.risk(x + draws["noise"][:, None, :, None, None], y)}


class AnySeed(OneStream):
    """Draws know nothing of the seed."""

    def draws(self, batch):
        noise = np.random.default_rng(self.iteration).normal(size=batch)
        return {"noise": torch.from_numpy(noise).expand(self.runs, batch)}


class NoRunAxis(OneStream):
    def draws(self, batch):
        return {"noise": super().draws(batch)["noise"][0, 0]}

    def losses(self, x, y, draws):
        return {"loss": self.risk(x, y)}


class Counting(Risk):
    """Training reads how often it was evaluated."""

    evaluations = 0

    def predict(self, z, valid=None):
        self.evaluations += 1
        return super().predict(z, valid)

    def losses(self, x, y, draws):
        return {"loss": self.risk((1 + self.evaluations) * x, y)}


class Restless(Risk):
    def predict(self, z, valid=None):
        return super().predict(z, valid) + torch.rand(1)


class Dividing(Risk):
    """Without a sample of some class its weight is infinite."""

    def losses(self, x, y, draws):
        counts = torch.nn.functional.one_hot(y, self.classes).sum((1, 2))
        return {"loss": self.risk(x, y), "weight": (1 / counts).sum(-1)}


class Keeping(Risk):
    def kept(self, r, names):
        return {"weights": self.network.classifier[0].weight[r]}


class OwnForward(Risk):
    def features(self, x):
        return self.network.featurizer(x.flatten(1, 2)).unflatten(1, x.shape[1:3])


class Unused(Risk):
    search = {"lambda": Distribution(1.0, "uniform", (0, 1))}


class Deaf(Risk):
    options = {"kind": ("one", "other")}

    def __init__(self, *args, kind="one", **kwargs):
        super().__init__(*args, **kwargs)


class Late(Risk):
    """An option that raises where it is chosen."""

    options = {"kind": ("one", "other")}

    def __init__(self, *args, kind="one", **kwargs):
        self.kind = kind
        super().__init__(*args, **kwargs)

    def losses(self, x, y, draws):
        return {"loss": self.risk(x, y) / {"one": 1}[self.kind]}


PACKED = "a run is the same in a pack and alone"
DIVERGED = "a run that diverges leaves the others as they are"
REPEATED = "the same seeds give the same numbers"
DRAWN = "each run draws from the stream of its own seed"
EVALUATED = "evaluation changes nothing"


def verdicts(monkeypatch, cls):
    monkeypatch.setitem(PLUGINS, "tried", cls)
    return list(laws.verdicts("tried"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "broken"),
    [
        (Risk, set()),
        (Numbered, {"losses are a value of each run"}),
        (Mixed, {PACKED, DIVERGED}),
        (SharedWeights, {PACKED, DIVERGED, EVALUATED}),
        (Hidden, {DIVERGED}),
        (Global, {PACKED, DIVERGED, REPEATED, DRAWN, EVALUATED}),
        (OneStream, {PACKED, DIVERGED, DRAWN, EVALUATED}),
        (AnySeed, {DRAWN}),
        (NoRunAxis, {DRAWN}),
        (Counting, {EVALUATED}),
        (Restless, {EVALUATED}),
        (Dividing, {"poor batches stay finite"}),
        (Keeping, {"what the record keeps is JSON"}),
        (OwnForward, {"joint and per-domain batch normalization both train"}),
        (Unused, {"every hyperparameter counts"}),
        (Deaf, {"every option counts"}),
    ],
)
def test_a_law_is_broken_by_what_breaks_it(monkeypatch, cls, broken):
    found = {verdict.law: verdict.problem for verdict in verdicts(monkeypatch, cls)}
    assert {law for law, problem in found.items() if problem} == broken, found
    assert set(found) == {*laws.OF_SETTINGS, *laws.OF_METHODS}


def test_where_losses_are_no_values_of_runs_nothing_else_is_tried(monkeypatch):
    first, *others = verdicts(monkeypatch, Scalar)
    assert "'loss' of `losses` has shape ()" in str(first)
    assert not any(verdict.tried or verdict.problem for verdict in others)


def test_an_error_in_some_settings_names_its_line_and_them(monkeypatch):
    first, *_ = verdicts(monkeypatch, Late)
    line = Late.losses.__code__.co_firstlineno + 1
    assert first.problem == f"line {line}: KeyError: 'other' (with kind other)"


def test_nothing_at_random_is_left_moved(monkeypatch):
    torch_before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()
    verdicts(monkeypatch, Risk)
    assert torch.equal(torch_before, torch.get_rng_state())
    assert (numpy_before == np.random.get_state()[1]).all()
