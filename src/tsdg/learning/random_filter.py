"""Random filters, which imitate other transfer paths from source to sensor."""

from __future__ import annotations

import numpy as np

SMOOTHNESS = 1 / 240  # of the sampling rate: 50 Hz at 12 kHz


class RandomFilter:
    """Filters windows by gains ``exp(deviation * g(f))``, g a Gaussian course over frequency.

    g has mean 0 and variance 1 at every frequency, and a correlation of about
    ``exp(-(f - f')^2 / (2 smoothness^2))``: it is a sum of Gaussian bumps with independent weights. The phase
    stays as it is, and all channels of a window have the same gain.

    Parameters
    ----------
    length : int
        T, of a window.
    deviation : float
        Standard deviation of the logarithm of the gain, in nepers (1 neper is 8.7 dB).
    smoothness : float, optional
        Length of correlation, in Hz; without a rate as a share of it. Default: 1/240 of the rate.
    rate : float, optional
        Sampling rate in Hz.
    """

    def __init__(
        self,
        length: int,
        *,
        deviation: float = 1.0,
        smoothness: float | None = None,
        rate: float | None = None,
    ):
        rate = rate or 1.0
        self.length, self.deviation = length, deviation
        width = (smoothness or SMOOTHNESS * rate) / np.sqrt(2)
        frequencies = np.fft.rfftfreq(length, 1 / rate)
        centres = np.arange(-3 * width, frequencies[-1] + 4 * width, width)
        bumps = np.exp(-(((frequencies - centres[:, None]) / width) ** 2) / 2)
        self.courses = bumps / np.linalg.norm(bumps, axis=0)  # (weights, frequencies)

    @property
    def weights(self) -> int:
        """How many weights a gain has."""
        return len(self.courses)

    def gains(self, weights: np.ndarray) -> np.ndarray:
        """Gains ``(N, frequencies)`` of standard normal weights ``(N, weights)``."""
        return np.exp(self.deviation * weights @ self.courses)

    def __call__(self, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Filtered windows ``(N, C, T)``, each by its own weights."""
        return np.fft.irfft(np.fft.rfft(x) * self.gains(weights)[:, None], self.length)
