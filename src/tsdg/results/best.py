"""Best and second best among what is printed together, and how they are marked."""

import math
from collections.abc import Iterable

LEGEND = "Best in bold, second best underlined."


def places(printed: Iterable[str], *, higher_is_better: bool) -> list[int | None]:
    """1 for the best of some printed numbers, 2 for the next, else None.

    What prints alike shares a place, and the next different print is second. ``nan`` has no place.
    """
    values = [float(number) for number in printed]
    distinct = sorted({value for value in values if not math.isnan(value)}, reverse=higher_is_better)
    place = {value: k for k, value in enumerate(distinct[:2], start=1)}
    return [place.get(value) for value in values]


def marked(number: str, place: int | None) -> str:
    """A printed number as LaTeX: the best bold, the second underlined."""
    command = {1: r"\textbf", 2: r"\underline"}.get(place or 0)
    return f"{command}{{{number}}}" if command else number
