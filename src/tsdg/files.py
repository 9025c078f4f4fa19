"""Files that are whole or not there, and the hash of one."""

import errno
import hashlib
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Write a file whole or not at all, whatever ends the writing.

    Yields a new, empty file beside `path`; once its contents are on the disk, it takes the place of `path`.
    Missing folders are made. What is no file, such as a pipe, is written to as it is.

    Raises
    ------
    OSError
        With `path` as the name of its file; what was there before is as it was.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        yield path
        return
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        _create(temporary)
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if error.filename is not None and str(error.filename) != str(temporary):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_text(path: str | Path, text: str) -> None:
    """Write a text as UTF-8, `atomic`."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def link(path: str | Path, other: str | Path) -> None:
    """Give a file another name or, where there can be no link, put a copy there, `atomic`."""
    with atomic(other) as temporary:
        temporary.unlink()
        try:
            os.link(path, temporary)
        except FileNotFoundError:
            raise
        except OSError:  # another disk, or one without links
            shutil.copy2(path, temporary)


def obstacle(path: str | Path) -> str | None:
    """Why no file can be written at a path, in words, as far as can be seen without writing; or None."""
    path = Path(path)
    if path.is_dir():
        return f"{path} is a folder where a file belongs"
    folder = next(folder for folder in path.parents if os.path.lexists(folder))
    if not folder.exists():
        return f"{folder} is a link that leads nowhere"
    if not folder.is_dir():
        return f"{folder} is a file where a folder belongs"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"the folder {folder} cannot be written to"
    return None


def sha256(path: str | Path) -> str:
    """SHA-256 of a file's contents, in hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _create(path: Path) -> None:
    """Make an empty file; its folder may vanish once it is made: other jobs remove those that are empty."""
    for attempt in range(100):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.touch(exist_ok=False)
            return
        except FileNotFoundError:
            if attempt == 99:
                raise
