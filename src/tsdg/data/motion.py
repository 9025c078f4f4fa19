"""Simulated movement of a sensor at the waist: acceleration (g) and turning rate (rad/s), at 50 Hz.

Everybody has a pace, a force and a way of wearing the sensor.
"""

from typing import NamedTuple

import numpy as np

from tsdg.errors import InputError

RATE = 50
CHANNELS = 6  # acceleration, then turning rate: x, y, z each
ACTIVITIES = {  # pitch (rad), steps a second, their force (g), asymmetry
    1: (0.0, 1.9, 0.30, 0.2),  # walking
    2: (0.3, 1.6, 0.22, 0.5),  # upstairs
    3: (-0.1, 2.1, 0.45, 0.6),  # downstairs
    4: (0.7, 0.3, 0.005, 0.1),  # sitting
    5: (0.05, 0.4, 0.010, 0.1),  # standing
    6: (1.5, 0.25, 0.005, 0.1),  # lying
}


class Body(NamedTuple):
    """How somebody moves and wears the sensor."""

    pace: float
    force: float
    lean: float
    bias: np.ndarray


def check_options(seconds: float, seed: int) -> None:
    """Raise `InputError` for seconds of a bout, or a seed, that cannot be simulated."""
    if not 5 <= seconds <= 3600:
        raise InputError(f"seconds: {seconds:g} is not from 5 to 3600; give a number that is")
    if seed < 0:
        raise InputError(f"seed: {seed} is negative; give 0 or more")


def body(person: int, seed: int) -> Body:
    """Somebody's body."""
    rng = np.random.default_rng([seed, 1, person])
    pace, force, lean = np.exp(rng.normal(0, 0.08)), np.exp(rng.normal(0, 0.25)), rng.normal(0, 0.15)
    return Body(pace, force, lean, rng.normal(0, 0.03, CHANNELS))


def bout(body: Body, activity: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Somebody does something for so many time steps: float64, ``(count, 6)``."""
    pitch, steps, strength, asymmetry = ACTIVITIES[activity]
    pitch += body.lean + rng.normal(0, 0.05)
    cycles = steps * body.pace * np.arange(count) / RATE + np.cumsum(rng.normal(0, 0.01, count))
    phase = 2 * np.pi * cycles + rng.uniform(0, 2 * np.pi)
    step = body.force * strength * (np.sin(phase) + asymmetry * np.sin(2 * phase + 1))
    swing = body.force * strength * np.sin(phase / 2)
    signal = np.stack(
        [
            np.cos(pitch) + step, 0.4 * swing, np.sin(pitch) + 0.5 * step,
            2 * swing, 1.5 * np.gradient(step) * RATE / 10, swing * asymmetry,
        ],
        1,
    )  # fmt: skip
    return signal + (body.bias + rng.normal(0, 0.02, signal.shape))
