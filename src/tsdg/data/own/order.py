"""Recordings of a machine by the angle of its shaft in place of time, so that what turns with it stays put.

Computed order tracking (Fyfe & Munck, Analysis of computed order tracking, Mechanical Systems and Signal
Processing 11(2), 1997, 187-205): the speed, integrated, gives the angle at each step, and a cubic spline the
signal at even angles. Frequencies are then orders, cycles a revolution.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.integrate
import scipy.interpolate
import scipy.signal

from tsdg.data.own.cut import CutSource
from tsdg.data.own.recordings import Columns, Recording, Source
from tsdg.errors import InputError, nearest

SPEED_UNITS = {"rpm": 60.0, "Hz": 1.0}  # of these, one revolution a second
FINEST = 1000  # samples by the angle for one of the recording, at most
COARSEST = 1_000_000  # and the reverse
STANDSTILL = 0.05  # share of a recording's greatest speed up to which its shaft counts as standing


@dataclass
class Order:
    """Resampling to the shaft's angle.

    Attributes
    ----------
    column : str
        Of the speed: at each step, or one value for a recording. Its sign does not matter.
    unit : {"rpm", "Hz"}
    per_revolution : int
        Samples.
    standing : int
        Time steps found at standstill, which have no angle and are left out.
    """

    column: str
    unit: str = "rpm"
    per_revolution: int = 256
    standing: int = 0

    @property
    def card(self) -> dict[str, str | int]:
        """As a data set's card has it."""
        return {"column": self.column, "unit": self.unit, "per_revolution": self.per_revolution}

    def columns(self, source: Source, columns: Columns) -> Columns:
        """Which columns are read: the speed is a last channel, or a field of each recording."""
        if isinstance(source, CutSource):
            raise InputError(f"order: {source.path} holds windows already cut, whose order is as it is")
        if self.column not in source.names:
            raise InputError(
                f"{source.path}: order: there is no column {self.column!r}"
                f"{nearest(self.column, source.names)}; there are {', '.join(source.names)}"
            )
        if self.column == columns.time:
            raise InputError(
                f"{source.path}: order: {self.column!r} is the time; name the column of the shaft's speed"
            )
        if self.column in source.numeric:
            return replace(columns, channels=[*columns.channels, self.column])
        return replace(columns, fields=[*columns.fields, self.column])

    def tracked(self, part: Recording, rate: float, where: str) -> Iterator[Recording]:
        """A stretch without gaps by the shaft's angle, in parts without a standstill.

        Parameters
        ----------
        part : Recording
            As read with `columns`.
        rate : float
            Hz.
        where : str
            For errors.

        Yields
        ------
        Recording
            At `per_revolution` samples a revolution, each with the label of the nearest earlier step.
        """
        signal, speed = self._speed(part, where)
        self._check(float(speed.max()), rate, where)
        if np.isnan(signal).any():
            raise InputError(
                f"{where} has missing values, which cannot be resampled; fill them or leave it out"
            )
        time = np.arange(len(signal)) / rate if part.time is None else part.time
        turning = speed > STANDSTILL * speed.max()
        self.standing += int((~turning).sum())
        cuts = np.flatnonzero(np.diff(turning)) + 1
        for steps in np.split(np.arange(len(signal)), cuts):
            if turning[steps[0]] and len(steps) > 1:
                angle = scipy.integrate.cumulative_trapezoid(speed[steps], time[steps], initial=0)
                even, at = by_angle(signal[steps], angle, rate / speed[steps].min(), self.per_revolution)
                labels = part.labels[steps][np.searchsorted(angle, at + 1e-9, side="right") - 1]
                yield Recording(part.name, part.fields, even.astype(np.float32), labels, None)

    def _check(self, fastest: float, rate: float, where: str) -> None:
        """Refuse a speed, revolutions a second, or a number of samples that cannot be meant."""
        told = f"{fastest * SPEED_UNITS[self.unit]:,.4g} {self.unit}"
        ratio = self.per_revolution * fastest / rate
        if fastest > rate / 2:
            raise InputError(
                f"{where}: order: {self.column} is up to {told}, more than half a revolution a sample at "
                f"{rate:.4g} Hz; is it of another unit (order_unit), or a wrong value?"
            )
        if ratio > FINEST:
            raise InputError(
                f"{where}: per_revolution: {self.per_revolution} would be {ratio:,.0f} samples for each of "
                f"the recording's; give at most {int(FINEST * rate / fastest)}"
            )
        if ratio * COARSEST < 1:
            raise InputError(
                f"{where}: order: {self.column} is at most {told}, a revolution in {1 / fastest:,.0f} s; is "
                "it of another unit (order_unit)?"
            )

    def _speed(self, part: Recording, where: str) -> tuple[np.ndarray, np.ndarray]:
        """The signal ``(n, C)`` and the speed ``(n,)`` in revolutions a second."""
        if self.column in part.fields:
            text, signal = part.fields[self.column], part.signal
            try:
                value = float(text)
            except ValueError:
                value = np.nan
            speed = np.full(len(signal), value)
        else:
            text, signal, speed = "", part.signal[:, :-1], part.signal[:, -1].astype(float)
        speed = np.abs(speed) / SPEED_UNITS[self.unit]
        if not np.isfinite(speed).all() or not speed.max() > 0:
            found = f"is {text!r}" if self.column in part.fields else "is missing in places, or 0 throughout"
            raise InputError(f"{where}: order: {self.column} {found}, where a speed belongs, {self.unit}")
        return signal.astype(float), speed

    def notes(self) -> list[str]:
        """What was done."""
        notes = [
            f"Resampled to the shaft's angle by {self.column} ({self.unit}): {self.per_revolution} samples a "
            "revolution, which is the card's sampling rate; frequencies are orders."
        ]
        if self.standing:
            notes.append(f"{self.standing:,} time steps at standstill are in no window.")
        return notes


def by_angle(
    signal: np.ndarray, angle: np.ndarray, densest: float, per_revolution: int
) -> tuple[np.ndarray, np.ndarray]:
    """A signal at even angles.

    It is interpolated at no fewer samples than it has anywhere, and then filtered and thinned out, so that no
    order is mistaken for another one at any speed.

    Parameters
    ----------
    signal : numpy.ndarray
        ``(n, C)``.
    angle : numpy.ndarray
        ``(n,)``, revolutions, increasing from 0.
    densest : float
        Most samples a revolution that the signal has anywhere.
    per_revolution : int

    Returns
    -------
    even : numpy.ndarray
        ``(m, C)``.
    at : numpy.ndarray
        ``(m,)``, its angles.
    """
    times = max(1, int(np.ceil(densest / per_revolution))) if angle[-1] * per_revolution >= 1 else 1
    fine = np.arange(int(angle[-1] * per_revolution * times + 1e-9) + 1) / (per_revolution * times)
    mean = signal.mean(0)
    even = scipy.interpolate.CubicSpline(angle, signal - mean)(fine)
    return mean + scipy.signal.resample_poly(even, 1, times), fine[::times]
