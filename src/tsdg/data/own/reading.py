"""What goes wrong while files are read, as one clear message."""

import codecs
import gzip
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from tsdg.errors import InputError

HEAD = 1 << 22  # bytes of a text that are looked at before it is read
_SLIPS = (LookupError, TypeError, AttributeError, ArithmeticError, NameError, struct.error)  # in a library


@contextmanager
def refused(path: Path, array: str | None = None) -> Iterator[None]:
    """Whatever a library of files raises, as `InputError`."""
    try:
        yield
    except InputError:
        raise
    except MemoryError:
        what = f"array {array!r}" if array else "what it holds"
        raise InputError(f"{path}: {what} does not fit into memory; correct the file, or cut it up") from None
    except Exception as error:  # on damaged files they raise nearly anything
        words = "".join(letter if letter.isprintable() else " " for letter in str(error))
        words = " ".join(words.split())[:200]
        if isinstance(error, _SLIPS):
            words = f"is damaged, or not what its name says ({words})"
        if "allow_pickle" in words and array:
            raise InputError(
                f"{path}: array {array!r} holds Python objects, not numbers or text; save it as "
                f"`{array}.astype(str)`, or as numbers"
            ) from None
        remedy = "correct the file and try again"
        if "UTF8" in words or "utf-8" in words:
            remedy = "save the file as UTF-8; if it is Latin-1: iconv -f LATIN1 -t UTF-8"
        elif "Samples were not loaded" in words:  # wfdb's words
            words = "its signals are shorter than it says"
            remedy = "they are cut off or of another record; get both files anew"
        elif "conversion error" in words:
            remedy = "leave the cell empty where a value is missing, and write decimals with a point"
        raise InputError(f"{path}: {words}; {remedy}") from None


@contextmanager
def strictly(path: Path) -> Iterator[None]:
    """As `refused`, and what a library only warns of too, for what it may have mended is a guess."""
    with refused(path), warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        warnings.filterwarnings("ignore", r"Chunk \(non-data\) not understood", UserWarning)  # remarks in wav
        yield


def check_text(path: Path) -> None:
    """Refuse a text that does not begin as UTF-8: Arrow's own threads would at times outlive its error."""
    opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
    with refused(path), opened(path, "rb") as file:
        head = file.read(HEAD)
    if b"\0" in head:
        raise InputError(
            f"{path}: holds NUL characters, as UTF-16 does; save the file as UTF-8: "
            "iconv -f UTF-16LE -t UTF-8"
        )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError as error:
        line = head[: error.start].count(b"\n") + 1
        raise InputError(
            f"{path}: line {line} is not UTF-8; save the file as UTF-8; if it is Latin-1: "
            "iconv -f LATIN1 -t UTF-8"
        ) from None


def check_within(folder: Path, file: Path) -> None:
    """Refuse a link out of its folder and the project: a folder that comes from elsewhere may hold one."""
    place = file.resolve()
    if not any(place.is_relative_to(root.resolve()) for root in (folder, Path.cwd())):
        raise InputError(f"{file}: is a link to {place}, outside of {folder}; put the file itself there")


def library(name: str, path: Path) -> Any:
    """A library that is no part of every installation."""
    try:
        return import_module(name)
    except ImportError:
        raise InputError(
            f"{path}: to read {path.suffix} files, {name} is needed: pip install 'tsdg[formats]'"
        ) from None
