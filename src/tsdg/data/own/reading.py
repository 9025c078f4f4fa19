"""What goes wrong while files are read, as one clear message."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from tsdg.errors import InputError


@contextmanager
def refused(path: Path, array: str | None = None) -> Iterator[None]:
    """Arrow's errors, NumPy's, and those of other libraries of files, as `InputError`."""
    try:
        yield
    except MemoryError:
        what = f"array {array!r}" if array else "what it holds"
        raise InputError(f"{path}: {what} does not fit into memory; correct the file, or cut it up") from None
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:  # Arrow's are ValueErrors
        words = "".join(letter if letter.isprintable() else " " for letter in str(error))
        words = " ".join(words.split())[:200]
        if "allow_pickle" in words and array:
            raise InputError(
                f"{path}: array {array!r} holds Python objects, not numbers or text; save it as "
                f"`{array}.astype(str)`, or as numbers"
            ) from None
        remedy = "correct the file and try again"
        if "UTF8" in words or "utf-8" in words:
            remedy = "save the file as UTF-8; if it is Latin-1: iconv -f LATIN1 -t UTF-8"
        elif "conversion error" in words:
            remedy = "leave the cell empty where a value is missing, and write decimals with a point"
        raise InputError(f"{path}: {words}; {remedy}") from None


def library(name: str, path: Path) -> Any:
    """A library that is no part of every installation."""
    try:
        return import_module(name)
    except ImportError:
        raise InputError(
            f"{path}: to read {path.suffix} files, {name} is needed: pip install 'tsdg[formats]'"
        ) from None
