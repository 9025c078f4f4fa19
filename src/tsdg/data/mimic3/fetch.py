"""How to get MIMIC-III."""

from pathlib import Path
from typing import NoReturn

from tsdg.errors import InputError


def fetch(out: str | Path) -> NoReturn:
    """Say how to get MIMIC-III: it needs credentials, so that nothing is fetched.

    Raises
    ------
    InputError
        Always.
    """
    raise InputError(
        "MIMIC-III needs credentials, so nothing is fetched.\n"
        "  Get access at https://physionet.org/content/mimiciii/1.4/ (a course, a data use agreement), then "
        "download PATIENTS, ADMISSIONS, ICUSTAYS and CHARTEVENTS.\n"
        f"  Put the four .csv.gz files into {out}, as they are; for a first try without them there are "
        "`tsdg simulate mimic3` and the open demo of 100 patients."
    )
