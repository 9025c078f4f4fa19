"""Features of windows, for estimators: spectra, envelope spectra, modulation and statistics.

Features are named in params.yaml: one name, a mapping with its options, or a list of both::

    features: spectrum
    features: [{spectrum: {level: whitened}}, envelope]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np

from tsdg.errors import InputError, nearest

LEVELS = ("plain", "centred", "whitened")
LONG = 1024  # time steps from which a window has several segments
FLOOR = 1e-14  # of a window's mean square: what float32 cannot tell from nothing
FAINT = 1e-3  # modulation that counts as none; noise has about 1
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
LAGS = (1, 2, 4, 8)  # time steps
LIMITS = {
    "bands": (2, 2**20, "whole number from 2"),
    "segment": (8, 2**20, "whole number from 8, at most a window's time steps"),
    "smooth": (0.1, 1000.0, "number from 0.1 to 1000"),
    "above": (1e-9, 1e12, "number above 0"),
    "highest": (1e-9, 1e12, "number above 0"),
}

Spec = str | Mapping[str, Any] | Sequence[Any]


class Feature(Protocol):
    """Features of one kind."""

    def __call__(self, x: np.ndarray, rate: float | None) -> np.ndarray:
        """Features ``(N, C, F)`` of windows ``(N, C, T)``, each of its own window alone."""


@dataclass(frozen=True)
class Spectrum:
    """Logarithm of the power in bands of frequency, from one step above 0 to half the sampling rate.

    Power is Welch's: the mean over Hann segments with half overlap, each less its mean.

    Parameters
    ----------
    bands : int, optional
        Of equal width. Default: 128, or as many as a segment resolves.
    segment : int, optional
        Time steps. Default: a quarter of a window of 1,024 time steps or more, else all of it.
    level : {"plain", "centred", "whitened"}
        The log power; less the window's mean over channels and bands; or less its smooth course over the
        bands of each channel.
    smooth : float
        Standard deviation of the Gaussian that smooths that course, in bands.
    """

    bands: int | None = None
    segment: int | None = None
    level: str = "centred"
    smooth: float = 8.0

    def __call__(self, x: np.ndarray, rate: float | None) -> np.ndarray:
        segment, edges = self.resolved(x.shape[-1])
        power = np.add.reduceat(_welch(x, segment), edges[:-1], axis=-1) / np.diff(edges)
        return _levelled(_log(power, x), self.level, self.smooth)

    def resolved(self, length: int) -> tuple[int, np.ndarray]:
        """Time steps of a segment, and the first of its frequencies in each band and beyond the last."""
        segment = _segment(self.segment, length)
        bands = self.bands or min(128, segment // 2)
        if bands < 2:
            raise InputError(f"spectrum: a window of {length} time steps has one band; give longer windows")
        _check_bands("spectrum", bands, segment)
        return segment, 1 + np.linspace(0, segment // 2, bands + 1).round().astype(int)


@dataclass(frozen=True)
class Envelope:
    """Log power spectrum of the envelope: how fast the strength of high frequencies changes.

    The envelope is the magnitude of the analytic signal (Hilbert transform) of what lies above a cut-off. Its
    power is Welch's, at every frequency of a segment up to `highest`: in rolling bearings, where the rates at
    which a fault is rolled over lie (Randall and Antoni, Rolling element bearing diagnostics, MSSP 2011).

    Parameters
    ----------
    above : float, optional
        Cut-off, Hz. Default: a sixth of the sampling rate (2,000 Hz at 12 kHz).
    highest : float, optional
        Hz. Default: 1/32 of the sampling rate (375 Hz at 12 kHz).
    segment : int, optional
        Time steps. Default: half a window of 1,024 time steps or more, else all of it.
    level, smooth
        See `Spectrum`.
    """

    above: float | None = None
    highest: float | None = None
    segment: int | None = None
    level: str = "whitened"
    smooth: float = 8.0

    def __call__(self, x: np.ndarray, rate: float | None) -> np.ndarray:
        segment, count, gains = self.resolved(x.shape[-1], rate)
        envelope = np.abs(np.fft.ifft(np.fft.fft(x) * gains))
        return _levelled(_log(_welch(envelope, segment)[..., 1 : count + 1], x), self.level, self.smooth)

    def resolved(self, length: int, rate: float | None) -> tuple[int, int, np.ndarray]:
        """Time steps of a segment, how many of its frequencies, and the gains of an analytic signal."""
        above = _share_of_rate("envelope", "above", self.above, rate) or 1 / 6
        highest = _share_of_rate("envelope", "highest", self.highest, rate) or 1 / 32
        segment = _segment(self.segment, length, parts=2)
        count = int(highest * segment)
        if not 1 <= count <= segment // 2:
            raise InputError(
                f"envelope: no frequency of a segment of {segment} time steps lies up to `highest`; "
                "give a higher one or longer segments"
            )
        gains = 2.0 * (np.fft.fftfreq(length) >= above)
        if not gains.any():
            raise InputError("envelope: `above` is above half the sampling rate; give a lower cut-off")
        return segment, count, gains


@dataclass(frozen=True)
class Modulation:
    """Log spectrum of how power changes over time, in bands of frequency, whatever filter it came through.

    The power of each frequency of Hann segments, an eighth of a segment apart and each less its mean, is
    divided by its mean over the window: a filter whose response is short against a segment changes nothing.
    The magnitudes of its spectrum over time, from the second frequency on, are averaged in each band. A
    relative of cyclic coherence (Antoni, Cyclic spectral analysis of rolling-element bearing signals:
    useful hints with practical applications, Journal of Sound and Vibration, 2007).

    Parameters
    ----------
    bands : int, optional
        Of equal width, between 0 and half the sampling rate. Default: 8, or as many as a segment resolves.
    segment : int, optional
        Time steps. Default: 1/32 of a window, 8 at least.
    highest : float, optional
        Of the changes, Hz. Default: 1/32 of the sampling rate (375 Hz at 12 kHz).
    """

    bands: int | None = None
    segment: int | None = None
    highest: float | None = None

    def __call__(self, x: np.ndarray, rate: float | None) -> np.ndarray:
        segment, edges, count = self.resolved(x.shape[-1], rate)
        parts = np.empty((*x.shape[:2], len(edges) - 1, count - 1))
        for k, window in enumerate(x):  # one at a time: its segments take many times its memory
            parts[k] = self._of(window, segment, edges, count)
        return parts.reshape(len(x), x.shape[1], (len(edges) - 1) * (count - 1))

    def _of(self, x: np.ndarray, segment: int, edges: np.ndarray, count: int) -> np.ndarray:
        window = hann(segment)
        parts = np.lib.stride_tricks.sliding_window_view(x, segment, axis=-1)[:, :: segment // 8]
        parts = (parts - parts.mean(-1, keepdims=True)) * window
        power = np.square(np.abs(np.fft.rfft(parts)[..., 1:]))  # (C, segments, frequencies)
        floor = _floor(x)[..., None] * np.square(window).sum()
        course = power / np.maximum(power.mean(-2, keepdims=True), floor)
        shape = taper(course.shape[-2])[:, None]
        changes = np.abs(np.fft.rfft((course - course.mean(-2, keepdims=True)) * shape, axis=-2))
        strength = np.add.reduceat(changes[:, 2 : count + 1], edges[:-1], axis=-1) / np.diff(edges)
        return np.log(np.maximum(strength, FAINT)).swapaxes(-1, -2)

    def resolved(self, length: int, rate: float | None) -> tuple[int, np.ndarray, int]:
        """Time steps of a segment, its first frequency in each band and beyond, and how many changes."""
        segment = _segment(self.segment or max(8, length // 32), length)
        bands = self.bands or min(8, segment // 2)
        _check_bands("modulation", bands, segment)
        highest = _share_of_rate("modulation", "highest", self.highest, rate) or 1 / 32
        steps = (length - segment) // (segment // 8) + 1
        count = int(highest * steps * (segment // 8))
        if count < 2:
            raise InputError(
                f"modulation: {steps} segments of {segment} time steps tell no change up to `highest`; give "
                "a higher one, shorter segments or longer windows (71 time steps by default)"
            )
        if count > steps // 2:
            raise InputError(
                f"modulation: {steps} segments of {segment} time steps tell no change as fast as `highest`; "
                "give a lower one or shorter segments"
            )
        return segment, np.linspace(0, segment // 2, bands + 1).round().astype(int), count


@dataclass(frozen=True)
class Statistics:
    """Mean, standard deviation, quantiles, extremes, zero crossings, autocorrelation, spectral centroid.

    Quantiles are at 5, 25, 50, 75 and 95 %; crossings are those of the window's mean, a share of all steps;
    autocorrelation is at lags of 1, 2, 4 and 8 time steps, as far as a window is longer; the centroid is the
    mean frequency, weighted by power. Of a constant window the last three are 0.
    """

    def __call__(self, x: np.ndarray, rate: float | None) -> np.ndarray:
        mean, deviation = x.mean(-1), x.std(-1)
        centred = x - mean[..., None]
        centred[deviation <= np.sqrt(FLOOR) * np.abs(mean)] = 0.0
        positive = centred > 0
        energy = np.square(centred).sum(-1)
        lags = [lag for lag in LAGS if lag < x.shape[-1]]
        products = [(centred[..., lag:] * centred[..., :-lag]).sum(-1) for lag in lags]
        power = np.square(np.abs(np.fft.rfft(centred)))
        columns = [
            mean,
            deviation,
            *np.quantile(x, QUANTILES, axis=-1),
            x.min(-1),
            x.max(-1),
            (positive[..., 1:] != positive[..., :-1]).mean(-1),
            *(_share(product, energy) for product in products),
            _share(power @ np.fft.rfftfreq(x.shape[-1]), power.sum(-1)),
        ]
        return np.stack(columns, axis=-1)


FEATURES: dict[str, type[Any]] = {
    "spectrum": Spectrum,
    "envelope": Envelope,
    "modulation": Modulation,
    "statistics": Statistics,
}


class Features:
    """Features of several kinds side by side.

    Parameters
    ----------
    spec : str, mapping or sequence
        See the module.
    rate : float, optional
        Sampling rate of the windows in Hz, where it is known.

    Raises
    ------
    InputError
        A kind, option or value is unknown.
    """

    def __init__(self, spec: Spec, rate: float | None = None):
        self.rate = rate
        self.parts: list[Feature] = [_feature(name, options, rate) for name, options in named(spec)]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Features ``(N, F)``, float64, of windows ``(N, C, T)``; channel by channel within a kind.

        Raises
        ------
        InputError
            A value is missing, or the windows are too short for an option.
        """
        x = np.asarray(x, dtype=np.float64)
        if not np.isfinite(x).all():
            raise InputError(
                "windows with missing values have no features; give the data set `standardize: sources` in "
                "params.yaml, which fills them"
            )
        parts = [part(x, self.rate) for part in self.parts]
        return np.concatenate([f.reshape(len(x), f.shape[1] * f.shape[2]) for f in parts], axis=1)


def named(spec: Spec) -> list[tuple[str, dict[str, Any]]]:
    """Names and options of a specification, in their order."""
    if isinstance(spec, str):
        return [(spec, {})]
    if isinstance(spec, Mapping):
        for name, options in spec.items():
            if not isinstance(options, Mapping | None):
                raise InputError(
                    f"features: {name}: {options!r} are no options; write {{{name}: {{option: value}}}}"
                )
        return [(name, dict(options or {})) for name, options in spec.items()]
    return [pair for item in spec for pair in named(item)]


def _feature(name: str, options: Mapping[str, Any], rate: float | None) -> Feature:
    if name not in FEATURES:
        if name == "windows":
            raise InputError("features: windows as they are stand alone; write features: windows")
        known = [*FEATURES, "windows"]
        raise InputError(f"features: {name!r} is unknown{nearest(name, known)}; there are {', '.join(known)}")
    cls = FEATURES[name]
    names = [field.name for field in fields(cls)]
    for option in options:
        if option not in names:
            raise InputError(
                f"features: {name} has no option {option!r}{nearest(option, names)}; "
                f"it has {', '.join(names) or 'none'}"
            )
    if (level := options.get("level")) not in (None, *LEVELS):
        raise InputError(
            f"features: {name}: level {level!r} is unknown{nearest(level, LEVELS)}; choose one of "
            f"{', '.join(LEVELS)}"
        )
    for option, value in options.items():
        if option == "level":
            continue
        low, high, words = LIMITS[option]
        if (
            type(value) not in ((int,) if words.startswith("whole") else (int, float))
            or not low <= value <= high
        ):
            raise InputError(f"features: {name}: {option} is {value!r}; give a {words}")
        if rate and option in ("above", "highest") and value > rate / 2:
            raise InputError(
                f"features: {name}: {option} is {value:g} Hz, above half the sampling rate; give at most "
                f"{rate / 2:g}"
            )
    return cls(**options)


def _segment(given: int | None, length: int, parts: int = 4) -> int:
    segment = given or (length // parts if length >= LONG else length)
    if segment > length:
        raise InputError(f"a segment has {segment} time steps, a window {length}; give shorter segments")
    return segment


def _check_bands(feature: str, bands: int, segment: int) -> None:
    if bands > segment // 2:
        raise InputError(
            f"{feature}: {bands} bands, but a segment of {segment} time steps tells {segment // 2} "
            "frequencies apart; give fewer bands or longer segments"
        )


def _welch(x: np.ndarray, segment: int) -> np.ndarray:
    """Power ``(..., segment // 2 + 1)`` by frequency."""
    from scipy.signal import welch  # which takes its time to load, and a study is checked without

    return welch(x, nperseg=segment, noverlap=segment // 2, window="hann", detrend="constant")[1]


def _log(power: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(power, _floor(x)))


def _floor(x: np.ndarray) -> np.ndarray:
    """Power ``(..., 1)`` below which float32 tells nothing from the rest of a window."""
    return FLOOR * np.square(x).mean(-1, keepdims=True) + np.finfo(np.float32).tiny


def hann(length: int) -> np.ndarray:
    """Hann's window, periodic, as Welch's segments have it."""
    return np.sin(np.pi * np.arange(length) / length) ** 2


def taper(length: int) -> np.ndarray:
    """Hann's, without zeros and of unit power."""
    shape = np.sin(np.pi * (np.arange(length) + 0.5) / length) ** 2
    return shape / np.sqrt(np.square(shape).sum())


def _share_of_rate(feature: str, name: str, value: float | None, rate: float | None) -> float | None:
    if value is not None and rate is None:
        raise InputError(
            f"{feature}: `{name}` is in Hz, and the data set's sampling rate is not known; "
            "give `sampling_rate` in its `prepare`, or leave the option out"
        )
    return value / rate if value is not None and rate else None


def _levelled(spectrum: np.ndarray, level: str, smooth: float) -> np.ndarray:
    if level == "plain":
        return spectrum
    if level == "centred":
        return spectrum - spectrum.mean((-2, -1), keepdims=True)
    from scipy.ndimage import gaussian_filter1d

    return spectrum - gaussian_filter1d(spectrum, smooth, axis=-1, mode="nearest")


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
