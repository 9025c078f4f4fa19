"""A simulated csv as a user may have it: people with a sensor at the waist, six activities, 50 Hz.

One row a time step: ``recording``, ``user``, ``site``, ``time`` (s), six channels, ``label``, which is 1 to 6
as in HAPT, and -1 between two activities. How people move: `tsdg.data.motion`.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from tsdg.data.motion import ACTIVITIES, RATE, body, bout, check_options
from tsdg.data.own.raw import SIMULATED
from tsdg.data.simulated import SIMULATED_COLUMN, is_simulated, refuse_to_replace
from tsdg.errors import InputError
from tsdg.files import atomic

CHANNELS = ("acc-x", "acc-y", "acc-z", "gyro-x", "gyro-y", "gyro-z")
SITES = ("north", "south")
NO_LABEL = -1
PAUSE = 2  # seconds between two activities


def simulate(
    out: str | Path,
    *,
    seed: int = 0,
    people: int = 5,
    seconds: float = 40,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Write a simulated ``recordings.csv``; a last column says that it is simulated.

    Parameters
    ----------
    out : path
        Folder of the file.
    seed : int
    people : int
        At least 3; each is recorded twice.
    seconds : float
        Of each activity in each recording, at least 5.
    progress : callable, optional
        Called with the people written and the people in all.

    Returns
    -------
    list of Path
        The file.

    Raises
    ------
    InputError
        If an option is bad, or `out` holds a file of this name that is not simulated.
    """
    if people < 3:
        raise InputError(f"people: {people} are too few for domains; give at least 3")
    check_options(seconds, seed)
    path = Path(out) / SIMULATED
    refuse_to_replace([path], is_simulated)
    with atomic(path) as temporary:
        for person in range(1, people + 1):
            for number in (2 * person - 1, 2 * person):
                rows = _recording(person, number, seconds, seed)
                first = number == 1
                rows.to_csv(
                    temporary, mode="w" if first else "a", header=first, index=False, float_format="%.5f"
                )
            if progress:
                progress(person, people)
    return [path]


def _recording(person: int, number: int, seconds: float, seed: int) -> pd.DataFrame:
    """All activities once, in an order of the recording's own, with pauses."""
    who = body(person, seed)
    rng = np.random.default_rng([seed, 2, number])
    parts = []
    for activity in rng.permutation(list(ACTIVITIES)):
        for label, length in ((activity, seconds), (NO_LABEL, PAUSE)):
            signal = bout(who, activity, round(length * RATE), rng)
            parts.append(pd.DataFrame(signal, columns=list(CHANNELS)).assign(label=label))
    table = pd.concat(parts, ignore_index=True)
    about = {"recording": number, "user": person, "site": SITES[person % 2], "time": table.index / RATE}
    return table.assign(**about, **{SIMULATED_COLUMN: 1})[
        ["recording", "user", "site", "time", *CHANNELS, "label", SIMULATED_COLUMN]
    ]
