"""JSON as types of msgspec say that it must be, and what is wrong with it in words."""

import json
import re
from contextlib import suppress
from copy import deepcopy
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

T = TypeVar("T")

_HUGE = 1e300  # infinity, which JSON may hold as 1e999, is above
Number = Annotated[float, Meta(ge=-_HUGE, le=_HUGE)]
FromZero = Annotated[float, Meta(ge=0, le=_HUGE)]


def parsed(text: bytes) -> Any:
    """What JSON holds, without the keys twice and the numbers that are none, which Python would take.

    Raises
    ------
    ValueError
        It is no such JSON.
    RecursionError
        It is nested too deeply.
    """
    with suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
        found = msgspec.json.decode(text)
        # Each key has a colon, and of one that is there twice but one is left; `\\u003a` is a colon too.
        if b"\\u003" not in text and msgspec.json.encode(found).count(b":") == text.count(b":"):
            return found
    # It may hold what msgspec does not take, or take no notice of; this reader, slower by half, says what.
    return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)


def converted(plain: Any, kind: type[T]) -> T:
    """What parsed JSON is as a type.

    Raises
    ------
    ValueError
        It is none; the message says where and why.
    """
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise ValueError(_explained(plain, kind, str(error))) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"it has the key {next(key for key in keys if keys.count(key) > 1)!r} twice")
    return found


def _refuse(constant: str) -> float:
    raise ValueError(f"it is not JSON, which has no {constant}")


def _explained(plain: Any, kind: type, error: str) -> str:
    """msgspec's message in our words, with the keys that it leaves out and the value that is wrong."""
    reason, _, path = error.partition(" - at `$")
    steps = _steps(plain, kind, error, path)
    place = ".".join(map(str, steps))
    if found := re.fullmatch(r"Object missing required field `(\w+)`", reason):
        return f"{place or 'it'} lacks {found[1]}"
    value = _at(plain, steps)
    if found := re.match(r"Expected `(.+?)`(?: ([<>]=?) (\S+))?", reason):
        kinds = " or ".join(_KINDS.get(name, name) for name in found[1].split(" | "))
        limit = f" {found[2]} {float(found[3]):.5g}" if found[2] else ""
        return f"{place} is {value!r:.40} where {kinds}{limit} belongs"
    if reason.startswith("Invalid enum value"):
        return f"{place} is {value!r:.40}, which is not known"
    return f"{place}: {reason}" if place else reason


_KINDS = {
    "float": "a number", "int": "a whole number", "str": "a text", "bool": "true or false", "array": "a list",
    "object": "a JSON object",
}  # fmt: skip


def _steps(plain: Any, kind: type, error: str, path: str) -> list[str | int]:
    """The keys and indices that lead to a fault; msgspec has [...] for a key that is no field."""
    steps: list[str | int] = []
    for name, index in re.findall(r"\.(\w+)|\[(\d+|\.\.\.)\]", path):
        steps.append(_faulty_key(plain, kind, error, steps) if index == "..." else name or int(index))
    return steps


def _faulty_key(plain: Any, kind: type, error: str, steps: list[str | int]) -> str:
    """The first key below some steps that gives an error without those beside it."""
    for key, value in _at(plain, steps).items():
        alone = deepcopy(plain)
        place = _at(alone, steps)
        place.clear()
        place[key] = value
        try:
            msgspec.convert(alone, kind)
        except msgspec.ValidationError as again:
            if str(again) == error:
                return key
    return "*"


def _at(tree: Any, steps: list[str | int]) -> Any:
    for step in steps:
        tree = tree[step]
    return tree
