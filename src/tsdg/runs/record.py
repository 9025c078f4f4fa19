"""Run records: one self-describing JSON file a run, all that selection, tables and figures rest on."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tsdg.errors import InputError
from tsdg.files import write_text
from tsdg.study.run import Run

FORMAT = 1
_HUGE = 1e300  # infinity, which JSON may hold as 1e999, is above
_LARGEST = 2**63 - 1  # whole number of a table
_ROUNDING = 1e-6


class _Kind(NamedTuple):
    """A kind of values: what tells them, and what they are called."""

    holds: Callable[[Any], bool]
    words: str


def _number(words: str, low: float = -_HUGE, high: float = _HUGE, *, or_null: bool = False) -> _Kind:
    types, gap = (int, float), None if or_null else ...

    def holds(value: Any) -> bool:
        return low <= value <= high if type(value) in types else value is gap

    return _Kind(holds, words)


_TEXT = _Kind(lambda value: isinstance(value, str), "a text")
_TRUTH = _Kind(lambda value: isinstance(value, bool), "true or false")
_LIST = _Kind(lambda value: isinstance(value, list), "a list")
_NATURAL = _Kind(lambda value: type(value) is int and 0 <= value <= _LARGEST, "a whole number from 0")
_POSITIVE = _Kind(lambda value: type(value) is int and 1 <= value <= _LARGEST, "a whole number from 1")
_NUMBER = _number("a number")
_FROM_0 = _number("a number from 0", 0)
_FRACTION = _number("a number from 0 to 1", 0, 1 + _ROUNDING)
_TO_2 = _number("a number from 0 to 2", 0, 2 + _ROUNDING)
_GAPPED = _number("a number or null", or_null=True)
_GAPPED_FRACTION = _number("a number from 0 to 1 or null", 0, 1 + _ROUNDING, or_null=True)
_STOP = _Kind(lambda value: value is None or _POSITIVE.holds(value), "a whole number from 1 or null")
_CLUSTERS = _Kind(
    lambda value: value is None or (isinstance(value, dict) and all(map(_NATURAL.holds, value.values()))),
    "null or the number of each domain's cluster",
)
_ANY = _Kind(lambda value: True, "anything")

# Of a JSON object: its keys, those that may be absent with "?", "*" for all others. [x] is a list of x.
_BINS = {"count": [_NATURAL], "confidence": [_GAPPED_FRACTION], "accuracy": [_GAPPED_FRACTION]}
_TARGET = {
    "accuracy": _FRACTION, "ece": _FRACTION, "nll": _FROM_0, "brier": _TO_2, "auc": _GAPPED_FRACTION,
    "n?": _NATURAL, "reliability?": _BINS,
}  # fmt: skip
_RECORD = {
    "run": dict.fromkeys(("dataset", "variant", "target", "seed", "draw"), _ANY),
    "config": {"method": _TEXT, "iterations": _POSITIVE, "protocol": _TEXT, "clusters?": _CLUSTERS},
    "hparams": {"*": _NUMBER},
    "sources": [_TEXT],
    "classes": _LIST,
    "data": {"fingerprint": _TEXT, "simulated": _TRUTH},
    "code": {"fingerprint": _TEXT},
    "machine": {"device": _TEXT, "device_name?": _TEXT},
    "timing": {"seconds_per_iteration": _FROM_0, "runs_at_once": _POSITIVE},
    "checkpoints": [
        {"iteration": _POSITIVE, "validation": {"*": {"accuracy": _FRACTION}}, "target": _TARGET}
    ],
    "losses": {"iteration": [_NATURAL], "*": [_GAPPED]},
    "diverged_at?": _POSITIVE,
    "stopped_at?": _STOP,
    "divergence?": {"*": {"value": _NUMBER}},
    "neighbours?": [{"iteration": _NATURAL, "of": {"*": _TEXT}}],
}  # fmt: skip


def write(path: str | Path, record: Mapping[str, Any]) -> None:
    """Write a record atomically: whoever looks sees a whole record or none.

    NumPy scalars and arrays become plain numbers and lists; numbers that are not finite become null, as JSON
    has no NaN. Missing folders are made.

    Raises
    ------
    ValueError
        The record lacks what `read` would ask of it.
    InputError
        The disk is full, or the folder cannot be written to.
    """
    path = Path(path)
    plain = _plain(record)
    problem = _problem(plain)
    if problem:
        raise ValueError(f"{path}: not written, {problem}")
    text = json.dumps(plain, allow_nan=False, separators=(",", ":")) + "\n"
    try:
        write_text(path, text)
    except OSError as error:
        raise InputError(
            f"{path}: the record could not be written ({error.strerror or error}); nothing half-written is "
            "left: make room or choose another folder, then give the same command again"
        ) from error


def read(path: str | Path) -> dict[str, Any]:
    """A record as written by `write`.

    Raises
    ------
    InputError
        The file is absent, truncated, of another format, lacks a key or holds a wrong value; the message
        names it and the remedy.
    """
    try:
        record = json.loads(Path(path).read_bytes(), parse_constant=_refuse)
        problem = _problem(record)
    except OSError as error:
        problem = f"it cannot be read ({error.strerror})"
    except ValueError as error:
        problem = f"it is truncated or not JSON ({error})"
    except RecursionError:
        problem = "it is nested too deeply"
    if problem:
        raise InputError(f"{path}: unusable run record, {problem}. Delete it and run the same command again.")
    return record


def source_accuracy(checkpoint: Mapping[str, Any]) -> float:
    """Validation accuracy of a record's checkpoint, the mean over the source domains."""
    accuracies = [scores["accuracy"] for scores in checkpoint["validation"].values()]
    return math.fsum(accuracies) / len(accuracies)


def check_run(path: str | Path, record: Mapping[str, Any], run: Run) -> None:
    """Raise `InputError` unless the record says that it is of this run: a record copied elsewhere lies."""
    if record["run"] != asdict(run):
        raise InputError(
            f"{path}: the record says that it is of run {record['run']}. Move it to where it belongs, or "
            "delete it and run the same command again."
        )


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _fault(value: Any, shape: Any) -> tuple[str, str] | None:
    """Where in a value, below its own place, it is not of a shape, and why; None if it is."""
    if isinstance(shape, _Kind):
        return None if shape.holds(value) else ("", f"is {value!r:.40} where {shape.words} belongs")
    if isinstance(shape, list):
        if not isinstance(value, list):
            return "", f"is {value!r:.40} where a list belongs"
        if isinstance(shape[0], _Kind) and all(map(shape[0].holds, value)):  # the many numbers, fast
            return None
        inside = ((number, item, shape[0]) for number, item in enumerate(value))
    else:
        if not isinstance(value, dict):
            return "", "is no JSON object"
        missing = [key for key in shape if key not in value and key[-1] not in "?*"]
        if missing:
            return "", f"lacks {', '.join(missing)}"
        if "*" in shape:
            inside = ((key, item, shape.get(key, shape["*"])) for key, item in value.items())
        else:
            names = ((key.removesuffix("?"), inner) for key, inner in shape.items())
            inside = ((key, value[key], inner) for key, inner in names if key in value)
    for key, item, inner in inside:
        if fault := _fault(item, inner):
            return f".{key}{fault[0]}", fault[1]
    return None


def _problem(record: Any) -> str | None:
    """What keeps a record from being used, or None."""
    if not isinstance(record, dict):
        return "it holds no JSON object"
    if record.get("format") != FORMAT:
        return f"its format is {record.get('format')!r} where this version reads {FORMAT}"
    if record.get("status") not in ("finished", "diverged"):
        return f"its status is {record.get('status')!r} where only 'finished' and 'diverged' are known"
    if fault := _fault(record, _RECORD):
        return f"{fault[0][1:] or 'the record'} {fault[1]}"
    if record["status"] == "diverged" and "diverged_at" not in record:
        return "the record lacks diverged_at"
    if record["status"] == "finished" and not record["checkpoints"]:
        return "a finished run has no checkpoint"
    sources = set(record["sources"])
    if not sources:
        return "it has no sources"
    for checkpoint in record["checkpoints"]:
        if missing := sorted(sources - set(checkpoint["validation"])):
            return f"a checkpoint lacks the validation accuracy of {', '.join(missing)}"
        if unknown := sorted(set(checkpoint["validation"]) - sources):
            return f"a checkpoint has a validation accuracy of {', '.join(unknown)}, which are no sources"
        if len(set(map(len, checkpoint["target"].get("reliability", {}).values()))) > 1:
            return "the lists of a checkpoint's reliability differ in length"
    if len(set(map(len, record["losses"].values()))) > 1:
        return "the lists of losses differ in length"
    for update in record.get("neighbours", []):
        if unknown := sorted({*update["of"], *update["of"].values()} - sources):
            return f"neighbours name {', '.join(unknown)}, which are no sources"
    return None
