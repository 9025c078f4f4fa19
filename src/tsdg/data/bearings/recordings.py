"""Which recordings there are, by a table, and which of them is each class of each domain."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tsdg.errors import InputError

SIZES = ("0.007", "0.014", "0.021")
CLASSES = ("normal", *(f"{fault} {size}" for size in SIZES for fault in ("IF", "BF", "OF")))
SENSORS = {"drive end": "DE", "fan end": "FE"}
PLACES = dict(zip("ABCDEFGH", [(end, load) for end in SENSORS for load in range(4)], strict=True))
SAMPLING_RATE = 12_000
NORMAL_SAMPLING_RATE = 48_000
RECORDINGS = Path(__file__).with_name("recordings.csv")

_COLUMNS = ("number", "location", "load", "fault", "size", "clock", "sampling_rate", "rpm")


@dataclass(frozen=True)
class View:
    """A recording as one class of one domain: seen by the sensor at one end."""

    domain: str
    label: int
    number: int
    sensor: str


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
