"""HAPT (Reyes-Ortiz et al., Neurocomputing 2016): activities of thirty people, each of them a domain.

The raw files, see `raw`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from tsdg.data.hapt.raw import (
    ACTIVITIES,
    CHANNELS,
    EXPERIMENTS,
    LABELS,
    RATE,
    REMEDY,
    TRANSITIONS,
    USERS,
    ZIP,
    is_simulated,
    opened,
    read_labels,
    read_signal,
    signal_names,
)
from tsdg.data.windows import window_starts, write
from tsdg.errors import InputError
from tsdg.files import sha256

WINDOW, STRIDE = 128, 64
GROUP = 3  # people

CLASSES = {  # and that of each activity; -1: none
    "none": (ACTIVITIES, [*range(6), *[-1] * 6]),
    "one": ((*ACTIVITIES, "transition"), [*range(6), *[6] * 6]),
    "each": ((*ACTIVITIES, *TRANSITIONS), [*range(12)]),
}


def prepare(
    raw: str | Path,
    out: str | Path,
    *,
    transitions: str = "none",
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Make the windowed data set from the raw recordings.

    Windows of 128 samples (2.56 s), every 64 samples, each within one bout of one activity. A domain is a
    person; the metadata `group` are three people with numbers in a row.

    Parameters
    ----------
    raw : path
        Folder of the official zip, or of the files of its ``RawData``.
    out : path
        Folder of the prepared data set.
    transitions : {"none", "one", "each"}
        The changes between two postures: in no window, one class, or six.
    progress : callable, optional
        Called with the recordings read and the recordings in all.

    Returns
    -------
    dict
        The card, see :func:`tsdg.data.windows.write`.

    Raises
    ------
    InputError
        If an option is unknown, or files are missing, damaged, or not in the official layout.
    """
    if transitions not in CLASSES:
        raise InputError(f"transitions: {transitions!r} is unknown; choose none or one or each")
    classes, label_of = CLASSES[transitions]
    raw = Path(raw)
    signals, parts = [], []
    offset = short = 0
    with opened(raw) as read:
        bouts = read_labels(read)
        if strange := sorted(set(bouts["user"]) - set(USERS)):
            raise InputError(f"{LABELS}: user {strange[0]} is none of 1 to {USERS[-1]}; {REMEDY}")
        recordings = list(bouts.groupby(["experiment", "user"]))
        for done, ((experiment, user), here) in enumerate(recordings, start=1):
            signal = read_signal(read, experiment, user)
            if here["last"].max() >= len(signal):
                raise InputError(
                    f"{LABELS}: experiment {experiment} ends at sample {here['last'].max()}, but "
                    f"{signal_names(experiment, user)[0]} has {len(signal)}; {REMEDY}"
                )
            for bout in here.itertuples():
                label = label_of[bout.activity - 1]
                starts = window_starts(WINDOW, STRIDE, bout.last + 1 - bout.first)
                short += label >= 0 and not len(starts)
                columns = {"start": offset + bout.first + starts, "length": WINDOW, "label": label}
                about = {"domain": f"P{user}", "recording": f"exp{experiment:02} user{user:02}"}
                if label >= 0:
                    parts.append(pd.DataFrame(columns | about))
            signals.append(signal)
            offset += len(signal)
            if progress:
                progress(done, len(recordings))
    windows = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({"start": []})
    if windows.empty:
        raise InputError(f"{raw}: not one window of {WINDOW} samples within a bout; {REMEDY}")
    files = [LABELS, *(name for numbers, _ in recordings for name in signal_names(*numbers))]
    used = files if (raw / LABELS).is_file() else [ZIP]
    card = {
        "name": "hapt",
        "kind": "hapt",
        "simulated": is_simulated(raw / used[0]),
        "classes": list(classes),
        "channels": list(CHANNELS),
        "sampling_rate": RATE,
        "window": {"length": WINDOW, "stride": STRIDE},
        "domains": {f"P{user}": {"user": user, "group": (user - 1) // GROUP + 1} for user in USERS},
        "options": {"transitions": transitions},
        "notes": _notes(transitions, short, windows, [numbers for numbers, _ in recordings]),
        "sources": [{"file": name, "sha256": sha256(raw / name)} for name in used],
    }
    return write(out, signals, windows=windows, card=card)


def _notes(transitions: str, short: int, windows: pd.DataFrame, labelled: list[tuple[int, int]]) -> list[str]:
    notes = ["A group is three people with numbers in a row, for no other reason."]
    if transitions == "none":
        notes.append("Transitions between postures are in no window.")
    if short:
        notes.append(f"{short} bouts are shorter than a window of {WINDOW}, and in none.")
    without = [
        f"{experiment} (user {user})"
        for experiment, user in EXPERIMENTS.items()
        if (experiment, user) not in labelled
    ]
    if without:
        notes.append(f"No bout in {LABELS}, so not read: experiments {', '.join(without)}.")
    absent = [f"P{user}" for user in USERS if f"P{user}" not in set(windows["domain"])]
    if absent:
        notes.append(f"No windows: domains {', '.join(absent)}.")
    return notes
