"""What of its trainings a row shows: their last weights, or another model that the same trainings give."""

from collections.abc import Sequence
from typing import NamedTuple

LAST, AVERAGED = "last", "averaged"
ADAPTED = "adapted, "  # before a way and an order of `tsdg.learning.adaptation`
T3A = "t3a"  # the way that needs no batch normalization
WAYS = (
    f"{ADAPTED}all",
    *(f"{ADAPTED}{way}, {order}" for way in ("batches", "blend", T3A) for order in ("shuffled", "by class")),
)


def asked_ways(adapt: Sequence[str]) -> list[str]:
    """Those of `WAYS` that ``adapt`` of a configuration asks for."""
    return [way for way in WAYS if way.removeprefix(ADAPTED).partition(",")[0] in adapt]


class Reading(NamedTuple):
    """How a row reads records.

    Attributes
    ----------
    variant : str
        Whose trainings these are: the row's own, or those of the variant that it is derived `of`.
    weights : {"last", "averaged"} or one of `WAYS`
        In the last case the last ones, adapted to the target when they are evaluated.
    ensemble : bool
        Whether the models of all seeds are one, which gives the mean of their probabilities.
    since : float, optional
        The share of the iterations from which on weights are averaged.
    """

    variant: str
    weights: str = LAST
    ensemble: bool = False
    since: float | None = None
