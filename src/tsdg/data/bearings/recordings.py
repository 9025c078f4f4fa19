"""Which recordings there are, by a table, and which of them is each class of each domain."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tsdg.data import listing
from tsdg.data.bearings.options import RECORDINGS
from tsdg.errors import InputError

SIZES = ("0.007", "0.014", "0.021")
FAULTS = {"IF": "inner race", "BF": "ball", "OF": "outer race"}
CLASSES = ("normal", *(f"{fault} {size}" for size in SIZES for fault in FAULTS))
OTHERS = ("IF 0.028", "BF 0.028")  # which are no class of the paper's, and not in the packaged table
SENSORS = {"drive end": "DE", "fan end": "FE"}
LOADS = range(4)
PLACES = dict(zip("ABCDEFGH", [(end, load) for end in SENSORS for load in LOADS], strict=True))
BEARINGS = dict(
    zip("ABCDEFG", [*((end, size) for end in SENSORS for size in SIZES), ("drive end", "0.028")], strict=True)
)
SAMPLING_RATE = 12_000
NORMAL_SAMPLING_RATE = 48_000

_WHAT = "recordings table"
_COLUMNS = ("number", "location", "load", "fault", "size", "clock", "sampling_rate", "rpm")


@dataclass(frozen=True)
class View:
    """A recording as (a part of) one class of one domain: seen by the sensor at one end."""

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
    table = listing.read(path, _WHAT, _COLUMNS, ("number", "load", "size", "clock", "sampling_rate", "rpm"))
    normal = table.fault == "normal"
    table["class_"] = table.fault.where(normal, table.fault + table["size"].map(" {:.3f}".format))
    faulty_end = table.location.isin(list(SENSORS))
    faults = {
        "number is not a whole number of its own": ~listing.whole(table.number),
        "location is not drive end or fan end (empty for normal)": ~faulty_end.where(
            ~normal, table.location == ""
        ),
        "load is not 0, 1, 2 or 3": ~table.load.isin(LOADS),
        "fault and size are none of " + ", ".join((*CLASSES, *OTHERS)): ~table.class_.isin(CLASSES + OTHERS),
        "sampling_rate is not 12000 (or 48000, if normal)": ~(
            (table.sampling_rate == SAMPLING_RATE) | (normal & (table.sampling_rate == NORMAL_SAMPLING_RATE))
        ),
        "rpm is not a speed from 1 to 100000": ~table.rpm.between(1, 1e5),
        "fault is OF, but clock is not 1 to 12": (table.fault == "OF") & ~table.clock.between(1, 12),
    }
    listing.check(path, _WHAT, table, faults)
    return table.astype({"number": int, "load": int, "sampling_rate": int}).set_index("number")


def choose(
    table: pd.DataFrame, *, location: str = "sensor", clock: str = "prefer6", domains: str = "place"
) -> list[View]:
    """Which recordings, by which sensor, are each class of each domain.

    Parameters
    ----------
    table : pandas.DataFrame
        From :func:`read_table`.
    location, clock, domains : str
        As in :func:`prepare`.

    Returns
    -------
    list of View
        The domains in the order of `PLACES` or `BEARINGS`, each with the classes in their order.

    Raises
    ------
    InputError
        If an option is unknown, or the table has no recording, or more than one, where there must be one.
    """
    if location not in ("sensor", "fault"):
        raise InputError(f"location: {location!r} is unknown; choose sensor or fault")
    if clock not in ("prefer6", "prefer3"):
        raise InputError(f"clock: {clock!r} is unknown; choose prefer6 or prefer3")
    if domains not in ("place", "bearing"):
        raise InputError(f"domains: {domains!r} is unknown; choose place or bearing")
    if domains == "bearing" and location != "fault":
        raise InputError("domains: bearing is for location: fault, since a bearing is at one end")
    preferred = 6 if clock == "prefer6" else 3
    if domains == "bearing":
        views, problems = _of_bearings(table, preferred)
    else:
        views, problems = _of_places(table, location, preferred)
    if problems:
        lines = "\n  ".join(dict.fromkeys(problems))
        raise InputError(f"recordings table: every class of a domain needs one recording; found\n  {lines}")
    return views


def _of_places(table: pd.DataFrame, location: str, preferred: int) -> tuple[list[View], list[str]]:
    views, problems = [], []
    for domain, (sensor_end, load) in PLACES.items():
        end = sensor_end if location == "fault" else "drive end"
        for label, name in enumerate(CLASSES):
            numbers = _found(table, end, load, name, preferred)
            if len(numbers) == 1:
                views.append(View(domain, label, numbers[0], SENSORS[sensor_end]))
            else:
                problems.append(_problem(end, load, name, numbers))
    return views, problems


def _of_bearings(table: pd.DataFrame, preferred: int) -> tuple[list[View], list[str]]:
    """All loads together; of 0.028 inches, what the table has."""
    views, problems = [], []
    for domain, (end, size) in BEARINGS.items():
        for label, fault in enumerate(FAULTS):
            for load in LOADS:
                name = f"{fault} {size}"
                numbers = _found(table, end, load, name, preferred)
                if len(numbers) == 1:
                    views.append(View(domain, label, numbers[0], SENSORS[end]))
                elif numbers or size in SIZES:
                    problems.append(_problem(end, load, name, numbers))
    return views, problems


def _found(table: pd.DataFrame, end: str, load: int, name: str, preferred: int) -> list[int]:
    """Numbers of the recordings of a class at a load, at the preferred clock position if there are such."""
    found = table[(table.load == load) & table.location.isin([end, ""]) & (table.class_ == name)]
    if (found.clock == preferred).any():
        found = found[found.clock == preferred]
    return found.index.tolist()


def _problem(end: str, load: int, name: str, numbers: list[int]) -> str:
    return f"{name}, {end}, load {load}: {' and '.join(map(str, numbers)) or 'none'}"
