"""The network of an estimator's bundle: features of a window and a linear map of them."""

from __future__ import annotations

import numpy as np
import torch
from scipy.special import softmax
from torch import Tensor, nn

from tsdg.errors import InputError
from tsdg.learning.feature_layers import FeatureLayer
from tsdg.learning.features import Features
from tsdg.runs.estimation import Fitting

UNSEEN = -1e9  # logit of a class that no training window has
SAME = 1e-6  # difference of two probabilities that are one
PROBES = 300


class LinearNetwork(nn.Module):
    """Logits ``(1, N, K)`` of windows ``(1, N, C, T)``, a run axis of 1 in front as networks have.

    Parameters
    ----------
    features : Features
    length : int
        T.
    mean, deviation : (F,)
        Of the features.
    weight : (K, F)
    bias : (K,)
    """

    centre: Tensor  # (F,), what the domain's features are reduced by, which no bundle knows beforehand
    mean: Tensor
    deviation: Tensor
    weight: Tensor
    bias: Tensor

    def __init__(
        self,
        features: Features,
        length: int,
        *,
        mean: np.ndarray,
        deviation: np.ndarray,
        weight: np.ndarray,
        bias: np.ndarray,
    ):
        super().__init__()
        self.features = FeatureLayer(features, length)
        constants = {"mean": mean, "deviation": deviation, "weight": weight, "bias": bias}
        for name, value in constants.items():
            self.register_buffer(name, torch.from_numpy(np.array(value, dtype=np.float64))[None])
        self.register_buffer("centre", torch.zeros_like(self.mean), persistent=False)

    def forward(self, x: Tensor, centre: Tensor | None = None) -> Tensor:
        centre = self.centre if centre is None else centre
        z = (self.features(x.squeeze(0)) - centre - self.mean) / self.deviation
        return (z @ self.weight[0].T + self.bias).float().unsqueeze(0)

    @classmethod
    def empty(cls, features: Features, channels: int, length: int, classes: int) -> LinearNetwork:
        """One with weights of no meaning."""
        count = FeatureLayer(features, length)(torch.zeros(1, channels, length)).shape[1]
        return cls(
            features, length,
            mean=np.zeros(count), deviation=np.ones(count),
            weight=np.zeros((classes, count)), bias=np.zeros(classes),
        )  # fmt: skip


def linear_network(fitting: Fitting) -> LinearNetwork:
    """The network that a fitted estimator is.

    Raises
    ------
    InputError
        It is fitted to windows, or its probabilities are no softmax of a linear map of features.
    """
    name = fitting.config["estimator"]
    fitted = fitting.estimator.fitted
    if fitting.features is None or not hasattr(fitted, "coef_") or not hasattr(fitted, "intercept_"):
        raise InputError(
            f"estimator {name}: only linear models of features can be exported, such as "
            "sklearn.linear_model.LogisticRegression; choose a variant that is one, or that trains a network"
        )
    coefficients, intercepts = np.atleast_2d(fitted.coef_), np.atleast_1d(fitted.intercept_)
    if len(coefficients) == 1:  # the decision between two classes
        coefficients = np.concatenate([np.zeros_like(coefficients), coefficients])
        intercepts = np.concatenate([np.zeros_like(intercepts), intercepts])
    classes, seen = fitting.estimator.classes, fitted.classes_.astype(int)
    weight = np.zeros((classes, coefficients.shape[1]))
    bias = np.full(classes, UNSEEN)
    weight[seen], bias[seen] = coefficients, intercepts
    # Whether probabilities follow from decisions alone shows where a decision is a close one.
    anywhere = np.random.default_rng(0).standard_normal((PROBES, weight.shape[1]))
    anywhere *= np.geomspace(1e-3, 1, PROBES)[:, None]
    theirs = fitting.estimator.probabilities(anywhere)
    if np.abs(softmax(anywhere @ weight.T + bias, axis=1) - theirs).max() > SAME:
        raise InputError(
            f"estimator {name}: its probabilities are no softmax of a linear map of features, so it cannot "
            "be exported; choose sklearn.linear_model.LogisticRegression, or a variant that trains a network"
        )
    return LinearNetwork(
        fitting.features, fitting.dataset.card["window"]["length"],
        mean=np.asarray(fitting.mean), deviation=np.asarray(fitting.deviation), weight=weight, bias=bias,
    )  # fmt: skip
