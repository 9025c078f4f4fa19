"""Simulated raw recordings in the official layouts, for a first run without the real ones.

A damaged bearing hits its mate once per passage over the damage. The hits excite the machine's
resonances, which each sensor hears through its own path, above the shaft's harmonics and background noise.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io
import scipy.signal

from tsdg.data.bearings.raw import SIMULATED_MARK, decimate, is_simulated, signal_name
from tsdg.data.bearings.recordings import NORMAL_SAMPLING_RATE, SAMPLING_RATE, choose, read_table
from tsdg.data.simulated import refuse_to_replace
from tsdg.errors import InputError
from tsdg.files import atomic

RATE = NORMAL_SAMPLING_RATE  # everything is simulated at 48 kHz, then decimated as the official files are


@dataclass(frozen=True)
class _Bearing:
    """Passages over a damage for each turn of the shaft, and turns of the cage."""

    inner: float
    outer: float
    ball: float
    cage: float


@dataclass(frozen=True)
class _Path:
    """From a bearing to a sensor: resonances (Hz), damping, gains, total gain, delay (s)."""

    resonances: tuple[float, ...]
    damping: tuple[float, ...]
    gains: tuple[float, ...]
    gain: float = 1.0
    delay: float = 0.0


_BEARINGS = {
    "drive end": _Bearing(inner=5.4152, outer=3.5848, ball=4.7135, cage=0.39828),  # SKF 6205
    "fan end": _Bearing(inner=4.9469, outer=3.0530, ball=3.9874, cage=0.3817),  # SKF 6203
}
_PATHS = {
    ("drive end", "DE"): _Path((1350, 2850, 3480), (0.05, 0.03, 0.025), (0.3, 1.0, 0.8)),
    ("drive end", "FE"): _Path((1050, 2550, 4150), (0.06, 0.04, 0.03), (0.6, 0.6, 1.0), 0.45, 4e-4),
    ("fan end", "FE"): _Path((1200, 2400, 4050), (0.05, 0.035, 0.025), (0.4, 0.9, 1.0)),
    ("fan end", "DE"): _Path((1350, 2700, 3300), (0.06, 0.04, 0.03), (0.7, 0.8, 0.5), 0.45, 4e-4),
}
_NOISE = {
    "DE": _Path((180, 1100, 4200), (0.5, 0.15, 0.05), (0.5, 0.4, 1.0), 0.12),
    "FE": _Path((120, 700, 4100), (0.5, 0.20, 0.06), (0.7, 0.6, 0.9), 0.10),
}
_SHAFT = {"DE": (0.020, 0.012, 0.006), "FE": (0.028, 0.010, 0.012)}  # amplitudes of the first harmonics
_AMPLITUDE = {"IF": 1.2, "BF": 0.6, "OF": 1.5}
_STRENGTH = {0.007: 0.7, 0.014: 1.0, 0.021: 1.5}
_STIFFENING = 0.012  # relative shift of the resonances with each load
_DETUNING = 0.025  # and from mounting to mounting
_MOUNTING = 0.6  # spread of log gains from mounting to mounting


def simulate(
    out: str | Path,
    *,
    seed: int = 0,
    seconds: float = 121_000 / SAMPLING_RATE,
    location: str = "sensor",
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Write simulated Bearings recordings under the official numbers.

    The files say in their header that they are simulated, and depend on `seed` and `seconds` alone.

    Parameters
    ----------
    out : path
        Folder of the raw recordings.
    seed : int
        Every recording draws from a stream of its own number.
    seconds : float
        Length of a recording, at least 1; the normal one of load 0 is half as long, as in the
        official files.
    location : {"sensor", "both"}
        ``sensor``: what `tsdg.data.bearings.prepare.prepare` needs by default. ``both``: all recordings of
        the packaged table.
    progress : callable, optional
        Called with the files written and the files in all.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InputError
        If an option is bad, or `out` holds recordings of these numbers that are not simulated ones.
    """
    if not 1 <= seconds <= 600:
        raise InputError(f"seconds: {seconds:g} is not from 1 to 600; give a number that is")
    if seed < 0:
        raise InputError(f"seed: {seed} is negative; give 0 or more")
    if location not in ("sensor", "both"):
        raise InputError(f"location: {location!r} is unknown; choose sensor or both")
    out = Path(out)
    table = read_table()
    numbers = sorted({view.number for view in choose(table)}) if location == "sensor" else list(table.index)
    paths = [out / f"{number}.mat" for number in numbers]
    refuse_to_replace(paths, is_simulated)
    try:
        out.mkdir(parents=True, exist_ok=True)
        for done, (number, path) in enumerate(zip(numbers, paths, strict=True), start=1):
            _write(path, _recording(number, table.loc[number], seed, seconds), seed)
            if progress:
                progress(done, len(paths))
    except OSError as error:
        raise InputError(
            f"{out}: the recordings could not be written ({error.strerror or error}); "
            "make room or choose another folder, then simulate again"
        ) from error
    return paths


def _recording(number: int, row: pd.Series, seed: int, seconds: float) -> dict[str, np.ndarray]:
    """The variables of one file."""
    rng = np.random.default_rng([seed, number])
    normal = row.fault == "normal"
    half = normal and row.load == 0
    samples = round(seconds * SAMPLING_RATE / (2 if half else 1)) * RATE // SAMPLING_RATE
    rpm = round(row.rpm + rng.integers(-3, 4))
    turns = rpm / 60 * np.arange(samples) / RATE + rng.uniform()
    hits = None if normal else _hits(turns, row, rng)
    variables = {}
    for sensor in ("DE", "FE"):
        signal = _background(turns, sensor, row.load, rng)
        if hits is not None:
            signal += _response(hits, _PATHS[row.location, sensor], row.load, rng)
        variables[signal_name(number, sensor)] = signal if normal else decimate(signal)
    return {name: signal[:, None] for name, signal in variables.items()} | {
        f"X{number:03d}RPM": np.array([[float(rpm)]])
    }


def _hits(turns: np.ndarray, row: pd.Series, rng: np.random.Generator) -> np.ndarray:
    """Impulses at the damage's passages; a larger damage has harder, duller and more uneven double hits."""
    bearing = _BEARINGS[row.location]
    rate = {"IF": bearing.inner, "BF": bearing.ball, "OF": bearing.outer}[row.fault]
    count = int((turns[-1] - turns[0]) * rate)
    passages = turns[0] + np.cumsum(1 + rng.normal(0, 0.01, count)) / rate  # the balls slip
    zone = {  # the load zone below, passed by the turning damage
        "IF": 0.55 + 0.45 * np.cos(2 * np.pi * passages),
        "BF": 0.6 + 0.4 * np.cos(2 * np.pi * bearing.cage * passages),
        "OF": np.full(count, 0.7 if row.clock == 3 else 1.0),
    }[row.fault]
    unevenness = 10 * row["size"]
    force = _AMPLITUDE[row.fault] * _STRENGTH[row["size"]] * zone
    force *= np.exp(rng.normal(0, unevenness, count) - unevenness**2 / 2)
    impulses = np.zeros(len(turns))
    width = row["size"] / 0.007 * 1.1e-4  # seconds from the ball's entry into the damage to its exit
    for delay, share in ((0, 0.5), (width, 1.0)):
        at = np.searchsorted(turns, passages) + round(delay * RATE)
        inside = at < len(turns)
        np.add.at(impulses, at[inside], share * force[inside])
    dullness = np.exp(-2 * np.pi * {0.007: 5500, 0.014: 3500, 0.021: 2200}[row["size"]] / RATE)
    return scipy.signal.lfilter([1 - dullness], [1, -dullness], impulses)


def _background(turns: np.ndarray, sensor: str, load: int, rng: np.random.Generator) -> np.ndarray:
    """Shaft harmonics and coloured noise."""
    signal = _response(rng.normal(0, 0.05, len(turns)), _NOISE[sensor], load, rng)
    signal += 0.01 * rng.normal(size=len(turns))
    for order, amplitude in enumerate(_SHAFT[sensor], start=1):
        signal += amplitude * np.sin(2 * np.pi * order * turns + rng.uniform(0, 2 * np.pi))
    return signal


def _response(force: np.ndarray, path: _Path, load: int, rng: np.random.Generator) -> np.ndarray:
    """Sum of the decaying resonances that a force excites, a little different at every mounting."""
    delayed = np.concatenate([np.zeros(round(path.delay * RATE)), force])[: len(force)]
    signal = np.zeros(len(force))
    for resonance, damping, gain in zip(path.resonances, path.damping, path.gains, strict=True):
        omega = 2 * np.pi * resonance * (1 + _STIFFENING * load + rng.normal(0, _DETUNING)) / RATE
        gain *= np.exp(rng.normal(0, _MOUNTING))
        decay = np.exp(-damping * omega)
        denominator = [1, -2 * decay * np.cos(omega), decay**2]
        signal += gain * scipy.signal.lfilter([0, decay * np.sin(omega)], denominator, delayed)
    return path.gain * signal


def _write(path: Path, variables: dict[str, np.ndarray], seed: int) -> None:
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, variables)
    header = SIMULATED_MARK + f", seed {seed}".encode()
    buffer.seek(0)
    buffer.write(header.ljust(116)[:116])  # where SciPy wrote the date
    with atomic(path) as temporary:
        temporary.write_bytes(buffer.getvalue())
