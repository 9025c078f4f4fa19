"""What a network sees of a window: the window itself, or what is computed of it in front of the backbone.

Axes: R run, N sample, C channel, T time step; C' and T' are those of what comes out.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from tsdg.learning.feature_layers import Bands, SpectrumLayer, Welch, log_power
from tsdg.learning.features import Spectrum
from tsdg.learning.inputs import CONSTANT

FRAMES = 8  # lengths of a segment in a window, for a spectrogram
SHORTEST = 4  # time steps of such a segment


class NetworkInput(nn.Module):
    """A function of each window alone, ``(R, N, C, T) -> (R, N, C', T')``, without weights.

    Parameters
    ----------
    channels, length : int
        C and T.

    Attributes
    ----------
    channels, length : int
        C' and T'.
    title : str
        For tables.
    """

    title: ClassVar[str]

    def __init__(self, channels: int, length: int):
        super().__init__()
        self.channels, self.length = channels, length


class CentredInput:
    """What a network sees of windows, less a mean of their domain.

    Parameters
    ----------
    before : NetworkInput
    means : (R, D, C', T')
        Of each domain.
    """

    def __init__(self, before: NetworkInput, means: Tensor):
        self.before, self.means = before, means.float()

    def __call__(self, x: Tensor, places: Tensor | None = None) -> Tensor:
        """Of windows ``(R, d, B, C, T)`` of domains at places ``(R, d)``, by default the first d."""
        seen = self.before(x.flatten(1, 2)).unflatten(1, x.shape[1:3])
        if places is None:
            return seen - self.means[:, : x.shape[1], None]
        runs = torch.arange(len(x), device=x.device)[:, None]
        return seen - self.means[runs, places, None]


class ZScore(NetworkInput):
    """Each channel of a window less its mean and by its standard deviation; a constant one is 0."""

    title = "Z-score of each window and channel"

    def forward(self, x: Tensor) -> Tensor:
        values = x.double()
        mean = values.mean(-1, keepdim=True)
        deviation = (values - mean).square().mean(-1, keepdim=True).sqrt()
        constant = deviation <= CONSTANT * mean.abs()
        scale = torch.where(constant, torch.full_like(deviation, torch.inf), deviation)
        return ((values - mean) / scale).to(x.dtype)


class SpectrumInput(NetworkInput):
    """Log power by frequency, which takes the place of time.

    That of `tsdg.learning.features.Spectrum` with each frequency of a segment as a band of its own.
    """

    title = "Log spectrum"

    def __init__(self, channels: int, length: int):
        bands = Spectrum().resolved(length)[0] // 2
        super().__init__(channels, bands)
        self.spectrum = SpectrumLayer(Spectrum(bands=bands), length)

    def forward(self, x: Tensor) -> Tensor:
        return self.spectrum(x.double()).to(x.dtype)


class SpectrogramInput(NetworkInput):
    """Log power in bands of frequency by time, less the window's mean; a band of a channel is a channel.

    Segments are those of `tsdg.learning.features.Spectrum`, an eighth of a window long.
    """

    title = "Log spectrogram"

    def __init__(self, channels: int, length: int):
        segment = max(SHORTEST, length // FRAMES)
        edges = Spectrum(segment=segment).resolved(length)[1]
        bands = len(edges) - 1
        super().__init__(channels * bands, (length - segment) // (segment - segment // 2) + 1)
        self.welch, self.bands = Welch(segment), Bands(edges, segment)

    def forward(self, x: Tensor) -> Tensor:
        values = x.double()
        power = self.bands(self.welch.segments(values))  # (R, N, C, T', bands)
        spectrogram = log_power(power, values.unsqueeze(-2))
        spectrogram = spectrogram - spectrogram.mean((-3, -2, -1), keepdim=True)
        return spectrogram.transpose(-1, -2).flatten(2, 3).to(x.dtype)


INPUTS: dict[str, type[NetworkInput]] = {
    "zscore": ZScore,
    "spectrum": SpectrumInput,
    "spectrogram": SpectrogramInput,
}
