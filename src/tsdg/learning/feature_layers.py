"""Features of windows as PyTorch modules, equal to `tsdg.learning.features`: for models to take away."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from tsdg.learning.features import (
    FAINT,
    FLOOR,
    LAGS,
    QUANTILES,
    Envelope,
    Features,
    Modulation,
    Spectrum,
    Statistics,
    hann,
    taper,
)


class FeatureLayer(nn.Module):
    """Features ``(N, F)``, float64, of windows ``(N, C, T)``.

    Parameters
    ----------
    features : Features
    length : int
        T.
    """

    def __init__(self, features: Features, length: int):
        super().__init__()
        rate = features.rate
        self.parts = nn.ModuleList(_layer(part, length, rate) for part in features.parts)

    def forward(self, x: Tensor) -> Tensor:
        x = x.double()
        return torch.cat([part(x).flatten(1) for part in self.parts], dim=1)


def _layer(part: object, length: int, rate: float | None) -> nn.Module:
    if isinstance(part, Spectrum):
        return SpectrumLayer(part, length)
    if isinstance(part, Envelope):
        return EnvelopeLayer(part, length, rate)
    if isinstance(part, Modulation):
        return ModulationLayer(part, length, rate)
    if isinstance(part, Statistics):
        return StatisticsLayer(length)
    raise TypeError(f"{part!r} has no layer")


class Welch(nn.Module):
    """Welch's power density ``(..., segment // 2 + 1)`` at a rate of 1, see `tsdg.learning.features`."""

    window: Tensor
    sides: Tensor

    def __init__(self, segment: int):
        super().__init__()
        self.segment = segment
        window = hann(segment)
        sides = np.full(segment // 2 + 1, 2.0)
        sides[0] = 1
        if segment % 2 == 0:
            sides[-1] = 1
        _keep(self, window=window, sides=sides / np.square(window).sum())

    def forward(self, x: Tensor) -> Tensor:
        return self.segments(x).mean(-2)

    def segments(self, x: Tensor) -> Tensor:
        """The power of each segment, ``(..., segments, segment // 2 + 1)``."""
        parts = x.unfold(-1, self.segment, self.segment - self.segment // 2)
        parts = (parts - parts.mean(-1, keepdim=True)) * self.window
        return torch.view_as_real(torch.fft.rfft(parts)).square().sum(-1) * self.sides


class Bands(nn.Module):
    """Mean power in bands, ``(..., segment // 2 + 1) -> (..., bands)``.

    Parameters
    ----------
    edges : ndarray
        The first frequency of each band, and the one beyond the last.
    segment : int
        Time steps.
    """

    mean: Tensor

    def __init__(self, edges: np.ndarray, segment: int):
        super().__init__()
        frequencies = np.arange(segment // 2 + 1)[:, None]
        inside = (frequencies >= edges[:-1]) & (frequencies < edges[1:])
        _keep(self, mean=inside / np.diff(edges))

    def forward(self, power: Tensor) -> Tensor:
        return power @ self.mean


def log_power(power: Tensor, x: Tensor) -> Tensor:
    """Logarithm of power, which is not below what float32 tells from nothing in the windows that it is of."""
    return torch.maximum(power, _floor(x)).log()


def _floor(x: Tensor) -> Tensor:
    return FLOOR * x.square().mean(-1, keepdim=True) + float(np.finfo(np.float32).tiny)


class Level(nn.Module):
    """Logarithm of power, levelled as a spectrum is."""

    smoothing: Tensor

    def __init__(self, level: str, smooth: float, bands: int):
        super().__init__()
        self.level = level
        if level == "whitened":
            from scipy.ndimage import gaussian_filter1d

            _keep(self, smoothing=gaussian_filter1d(np.eye(bands), smooth, axis=-1, mode="nearest"))

    def forward(self, power: Tensor, x: Tensor) -> Tensor:
        spectrum = log_power(power, x)
        if self.level == "plain":
            return spectrum
        if self.level == "centred":
            return spectrum - spectrum.mean((-2, -1), keepdim=True)
        return spectrum - spectrum @ self.smoothing


class SpectrumLayer(nn.Module):
    """See `tsdg.learning.features.Spectrum`."""

    def __init__(self, spectrum: Spectrum, length: int):
        super().__init__()
        segment, edges = spectrum.resolved(length)
        self.welch, self.bands = Welch(segment), Bands(edges, segment)
        self.level = Level(spectrum.level, spectrum.smooth, len(edges) - 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.level(self.bands(self.welch(x)), x)


class EnvelopeLayer(nn.Module):
    """See `tsdg.learning.features.Envelope`."""

    gains: Tensor

    def __init__(self, envelope: Envelope, length: int, rate: float | None):
        super().__init__()
        segment, self.count, gains = envelope.resolved(length, rate)
        _keep(self, gains=gains)
        self.welch = Welch(segment)
        self.level = Level(envelope.level, envelope.smooth, self.count)

    def forward(self, x: Tensor) -> Tensor:
        analytic = torch.view_as_real(torch.fft.ifft(torch.fft.fft(x) * self.gains))
        power = self.welch(analytic.square().sum(-1).sqrt())
        return self.level(power[..., 1 : self.count + 1], x)


class ModulationLayer(nn.Module):
    """See `tsdg.learning.features.Modulation`."""

    hann: Tensor
    taper: Tensor

    def __init__(self, modulation: Modulation, length: int, rate: float | None):
        super().__init__()
        self.segment, edges, self.count = modulation.resolved(length, rate)
        self.bands = Bands(edges, self.segment - 2)  # whose frequencies lack the first
        segments = (length - self.segment) // (self.segment // 8) + 1
        _keep(self, hann=hann(self.segment), taper=taper(segments)[:, None])

    def forward(self, x: Tensor) -> Tensor:
        parts = x.unfold(-1, self.segment, self.segment // 8)
        parts = (parts - parts.mean(-1, keepdim=True)) * self.hann
        power = torch.view_as_real(torch.fft.rfft(parts)).square().sum(-1)[..., 1:]
        floor = _floor(x).unsqueeze(-1) * self.hann.square().sum()
        course = power / torch.maximum(power.mean(-2, keepdim=True), floor)
        course = (course - course.mean(-2, keepdim=True)) * self.taper
        changes = torch.view_as_real(torch.fft.rfft(course, dim=-2)).square().sum(-1).sqrt()
        strength = self.bands(changes[..., 2 : self.count + 1, :])
        return strength.clamp_min(FAINT).log().transpose(-1, -2).flatten(2)


class StatisticsLayer(nn.Module):
    """See `tsdg.learning.features.Statistics`."""

    frequencies: Tensor

    def __init__(self, length: int):
        super().__init__()
        self.length = length
        _keep(self, frequencies=np.fft.rfftfreq(length))

    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean(-1)
        centred = x - mean.unsqueeze(-1)
        deviation = centred.square().mean(-1).sqrt()
        constant = deviation <= FLOOR**0.5 * mean.abs()
        centred = torch.where(constant.unsqueeze(-1), torch.zeros_like(centred), centred)
        positive = centred > 0
        energy = centred.square().sum(-1)
        ordered = x.sort(-1).values
        power = torch.view_as_real(torch.fft.rfft(centred)).square().sum(-1)
        columns = [
            mean,
            deviation,
            *(self._quantile(ordered, share) for share in QUANTILES),
            ordered[..., 0],
            ordered[..., -1],
            (positive[..., 1:] != positive[..., :-1]).double().mean(-1),
            *(
                _share((centred[..., lag:] * centred[..., :-lag]).sum(-1), energy)
                for lag in LAGS
                if lag < self.length
            ),
            _share(power @ self.frequencies, power.sum(-1)),
        ]
        return torch.stack(columns, dim=-1)

    def _quantile(self, ordered: Tensor, share: float) -> Tensor:
        place = share * (self.length - 1)
        low = int(place)
        below, above = ordered[..., low], ordered[..., min(low + 1, self.length - 1)]
        return below + (above - below) * (place - low)


def _share(part: Tensor, whole: Tensor) -> Tensor:
    some = whole > 0
    return torch.where(some, part / torch.where(some, whole, torch.ones_like(whole)), torch.zeros_like(part))


def _keep(module: nn.Module, **arrays: np.ndarray) -> None:
    """Constants of a module, which are no weights of it."""
    for name, array in arrays.items():
        module.register_buffer(name, torch.from_numpy(np.asarray(array, dtype=np.float64)), persistent=False)
