"""Which stays in intensive care are looked at, and in which age group each is."""

from pathlib import Path

import numpy as np
import pandas as pd

from tsdg.data.mimic3.raw import read_table

AGES = {"A": (20, 45), "B": (46, 65), "C": (66, 85), "D": (86, None)}
HOURS = 24  # from admission to the unit, which the windows hold

_DAY = np.timedelta64(HOURS, "h")


def cohort(paths: dict[str, Path]) -> tuple[pd.DataFrame, dict[str, int]]:
    """The stays that are in a domain, and how many are left after each step.

    Parameters
    ----------
    paths : dict
        From :func:`tsdg.data.mimic3.raw.raw_files`.

    Returns
    -------
    stays : pandas.DataFrame
        ``ICUSTAY_ID``, ``INTIME``, ``HOSPITAL_EXPIRE_FLAG``, ``domain``, sorted by the first.
    flow : dict
        Step to number of stays.
    """
    patients = read_table(paths["PATIENTS"], ["SUBJECT_ID", "DOB"])
    admissions = read_table(
        paths["ADMISSIONS"],
        ["HADM_ID", "ADMITTIME", "DISCHTIME", "DEATHTIME", "HOSPITAL_EXPIRE_FLAG"],
    )
    stays = read_table(paths["ICUSTAYS"], ["SUBJECT_ID", "HADM_ID", "ICUSTAY_ID", "INTIME", "OUTTIME"])
    flow = {"ICU stays": len(stays)}
    stays = stays.merge(patients, on="SUBJECT_ID").merge(admissions, on="HADM_ID")
    stays = stays.sort_values(["INTIME", "ICUSTAY_ID"])
    stays["age"] = years(stays["DOB"].to_numpy(), stays["ADMITTIME"].to_numpy())
    end = stays["INTIME"] + _DAY
    steps = {
        "with patient and admission": pd.Series(True, index=stays.index),
        "aged 20 or more": stays["age"] >= AGES["A"][0],
        "the patient's first": ~stays["SUBJECT_ID"].duplicated(),
        "24 hours in the unit": stays["OUTTIME"] >= end,
        "alive and in hospital for them": ~(stays["DEATHTIME"] < end) & ~(stays["DISCHTIME"] < end),
    }
    kept = pd.Series(True, index=stays.index)
    for step, passes in steps.items():
        kept &= passes
        flow[step] = int(kept.sum())
    stays = stays[kept].sort_values("ICUSTAY_ID")
    lows = [low for low, _ in AGES.values()]
    stays["domain"] = np.array(list(AGES))[np.searchsorted(lows, stays["age"], side="right") - 1]
    return stays[["ICUSTAY_ID", "INTIME", "HOSPITAL_EXPIRE_FLAG", "domain"]], flow


def years(birth: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Completed years between dates, which may be centuries apart."""

    def parts(dates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        month, day = dates.astype("datetime64[M]"), dates.astype("datetime64[D]")
        year = month.astype("datetime64[Y]")
        return year.astype(int), (month - year).astype(int) * 31 + (day - month).astype(int)

    (year, day), (birth_year, birthday) = parts(at), parts(birth)
    return year - birth_year - (day < birthday)
