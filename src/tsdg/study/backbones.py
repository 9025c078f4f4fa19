"""What `params.yaml` may say of a backbone: its name, or with options ``{name: tcn, width: 16}``."""

from collections.abc import Mapping
from typing import Any

from tsdg.errors import InputError
from tsdg.learning.backbones.options import DEFAULTS, NORMALIZATIONS, OPTIONS

AUTO = "auto"  # for recordings of one's own, which follows from their windows
NAMES = [name for name in DEFAULTS if name != "toy"]


def _at_least(minimum: int, what: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": minimum, "description": f"{what}, from {minimum}"}


VALUES = {
    "width": _at_least(1, "a number of channels"),
    "depth": _at_least(1, "a number of blocks or layers"),
    "kernel": _at_least(4, "a number of time steps"),
    "stride": _at_least(1, "a number of time steps"),
    "heads": _at_least(1, "a number of heads"),
    "patch": _at_least(1, "a number of time steps"),
}


def schema(*, auto: bool = False) -> dict[str, Any]:
    """JSON schema of ``backbone``."""
    return {
        "if": {"type": "object"},
        "then": {
            "required": ["name"],
            "properties": {"name": {"enum": NAMES}},
            "allOf": [
                {
                    "if": {"properties": {"name": {"const": name}}, "required": ["name"]},
                    "then": _options(name),
                }
                for name in NAMES
            ],
        },
        "else": {"enum": [*NAMES, *([AUTO] if auto else [])]},
    }


def _options(name: str) -> dict[str, Any]:
    norms = {"norm": {"enum": list(NORMALIZATIONS[name])}}
    values = {option: (VALUES | norms)[option] for option in OPTIONS if option in DEFAULTS[name]}
    return {"additionalProperties": False, "properties": {"name": True, **values}}


def named(entry: str | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name of a backbone and the options that are given to it.

    Raises
    ------
    InputError
        Heads cannot share the width.
    """
    if isinstance(entry, str):
        return entry, {}
    name, options = entry["name"], {option: value for option, value in entry.items() if option != "name"}
    values: dict[str, Any] = DEFAULTS[name] | options
    if "heads" in values and values["width"] % values["heads"]:
        raise InputError(
            f"backbone.heads: {values['heads']} does not divide the width, which is {values['width']}; give "
            "one that does, or another width"
        )
    return name, options
