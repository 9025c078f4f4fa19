"""What Snakemake keeps of each file that it made, below ``.snakemake``, as its version 9 does in files."""

import json
import os
import shutil
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tsdg.errors import InputError

FOLDER = Path(".snakemake")
FORMAT = 6


def check_idle(root: Path) -> None:
    """Raise `InputError` where Snakemake is at work, or was killed."""
    locks = root / FOLDER / "locks"
    if locks.is_dir() and any(locks.iterdir()):
        raise InputError(
            f"{locks}: Snakemake is at work here, or was killed: let it end, or `snakemake --unlock`; "
            "then give the same command again"
        )


def is_known(root: Path, path: Path) -> bool:
    """Whether Snakemake knows how a file, named as in its rules, was made.

    Raises
    ------
    InputError
        It keeps that in another format.
    """
    kept = _kept(root, path)
    return kept.exists() and bool(_read(kept))


def replace_param(root: Path, path: Path, old: str, new: str) -> None:
    """Have Snakemake know a file as made with another value of a parameter, if it knows it; in one step."""
    kept = _kept(root, path)
    contents = _read(kept) if kept.exists() else {"params": []}
    if repr(old) not in contents["params"]:
        return
    contents["params"] = sorted(repr(new) if param == repr(old) else param for param in contents["params"])
    temporary = (
        root / FOLDER / f"{uuid.uuid4().hex}.tmp"
    )  # beside, since the name may be as long as names can be
    try:
        temporary.write_text(json.dumps(contents), encoding="utf-8")
        shutil.copymode(kept, temporary)
        os.replace(temporary, kept)
    finally:
        temporary.unlink(missing_ok=True)


def _kept(root: Path, path: Path) -> Path:
    """Where Snakemake keeps what it knows of a file: named by its path, in folders where that is long."""
    name = urlsafe_b64encode(path.as_posix().encode()).decode()
    return (root / FOLDER / "metadata").joinpath(*_parts(name, os.pathconf(root, "PC_NAME_MAX") - 1))


def _parts(name: str, size: int) -> Iterator[str]:
    while len(name) > size:
        yield f"@{name[:size]}"
        name = name[size:]
    yield name


def _read(kept: Path) -> dict[str, Any]:
    try:
        contents = json.loads(kept.read_bytes())
        if contents["record_format_version"] == FORMAT and isinstance(contents["params"], list):
            return contents
    except (ValueError, KeyError, TypeError):
        pass
    raise InputError(
        f"{kept}: Snakemake keeps its metadata otherwise than in format {FORMAT}, so that it cannot be told "
        "of what is adopted; install the versions of requirements.lock"
    )
