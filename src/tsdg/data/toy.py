"""The toy data: four domains of noisy waves, of which two carry a second sign of the class.

A window has 200 steps of two channels and one of two classes, sawtooth or square wave. Channel 1 is the wave
of the class plus the domain's noise. Channel 2 is standard normal noise; only where the domain says so, it
shows the square wave again, with noise of its own as strong as channel 1's. A wave has amplitude 1, 1/6 to 5
cycles a window, and begins its first cycle with the window: no random phase is specified, so none is added.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tsdg.streams import numpy_stream

NAME = "toy"  # of the data set, in records
LENGTH, CHANNELS = 200, ("1", "2")
CLASSES = ("sawtooth", "square")
CYCLES = (1 / 6, 5.0)


@dataclass(frozen=True)
class Domain:
    """What a domain is.

    Attributes
    ----------
    role : {"source", "target"}
    samples : int
        Half of them of each class.
    noise : float
        Standard deviation of the noise on the waves.
    second : bool
        Whether channel 2 shows the square wave too.
    """

    role: str
    samples: int
    noise: float
    second: bool


DOMAINS = {
    "A": Domain("source", 400, 2.0, False),
    "B": Domain("source", 400, 4.0, False),
    "C": Domain("source", 400, 2.0, True),
    "D": Domain("target", 1200, 4.0, True),
}
SOURCES = tuple(name for name, domain in DOMAINS.items() if domain.role == "source")
TARGET = "D"


@dataclass(frozen=True)
class Samples:
    """Samples of one domain.

    Attributes
    ----------
    x : (N, 2, 200) float32
    y : (N,) int64
        Index into `CLASSES`.
    signal : (N, 2, 200) float64
        `x` without its noise.
    cycles : (N,)
        Cycles of the wave in the window.
    """

    x: np.ndarray
    y: np.ndarray
    signal: np.ndarray
    cycles: np.ndarray


def generate(seed: int) -> dict[str, Samples]:
    """Samples of every domain; each has a stream of its own."""
    return {name: _samples(domain, numpy_stream(seed, "toy", name)) for name, domain in DOMAINS.items()}


def fingerprint(data: Mapping[str, Samples]) -> str:
    """SHA-256 over the samples."""
    digest = hashlib.sha256()
    for name, samples in data.items():
        digest.update(name.encode() + samples.x.tobytes() + samples.y.tobytes())
    return digest.hexdigest()


def _samples(domain: Domain, generator: np.random.Generator) -> Samples:
    y = np.arange(domain.samples) % len(CLASSES)
    is_square = y == CLASSES.index("square")
    cycles = generator.uniform(*CYCLES, domain.samples)
    phase = cycles[:, None] * np.arange(LENGTH) / LENGTH % 1
    signal = np.zeros((domain.samples, len(CHANNELS), LENGTH))
    signal[:, 0] = np.where(is_square[:, None], np.where(phase < 0.5, 1, -1), 2 * phase - 1)
    noise = np.ones((domain.samples, len(CHANNELS), 1))
    noise[:, 0] = domain.noise
    if domain.second:
        signal[is_square, 1] = signal[is_square, 0]
        noise[is_square, 1] = domain.noise
    x = signal + noise * generator.normal(size=signal.shape)
    return Samples(x.astype(np.float32), y, signal, cycles)
