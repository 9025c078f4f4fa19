"""Simulated HHAR recordings in the official layout: users with a gait of their own, phones with their faults.

Each user does each activity twice, interrupted by rows without a label. A phone has its own bias, gain,
noise, orientation, sampling rate and clock. As in the official file, rows are not in the order of time, some
are there twice, and clocks jump.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from tsdg.data.hhar.raw import CLASSES, CSV, MODELS, NO_LABEL
from tsdg.data.simulated import SIMULATED_COLUMN, is_simulated, refuse_to_replace
from tsdg.errors import InputError
from tsdg.files import atomic

USERS = ("a", "b", "c", "d")  # d, like others in the official file, is in no domain
RATES = dict(zip(MODELS, (200, 150, 100, 50), strict=True))
EPOCH, UPTIME = 1_424_696_631_913_248_572, 194_012_345_678_901  # nanoseconds
COLUMNS = ("Index", "Arrival_Time", "Creation_Time", "x", "y", "z", "User", "Model", "Device", "gt")

_NULL, _REPEATED, _JUMP = 0.1, 0.005, 3600 * 10**9  # share of time, share of rows, nanoseconds
_GRAVITY = 9.81


@dataclass(frozen=True)
class _Motion:
    """An activity: pitch of the thigh (rad), its swing, steps a second, harmonics of a step, shaking."""

    pitch: float
    swing: float
    pace: float
    harmonics: tuple[float, ...]
    shaking: float


_MOTIONS = {
    "bike": _Motion(0.7, 0.5, 1.1, (0.6, 0.3), 0.9),
    "stand": _Motion(0.0, 0.02, 0.3, (0.03,), 0.06),
    "sit": _Motion(1.3, 0.01, 0.2, (0.02,), 0.05),
    "walk": _Motion(0.1, 0.25, 1.9, (2.5, 1.5, 0.6), 0.5),
    "stairsdown": _Motion(0.1, 0.15, 2.1, (3.0, 1.2, 1.8, 1.4), 0.8),
    "stairsup": _Motion(0.45, 0.35, 1.5, (1.6, 1.0, 0.3), 0.5),
    NO_LABEL: _Motion(0.3, 0.10, 0.7, (1.0, 0.5), 0.8),
}


def simulate(
    out: str | Path,
    *,
    seed: int = 0,
    rows: int = 1_000_000,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Write a simulated ``Phones_accelerometer.csv``.

    A last column says that it is simulated.

    Parameters
    ----------
    out : path
        Folder of the raw recordings.
    seed : int
    rows : int
        About how many rows, at least 200,000; the official file has 13 million.
    progress : callable, optional
        Called with the phones written and the phones in all.

    Returns
    -------
    list of Path
        The file.

    Raises
    ------
    InputError
        If an option is bad, or `out` holds a file of this name that is not simulated.
    """
    if rows < 200_000:
        raise InputError(f"rows: {rows} are too few for windows in every domain; give at least 200000")
    if seed < 0:
        raise InputError(f"seed: {seed} is negative; give 0 or more")
    path = Path(out) / CSV
    refuse_to_replace([path], is_simulated)
    seconds = rows / (2 * len(USERS) * sum(RATES.values()))  # of each user and device
    phones = [(user, model, number) for model in MODELS for number in (1, 2) for user in USERS]
    try:
        with atomic(path) as temporary, open(temporary, "wb") as file:
            file.write(",".join((*COLUMNS, SIMULATED_COLUMN)).encode() + b"\n")
            options = pa.csv.WriteOptions(include_header=False, quoting_style="none")
            for done, (user, model, number) in enumerate(phones, start=1):
                for bout in _bouts(user, model, number, seconds, seed):
                    pa.csv.write_csv(bout, file, options)
                if progress:
                    progress(done, len(phones))
    except OSError as error:
        raise InputError(
            f"{path}: could not be written ({error.strerror or error}); "
            "make room or choose another folder, then simulate again"
        ) from error
    return [path]


def _bouts(user: str, model: str, number: int, seconds: float, seed: int) -> Iterator[pa.Table]:
    """What one user did with one phone, the stretches in any order."""
    person = np.random.default_rng([seed, 1, ord(user)])
    pace, force, lean = person.normal(1, 0.08), person.normal(1, 0.15), person.normal(0, 0.12)
    timbre = np.exp(person.normal(0, 0.25, 4))  # of the harmonics
    device = np.random.default_rng([seed, 2, MODELS.index(model), number])
    bias, gain = device.normal(0, 0.25, 3), device.normal(1, 0.03, 3)
    turn, noise = _rotation(device.normal(0, 0.25, 3)), 0.02 * (1 + MODELS.index(model))
    rate = RATES[model]
    rng = np.random.default_rng([seed, 3, ord(user), MODELS.index(model), number])

    labels = [label for name in CLASSES for label in (name, NO_LABEL, name)]
    shares = [_NULL if label == NO_LABEL else (1 - _NULL) / 2 for label in labels]
    lengths = [round(seconds / len(CLASSES) * share * rate) for share in shares]
    start = EPOCH if model in ("nexus4", "s3") else UPTIME
    bouts = []
    for label, length in zip(labels, lengths, strict=True):
        motion = _MOTIONS[label]
        time = np.cumsum(rng.uniform(0.9, 1.1, length)) / rate
        cycles = motion.pace * pace * time + 0.02 * np.cumsum(rng.normal(size=length)) / rate**0.5
        phase = 2 * np.pi * (cycles + rng.uniform())
        pitch = motion.pitch + lean + rng.normal(0, 0.05) + motion.swing * np.sin(phase / 2)
        up = _GRAVITY + force * sum(
            amplitude * tone * np.cos(order * phase)
            for order, (amplitude, tone) in enumerate(zip(motion.harmonics, timbre, strict=False), start=1)
        )
        forward = 0.5 * force * motion.harmonics[0] * np.sin(phase + 0.7)
        side = 0.3 * force * motion.harmonics[0] * np.sin(phase / 2)
        body = np.stack(
            [
                side,
                up * np.cos(pitch) - forward * np.sin(pitch),
                up * np.sin(pitch) + forward * np.cos(pitch),
            ],
            axis=1,
        ) + rng.normal(0, motion.shaking, (length, 3))
        signal = gain * (body @ turn.T) + bias + rng.normal(0, noise, (length, 3))
        clock = start + np.round(time * 1e9).astype(np.int64)
        start = int(clock[-1]) + 10**9
        bouts.append((label, signal, clock))
    jumping = bouts[int(rng.integers(len(bouts)))][2]
    jumping[len(jumping) // 2 :] += _JUMP
    for place in rng.permutation(len(bouts)):
        label, signal, clock = bouts[place]
        again = rng.choice(len(clock), round(_REPEATED * len(clock)), replace=False)
        order = np.concatenate([np.arange(len(clock)), np.sort(again)])
        yield _table(user, model, f"{model}_{number}", label, signal[order].astype(np.float32), clock[order])


def _rotation(angles: np.ndarray) -> np.ndarray:
    """Rotation by small angles about x, then y, then z."""
    matrix = np.eye(3)
    for axis, angle in enumerate(angles):
        one = np.eye(3)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        one[[i, i, j, j], [i, j, i, j]] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
        matrix = one @ matrix
    return matrix


def _table(user: str, model: str, device: str, label: str, signal: np.ndarray, clock: np.ndarray) -> pa.Table:
    rows = len(clock)
    arrival = EPOCH // 10**6 + (clock - clock[0]) // 10**6
    texts = [pa.repeat(pa.scalar(text), rows) for text in (user, model, device, label)]
    columns = [np.arange(rows), arrival, clock, *np.ascontiguousarray(signal.T)]
    return pa.table(
        [*(pa.array(column) for column in columns), *texts, pa.repeat(pa.scalar(1), rows)],
        names=[*COLUMNS, SIMULATED_COLUMN],
    )
