"""Run records: one self-describing JSON file a run, all that selection, tables and figures rest on."""

import json
import math
import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import total_ordering
from pathlib import Path, PurePath
from typing import Any, TextIO

import numpy as np

from tsdg.errors import InputError

FORMAT = 1
_KEYS = {
    "": ("run", "config", "hparams", "sources", "classes", "data", "code", "machine", "timing", "checkpoints",
         "losses"),
    "run": ("dataset", "variant", "target", "seed", "draw"),
    "config": ("method", "iterations", "protocol"),
    "data": ("fingerprint", "simulated"),
}  # fmt: skip
_METRICS = ("accuracy", "ece", "nll", "brier", "auc")


@total_ordering
@dataclass(frozen=True)
class Run:
    """One training: a variant (row of a table) with one target held out, one seed, one hyperparameter draw.

    Runs sort by field, the draw "fixed" before the numbered ones.

    Raises
    ------
    InputError
        A name that cannot be part of a path, a negative seed, or a draw that is neither "fixed" nor 0, 1, ...
    """

    dataset: str
    variant: str
    target: str
    seed: int
    draw: int | str

    def __post_init__(self) -> None:
        for field in ("dataset", "variant", "target"):
            name = getattr(self, field)
            if not isinstance(name, str) or not re.fullmatch(r"[^\s/.][^\s/]*", name):
                raise InputError(
                    f"{field} {name!r} cannot name a folder: use text without spaces and slashes that "
                    "does not start with a dot."
                )
        if not _is_natural(self.seed):
            raise InputError(f"seed {self.seed!r}: use a whole number from 0 on.")
        if self.draw != "fixed" and not _is_natural(self.draw):
            raise InputError(f'draw {self.draw!r}: use "fixed" or a whole number from 0 on.')

    @property
    def order(self) -> tuple:
        """What runs are sorted by."""
        return self.dataset, self.variant, self.target, self.seed, draw_order(self.draw)

    def __lt__(self, other: "Run") -> bool:
        return self.order < other.order


def _is_natural(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def draw_order(draw: int | str) -> int:
    """Place of a draw among draws: "fixed" first, then by number."""
    return -1 if draw == "fixed" else int(draw)


def run_path(run: Run) -> str:
    """Path of a run's record below the folder of records, such as ``bearings/erm/B/seed0/hp3.json``."""
    draw = "fixed" if run.draw == "fixed" else f"hp{run.draw}"
    return f"{run.dataset}/{run.variant}/{run.target}/seed{run.seed}/{draw}.json"


def parse_run_path(path: str | PurePath) -> Run:
    """The run whose record this path is; leading folders are ignored. The inverse of `run_path`."""
    parts = PurePath(path).as_posix().split("/")[-5:]
    match = re.fullmatch(r"seed(\d+)/(?:hp(\d+)|(fixed))\.json", "/".join(parts[3:]))
    if len(parts) != 5 or match is None:
        raise InputError(
            f"{path}: not a run record's path, which is {{dataset}}/{{variant}}/{{target}}/seed0/hp0.json"
        )
    seed, number, fixed = match.groups()
    return Run(parts[0], parts[1], parts[2], int(seed), fixed or int(number))


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
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with _create(temporary) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(
            f"{path}: the record could not be written ({error.strerror or error}); nothing half-written is "
            "left: make room or choose another folder, then give the same command again"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def _create(path: Path) -> TextIO:
    """Open a new file; its folder may vanish once it is made, as other jobs remove those that are empty."""
    for _ in range(100):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return open(path, "x", encoding="utf-8")
        except FileNotFoundError:
            continue
    return open(path, "x", encoding="utf-8")


def read(path: str | Path) -> dict[str, Any]:
    """A record as written by `write`.

    Raises
    ------
    InputError
        The file is absent, truncated, of another format, or lacks a key; the message names it and the remedy.
    """
    try:
        record = json.loads(Path(path).read_bytes(), parse_constant=_refuse)
        problem = _problem(record)
    except OSError as error:
        problem = f"it cannot be read ({error.strerror})"
    except ValueError as error:
        problem = f"it is truncated or not JSON ({error})"
    if problem:
        raise InputError(f"{path}: unusable run record, {problem}. Delete it and run the same command again.")
    return record


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


def _absent(validation: dict[str, Any], domain: str) -> bool:
    return validation.get(domain, {}).get("accuracy") is None


def _problem(record: Any) -> str | None:
    """What keeps a record from being used, or None."""
    if not isinstance(record, dict):
        return "it holds no JSON object"
    if record.get("format") != FORMAT:
        return f"its format is {record.get('format')!r} where this version reads {FORMAT}"
    if record.get("status") not in ("finished", "diverged"):
        return f"its status is {record.get('status')!r} where only 'finished' and 'diverged' are known"
    for part, keys in _KEYS.items():
        holder = record[part] if part else record
        if not isinstance(holder, dict):
            return f"{part} is no JSON object"
        missing = [key for key in keys if key not in holder]
        if missing:
            return f"{part or 'the record'} lacks {', '.join(missing)}"
    if record["status"] == "diverged" and "diverged_at" not in record:
        return "the record lacks diverged_at"
    if record["status"] == "finished" and not record["checkpoints"]:
        return "a finished run has no checkpoint"
    for checkpoint in record["checkpoints"]:
        missing = [key for key in ("iteration", "validation", "target") if key not in checkpoint]
        if not missing:
            validation, target = checkpoint["validation"], checkpoint["target"]
            missing = [f"validation accuracy of {d}" for d in record["sources"] if _absent(validation, d)]
            missing += [f"target {key}" for key in _METRICS if key not in target]
        if missing:
            return f"a checkpoint lacks {', '.join(missing)}"
    return None
