"""Simulated MIMIC-III tables in the official layout: vital signs whose course depends on outcome and age.

Patients who die drift away from the healthy range over the first day, the old less visibly than the young.
Some patients are under 20, stay less than a day, die within it, or come back; those over 89 were born 300
years before; some values are flagged, implausible, or in Fahrenheit under a Celsius item.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from tsdg.data.mimic3.raw import TABLES
from tsdg.data.simulated import SIMULATED_COLUMN, is_simulated, refuse_to_replace
from tsdg.errors import InputError
from tsdg.files import atomic


@dataclass(frozen=True)
class _Vital:
    """Items (CareVue, MetaVision), level, change by age group and dying, spread, share of hours measured."""

    items: tuple[int, int]
    level: float
    age: float
    dying: float
    spread: float
    measured: float


_VITALS = (
    _Vital((211, 220045), 88, -3.0, 8, 14, 0.95),
    _Vital((455, 220179), 122, 4.0, -9, 18, 0.9),
    _Vital((8441, 220180), 64, -3.0, -4, 11, 0.9),
    _Vital((456, 220181), 82, 0.0, -5, 12, 0.9),
    _Vital((618, 220210), 18, 0.7, 2.0, 4, 0.9),
    _Vital((646, 220277), 97, -0.4, -0.8, 2, 0.9),
    _Vital((676, 223762), 37.0, -0.15, 0.1, 0.6, 0.3),
    _Vital((807, 225664), 135, 5.0, 12, 35, 0.25),
    _Vital((184, 220739), 3.6, -0.1, -0.4, 0.9, 0.3),
    _Vital((454, 223901), 5.7, -0.1, -0.5, 1.0, 0.3),
    _Vital((723, 223900), 4.4, -0.2, -0.6, 1.2, 0.3),
)
_OTHER_ITEM = 128  # of no variable
_GROUPS = ((20, 45), (46, 65), (66, 85), (86, 99))
_SHARES, _MORTALITY = (0.2, 0.3, 0.35, 0.15), (0.2, 0.25, 0.3, 0.35)
_COLUMNS = {
    "PATIENTS": "ROW_ID SUBJECT_ID GENDER DOB DOD DOD_HOSP DOD_SSN EXPIRE_FLAG",
    "ADMISSIONS": "ROW_ID SUBJECT_ID HADM_ID ADMITTIME DISCHTIME DEATHTIME ADMISSION_TYPE ADMISSION_LOCATION "
    "DISCHARGE_LOCATION INSURANCE LANGUAGE RELIGION MARITAL_STATUS ETHNICITY EDREGTIME EDOUTTIME DIAGNOSIS "
    "HOSPITAL_EXPIRE_FLAG HAS_CHARTEVENTS_DATA",
    "ICUSTAYS": "ROW_ID SUBJECT_ID HADM_ID ICUSTAY_ID DBSOURCE FIRST_CAREUNIT LAST_CAREUNIT FIRST_WARDID "
    "LAST_WARDID INTIME OUTTIME LOS",
    "CHARTEVENTS": "ROW_ID SUBJECT_ID HADM_ID ICUSTAY_ID ITEMID CHARTTIME STORETIME CGID VALUE VALUENUM "
    "VALUEUOM WARNING ERROR RESULTSTATUS STOPPED",
}
_AT_ONCE = 200  # stays


def simulate(
    out: str | Path,
    *,
    seed: int = 0,
    patients: int = 2000,
    rows: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Write simulated PATIENTS, ADMISSIONS, ICUSTAYS and CHARTEVENTS.

    A last column in each says that they are simulated.

    Parameters
    ----------
    out : path
        Folder of the raw tables.
    seed : int
    patients : int
        How many, at least 100.
    rows : int
        CHARTEVENTS gets at least about so many rows: what the vital signs leave is filled with other items.
    progress : callable, optional
        Called with the stays written and the stays in all.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InputError
        If an option is bad, or `out` holds tables that are not simulated.
    """
    if patients < 100:
        raise InputError(f"patients: {patients} are too few for every age and outcome; give at least 100")
    for name, value in (("seed", seed), ("rows", rows)):
        if value < 0:
            raise InputError(f"{name}: {value} is negative; give 0 or more")
    out = Path(out)
    refuse_to_replace((out / f"{name}{end}" for name in TABLES for end in (".csv", ".csv.gz")), is_simulated)
    rng = np.random.default_rng([seed, 0])
    stays = _stays(patients, rng)
    paths = [out / f"{name}.csv" for name in TABLES]
    try:
        with ExitStack() as stack:
            temporaries = [stack.enter_context(atomic(path)) for path in paths]
            for name, temporary in zip(TABLES[:3], temporaries, strict=False):
                columns = [*_COLUMNS[name].split(), SIMULATED_COLUMN]
                table = stays.assign(**{SIMULATED_COLUMN: 1}).reindex(columns=columns)
                if name == "PATIENTS":
                    table = table.drop_duplicates("SUBJECT_ID")
                table.assign(ROW_ID=np.arange(len(table))).to_csv(temporary, index=False, lineterminator="\n")
            with open(temporaries[3], "wb") as file:
                file.write(",".join([*_COLUMNS["CHARTEVENTS"].split(), SIMULATED_COLUMN]).encode() + b"\n")
                options = pa.csv.WriteOptions(include_header=False, quoting_style="none")
                for first in range(0, len(stays), _AT_ONCE):
                    part = stays[first : first + _AT_ONCE]
                    pa.csv.write_csv(
                        _events(part, rows * len(part) // len(stays), [seed, 1, first]), file, options
                    )
                    if progress:
                        progress(first + len(part), len(stays))
    except OSError as error:
        raise InputError(
            f"{out}: the tables could not be written ({error.strerror or error}); "
            "make room or choose another folder, then simulate again"
        ) from error
    return paths


def _stays(patients: int, rng: np.random.Generator) -> pd.DataFrame:
    """A row each stay, with all that the first three tables hold and the group, outcome and hours."""
    group = rng.choice(len(_GROUPS), patients, p=_SHARES)
    low, high = np.array(_GROUPS)[group].T
    age = rng.integers(low, high + 1)
    age[rng.random(patients) < 0.03] = 17
    intime = np.datetime64("2100-01-01T00:00:00") + rng.integers(0, 80 * 365 * 86400, patients)
    dob = intime.astype("datetime64[D]") - (age * 365.25 + rng.uniform(20, 340, patients)).astype(int)
    dob[age > 89] -= np.timedelta64(round((300 - 90) * 365.25), "D")
    died = rng.random(patients) < np.array(_MORTALITY)[group]
    hours = rng.uniform(25, 72, patients)
    hours[rng.random(patients) < 0.05] = 23
    early = died & (rng.random(patients) < 0.05)
    hours[early] = 12
    subject = 10_000 + rng.permutation(patients)
    stays = pd.DataFrame({"SUBJECT_ID": subject, "DOB": dob, "INTIME": intime, "hours": hours})
    stays = stays.assign(group=group, HOSPITAL_EXPIRE_FLAG=died.astype(int))
    back = stays[~died].sample(frac=0.1, random_state=int(rng.integers(2**31)))
    stays = pd.concat(
        [stays, back.assign(INTIME=back["INTIME"] + np.timedelta64(90, "D"))], ignore_index=True
    )
    ids = rng.permutation(len(stays))
    stays = stays.assign(HADM_ID=100_000 + ids, ICUSTAY_ID=200_000 + ids, ADMITTIME=stays["INTIME"])
    stays["OUTTIME"] = stays["INTIME"] + (stays["hours"] * 3600).astype("timedelta64[s]")
    dead = stays["HOSPITAL_EXPIRE_FLAG"] == 1
    stays["DISCHTIME"] = stays["OUTTIME"] + np.where(dead, np.timedelta64(0, "s"), np.timedelta64(2, "D"))
    stays["DEATHTIME"] = stays["DISCHTIME"].where(dead)
    stays["DBSOURCE"] = rng.choice(["carevue", "metavision"], len(stays))
    return stays.iloc[rng.permutation(len(stays))]


def _events(stays: pd.DataFrame, rows: int, seed: list[int]) -> pa.Table:
    """Measurements of some stays in any order: their vital signs, and other items up to a number of rows."""
    rng = np.random.default_rng(seed)
    group = stays["group"].to_numpy()[:, None]
    died = stays["HOSPITAL_EXPIRE_FLAG"].to_numpy()[:, None]
    length = int(stays["hours"].max()) + 1
    hour = np.arange(length)
    course = died * (1 - 0.15 * group) * np.minimum(0.4 + hour / 24, 1.6)
    metavision = (stays["DBSOURCE"] == "metavision").to_numpy().astype(int)
    parts = []
    for vital in _VITALS:
        own = rng.normal(0, 0.8 * vital.spread, (len(stays), 1))
        value = vital.level + vital.age * group + vital.dying * course + own
        value = value + rng.normal(0, 0.6 * vital.spread, (len(stays), length))
        if vital.level < 6:  # a score
            value = np.clip(np.round(value), 1, {3: 4, 5: 6, 4: 5}[int(vital.level)])
        measured = rng.random(value.shape) < vital.measured - 0.03 * group
        stay, at = np.nonzero(measured & (hour < stays["hours"].to_numpy()[:, None]))
        value, item = (
            np.minimum(value[stay, at], 100 if vital.items[0] == 646 else np.inf),
            np.array(vital.items),
        )
        value[rng.random(len(value)) < 0.002] = 9999
        if vital.items[0] == 676:
            wrong = rng.random(len(value)) < 0.02
            value[wrong] = value[wrong] * 9 / 5 + 32
        parts.append((stay, at, item[metavision[stay]], value))
    filled = max(0, rows - sum(len(part[0]) for part in parts))
    stay = rng.integers(0, len(stays), filled)
    at = (rng.random(filled) * stays["hours"].to_numpy()[stay]).astype(int)
    parts.append((stay, at, np.full(filled, _OTHER_ITEM), rng.normal(5, 1, filled)))
    stay, at, item, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = rng.permutation(len(stay))
    stay, at, item, value = stay[order], at[order], item[order], np.round(value[order], 1)
    seconds = rng.integers(0, 60, len(stay)) * 60
    time = stays["INTIME"].to_numpy().astype("datetime64[s]")[stay].astype("datetime64[h]") + (at + 1)
    error = (rng.random(len(stay)) < 0.002).astype(np.int64)
    known = {
        "ROW_ID": np.arange(len(stay)),
        **{name: stays[name].to_numpy()[stay] for name in ("SUBJECT_ID", "HADM_ID", "ICUSTAY_ID")},
        "ITEMID": item,
        "CHARTTIME": time.astype("datetime64[s]") + seconds,
        "VALUE": value,
        "VALUENUM": value,
        "ERROR": error,
        SIMULATED_COLUMN: np.ones(len(stay), np.int64),
    }
    columns = [*_COLUMNS["CHARTEVENTS"].split(), SIMULATED_COLUMN]
    return pa.table({name: known.get(name, pa.nulls(len(stay), pa.string())) for name in columns})
