"""A simulated archive of HAPT in the official layout: people who change between postures, and walk."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tsdg.data import motion
from tsdg.data.hapt.raw import (
    EXPERIMENTS,
    LABELS,
    RATE,
    SIMULATED_MARK,
    ZIP,
    is_simulated,
    signal_names,
)
from tsdg.data.simulated import refuse_to_replace
from tsdg.errors import InputError
from tsdg.files import atomic

POSTURES = (5, 4, 5, 6, 4, 6, 5)  # in this order, so that each transition is once
TRANSITION = {(5, 4): 7, (4, 5): 8, (4, 6): 9, (6, 4): 10, (5, 6): 11, (6, 5): 12}
WALKS = (1, 1, 3, 2, 3, 2)
PAUSE, CHANGE = 2, 3  # seconds without a label, and of a transition


def simulate(
    out: str | Path,
    *,
    seed: int = 0,
    seconds: float = 10,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Write a simulated archive under the official name; its comment says that it is simulated.

    Parameters
    ----------
    out : path
        Folder of the raw recordings.
    seed : int
    seconds : float
        Of each bout of an activity, at least 5.
    progress : callable, optional
        Called with the recordings written and the recordings in all.

    Returns
    -------
    list of Path
        The file.

    Raises
    ------
    InputError
        If an option is bad, or `out` holds an archive of this name that is not simulated.
    """
    motion.check_options(seconds, seed)
    path = Path(out) / ZIP
    refuse_to_replace([path], is_simulated)
    labels: list[str] = []
    try:
        with (
            atomic(path) as temporary,
            zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file,
        ):
            for experiment, user in EXPERIMENTS.items():
                signal, bouts = _recording(experiment, user, seconds, seed)
                labels += [f"{experiment} {user} {activity} {a} {b}\n" for activity, a, b in bouts]
                for name, part in zip(
                    signal_names(experiment, user), np.split(signal, 2, axis=1), strict=True
                ):
                    _add(file, name, _text(part))
                if progress:
                    progress(experiment, len(EXPERIMENTS))
            _add(file, LABELS, "".join(labels))
            file.comment = SIMULATED_MARK
    except OSError as error:
        raise InputError(
            f"{path}: could not be written ({error.strerror or error}); "
            "make room or choose another folder, then simulate again"
        ) from error
    return [path]


def _recording(
    experiment: int, user: int, seconds: float, seed: int
) -> tuple[np.ndarray, list[tuple[int, int, int]]]:
    """The signal, and its bouts: activity, first and last sample."""
    body = motion.body(user, seed)
    rng = np.random.default_rng([seed, 2, experiment])
    pause, change = PAUSE * RATE, CHANGE * RATE
    parts, bouts = [motion.bout(body, POSTURES[0], pause, rng)], []
    position = pause

    def add(signal: np.ndarray, activity: int | None) -> None:
        nonlocal position
        parts.append(signal)
        if activity is not None:
            bouts.append((activity, position, position + len(signal) - 1))
        position += len(signal)

    for posture, before in zip(POSTURES, (None, *POSTURES), strict=False):
        if before is not None:
            share = np.linspace(0, 1, change)[:, None]
            old, new = (motion.bout(body, activity, change, rng) for activity in (before, posture))
            add((1 - share) * old + share * new, TRANSITION[before, posture])
        add(motion.bout(body, posture, round(seconds * RATE * rng.uniform(0.8, 1.2)), rng), posture)
    for walk in WALKS:
        add(motion.bout(body, 5, pause, rng), None)
        add(motion.bout(body, walk, round(seconds * RATE * rng.uniform(0.8, 1.2)), rng), walk)
    return np.concatenate(parts), bouts


def _text(signal: np.ndarray) -> str:
    text = io.StringIO()
    np.savetxt(text, signal, "%.6e")
    return text.getvalue()


def _add(archive: zipfile.ZipFile, name: str, text: str) -> None:
    """With a fixed date, so that the same simulation is the same bytes."""
    about = zipfile.ZipInfo(f"HAPT Data Set/RawData/{name}")
    about.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(about, text)
