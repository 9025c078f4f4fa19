"""Options of `tsdg fetch`, `simulate` and `prepare`, written once for the command line and params.yaml."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

NATURAL = {"type": "integer", "minimum": 0}
POSITIVE = {"type": "number", "exclusiveMinimum": 0, "description": "a number above 0"}
TEXT = {"type": "string"}


@dataclass(frozen=True)
class Option:
    """An option.

    Attributes
    ----------
    name : str
        The function's parameter; on the command line with dashes.
    value : mapping
        JSON schema of the value. Its ``description`` says to a user what would be right.
    help : str
        One line for ``--help``, without the default.
    default : object
        The function's.
    unless : str
        What the default means, where ``--help`` is to say that in its place.
    required : bool
    files : bool
        Whether it names a file, or several, that are read.
    of_entry : callable, optional
        The value that follows from a data set's entry in params.yaml, None for the default: there, it cannot
        be given.
    """

    name: str
    value: Mapping[str, Any]
    help: str = ""
    default: object = None
    unless: str = ""
    required: bool = False
    files: bool = False
    of_entry: Callable[[Mapping[str, Any]], object] | None = None

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def described(self) -> str:
        """Its line in ``--help``."""
        default = self.unless or ("" if self.default is None else str(self.default))
        if not default:
            return self.help
        return f"{self.help} (default: {default})" if self.help else f"default: {default}"


SEED = Option("seed", NATURAL, default=0)


def one_of(*values: object) -> dict[str, Any]:
    """Schema of a choice."""
    return {"enum": list(values)}


def schema(options: Iterable[Option]) -> dict[str, Any]:
    """JSON schema of options in params.yaml."""
    written = [option for option in options if option.of_entry is None]
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [option.name for option in written if option.required],
        "properties": {option.name: option.value for option in written},
    }


def following(options: Iterable[Option], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Values that follow from a data set's entry in params.yaml."""
    values = {option.name: option.of_entry(entry) for option in options if option.of_entry}
    return {name: value for name, value in values.items() if value is not None}
