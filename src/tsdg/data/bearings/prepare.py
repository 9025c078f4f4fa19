"""Bearings (Case Western Reserve University): ten bearing conditions, eight domains of sensor and load.

Or, by option, three kinds of damage, domains of bearings that are damaged in the same size at the same end.
The raw files, see `raw`; what each of them is, see `recordings`.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tsdg.data.bearings.raw import decimate, is_simulated, picked, read_variables, signal_name
from tsdg.data.bearings.recordings import (
    BEARINGS,
    CLASSES,
    FAULTS,
    NORMAL_SAMPLING_RATE,
    PLACES,
    RECORDINGS,
    SAMPLING_RATE,
    View,
    choose,
    read_table,
)
from tsdg.data.windows import window_starts, write
from tsdg.errors import InputError
from tsdg.files import sha256

PAPER_COUNTS = dict(zip(CLASSES, (416, 371, 409, 417, 387, 408, 398, 407, 383, 404), strict=True))
LOAD_RPM = (1797, 1772, 1750, 1730)
RPM_TOLERANCE = 20

_REMEDY = "get the files with `tsdg fetch bearings`, or put them into the folder by hand"


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
    domains: str = "place",
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
    domains : {"place", "bearing"}
        ``place``: location and load. ``bearing``: the damaged bearings of one size at one end, a physical
        bearing for each class (inner race, ball, outer race), at all loads; of the `location` ``fault``.
    clock : {"prefer6", "prefer3"}
        Which position of an outer-race fault to take where the table has several.
    per_class : {"all", "paper"} or int
        Windows of each class in each domain, of all its recordings: all, the paper's number, or the given
        number, drawn without replacement; all of them where there are fewer.
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
    views = choose(table, location=location, clock=clock, domains=domains)
    by_place = domains == "place"
    if not by_place and per_class == "paper":
        raise InputError("per_class: paper is for domains: place; choose all or a number of windows")
    steps = len({view.number for view in views}) + len(views)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress:
            progress(done, steps)

    def used(variables: dict[str, np.ndarray], number: int, sensor: str) -> np.ndarray:
        signal = picked(variables, raw / f"{number}.mat", number, sensor)
        if table.sampling_rate[number] == NORMAL_SAMPLING_RATE and normal_rate != "as_is":
            signal = decimate(signal)
        return signal[:samples].astype(np.float32)[:, None]

    sources = _check_sources(raw, table, views, used, window, step)

    def signals() -> Iterator[np.ndarray]:
        for view in views:
            yield used(read_variables(raw / f"{view.number}.mat"), view.number, view.sensor)
            step()

    table_file = Path(recordings or RECORDINGS)
    card = {
        "name": "bearings" if by_place else "bearings-size",
        "kind": "bearings",
        "simulated": any(source.simulated for source in sources.values()),
        "classes": list(CLASSES if by_place else FAULTS.values()),
        "channels": ["acceleration"],
        "sampling_rate": SAMPLING_RATE,
        "window": {"length": window, "stride": stride},
        "domains": _metadata(views, by_place),
        "options": {
            "location": location,
            "domains": domains,
            "clock": clock,
            "per_class": per_class,
            "normal_rate": normal_rate,
            "samples": samples,
            "seed": seed,
        },
        **({"expected_counts": dict.fromkeys(PLACES, PAPER_COUNTS)} if by_place else {}),
        "notes": _about_domains(views, location, domains) + _notes(table, sources, normal_rate, samples),
        "sources": [{"file": f"{number}.mat", "sha256": source.sha256} for number, source in sources.items()]
        + [{"file": table_file.name, "sha256": sha256(table_file)}],
    }
    windows = _windows(views, sources, window, stride, per_class, seed)
    return write(out, signals(), windows=windows, card=card)


def _check_options(
    per_class: int | str, normal_rate: int | str, sizes: dict[str, int | None], seed: int
) -> None:
    if per_class not in ("all", "paper") and not (isinstance(per_class, int) and per_class > 0):
        raise InputError(f"per_class: {per_class!r} is not all, paper or a number of windows")
    if normal_rate not in (SAMPLING_RATE, "as_is"):
        raise InputError(f"normal_rate: {normal_rate!r} is not {SAMPLING_RATE} or as_is")
    for name, size in sizes.items():
        if size is not None and size < (2 if name == "window" else 1):
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
            variables = read_variables(path)
            rpm = _check_rpm(variables, path, number, table.loc[number])
            samples = {}
            for sensor in sorted({view.sensor for view in views if view.number == number}):
                samples[sensor] = len(used(variables, number, sensor))
                if samples[sensor] < window:
                    raise InputError(f"{path}: {samples[sensor]} samples, fewer than one window of {window}")
                seconds = variables[signal_name(number, sensor)].size / table.sampling_rate[number]
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
    """Recordings whose duration tells that they have another sampling rate than the table's.

    Fault recordings last equally long, those at 48 kHz under the name of one at 12 kHz four times as long, or
    twice. Normal ones at the right rate last as long, or half as long (load 0).
    """
    normal = {number for number in sources if table.fault[number] == "normal"}
    usual = np.median([sources[number].seconds for number in sources.keys() - normal] or [np.nan])
    remedies = {
        True: "correct the rate there, or, if the fault recordings are those at 48 kHz, get the others",
        False: "a recording at 48 kHz under a name of one at 12 kHz? Get that one",
    }
    return [
        f"{raw / f'{number}.mat'}: lasts {source.seconds:.1f} s at the recordings table's sampling_rate "
        f"{table.sampling_rate[number]}, fault recordings {usual:.1f} s; {remedies[number in normal]}"
        for number, source in sorted(sources.items())
        if (number in normal and not source.seconds / usual > 0.3) or not source.seconds / usual < 1.6
    ]


def _metadata(views: list[View], by_place: bool) -> dict[str, dict[str, Any]]:
    if by_place:
        return {name: {"location": end, "load": load} for name, (end, load) in PLACES.items()}
    return {
        name: {"location": BEARINGS[name][0], "size": float(BEARINGS[name][1])}
        for name in dict.fromkeys(view.domain for view in views)
    }


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
        columns = {
            "start": offset + window_starts(window, stride, samples),
            "length": window,
            "label": view.label,
            "domain": view.domain,
            "recording": signal_name(view.number, view.sensor),
        }
        parts.append(pd.DataFrame(columns))
        offset += samples
    windows = pd.concat(parts, ignore_index=True)
    if per_class == "all":
        return windows
    kept = []
    for (domain, label), rows in windows.groupby(["domain", "label"], sort=False).indices.items():
        wanted = PAPER_COUNTS[CLASSES[label]] if per_class == "paper" else int(per_class)
        if wanted < len(rows):
            rng = np.random.default_rng([seed, zlib.crc32(domain.encode()), label])
            rows = np.sort(rng.choice(rows, wanted, replace=False))
        kept.append(rows)
    return windows.iloc[np.sort(np.concatenate(kept))].reset_index(drop=True)


def _about_domains(views: list[View], location: str, domains: str) -> list[str]:
    if domains == "bearing":
        notes = [
            "A domain is the bearings at one end with damage of one size, each class a physical bearing of "
            "its own, recorded by the sensor at that end at all loads.",
            "No healthy class: the normal recordings are of one bearing at each end only, which cannot be "
            "both learned from and held out.",
        ]
        present = {(view.domain, view.label) for view in views}
        return notes + [
            f"No recordings of {fault}, {size} inches, {end}: domain {domain} is without this class."
            for domain, (end, size) in BEARINGS.items()
            for label, fault in enumerate(FAULTS.values())
            if any(domain == other for other, _ in present) and (domain, label) not in present
        ]
    return [
        "The domains share their physical bearings, which is easier than a new machine.",
        "Location is the sensor's: all domains hold the same recordings, with drive-end faults."
        if location == "sensor"
        else "Location is the faulty bearing's, recorded by the sensor at the same end.",
        "The normal recordings are the same for both locations.",
    ]


def _notes(
    table: pd.DataFrame, sources: dict[int, _Source], normal_rate: int | str, samples: int | None
) -> list[str]:
    rows = table.loc[list(sources)]
    normal = rows[rows.fault == "normal"]
    short = [number for number in sources if samples and min(sources[number].samples.values()) < samples]
    silent = [number for number, source in sources.items() if source.rpm is None]
    moved = rows[(rows.fault == "OF") & (rows.clock != 6)]
    deviating = rows[(rows.rpm - np.take(LOAD_RPM, rows.load)).abs() > RPM_TOLERANCE]
    fast = normal[normal.sampling_rate == NORMAL_SAMPLING_RATE]
    simulated = [number for number, source in sources.items() if source.simulated]
    notes = []
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


def _list(numbers: Any) -> str:
    return ", ".join(map(str, numbers))
