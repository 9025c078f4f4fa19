"""Options of data sets on the command line, made of what `tsdg.data.options` says of them."""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tsdg.commands.arguments import natural, number_or_name, numbers, path_or_name, positive
from tsdg.data.options import Option
from tsdg.errors import InputError


def add_options(sub: argparse.ArgumentParser, options: Iterable[Option]) -> None:
    """Add options; what is not given is left out, so that the function's default holds."""
    for option in options:
        sub.add_argument(
            option.flag,
            required=option.required,
            default=argparse.SUPPRESS,
            help=option.described,
            **reading(option.value) | ({"type": path_or_name} if option.files else {}),
        )


def given(arguments: argparse.Namespace, options: Iterable[Option]) -> dict[str, Any]:
    """Values of the options that are given.

    Raises
    ------
    InputError
        If a text is empty, or one of a list is there twice.
    """
    found = {}
    for option in options:
        if option.name not in arguments:
            continue
        value = found[option.name] = vars(arguments)[option.name]
        texts = value if isinstance(value, list) else [value]
        if "" in texts:
            raise InputError(f"{option.flag}: is empty; give it a value, or leave it out")
        if option.value.get("uniqueItems") and len(set(texts)) < len(texts):
            twice = next(text for text in texts if texts.count(text) > 1)
            raise InputError(f"{option.flag}: {twice!r} is there twice; give it once")
    return found


def reading(value: Mapping[str, Any]) -> dict[str, Any]:
    """How `argparse` reads a value from its JSON schema: keyword arguments of `add_argument`.

    Words to choose from, numbers and texts are read as such. A list is several words, or numbers and ranges;
    a mapping is JSON; in place of null stands ``all``.
    """
    match value:
        case {"enum": words} if all(isinstance(word, str) for word in words):
            return {"choices": words}
        case {"type": "array", "items": {"type": "integer"}}:
            return {"type": numbers}
        case {"type": "array"}:
            return {"nargs": "+", "action": "extend"}
        case {"anyOf": [{"type": "array"}, {"type": "object"} as mapping]}:
            return {"nargs": "+", "action": _ListOrMapping, "type": _word_or(_mapping(mapping))}
    return {"type": _reader(value)}


def _reader(value: Mapping[str, Any]) -> Callable[[str], Any]:
    match value:
        case {"enum": words}:
            return _word(words, None)
        case {"anyOf": [{"enum": words}, other]}:
            return _word(words, _reader(other))
        case {"anyOf": [other, {"type": "null"}]}:
            number = _reader(other)
            return lambda text: None if text in ("all", "None") else number(text)
        case {"anyOf": [{"type": "number"}, {"type": "string"}]}:
            return number_or_name
        case {"type": "integer", "minimum": 0}:
            return natural
        case {"type": "integer"}:
            return positive
        case {"type": "number"}:
            return float
        case {"type": "object"}:
            return _mapping(value)
        case {"type": "string"}:
            return str
    raise ValueError(f"no option reads {value}")


def _word(words: Sequence[Any], other: Callable[[str], Any] | None) -> Callable[[str], Any]:
    """Reader of one of some words and numbers, or else by another reader."""
    named = {str(word): word for word in words}

    def read(text: str) -> Any:
        if text in named:
            return named[text]
        if other is None:
            raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(named)}")
        return other(text)

    return read


def _word_or(mapping: Callable[[str], dict[str, Any]]) -> Callable[[str], Any]:
    """Reader of any word, or of what begins as a mapping does."""
    return lambda text: mapping(text) if text.startswith("{") else text


def _mapping(value: Mapping[str, Any]) -> Callable[[str], dict[str, Any]]:
    """Reader of a JSON object."""
    example = json.dumps(value["examples"][0])

    def read(text: str) -> dict[str, Any]:
        import jsonschema

        from tsdg.runs.strict import parsed

        try:
            found = parsed(text.encode())
            jsonschema.Draft202012Validator(value).validate(found)
        except (ValueError, RecursionError, jsonschema.ValidationError) as error:
            why = error.message if isinstance(error, jsonschema.ValidationError) else str(error)
            raise argparse.ArgumentTypeError(
                f"{text!r:.80} is no JSON object such as '{example}': {why:.200}"
            ) from None
        return found

    return read


class _ListOrMapping(argparse.Action):
    """Gathers words in a list; one mapping takes its place."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, flag: Any = None
    ) -> None:
        before = getattr(namespace, self.dest, [])
        gathered = [*(before if isinstance(before, list) else [before]), *values]
        mapping = isinstance(gathered[0], dict)
        if len(gathered) > 1 and any(isinstance(value, dict) for value in gathered):
            raise argparse.ArgumentError(self, "give one mapping, or words alone")
        setattr(namespace, self.dest, gathered[0] if mapping else gathered)
