"""The nearest valid spelling, for error messages."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: object, known: Iterable[str]) -> str:
    """``", did you mean 'x'?"`` for the known word nearest to a misspelt one, or nothing."""
    match = get_close_matches(str(word), [str(k) for k in known], n=1, cutoff=0.5)
    return f", did you mean {match[0]!r}?" if match else ""
