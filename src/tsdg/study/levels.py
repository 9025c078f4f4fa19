"""What the new domain gives to a row: levels that are shown apart and never ranked together.

Domain generalization takes nothing of it. Where a machine is put into use, its healthy recordings are at
hand: windows of one class that is named, the reference. Without any label its windows still have statistics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tsdg import methods
from tsdg.learning.centring import DOMAIN, NONE, REFERENCE
from tsdg.study.reading import ADAPTED

GIVEN = {
    NONE: "Nothing of the new domain",
    REFERENCE: "Reference recordings of the new domain",
    DOMAIN: "Windows of the new domain, unlabelled",
}
OMITTED = ", the reference class left out"


class Level(NamedTuple):
    """A level.

    Attributes
    ----------
    given : {"none", "reference", "domain"}
    omits : bool
        Whether the reference class is neither learned nor evaluated, so that numbers are of other windows.
    """

    given: str = NONE
    omits: bool = False

    @property
    def title(self) -> str:
        """What rows of the level stand beneath."""
        return GIVEN[self.given] + OMITTED * self.omits

    @property
    def order(self) -> tuple[int, bool]:
        """The less is given, the earlier."""
        return list(GIVEN).index(self.given), self.omits


def of(row: Mapping[str, Any]) -> Level:
    """The level of a variant's entry in params.yaml."""
    center = row.get("center", NONE)
    adapted = row.get("weights", "").startswith(ADAPTED)
    given = DOMAIN if adapted or methods.looks_at_domain(row) else center
    return Level(given, center == REFERENCE or row.get("omit_reference", False))
