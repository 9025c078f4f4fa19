"""Errors that a user can put right, and the nearest valid spelling for their messages."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

SHOWN = 15  # names of a list


class InputError(Exception):
    """Bad input: the message names the file, the field and the remedy.

    The command line prints the message alone, without a traceback, and exits with code 2.
    """


def all_of(problems: Iterable[str]) -> InputError:
    """One error of all problems found, each on a line of its own where there are several."""
    found = list(dict.fromkeys(problems))
    return InputError(found[0] if len(found) == 1 else f"{len(found)} problems:\n  " + "\n  ".join(found))


def nearest(word: object, known: Iterable[str]) -> str:
    """``", did you mean 'x'?"`` for the known word nearest to a misspelt one, or nothing."""
    spelled = {str(name).lower(): str(name) for name in known}
    match = get_close_matches(str(word).lower(), spelled, n=1, cutoff=0.5)
    return f", did you mean {spelled[match[0]]!r}?" if match else ""


def listed(names: Sequence[object]) -> str:
    """Names in a row, of many the first ones and how many there are."""
    first = ", ".join(map(str, names[:SHOWN]))
    return first if len(names) <= SHOWN else f"{first}, ..., {len(names)} in all"


def check_known(name: str, known: Iterable[str], kind: str, where: str = "") -> None:
    """Raise `InputError`, with the nearest of those there are, unless a name is known.

    Parameters
    ----------
    kind : str
        What it should be a name of.
    where : str, optional
        Its place in `params.yaml`.
    """
    known = list(known)
    if name not in known:
        there = f"there are {listed(known)}" if known else "there are none"
        raise InputError(f"{where and f'{where}: '}{name!r} is not a {kind}{nearest(name, known)}; {there}")
