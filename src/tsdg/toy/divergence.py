"""H-divergence: how well a support vector machine tells the features of two domains apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

HALF = 200
SPLITS = 5
COSTS = (0.001, 0.01, 0.1, 1, 10, 100)


@dataclass(frozen=True)
class Divergence:
    """An estimate of the H-divergence.

    Attributes
    ----------
    value : float
        2 (1 - 2 error): 2 for domains that never mix, 0 for equal ones. Around 0 it may be negative, as the
        estimate has noise; it is not cut off, so that its mean is unbiased.
    error : float
        The machine's error on samples that it has not seen.
    cost : float
        The machine's C.
    """

    value: float
    error: float
    cost: float


def h_divergence(source: np.ndarray, target: np.ndarray, generator: np.random.Generator) -> Divergence:
    """H-divergence between two domains by an SVM with an RBF kernel.

    Of each domain 200 samples train the machine and another 200 test it, drawn without replacement. Features
    are standardized by the mean and standard deviation of the training samples. Domains of equal size draw
    the same positions, so that a sample which is in both cannot train on one side and test on the other.

    Parameters
    ----------
    source, target : (N, F)
        Features of each domain, N >= 400.
    generator : numpy.random.Generator
    """
    if min(len(source), len(target)) < 2 * HALF:
        raise ValueError(f"{2 * HALF} samples a domain are needed, not {len(source)} and {len(target)}")
    order = generator.random(max(len(source), len(target)))
    chosen = [z[np.argsort(order[: len(z)])[: 2 * HALF]] for z in (source, target)]
    train, test = (np.concatenate([z[part] for z in chosen]) for part in (slice(HALF), slice(HALF, None)))
    labels = np.repeat([0, 1], HALF)
    scaler = StandardScaler().fit(train)
    machine = fit(scaler.transform(train), labels)
    error = float(np.mean(machine.predict(scaler.transform(test)) != labels))
    return Divergence(2 * (1 - 2 * error), error, machine.C)


def mean_divergence(
    source: np.ndarray, target: np.ndarray, generator: np.random.Generator
) -> tuple[float, list[Divergence]]:
    """The mean H-divergence of five random splits of the same features, and that of each, as in the paper."""
    splits = [h_divergence(source, target, generator) for _ in range(SPLITS)]
    return float(np.mean([split.value for split in splits])), splits


def fit(x: np.ndarray, y: np.ndarray) -> SVC:
    """The machine with the lowest training error among all `COSTS`, the smaller cost of equals."""
    machines = [SVC(C=cost, kernel="rbf", gamma="scale").fit(x, y) for cost in COSTS]
    return min(machines, key=lambda machine: (np.mean(machine.predict(x) != y), machine.C))
