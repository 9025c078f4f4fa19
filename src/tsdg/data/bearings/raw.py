"""Raw recordings of Bearings.

``{number}.mat`` is one MATLAB file a recording under its official number, with variables
``X{number}_DE_time`` (drive-end sensor), ``X{number}_FE_time`` (fan-end sensor) and ``X{number}RPM``, the
number in three digits.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tsdg.data.bearings.recordings import choose, read_table
from tsdg.errors import InputError

SIMULATED_MARK = b"MATLAB 5.0 MAT-file, simulated by tsdg"


def raw_names(entry: Mapping[str, Any]) -> list[str]:
    """See `tsdg.data.kinds.Kind.raw_names`."""
    options = entry.get("prepare", {})
    chosen = {key: options[key] for key in ("location", "clock", "domains") if key in options}
    views = choose(read_table(options.get("recordings")), **chosen)
    return [f"{number}.mat" for number in sorted({view.number for view in views})]


def read_recording(path: str | Path, number: int, sensor: str) -> np.ndarray:
    """Read one sensor's signal.

    Parameters
    ----------
    path : path
        A MATLAB file.
    number : int
        The recording's official number, which names the variable: a file may carry others.
    sensor : {"DE", "FE"}
        Drive end or fan end.

    Returns
    -------
    numpy.ndarray
        float64, ``(samples,)``, acceleration in g, as stored.

    Raises
    ------
    InputError
        If the file is missing or unreadable, lacks the variable, or the signal is no signal.
    """
    return picked(read_variables(Path(path)), Path(path), number, sensor)


def decimate(signal: np.ndarray) -> np.ndarray:
    """Bring a recording from 48 to 12 kHz, with an anti-aliasing filter.

    Parameters
    ----------
    signal : numpy.ndarray
        float64, ``(samples,)``.

    Returns
    -------
    numpy.ndarray
        float64, ``(ceil(samples / 4),)``.
    """
    import scipy.signal  # which takes a second, and names of files are asked for at each start

    return scipy.signal.resample_poly(signal, 1, 4, window=("kaiser", 5.0))


def read_variables(path: Path) -> dict[str, np.ndarray]:
    """All variables of a MATLAB file; an `InputError` if it is missing or unreadable."""
    import scipy.io

    if not path.is_file():
        raise InputError(f"{path}: missing")
    try:
        return {name: value for name, value in scipy.io.loadmat(path).items() if not name.startswith("__")}
    except Exception as error:  # SciPy raises nearly anything on damaged files
        raise InputError(f"{path}: damaged or not a MATLAB file ({error})") from None


def picked(variables: dict[str, np.ndarray], path: Path, number: int, sensor: str) -> np.ndarray:
    """The signal among the variables of a file, see `read_recording`."""
    name = signal_name(number, sensor)
    if name not in variables:
        raise InputError(f"{path}: no variable {name}; it has {', '.join(variables) or 'none'}")
    signal = np.asarray(variables[name])
    if signal.dtype.kind not in "fiu" or signal.size != max(signal.shape, default=0):
        raise InputError(f"{path}: {name} is not one signal but {signal.dtype} {signal.shape}")
    signal = signal.ravel().astype(np.float64)
    if not np.isfinite(signal).all():
        raise InputError(f"{path}: {name} has values that are not finite")
    if signal.size == 0 or np.ptp(signal) == 0:
        raise InputError(f"{path}: {name} is constant or empty")
    return signal


def signal_name(number: int, sensor: str) -> str:
    """Name of the variable that holds a sensor's signal."""
    return f"X{number:03d}_{sensor}_time"


def is_simulated(path: Path) -> bool:
    """Whether the file's header says that `tsdg` simulated it."""
    with open(path, "rb") as file:
        return file.read(len(SIMULATED_MARK)) == SIMULATED_MARK
