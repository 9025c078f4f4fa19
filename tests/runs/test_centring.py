"""What the new domain gives to an estimator: equal to NumPy by hand, and no more than it says."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiny_study import LINE
from tsdg.data.split import TRAIN, VALIDATION, split
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning.features import Features
from tsdg.learning.inputs import Windows
from tsdg.runs.estimation import Fitting, train
from tsdg.study import levels
from tsdg.study.run import Run
from tsdg.study.study import Study


@pytest.fixture
def three(tiny):
    """The tiny data set whose every third window is of a class of its own, between the others."""
    label = 2 * tiny.windows["label"]
    label[::3] = 1
    card = tiny.card | {"classes": ["slow", "rest", "fast"]}
    return WindowedDataset(tiny.signals, tiny.windows.assign(label=label), card)


def config(params, **row):
    params["variants"]["row"] = LINE | {"arguments": {"C": 0.1}} | row
    params["datasets"]["tiny"]["reference"] = "rest"
    return Study(params).config("tiny", "row")


def features(data):
    length = data.card["window"]["length"]
    windows = np.stack([data.signals[start : start + length].T for start in data.windows["start"]])
    return Features(LINE["features"])(windows)


def scored(data, settings, groups=None, target="D"):
    (record,) = train(data, [Run("tiny", "row", target, 0, "fixed")], settings, [{}], groups=groups or {})
    return record["classes"], record["checkpoints"][0]


@pytest.mark.parametrize(
    ("row", "center", "faults"),
    [
        ({"center": "domain"}, "domain", False),
        ({"center": "reference"}, "reference", True),
        ({"omit_reference": True}, None, True),
        ({"center": "domain", "omit_reference": True}, "domain", True),
    ],
)
def test_centred_features_are_those_of_numpy(three, params, row, center, faults):
    classes, checkpoint = scored(three, config(params, **row), {"site=south": ["C", "D"]}, "site=south")
    x, y, domain = features(three), three.windows["label"].to_numpy(), three.windows["domain"].to_numpy()
    parts = split(three.windows, fraction=0.2, seed=0, method="random")
    held_out, used = np.isin(domain, ["C", "D"]), y != 1 if faults else y >= 0
    for name in "ABCD":
        mean_of = (domain == name) & (
            y == 1 if center == "reference" else used & (held_out | (parts == TRAIN))
        )
        x[domain == name] -= x[mean_of].mean(0) if center else 0
    learned = used & ~held_out & (parts == TRAIN)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(x[learned], y[learned])
    assert classes == (["slow", "fast"] if faults else ["slow", "rest", "fast"])
    for scores, rows in [
        (checkpoint["target"], used & held_out),
        (checkpoint["target"]["domains"]["C"], used & (domain == "C")),
        (checkpoint["validation"]["A"], used & (domain == "A") & (parts == VALIDATION)),
    ]:
        p = model.predict_proba(x[rows])
        place = np.searchsorted(np.unique(y[used]), y[rows])
        assert scores["n"] == rows.sum()
        assert scores["accuracy"] == np.mean(p.argmax(1) == place)
        assert scores["nll"] == pytest.approx(-np.log(p[np.arange(len(p)), place]).mean(), abs=1e-9)


def test_a_domains_own_mean_takes_no_label_of_the_target(three, params):
    rng = np.random.default_rng(0)
    windows = three.windows.copy()
    there = windows["domain"] == "D"
    windows.loc[there, "label"] = rng.permutation(windows.loc[there, "label"])
    other = WindowedDataset(three.signals, windows, three.card)
    found = []
    for data in (three, other):
        fitting = Fitting(
            data, Windows(data), config(params, center="domain"), target="D", seed=0, hparams={}
        )
        fitting.train()
        found.append(fitting.probabilities("D", np.flatnonzero(there)))
    np.testing.assert_array_equal(*found)


def test_a_level_follows_from_what_a_row_is_given(params):
    params["variants"] |= {
        "mtl": {"label": "MTL", "method": "mtl"},
        "mtl-average": {"label": "MTL, average", "method": "mtl", "options": {"embedding": "average"}},
    }
    rows = Study(params).variants
    assert levels.of(rows["mtl"]) == levels.of(LINE) == ("none", False)
    assert levels.of(rows["mtl-average"]) == levels.of(LINE | {"center": "domain"}) == ("domain", False)
    assert levels.of(LINE | {"center": "reference"}) == ("reference", True)
    assert levels.of(LINE | {"omit_reference": True}) == ("none", True)


def test_what_cannot_be_centred_is_one_message(three, tiny, params):
    with pytest.raises(InputError, match=r"variants\.row: center: domain is of features"):
        config(params, center="domain", features="windows")
    settings = config(params, center="reference")
    with pytest.raises(InputError, match=r"reference: 'rest' is not a class; .* has slow, fast"):
        scored(tiny, settings)
    lacking = (three.windows["domain"] == "C") & (three.windows["label"] == 1)
    without = WindowedDataset(three.signals, three.windows[~lacking], three.card)
    with pytest.raises(InputError, match="domain C has no window of the reference class"):
        scored(without, settings)
    del params["datasets"]["tiny"]["reference"]
    with pytest.raises(InputError, match=r"variants\.row: datasets\.tiny has no `reference`"):
        Study(params).config("tiny", "row")
