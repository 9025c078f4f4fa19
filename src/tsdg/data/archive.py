"""Files in zip archives, which are read where they are: nothing is ever unpacked to the disk."""

import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from tsdg.errors import InputError

PACKED = 100  # times that text of numbers is packed at most; here, 4 to 10 times
SMALL = 100 << 20  # bytes, which may be packed as they like

_DAMAGE = (
    OSError, EOFError, ValueError, OverflowError, RuntimeError, NotImplementedError, struct.error,
    zipfile.BadZipFile, zlib.error, lzma.LZMAError,
)  # fmt: skip


@contextmanager
def opened(path: Path, remedy: str) -> Iterator[zipfile.ZipFile]:
    """An archive.

    Raises
    ------
    InputError
        It is none, or what is read of it is damaged, encrypted or packed in an unknown way.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except _DAMAGE as error:
        words = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: damaged or not readable, or no zip archive ({words}); {remedy}") from None


def only(archive: zipfile.ZipFile, path: Path, name: str, remedy: str, inside: str = "") -> zipfile.ZipInfo:
    """The one file of a name in an archive, and in any folder of it, or in one called `inside`.

    Raises
    ------
    InputError
        There is none, or another one, or it is no plain file within the archive of a size that its packed
        bytes can be of.
    """
    found = []
    for info in archive.infolist():
        place = PurePosixPath(info.filename)
        if place.name == name and not info.is_dir() and inside in ("", place.parent.name):
            found.append(info)
    shown = f"{inside}/{name}" if inside else name
    if len(found) != 1:
        many = f"{len(found)} files called {shown}" if found else f"no {shown}"
        raise InputError(f"{path}: holds {many}; {remedy}")
    (info,) = found
    place = PurePosixPath(info.filename)
    mode = info.external_attr >> 16
    fault = ""
    if place.is_absolute() or ".." in place.parts:
        fault = f"is outside of the archive, {info.filename!r:.80}"
    elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        fault = "is no plain file but a link or a device"
    elif info.file_size > max(SMALL, PACKED * info.compress_size):
        fault = f"would be {info.file_size:,} bytes of {info.compress_size:,} packed ones"
    if fault:
        raise InputError(f"{path}: {shown} {fault}; {remedy}")
    return info
