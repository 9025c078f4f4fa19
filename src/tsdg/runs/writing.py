"""How a run record is written: one self-describing JSON file a run, whole or not there.

The file is the record's compact form, see `tsdg.runs.compact`.

What reads it is `tsdg.runs.record`; what trains needs this alone.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tsdg.errors import InputError
from tsdg.files import write_text
from tsdg.runs.compact import CHECKSUM, compacted

FORMAT = 1  # of a record; its file is of `tsdg.runs.compact`'s
_SEAL, _END = f',"{CHECKSUM}":"', '"}\n'


def write(path: str | Path, record: Mapping[str, Any]) -> None:
    """Write a record; missing folders are made.

    NumPy scalars and arrays become plain numbers and lists; numbers that are not finite become null, as JSON
    has no NaN.

    Raises
    ------
    InputError
        The disk is full, or the folder cannot be written to.
    """
    try:
        write_text(path, sealed(compacted(plain(record))))
    except OSError as error:
        raise InputError(
            f"{path}: the record could not be written ({error.strerror or error}); nothing half-written is "
            "left: make room or choose another folder, then give the same command again"
        ) from error


def sealed(contents: Mapping[str, Any]) -> str:
    """The text of a file of these contents, whose last member is a checksum of all that stands before it."""
    members = {name: value for name, value in contents.items() if name != CHECKSUM}
    body = json.dumps(members, allow_nan=False, separators=(",", ":"))[:-1]
    return f"{body}{_SEAL}{_digest(body.encode())}{_END}"


def is_sealed(text: bytes) -> bool:
    """Whether a file is, to the byte, as `sealed` made it."""
    body, seal, rest = text.rpartition(_SEAL.encode())
    return bool(seal) and rest == (_digest(body) + _END).encode()


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def plain(value: Any) -> Any:
    """A value as JSON would give it back."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
