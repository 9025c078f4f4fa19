"""Temperature scaling: one number that makes a classifier as sure as it is right, on its sources."""

import numpy as np
import scipy.optimize
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

TEMPERATURES = (0.05, 20.0)


def fit_temperature(logits: NDArray[np.floating], labels: NDArray[np.integer]) -> float:
    """The T that makes softmax(logits / T) likeliest, ``(N, K)`` and ``(N,)``. Guo et al., ICML 2017."""
    chosen = np.arange(len(labels)), labels

    def loss(log_temperature: float) -> float:
        return -float(log_softmax(logits / np.exp(log_temperature), axis=1)[chosen].mean())

    found = scipy.optimize.minimize_scalar(loss, bounds=tuple(np.log(TEMPERATURES)), method="bounded")
    return float(np.exp(found.x))


def tempered(probabilities: NDArray[np.floating], temperature: float) -> NDArray[np.floating]:
    """Probabilities ``(N, K)`` as softmax gives them of their logits divided by a temperature."""
    return softmax(log_probabilities(probabilities) / temperature, axis=1)


def log_probabilities(probabilities: NDArray[np.floating]) -> NDArray[np.floating]:
    """Logits ``(N, K)`` of probabilities; one of 0 counts as the least that there is."""
    return np.log(np.clip(np.asarray(probabilities, np.float64), np.finfo(np.float64).tiny, None))
