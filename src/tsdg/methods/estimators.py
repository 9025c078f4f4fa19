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

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from tsdg.errors import InputError, nearest
from tsdg.learning.features import Features
from tsdg.methods.search import Distribution

METHOD = "estimator"  # as params.yaml names it
WINDOWS = "windows"  # in the place of features: windows as they are, (N, C, T)


def distributions(search: Mapping[str, Mapping[str, Any]]) -> dict[str, Distribution]:
    """What a variant's arguments are drawn from, by name."""
    return {
        name: Distribution(**{**entry, "values": tuple(entry["values"])}) for name, entry in search.items()
    }


def check(row: Mapping[str, Any]) -> None:
    """Raise `InputError` for an entry of params.yaml that is no estimator's; its class is not loaded."""
    package = row["estimator"].partition(".")[0]
    if find_spec(package) is None:
        raise InputError(f"estimator: {row['estimator']}: there is no package {package}; install it")
    if row["features"] != WINDOWS:
        Features(row["features"])
    for name, entry in row.get("search", {}).items():
        if name in row.get("arguments", {}):
            raise InputError(f"search.{name}: is among `arguments`, too; give it in one of the two")
        if entry["kind"] != "choice" and not entry["values"][0] <= entry["values"][1]:
            raise InputError(f"search.{name}.values: {entry['values']}: give the lower limit first")


def load(path: str) -> type:
    """The class of a dotted path.

    Raises
    ------
    InputError
        It is not installed, or no class that can be fitted and asked for probabilities.
    """
    module, _, name = path.rpartition(".")
    try:
        found = import_module(module) if module else None
    except ImportError as error:
        raise InputError(
            f"estimator {path}: {_words(error)}; install the package that has it, or correct the path"
        ) from None
    cls = getattr(found, name, None)
    if not isinstance(cls, type):
        known = [key for key, value in vars(found).items() if isinstance(value, type)] if found else []
        raise InputError(
            f"estimator {path}: there is no such class{nearest(name, known)}; give its dotted path, e.g. "
            "sklearn.linear_model.LogisticRegression"
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
        self.fitted = _made(path, arguments)
        if not hasattr(self.fitted, "fit") or not _says(self.fitted):
            raise InputError(
                f"estimator {path}: it has no `fit`, or neither `predict_proba` nor `decision_function`; "
                "choose a classifier that has"
            )
        drawn = {name: int(value) if value == int(value) else value for name, value in values.items()}
        known = self.fitted.get_params(deep=True) if hasattr(self.fitted, "get_params") else {}
        states = {
            name: seed
            for name, value in known.items()
            if name.rpartition("__")[2] == "random_state" and value is None
        }
        try:
            if drawn or states:
                self.fitted.set_params(**states, **drawn)
        except (AttributeError, ValueError) as error:
            raise InputError(f"estimator {path}: search: {_words(error)}") from None

    def fit(self, x: np.ndarray, y: np.ndarray, classes: int) -> Estimator:
        """Fit features ``(N, F)`` or windows ``(N, C, T)`` and labels ``(N,)``, of 0 to K - 1."""
        self.classes = classes
        try:
            self.fitted.fit(x, y)
        except Exception as error:
            raise InputError(f"estimator {self.path}: does not take this input ({_words(error)})") from error
        return self

    def probabilities(self, x: np.ndarray) -> np.ndarray:
        """Probabilities ``(N, K)``, float64; of a class that no source has, 0.

        Without ``predict_proba`` they are the softmax of ``decision_function``, of two classes its sigmoid.
        """
        try:
            p = _probabilities(self.fitted, x)
        except Exception as error:
            raise InputError(f"estimator {self.path}: does not predict ({_words(error)})") from error
        seen = np.asarray(getattr(self.fitted, "classes_", np.arange(self.classes)))
        if p.shape != (len(x), len(seen)) or not np.isfinite(p).all():
            raise InputError(
                f"estimator {self.path}: its probabilities are not finite, or {p.shape} in the place of "
                f"{(len(x), len(seen))}; choose another class or arguments"
            )
        whole = np.zeros((len(x), self.classes))
        whole[:, seen.astype(int)] = p
        return whole


def _made(path: str, arguments: Mapping[str, Any]) -> Any:
    cls = load(path)
    try:
        return cls(**{name: _argument(value) for name, value in arguments.items()})
    except (TypeError, ValueError) as error:
        raise InputError(f"estimator {path}: arguments: {_words(error)}") from None


def _argument(value: Any) -> Any:
    if isinstance(value, Mapping):
        if "class" in value and value.keys() <= {"class", "arguments"}:
            return _made(value["class"], value.get("arguments", {}))
        return {key: _argument(item) for key, item in value.items()}
    return [_argument(item) for item in value] if isinstance(value, list) else value


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
