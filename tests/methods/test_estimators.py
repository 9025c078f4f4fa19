"""Estimators: classes by their dotted path, what they are asked, and one message where they refuse."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from tsdg.errors import InputError
from tsdg.methods.estimators import Estimator, check, distributions
from tsdg.methods.search import Distribution

LOGISTIC = "sklearn.linear_model.LogisticRegression"


@pytest.fixture
def three():
    """Three classes of points."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    return rng.standard_normal((90, 4)) + 2 * np.eye(3, 4)[y], y


def made(path, arguments=None, seed=0, **values):
    return Estimator(path, arguments or {}, values, seed=seed)


def test_a_class_is_fitted_with_its_arguments_and_those_that_were_drawn(three):
    x, y = three
    ours = made(LOGISTIC, {"max_iter": 500}, C=0.03).fit(x, y, 3).probabilities(x)
    np.testing.assert_array_equal(ours, LogisticRegression(C=0.03, max_iter=500).fit(x, y).predict_proba(x))
    assert made("sklearn.ensemble.RandomForestClassifier", n_estimators=5.0).fitted.n_estimators == 5


def test_a_pipeline_is_written_as_classes_within_arguments_and_searched_by_the_names_of_its_parameters(three):
    x, y = three
    steps = [
        ["scale", {"class": "sklearn.preprocessing.StandardScaler"}],
        ["fit", {"class": LOGISTIC, "arguments": {"C": 5}}],
    ]
    ours = made("sklearn.pipeline.Pipeline", {"steps": steps}, fit__C=0.2).fit(x, y, 3)
    theirs = make_pipeline(StandardScaler(), LogisticRegression(C=0.2)).fit(x, y)
    np.testing.assert_array_equal(ours.probabilities(x), theirs.predict_proba(x))


def test_decisions_become_probabilities_by_softmax_and_of_two_classes_by_the_sigmoid(three):
    x, y = three
    path = "sklearn.linear_model.RidgeClassifier"
    decision = RidgeClassifier().fit(x, y).decision_function(x)
    np.testing.assert_allclose(made(path).fit(x, y, 3).probabilities(x), softmax(decision, axis=1))
    two = y < 2
    decision = RidgeClassifier().fit(x[two], y[two]).decision_function(x)
    ours = made(path).fit(x[two], y[two], 2).probabilities(x)
    np.testing.assert_allclose(ours[:, 1], 1 / (1 + np.exp(-decision)))
    np.testing.assert_allclose(ours.sum(1), 1)


def test_a_class_that_no_source_has_is_never_predicted(three):
    x, y = three
    ours = made(LOGISTIC).fit(x[y != 1], y[y != 1], 4).probabilities(x)
    theirs = LogisticRegression().fit(x[y != 1], y[y != 1]).predict_proba(x)
    np.testing.assert_array_equal(ours[:, [0, 2]], theirs)
    assert (ours[:, [1, 3]] == 0).all()


def test_chance_is_the_runs_own_seed_wherever_a_class_has_some(three):
    x, y = three
    path, small = "sklearn.ensemble.RandomForestClassifier", {"n_estimators": 3, "max_depth": 1}
    first, same, other = (made(path, small, seed=s).fit(x, y, 3).probabilities(x) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()
    nested = {"estimator": {"class": "sklearn.svm.LinearSVC"}}
    bagged = made("sklearn.ensemble.BaggingClassifier", nested, seed=7).fitted.get_params()
    assert (bagged["random_state"], bagged["estimator__random_state"]) == (7, 7)
    assert made(path, {"random_state": 3}, seed=7).fitted.random_state == 3


@pytest.mark.parametrize("cls", [Perceptron, LinearSVC])
def test_any_class_that_says_how_sure_it_is_will_do(three, cls):
    x, y = three
    ours = made(f"{cls.__module__}.{cls.__name__}").fit(x, y, 3).probabilities(x)
    assert ours.shape == (90, 3)
    assert (ours.argmax(1) == y).mean() > 0.6


@pytest.mark.parametrize(
    ("path", "arguments", "values", "message"),
    [
        ("aeon_or_not.MiniRocket", {}, {}, "No module named 'aeon_or_not'; install the package that has it"),
        ("sklearn.linear_model.LogisticRegresion", {}, {}, "did you mean 'LogisticRegression'"),
        ("sklearn.linear_model.LinearRegression", {}, {}, "neither `predict_proba` nor `decision_function`"),
        (LOGISTIC, {"c": 1}, {}, "arguments: TypeError"),
        (LOGISTIC, {}, {"c": 1.0}, "search: ValueError: Invalid parameter 'c'"),
    ],
)
def test_a_class_that_cannot_be_made_is_one_message(path, arguments, values, message):
    with pytest.raises(InputError, match=message):
        Estimator(path, arguments, values, seed=0)


def test_a_class_that_refuses_its_input_is_one_message(three):
    x, y = three
    with pytest.raises(InputError, match=f"estimator {LOGISTIC}: does not take this input .*dim 3"):
        made(LOGISTIC).fit(x[:, None], y, 3)
    fitted = made(LOGISTIC).fit(x, y, 3)
    with pytest.raises(InputError, match=r"does not predict .*2 features"):
        fitted.probabilities(x[:, :2])


class Odd(BaseEstimator):
    """Gives what it is told to."""

    def __init__(self, classes=None, probabilities=None, fails=None):
        self.classes, self.probabilities, self.fails = classes, probabilities, fails
        self._fail("init")

    def _fail(self, step):
        if self.fails == step:
            raise SystemExit("enough") if step == "fit" else KeyError("enough")

    def get_params(self, deep=True):
        self._fail("get_params")
        return {}

    def fit(self, x, y):
        self._fail("fit")
        self.classes_ = np.unique(y) if self.classes is None else np.array(self.classes)
        return self

    def predict_proba(self, x):
        self._fail("predict")
        return np.full((len(x), 3), 1 / 3) if self.probabilities is None else [self.probabilities] * len(x)


instance = Odd()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"classes": ["a", "b", "c"]}, r"predict: its `classes_` are \['a', 'b', 'c'\], not the labels"),
        ({"classes": [1, 2, 3]}, r"`classes_` are \[1, 2, 3\], not the labels \[0, 1, 2\], each once"),
        ({"classes": [0, 1, 1]}, r"`classes_` are \[0, 1, 1\]"),
        ({"probabilities": [0.5, 0.5]}, r"shape \(90, 2\) in the place of \(90, 3\)"),
        ({"probabilities": [np.nan, 0.5, 0.5]}, "not finite"),
        ({"probabilities": [-0.5, 0.5, 1.0]}, "negative, down to -0.5"),
        ({"probabilities": [0.5, 0.5, 0.5]}, "do not sum to 1, but miss it by up to 0.5"),
        ({"fails": "init"}, "arguments: KeyError: 'enough'"),
        ({"fails": "get_params"}, "get_params: KeyError: 'enough'"),
        ({"fails": "fit"}, "does not take this input in `fit`: SystemExit: enough"),
        ({"fails": "predict"}, "does not predict for this input: KeyError: 'enough'"),
        ({"classes": {"class": 5}}, r"arguments.classes: \{'class': 5\} is no object; write \{class: dotted"),
        ({"classes": [{"class": LOGISTIC, "argument": {}}]}, "arguments.classes.0: .* is no object"),
    ],
)
def test_what_a_class_of_ones_own_does_wrong_is_one_message(three, arguments, message):
    x, y = three
    with pytest.raises(InputError, match=message):
        made(f"{__name__}.Odd", arguments).fit(x, y, 3).probabilities(x)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("__main__.Odd", "put the class into a file"),
        (f"{__name__}.made", "is not a class, but of type function"),
        (f"{__name__}.instance", "is not a class, but of type Odd"),
        ("unwritten_module.Odd", "cannot be imported: SyntaxError"),
        ("failing_module.Odd", "cannot be imported: ZeroDivisionError"),
        ("ending_module.Odd", "cannot be imported: SystemExit: 3"),
    ],
)
def test_what_is_no_class_is_one_message(path, message, tmp_path, monkeypatch):
    modules = {"unwritten": "class Odd(:", "failing": "1 / 0", "ending": "raise SystemExit(3)"}
    for name, text in modules.items():
        (tmp_path / f"{name}_module.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=f"estimator {path}: .*{message}"):
        made(path)


def entry(**changed):
    return {"method": "estimator", "label": "L", "estimator": LOGISTIC, "features": "spectrum", **changed}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"estimator": "aeon_or_not.MiniRocket"}, "there is no package aeon_or_not; install it"),
        ({"estimator": "__main__.Odd"}, "put the class into a file"),
        ({"arguments": {"C": {"class": 5}}}, "arguments.C: .* is no object"),
        ({"features": [{"spectrum": {"band": 8}}]}, "did you mean 'bands'"),
        (
            {"arguments": {"C": 1}, "search": {"C": {"default": 1, "kind": "power", "values": [-3, 1]}}},
            "search.C: is among `arguments`, too",
        ),
        ({"search": {"C": {"default": 1, "kind": "power", "values": [1, -3]}}}, "lower limit first"),
        (
            {"search": {"C": {"default": 1, "kind": "power", "values": [-3, 400]}}},
            "C.values: .* beyond what a",
        ),
        (
            {"search": {"C": {"default": 1, "kind": "power", "values": [-400, 1]}}},
            "C.values: .* beyond what a",
        ),
        (
            {"search": {"C": {"default": 1, "kind": "uniform", "values": [-1e308, 1e308]}}},
            "C.values: .* beyond",
        ),
        ({"search": {"C": {"default": 11, "kind": "power", "values": [-3, 1]}}}, "C.default: 11 is none of"),
        ({"search": {"C": {"default": 2, "kind": "choice", "values": [1, 3]}}}, "C.default: 2 is none of"),
    ],
)
def test_an_entry_that_cannot_be_fitted_is_one_message_before_anything_starts(changed, message):
    with pytest.raises(InputError, match=message):
        check(entry(**changed))


def test_a_search_is_one_of_distributions():
    check(entry(features="windows"))
    search = {"C": {"default": 0.1, "kind": "power", "values": [-3, 1]}}
    assert distributions(search) == {"C": Distribution(0.1, "power", (-3, 1))}
