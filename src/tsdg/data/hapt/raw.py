"""Raw recordings of HAPT.

``labels.txt`` has a row a bout: experiment, user, activity, first and last sample, counted from 0.
``acc_exp{experiment}_user{user}.txt`` and ``gyro_exp{experiment}_user{user}.txt``, the numbers in two digits,
have a row a sample: x, y, z in g, and in rad/s. The official archive holds them in its folder ``RawData``.
"""

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tsdg.data import archive
from tsdg.errors import InputError

ZIP = "smartphone+based+recognition+of+human+activities+and+postural+transitions.zip"
LABELS = "labels.txt"
ACTIVITIES = ("walking", "upstairs", "downstairs", "sitting", "standing", "lying")  # 1 to 6
TRANSITIONS = (  # 7 to 12
    "stand to sit", "sit to stand", "sit to lie", "lie to sit", "stand to lie", "lie to stand",
)  # fmt: skip
CHANNELS = ("acc-x", "acc-y", "acc-z", "gyro-x", "gyro-y", "gyro-z")
RATE = 50
USERS = range(1, 31)
EXPERIMENTS = dict(enumerate(sorted([*USERS, *USERS, 10]), start=1))  # two of each user, of user 10 three
SIMULATED_MARK = b"simulated by tsdg"  # the archive's comment
REMEDY = "get the official archive with `tsdg fetch hapt`, or put it into the folder by hand"

_COLUMNS = ["experiment", "user", "activity", "first", "last"]
Read = Callable[[str], bytes]  # a file by name


def raw_names(entry: Mapping[str, Any]) -> list[str]:
    """See `tsdg.data.kinds.Kind.raw_names`; of an unpacked archive, the files of its ``RawData``."""
    if entry["source"] == "simulated" or not Path(entry["raw"], LABELS).exists():
        return [ZIP]
    return [LABELS, *(name for numbers in EXPERIMENTS.items() for name in signal_names(*numbers))]


def signal_names(experiment: int, user: int) -> list[str]:
    """Names of the files of one recording."""
    return [f"{sensor}_exp{experiment:02}_user{user:02}.txt" for sensor in ("acc", "gyro")]


@contextmanager
def opened(raw: str | Path) -> Iterator[Read]:
    """What reads the raw files in a folder, unpacked or in the archive.

    Raises
    ------
    InputError
        If there are none, or one that is asked for is missing or damaged.
    """
    raw = Path(raw)
    if (raw / LABELS).is_file():

        def read(name: str) -> bytes:
            try:
                return (raw / name).read_bytes()
            except OSError as error:
                raise InputError(f"{raw / name}: {error.strerror or error}; {REMEDY}") from None

        yield read
        return
    path = raw / ZIP
    if not path.is_file():
        raise InputError(f"{raw}: holds neither {LABELS} nor {ZIP}; {REMEDY}")
    with archive.opened(path, REMEDY) as file:

        def unpacked(name: str) -> bytes:
            return file.read(archive.only(file, path, name, REMEDY, inside="RawData"))

        yield unpacked


def read_labels(read: Read) -> pd.DataFrame:
    """All bouts: experiment, user, activity (1 to 12), first and last sample."""
    table = _table(read, LABELS, 5)
    bad = (table % 1 != 0).any(axis=1) | ~table[2].between(1, 12) | (table[3] < 0) | (table[4] < table[3])
    if bad.any():
        line = int(bad.idxmax())
        raise InputError(
            f"{LABELS}: line {line + 1} ({' '.join(f'{value:g}' for value in table.loc[line])}) is not "
            f"experiment, user, activity from 1 to 12, first and last sample; {REMEDY}"
        )
    bouts = table.astype(int).set_axis(_COLUMNS, axis=1)
    by_start = bouts.sort_values(["experiment", "user", "first"], kind="stable")
    ends = by_start.groupby(["experiment", "user"])["last"].cummax()
    before = ends.groupby([by_start["experiment"], by_start["user"]]).shift()
    if (overlap := by_start["first"] <= before).any():
        line = overlap.idxmax()
        experiment, user, _, first, last = bouts.loc[line]
        raise InputError(
            f"{LABELS}: line {line + 1} ({first} to {last}) overlaps another bout of experiment {experiment} "
            f"(user {user}), which ends at sample {before[line]:.0f}; a sample is of one activity; {REMEDY}"
        )
    return bouts


def read_signal(read: Read, experiment: int, user: int) -> np.ndarray:
    """One recording: float32, ``(samples, 6)``, acceleration and turning rate."""
    acceleration, turning = signal_names(experiment, user)
    parts = [_table(read, name, 3).to_numpy(np.float32) for name in (acceleration, turning)]
    if len(parts[0]) != len(parts[1]):
        raise InputError(
            f"{acceleration} has {len(parts[0])} samples, {turning} {len(parts[1])}; they must be as many; "
            f"{REMEDY}"
        )
    return np.concatenate(parts, axis=1)


def _table(read: Read, name: str, columns: int) -> pd.DataFrame:
    """Finite numbers in so many columns."""
    try:
        table = pd.read_csv(io.BytesIO(read(name)), sep=r"\s+", header=None, dtype=np.float64)
    except (ValueError, UnicodeDecodeError) as error:  # pandas' own are ValueErrors
        raise InputError(f"{name}: unreadable as numbers ({error}); {REMEDY}") from None
    if table.shape[1] != columns or not np.isfinite(table).all(axis=None):
        raise InputError(f"{name}: not {columns} finite numbers in every row; {REMEDY}")
    return table


def is_simulated(path: Path) -> bool:
    """Whether an archive says that `tsdg` simulated it."""
    try:
        with zipfile.ZipFile(path) as file:
            return file.comment == SIMULATED_MARK
    except (OSError, zipfile.BadZipFile):
        return False
