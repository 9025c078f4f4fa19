"""Estimators: any class with scikit-learn's ``fit`` and ``predict_proba``, on windows or on features of them.

In params.yaml a variant of ``method: estimator`` names the class by its dotted path::

    variants:
      spectrum-logistic:
        label: Spectrum, logistic regression
        method: estimator
        estimator: sklearn.linear_model.LogisticRegression
        arguments: {max_iter: 1000}
        search: {C: {default: 0.1, kind: power, values: [-3, 1]}}
        features: spectrum

An argument may be an object itself, ``{class: dotted.path, arguments: {...}}``, as the steps of a pipeline
are; what is searched is named as ``set_params`` names it (``step__C``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from tsdg.errors import InputError, nearest
from tsdg.learning.centring import NONE
from tsdg.learning.features import Features
from tsdg.methods.search import Distribution

METHOD = "estimator"  # as params.yaml names it
WINDOWS = "windows"  # in the place of features: windows as they are, (N, C, T)
TOLERANCE = 1e-3  # of the sum of a window's probabilities


def distributions(search: Mapping[str, Mapping[str, Any]]) -> dict[str, Distribution]:
    """What a variant's arguments are drawn from, by name."""
    return {
        name: Distribution(**{**entry, "values": tuple(entry["values"])}) for name, entry in search.items()
    }


def check(row: Mapping[str, Any]) -> None:
    """Raise `InputError` for an entry of params.yaml that is no estimator's; its class is not loaded."""
    package = row["estimator"].partition(".")[0]
    if package == "__main__":
        load(row["estimator"])
    if find_spec(package) is None:
        raise InputError(f"estimator: {row['estimator']}: there is no package {package}; install it")
    if row["features"] != WINDOWS:
        Features(row["features"])
    elif row.get("center", NONE) != NONE:
        raise InputError(
            f"center: {row['center']} is of features, and windows as they are have no mean; leave it out"
        )
    check_arguments(row.get("arguments", {}))
    for name, entry in row.get("search", {}).items():
        if name in row.get("arguments", {}):
            raise InputError(f"search.{name}: is among `arguments`, too; give it in one of the two")
        if entry["kind"] != "choice" and not entry["values"][0] <= entry["values"][1]:
            raise InputError(f"search.{name}.values: {entry['values']}: give the lower limit first")
    for name, distribution in distributions(row.get("search", {})).items():
        _check_range(f"search.{name}", distribution)


def _check_range(place: str, distribution: Distribution) -> None:
    """Raise `InputError` unless a distribution's values are numbers, among them its default."""
    try:
        low, high = map(float, distribution.ends)
    except OverflowError:
        low = high = math.inf
    if not math.isfinite(high - low) or (distribution.kind == "power" and low == 0):
        raise InputError(
            f"{place}.values: {distribution} is beyond what a number can be; give limits nearer to 0"
        )
    near = [math.isclose(distribution.default, end) for end in (low, high)]
    inside = low <= distribution.default <= high or any(near)
    if distribution.default not in distribution.values if distribution.kind == "choice" else not inside:
        raise InputError(
            f"{place}.default: {distribution.default:g} is none of {distribution}; give one of its values"
        )


def classes_of(config: Mapping[str, Any]) -> list[str]:
    """Dotted paths of what an estimator is made of, each once; of a network's settings, none."""

    def within(value: Any) -> Iterator[str]:
        if isinstance(value, Mapping):
            if isinstance(value.get("class"), str):
                yield value["class"]
            for item in value.values():
                yield from within(item)
        elif isinstance(value, list):
            for item in value:
                yield from within(item)

    if config["method"] != METHOD:
        return []
    return list(dict.fromkeys([config["estimator"], *within(list(config["arguments"].values()))]))


def load(path: str) -> type:
    """The class of a dotted path.

    Raises
    ------
    InputError
        It is not installed, its module does not run, or it is no class.
    """
    module, _, name = path.rpartition(".")
    if module.partition(".")[0] == "__main__":
        raise InputError(f"estimator {path}: a program of its own is no module; put the class into a file")
    with _blamed(path, "cannot be imported", "install the package that has it, or correct the path"):
        found = import_module(module) if module else None
        missing = object()
        cls = getattr(found, name, missing)
    if cls is missing:
        known = [key for key, value in vars(found).items() if isinstance(value, type)] if found else []
        raise InputError(
            f"estimator {path}: there is no such class{nearest(name, known)}; give its dotted path, e.g. "
            "sklearn.linear_model.LogisticRegression"
        )
    if not isinstance(cls, type):
        raise InputError(
            f"estimator {path}: is not a class, but of type {type(cls).__name__}; name the class itself"
        )
    return cls


class Estimator:
    """A class, its arguments, and what it is fitted to.

    Parameters
    ----------
    path : str
        Dotted path of the class.
    arguments : mapping
    values : mapping of str to float
        Arguments that were drawn, which take the place of others; a whole number is passed as one.
    seed : int
        Of every ``random_state`` that is not given.

    Raises
    ------
    InputError
        The class is not installed, refuses the arguments, or has no way to say how sure it is.
    """

    def __init__(self, path: str, arguments: Mapping[str, Any], values: Mapping[str, float], *, seed: int):
        self.path = path
        check_arguments(arguments)
        self.fitted = _made(path, arguments)
        with _blamed(path, "cannot be asked what it has"):
            usable = hasattr(self.fitted, "fit") and _says(self.fitted)
        if not usable:
            raise InputError(
                f"estimator {path}: it has no `fit`, or neither `predict_proba` nor `decision_function`; "
                "choose a classifier that has"
            )
        drawn = {name: int(value) if value == int(value) else value for name, value in values.items()}
        with _blamed(path, "get_params"):
            known = self.fitted.get_params(deep=True) if hasattr(self.fitted, "get_params") else {}
            states = {
                name: seed
                for name, value in known.items()
                if name.rpartition("__")[2] == "random_state" and value is None
            }
        with _blamed(path, "search"):
            if drawn or states:
                self.fitted.set_params(**states, **drawn)

    def fit(self, x: np.ndarray, y: np.ndarray, classes: int) -> Estimator:
        """Fit features ``(N, F)`` or windows ``(N, C, T)`` and labels ``(N,)``, of 0 to K - 1."""
        self.classes, self.labels = classes, np.unique(y)
        with _blamed(self.path, "does not take this input in `fit`"):
            self.fitted.fit(x, y)
        return self

    def probabilities(self, x: np.ndarray) -> np.ndarray:
        """Probabilities ``(N, K)``, float64; of a class that no source has, 0.

        Without ``predict_proba`` they are the softmax of ``decision_function``, of two classes its sigmoid.

        Raises
        ------
        InputError
            The class does not predict, its ``classes_`` are not the labels that it was fitted to, each once,
            or what it gives are no probabilities of them.
        """
        with _blamed(self.path, "does not predict for this input"):
            p = _probabilities(self.fitted, x)
            has = hasattr(self.fitted, "classes_")
            seen = np.asarray(self.fitted.classes_) if has else np.arange(self.classes)
        whole_numbers = seen.ndim == 1 and seen.dtype.kind in "iu"
        if has and not (whole_numbers and np.array_equal(np.sort(seen), self.labels)):
            wrong = (
                f"its `classes_` are {seen.tolist()!r:.100}, not the labels {self.labels.tolist()}, each once"
            )
        elif p.shape != (len(x), len(seen)):
            wrong = f"its probabilities have shape {p.shape} in the place of {(len(x), len(seen))}"
        elif not np.isfinite(p).all():
            wrong = "its probabilities are not finite"
        elif (p < 0).any():
            wrong = f"its probabilities are negative, down to {p.min():g}"
        elif (off := np.abs(p.sum(1) - 1).max(initial=0)) > TOLERANCE:
            wrong = f"its probabilities of a window do not sum to 1, but miss it by up to {off:g}"
        else:
            whole = np.zeros((len(x), self.classes))
            whole[:, seen] = p
            return whole
        raise InputError(f"estimator {self.path}: predict: {wrong}; choose another class or arguments")


@contextmanager
def _blamed(path: str, step: str, remedy: str = "") -> Iterator[None]:
    """Whatever a class raises is one message: its name, the step, and what the error says."""
    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"estimator {path}: {step}: {_words(error)}{remedy and '; ' + remedy}") from error


def _made(path: str, arguments: Mapping[str, Any]) -> Any:
    cls = load(path)
    with _blamed(path, "arguments"):
        return cls(**{name: _argument(value) for name, value in arguments.items()})


def _argument(value: Any) -> Any:
    if isinstance(value, Mapping):
        if "class" in value:
            return _made(value["class"], value.get("arguments", {}))
        return {key: _argument(item) for key, item in value.items()}
    return [_argument(item) for item in value] if isinstance(value, list) else value


def check_arguments(value: Any, place: str = "arguments") -> None:
    """Raise `InputError` unless every object within arguments is ``{class: dotted.path, arguments: {}}``."""
    items: Iterable[tuple[Any, Any]] = enumerate(value) if isinstance(value, list) else ()
    if isinstance(value, Mapping):
        items = value.items()
        if "class" in value and place != "arguments":
            path, own = value["class"], value.get("arguments", {})
            dotted = isinstance(path, str) and all(map(str.isidentifier, path.split("."))) and "." in path
            named = isinstance(own, Mapping) and all(isinstance(key, str) for key in own)
            if not (dotted and named and value.keys() <= {"class", "arguments"}):
                raise InputError(
                    f"{place}: {value!r:.200} is no object; write {{class: dotted.path, "
                    "arguments: {name: value}}"
                )
    for key, item in items:
        check_arguments(item, f"{place}.{key}")


def _says(estimator: Any) -> bool:
    return hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")


def _probabilities(estimator: Any, x: np.ndarray) -> np.ndarray:
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(x), dtype=np.float64)
    from scipy.special import expit, softmax

    decision = np.asarray(estimator.decision_function(x), dtype=np.float64)
    if decision.ndim == 1:
        return np.stack([expit(-decision), expit(decision)], axis=1)
    return softmax(decision, axis=1)


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
