"""Options of HAPT."""

from collections.abc import Mapping
from typing import Any

from tsdg.data.options import SEED, TEXT, Option, one_of

FETCH = (Option("url", TEXT, "of the zip, if not the official one"),)
SIMULATE = (
    SEED,
    Option(
        "seconds",
        {
            "type": "number",
            "minimum": 5,
            "maximum": 3600,
            "description": "seconds of an activity, 5 to 3600",
        },
        "of each bout of an activity",
        10,
    ),
)
PREPARE = (
    Option(
        "transitions",
        one_of("none", "one", "each"),
        "between two postures: left out, one class, or a class each",
        "none",
    ),
)


def reshaped(prepare: Mapping[str, Any]) -> dict[str, Any]:
    """What options of a preparation make of the shape."""
    return {"classes": {"none": 6, "one": 7, "each": 12}[prepare.get("transitions", "none")]}
