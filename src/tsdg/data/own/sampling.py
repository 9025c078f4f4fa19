"""Sampling rates: gaps in time, and recordings brought to one rate."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import scipy

from tsdg.data.own.order import Order
from tsdg.data.own.recordings import Recording
from tsdg.data.own.stamps import GAP, rate_of
from tsdg.errors import InputError

IRREGULAR = 0.01  # share of a period by which steps differ, up to which they count as regular
FARTHEST = 1000  # times a rate, up or down, to which it may be brought
RATES_DIFFER = 0.05  # share by which recordings' rates may differ without resampling


@dataclass
class Sampling:
    """Brings recordings to one rate.

    Attributes
    ----------
    rate : float or None
        Hz of the recordings; found from their times if not given.
    resample : float or None
        Hz that is wanted.
    gap : float
        Sample periods from one step to the next above which a stretch ends.
    order : Order or None
        Resampling to a shaft's angle, in place of `resample`.
    """

    rate: float | None
    resample: float | None
    gap: float = GAP
    order: Order | None = None
    rates: list[float] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        for name, value in (("sampling_rate", self.rate), ("resample", self.resample), ("gap", self.gap)):
            if value is not None and not value > 0:
                raise InputError(f"{name}: {value} is not above 0")
        if self.order and self.resample:
            raise InputError("resample: order resamples to the shaft's angle; leave one of them out")

    @property
    def typical(self) -> float | None:
        """Hz of the recordings: the median of those read so far."""
        return float(np.median(self.rates)) if self.rates else self.rate

    def stretches(self, recording: Recording, where: str) -> Iterator[Recording]:
        """A recording's parts without gaps, at the wanted rate."""
        rate = self.rate
        parts = [recording]
        if recording.time is not None and len(recording.time) > 1:
            steps = np.diff(recording.time)
            rate = rate_of(recording.time, self.gap)
            cuts = np.flatnonzero(steps > self.gap * np.median(steps)) + 1
            parts = [
                Recording(recording.name, recording.fields, *arrays)
                for arrays in zip(
                    *(np.split(a, cuts) for a in (recording.signal, recording.labels, recording.time)),
                    strict=True,
                )
            ]
            self.rates.append(rate)
            self.rate = self.rate or rate
        place = f"{where}: recording {recording.name}"
        if self.order:
            if rate is None:
                raise InputError(
                    f"order: the rate of {where} is not known; name its column with --time, or give "
                    "`sampling_rate`"
                )
            for part in parts:
                yield from self.order.tracked(part, rate, place)
            return
        if self.resample is None:
            if rate and self.rate and abs(rate / self.rate - 1) > RATES_DIFFER:
                raise InputError(
                    f"{place} has a rate of {rate:.4g} Hz, others or `sampling_rate` {self.rate:.4g} Hz; "
                    f"bring all to one rate with `resample`, e.g. resample: {min(rate, self.rate):.3g}"
                )
            yield from parts
            return
        if recording.time is not None and len(recording.time) < 2:
            yield recording
            return
        if rate is None:
            raise InputError(
                f"resample: the rate of {where} is not known; name its column with --time, or give "
                "`sampling_rate`"
            )
        if np.isnan(recording.signal).any():
            raise InputError(
                f"{place} has missing values, which cannot be resampled; fill them or leave it out"
            )
        check_ratio(place, rate, self.resample)
        for part in parts:
            yield resampled(part, rate, self.resample)


def check_ratio(place: str, rate: float, wanted: float) -> None:
    """Refuse a rate that cannot be meant."""
    if not 1 / FARTHEST <= wanted / rate <= FARTHEST:
        raise InputError(
            f"{place}: resample: {wanted:,g} Hz is {wanted / rate:,.4g} times its rate, {rate:.4g} Hz; give "
            f"one within {FARTHEST:,} times of it, or correct the unit of the time (time_unit)"
        )


def resampled(part: Recording, rate: float, wanted: float) -> Recording:
    """A stretch at another rate, its labels those of the nearest earlier step."""
    signal, labels = part.signal.astype(float), part.labels
    if part.time is not None and len(part.time) > 1:
        steps = np.diff(part.time)
        if np.abs(steps * rate - 1).max() > IRREGULAR:
            grid = part.time[0] + np.arange(int((part.time[-1] - part.time[0]) * rate + 1e-6) + 1) / rate
            signal = np.stack([np.interp(grid, part.time, channel) for channel in signal.T], 1)
            labels = labels[np.searchsorted(part.time, grid + 1e-9, side="right") - 1]
    ratio = Fraction(wanted / rate).limit_denominator(1000)
    if ratio != 1:
        mean = signal.mean(0)
        signal = mean + scipy.signal.resample_poly(signal - mean, ratio.numerator, ratio.denominator)
        steps = np.arange(len(signal)) * ratio.denominator // ratio.numerator
        labels = labels[np.minimum(steps, len(labels) - 1)]
    return Recording(part.name, part.fields, signal.astype(np.float32), labels, None)


def plain_rate(rate: float | None) -> float | None:
    """A rate without the last digits that come of dividing: 100.00000000000213 is 100."""
    if rate is None:
        return None
    return float(round(rate)) if abs(rate - round(rate)) < 1e-6 * rate else float(f"{rate:.6g}")
