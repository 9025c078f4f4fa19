"""Bearings (Case Western Reserve University): ten bearing conditions, eight domains of sensor and load.

Raw layout: ``{number}.mat``, one MATLAB file a recording under its official number, with variables
``X{number}_DE_time`` (drive-end sensor), ``X{number}_FE_time`` (fan-end sensor) and ``X{number}RPM``, the
number in three digits. A recordings table says what each number is.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.io
import scipy.signal

from tsdg.data.windows import window_starts, write
from tsdg.errors import InputError
from tsdg.files import sha256

SIZES = ("0.007", "0.014", "0.021")
CLASSES = ("normal", *(f"{fault} {size}" for size in SIZES for fault in ("IF", "BF", "OF")))
PAPER_COUNTS = dict(zip(CLASSES, (416, 371, 409, 417, 387, 408, 398, 407, 383, 404), strict=True))
SENSORS = {"drive end": "DE", "fan end": "FE"}
PLACES = dict(zip("ABCDEFGH", [(end, load) for end in SENSORS for load in range(4)], strict=True))
LOAD_RPM = (1797, 1772, 1750, 1730)
RPM_TOLERANCE = 20
SAMPLING_RATE = 12_000
NORMAL_SAMPLING_RATE = 48_000
PRESETS: dict[str, dict[str, Any]] = {
    "default": {"samples": None, "per_class": "all", "normal_rate": SAMPLING_RATE},
    "published": {"samples": 120_000, "per_class": 400, "normal_rate": "as_is"},
}
SIMULATED_MARK = b"MATLAB 5.0 MAT-file, simulated by tsdg"
RECORDINGS = Path(__file__).with_name("recordings.csv")

_COLUMNS = ("number", "location", "load", "fault", "size", "clock", "sampling_rate", "rpm")
_REMEDY = "get the files with `tsdg fetch bearings`, or put them into the folder by hand"


@dataclass(frozen=True)
class View:
    """A recording as one class of one domain: seen by the sensor at one end."""

    domain: str
    label: int
    number: int
    sensor: str


@dataclass(frozen=True)
class _Source:
    """What the first reading of a raw file found."""

    sha256: str
    simulated: bool
    seconds: float
    rpm: float | None
    samples: dict[str, int]  # by sensor, as used


def prepare(
    raw: str | Path,
    out: str | Path,
    *,
    location: str = "sensor",
    clock: str = "prefer6",
    per_class: int | str = "all",
    normal_rate: int | str = SAMPLING_RATE,
    samples: int | None = None,
    window: int = 4096,
    stride: int = 290,
    seed: int = 0,
    recordings: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Make the windowed data set from the raw recordings.

    Parameters
    ----------
    raw : path
        Folder of ``{number}.mat``.
    out : path
        Folder of the prepared data set.
    location : {"sensor", "fault"}
        ``sensor``: all domains hold the recordings with drive-end faults, seen by the drive-end (A-D) or
        the fan-end sensor (E-H). ``fault``: the faulty bearing is at the sensor's end.
    clock : {"prefer6", "prefer3"}
        Which position of an outer-race fault to take where the table has several.
    per_class : {"all", "paper"} or int
        Windows of each class in each domain: all, the paper's number, or the given number, drawn
        without replacement; all of them where there are fewer.
    normal_rate : {12000, "as_is"}
        Whether normal recordings at 48 kHz are decimated to 12 kHz.
    samples : int, optional
        Use only the first so many samples of each recording.
    window, stride : int
        Window length and distance of two starts, in samples.
    seed : int
        Seed of the drawing by `per_class`.
    recordings : path, optional
        Recordings table (csv) in place of the packaged one.
    progress : callable, optional
        Called with the steps done and the steps in all.

    Returns
    -------
    dict
        The card, see :func:`tsdg.data.windows.write`.

    Raises
    ------
    InputError
        If an option, the table or any of the files is bad; all bad files are named at once.
    """
    raw = Path(raw)
    _check_options(per_class, normal_rate, {"samples": samples, "window": window, "stride": stride}, seed)
    table = read_table(recordings)
    views = choose(table, location=location, clock=clock)
    steps = len({view.number for view in views}) + len(views)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress:
            progress(done, steps)

    def used(variables: dict[str, np.ndarray], number: int, sensor: str) -> np.ndarray:
        signal = _signal(variables, raw / f"{number}.mat", number, sensor)
        if table.sampling_rate[number] == NORMAL_SAMPLING_RATE and normal_rate != "as_is":
            signal = decimate(signal)
        return signal[:samples].astype(np.float32)[:, None]

    sources = _check_sources(raw, table, views, used, window, step)

    def signals() -> Iterator[np.ndarray]:
        for view in views:
            yield used(_variables(raw / f"{view.number}.mat"), view.number, view.sensor)
            step()

    table_file = Path(recordings or RECORDINGS)
    card = {
        "name": "bearings",
        "kind": "bearings",
        "simulated": any(source.simulated for source in sources.values()),
        "classes": list(CLASSES),
        "channels": ["acceleration"],
        "sampling_rate": SAMPLING_RATE,
        "window": {"length": window, "stride": stride},
        "domains": {name: {"location": end, "load": load} for name, (end, load) in PLACES.items()},
        "options": {
            "location": location,
            "clock": clock,
            "per_class": per_class,
            "normal_rate": normal_rate,
            "samples": samples,
            "seed": seed,
        },
        "expected_counts": dict.fromkeys(PLACES, PAPER_COUNTS),
        "notes": _notes(table, views, sources, location, normal_rate, samples),
        "sources": [{"file": f"{number}.mat", "sha256": source.sha256} for number, source in sources.items()]
        + [{"file": table_file.name, "sha256": sha256(table_file)}],
    }
    windows = _windows(views, sources, window, stride, per_class, seed)
    return write(out, signals(), windows=windows, card=card)


def read_table(path: str | Path | None = None) -> pd.DataFrame:
    """Read a recordings table.

    Parameters
    ----------
    path : path, optional
        A csv with the columns ``number``, ``location`` (``drive end`` or ``fan end`` of the faulty
        bearing, empty for normal), ``load`` (0 to 3), ``fault`` (``normal``, ``IF``, ``BF``, ``OF``),
        ``size`` (inches), ``clock`` (position of an outer-race fault), ``sampling_rate`` (Hz; 12000, or
        48000 for normal recordings) and ``rpm`` (the shaft speed expected in the file). By default the
        packaged table.

    Returns
    -------
    pandas.DataFrame
        Indexed by number; a column ``class_`` is added.

    Raises
    ------
    InputError
        If the table is missing, unreadable, or a row makes no sense; all bad rows are named.
    """
    path = Path(path or RECORDINGS)
    try:
        table = pd.read_csv(path)
    except FileNotFoundError:
        raise InputError(f"{path}: the recordings table is missing; correct its path") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: unreadable as a recordings table ({error}); make it a csv file") from None
    missing = [name for name in _COLUMNS if name not in table]
    if missing:
        raise InputError(f"{path}: column {', '.join(missing)} missing; it needs {', '.join(_COLUMNS)}")
    for name in ("number", "load", "size", "clock", "sampling_rate", "rpm"):
        table[name] = pd.to_numeric(table[name], errors="coerce")
    for name in ("location", "fault"):
        table[name] = table[name].fillna("").astype(str).str.strip()
    normal = table.fault == "normal"
    table["class_"] = table.fault.where(normal, table.fault + table["size"].map(" {:.3f}".format))
    faulty_end = table.location.isin(list(SENSORS))
    shared_number = table.number.duplicated(keep=False)
    faults = {
        "number is not a whole number of its own": (table.number % 1 != 0) | shared_number,
        "location is not drive end or fan end (empty for normal)": ~faulty_end.where(
            ~normal, table.location == ""
        ),
        "load is not 0, 1, 2 or 3": ~table.load.isin(range(4)),
        "fault and size are none of " + ", ".join(CLASSES): ~table.class_.isin(CLASSES),
        "sampling_rate is not 12000 (or 48000, if normal)": ~(
            (table.sampling_rate == SAMPLING_RATE) | (normal & (table.sampling_rate == NORMAL_SAMPLING_RATE))
        ),
        "rpm is not a speed": ~(table.rpm > 0),
        "clock is empty, though fault is OF": (table.fault == "OF") & table.clock.isna(),
    }
    lines = [f"line {row + 2}: {text}" for text, bad in faults.items() for row in np.flatnonzero(bad)]
    if lines:
        raise InputError(f"{path}: correct the recordings table\n  " + "\n  ".join(lines))
    return table.astype({"number": int, "load": int, "sampling_rate": int}).set_index("number")


def choose(table: pd.DataFrame, *, location: str = "sensor", clock: str = "prefer6") -> list[View]:
    """Which recording, by which sensor, is each class of each domain.

    Parameters
    ----------
    table : pandas.DataFrame
        From :func:`read_table`.
    location, clock : str
        As in :func:`prepare`.

    Returns
    -------
    list of View
        Domains A-H, each with the classes in their order.

    Raises
    ------
    InputError
        If an option is unknown, or the table has no recording, or more than one, for a class of a domain.
    """
    if location not in ("sensor", "fault"):
        raise InputError(f"location: {location!r} is unknown; choose sensor or fault")
    if clock not in ("prefer6", "prefer3"):
        raise InputError(f"clock: {clock!r} is unknown; choose prefer6 or prefer3")
    preferred = 6 if clock == "prefer6" else 3
    views, problems = [], []
    for domain, (sensor_end, load) in PLACES.items():
        end = sensor_end if location == "fault" else "drive end"
        here = table[(table.load == load) & table.location.isin([end, ""])]
        for label, name in enumerate(CLASSES):
            found = here[here.class_ == name]
            if (found.clock == preferred).any():
                found = found[found.clock == preferred]
            if len(found) == 1:
                views.append(View(domain, label, int(found.index[0]), SENSORS[sensor_end]))
            else:
                numbers = " and ".join(map(str, found.index)) or "none"
                problems.append(f"{name}, {end}, load {load}: {numbers}")
    if problems:
        lines = "\n  ".join(dict.fromkeys(problems))
        raise InputError(f"recordings table: every class of a domain needs one recording; found\n  {lines}")
    return views


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
    return _signal(_variables(Path(path)), Path(path), number, sensor)


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
    return scipy.signal.resample_poly(signal, 1, 4, window=("kaiser", 5.0))


def is_simulated(path: Path) -> bool:
    """Whether the file's header says that `tsdg` simulated it."""
    with open(path, "rb") as file:
        return file.read(len(SIMULATED_MARK)) == SIMULATED_MARK


def _check_options(
    per_class: int | str, normal_rate: int | str, sizes: dict[str, int | None], seed: int
) -> None:
    if per_class not in ("all", "paper") and not (isinstance(per_class, int) and per_class > 0):
        raise InputError(f"per_class: {per_class!r} is not all, paper or a number of windows")
    if normal_rate not in (SAMPLING_RATE, "as_is"):
        raise InputError(f"normal_rate: {normal_rate!r} is not {SAMPLING_RATE} or as_is")
    for name, size in sizes.items():
        if size is not None and size < 1:
            raise InputError(f"{name}: {size} is not a number of samples")
    if seed < 0:
        raise InputError(f"seed: {seed} is negative; give 0 or more")


def _check_sources(
    raw: Path,
    table: pd.DataFrame,
    views: list[View],
    used: Callable[[dict[str, np.ndarray], int, str], np.ndarray],
    window: int,
    step: Callable[[], None],
) -> dict[int, _Source]:
    """Read every file once, so that all bad ones are known before anything is written."""
    if not raw.is_dir():
        raise InputError(f"{raw}: the folder of the raw recordings is missing; {_REMEDY}")
    sources, problems = {}, []
    for number in sorted({view.number for view in views}):
        path = raw / f"{number}.mat"
        try:
            variables = _variables(path)
            rpm = _check_rpm(variables, path, number, table.loc[number])
            samples = {}
            for sensor in sorted({view.sensor for view in views if view.number == number}):
                samples[sensor] = len(used(variables, number, sensor))
                if samples[sensor] < window:
                    raise InputError(f"{path}: {samples[sensor]} samples, fewer than one window of {window}")
                seconds = variables[_name(number, sensor)].size / table.sampling_rate[number]
            sources[number] = _Source(sha256(path), is_simulated(path), seconds, rpm, samples)
        except InputError as error:
            problems.append(str(error))
        step()
    problems += _rate_problems(raw, table, sources)
    if problems:
        lines = "\n  ".join(problems)
        raise InputError(f"{raw}: {len(problems)} recordings cannot be used; {_REMEDY}\n  {lines}")
    return sources


def _check_rpm(variables: dict[str, np.ndarray], path: Path, number: int, row: pd.Series) -> float | None:
    name = f"X{number:03d}RPM"
    if name not in variables:
        return None
    rpm = float(variables[name].flat[0])
    if abs(rpm - row.rpm) > RPM_TOLERANCE:
        raise InputError(
            f"{path}: {name} is {rpm:.0f}, but at load {row.load} the recordings table expects {row.rpm:.0f} "
            f"(within {RPM_TOLERANCE}): another recording under this number? If it is right, say so in the "
            "table's column rpm"
        )
    return rpm


def _rate_problems(raw: Path, table: pd.DataFrame, sources: dict[int, _Source]) -> list[str]:
    """Normal recordings whose duration tells that the table has their sampling rate wrong.

    At the right rate they last half as long as the fault recordings (load 0) or as long.
    """
    normal = {number for number in sources if table.fault[number] == "normal"}
    usual = np.median([sources[number].seconds for number in sources.keys() - normal] or [np.nan])
    return [
        f"{raw / f'{number}.mat'}: lasts {sources[number].seconds:.1f} s at the recordings table's "
        f"sampling_rate {table.sampling_rate[number]}, fault recordings {usual:.1f} s; correct the rate there"
        for number in sorted(normal)
        if not 0.3 < sources[number].seconds / usual < 1.6
    ]


def _windows(
    views: list[View],
    sources: dict[int, _Source],
    window: int,
    stride: int,
    per_class: int | str,
    seed: int,
) -> pd.DataFrame:
    parts = []
    offset = 0
    for view in views:
        samples = sources[view.number].samples[view.sensor]
        starts = window_starts(window, stride, samples)
        wanted = PAPER_COUNTS[CLASSES[view.label]] if per_class == "paper" else per_class
        if wanted != "all" and int(wanted) < len(starts):
            rng = np.random.default_rng([seed, zlib.crc32(view.domain.encode()), view.label])
            starts = np.sort(rng.choice(starts, int(wanted), replace=False))
        parts.append(
            pd.DataFrame(
                {
                    "start": offset + starts,
                    "length": window,
                    "label": view.label,
                    "domain": view.domain,
                    "recording": _name(view.number, view.sensor),
                }
            )
        )
        offset += samples
    return pd.concat(parts, ignore_index=True)


def _notes(
    table: pd.DataFrame,
    views: list[View],
    sources: dict[int, _Source],
    location: str,
    normal_rate: int | str,
    samples: int | None,
) -> list[str]:
    rows = table.loc[list(sources)]
    normal = rows[rows.fault == "normal"]
    short = [number for number in sources if samples and min(sources[number].samples.values()) < samples]
    silent = [number for number, source in sources.items() if source.rpm is None]
    moved = rows[(rows.fault == "OF") & (rows.clock != 6)]
    deviating = rows[(rows.rpm - np.take(LOAD_RPM, rows.load)).abs() > RPM_TOLERANCE]
    fast = normal[normal.sampling_rate == NORMAL_SAMPLING_RATE]
    simulated = [number for number, source in sources.items() if source.simulated]
    notes = [
        "The domains share their physical bearings, which is easier than a new machine.",
        "Location is the sensor's: all domains hold the same recordings, with drive-end faults."
        if location == "sensor"
        else "Location is the faulty bearing's, recorded by the sensor at the same end.",
        "The normal recordings are the same for both locations.",
    ]
    if simulated:
        notes.append(f"{len(simulated)} of {len(sources)} recordings are simulated.")
    if len(fast) and normal_rate == "as_is":
        notes.append(f"Normal but used at 48 kHz, so bandwidth alone tells: recordings {_list(fast.index)}.")
    elif len(fast):
        notes.append(f"Normal and decimated from 48 to 12 kHz: recordings {_list(fast.index)}.")
    if short:
        notes.append(f"Shorter than {samples} samples, and used whole: recordings {_list(short)}.")
    if len(moved):
        notes.append(f"Outer-race faults not at 6 o'clock: recordings {_list(moved.index)}.")
    if silent:
        notes.append(f"No shaft speed in the file to check the load by: recordings {_list(silent)}.")
    notes += [
        f"Recording {number} is allowed a shaft speed of {row.rpm:.0f} rpm at load {row.load}."
        for number, row in deviating.iterrows()
    ]
    return notes


def _variables(path: Path) -> dict[str, np.ndarray]:
    if not path.is_file():
        raise InputError(f"{path}: missing")
    try:
        return {name: value for name, value in scipy.io.loadmat(path).items() if not name.startswith("__")}
    except Exception as error:  # SciPy raises nearly anything on damaged files
        raise InputError(f"{path}: damaged or not a MATLAB file ({error})") from None


def _signal(variables: dict[str, np.ndarray], path: Path, number: int, sensor: str) -> np.ndarray:
    name = _name(number, sensor)
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


def _name(number: int, sensor: str) -> str:
    return f"X{number:03d}_{sensor}_time"


def _list(numbers: Any) -> str:
    return ", ".join(map(str, numbers))
