"""Stamps of time as devices write them: their unit, ties, and the rate that they tell."""

import re

import numpy as np

CLOCKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}  # units that devices write
UNITS = CLOCKS | {"min": 1 / 60, "h": 1 / 3600}
GAP = 5.0  # sample periods

_EPOCH = 6.3e8, 4.1e9  # seconds since 1970, of 1990 to 2099
_HOUR = 3600.0
_CLOCK = re.compile(
    r"(?i)(.*[^a-z])?(time_?stamps?|date_?times?|times?|dates?|epoch|ts|t|clock|(milli|micro|nano)?sec(ond)?s?"
    r"|elapsed|uptime|millis|micros|nanos)([^a-z].*)?"
)
_COUNT = re.compile(
    r"(?i)(unnamed: ?0|(.*[_ ])?(index|idx|rows?|frames?|counter|seq(uence)?)([_ ](id|no|number))?)"
)


def names_a_clock(name: str) -> bool:
    """Whether a column's name is a time's, as ``timestamp``, ``t``, ``Time (s)``, ``arrival_time`` are."""
    return _CLOCK.fullmatch(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)) is not None


def unit_of(stamps: np.ndarray) -> str | None:
    """The unit of a recording's stamps ``(n,)`` by their magnitude; None where nothing tells.

    Stamps that are years from 1990 to 2099 in some unit, since 1970, are of this unit if their steps are of
    an hour at most, or of whole hours; others are seconds, unless these are of 10,000 (microseconds) or of a
    million and more (nanoseconds), as of a device that counts since it was switched on.
    """
    steps = np.diff(stamps)
    steps = steps[steps > 0]
    if not len(steps):
        return None
    step, first = float(np.median(steps)), float(stamps[0])
    for unit, scale in CLOCKS.items():
        in_use = step / scale <= _HOUR or (step / scale) % _HOUR == 0
        if _EPOCH[0] <= first / scale < _EPOCH[1] and in_use:
            return unit
    if (stamps != np.round(stamps)).any():
        return "s"
    return "ns" if step >= 1e6 else "us" if step >= 1e4 else "s"


def names_a_count(name: str) -> bool:
    """Whether a column's name is a count of rows', as ``index`` and ``frame_id`` are."""
    return _COUNT.fullmatch(name) is not None


def is_epoch(stamp: float) -> bool:
    """Whether a stamp is a moment from 1990 to 2099 in some unit, since 1970."""
    return any(_EPOCH[0] <= stamp / scale < _EPOCH[1] for scale in CLOCKS.values())


def spread(stamps: np.ndarray) -> np.ndarray:
    """Non-decreasing stamps ``(n,)`` with ties, which share the time to the next one evenly.

    A tie's steps are at most `GAP` of the usual ones, so that it does not reach across a gap.
    """
    first = np.flatnonzero(np.r_[True, np.diff(stamps) > 0])
    sizes = np.diff(np.r_[first, len(stamps)])
    if len(first) < 2:
        return stamps
    each = np.diff(stamps[first]) / sizes[:-1]
    usual = float(np.median(each))
    each = np.r_[np.minimum(each, GAP * usual), usual]
    return stamps + np.repeat(each, sizes) * (np.arange(len(stamps)) - np.repeat(first, sizes))


def rate_of(time: np.ndarray, gap: float = GAP) -> float:
    """Hz of a recording of two or more steps: the mean over what is not a gap."""
    steps = np.diff(time)
    return 1 / float(steps[steps <= gap * np.median(steps)].mean())


def resolution(time: np.ndarray, period: float) -> float:
    """Seconds to which times are rounded, where that is well below a sample period; else 0."""
    for step in (1.0, 0.1, 0.01, 1e-3, 1e-4):
        offsets = (time - time[0]) / step
        if step <= period / 4 and np.abs(offsets - np.round(offsets)).max() < 1e-3:
            return step
    return 0.0
