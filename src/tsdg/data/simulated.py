"""What says that raw files are simulated, and the guard over files that are not."""

import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from tsdg.errors import InputError

SIMULATED_COLUMN = "simulated_by_tsdg"  # which simulated tables have beside the official columns


def is_simulated(path: Path) -> bool:
    """Whether the header of a csv, or of one in a zip archive, says that `tsdg` simulated it."""
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                tables = [info for info in archive.infolist() if info.filename.endswith(".csv")]
                return any(_is_marked(archive.open(info)) for info in tables)
        with pa.input_stream(path) as file:  # decompresses what ends in .gz
            return _is_marked(file)
    except (OSError, ValueError, RuntimeError, zlib.error, zipfile.BadZipFile):  # encrypted, or damaged
        return False


def _is_marked(file: Any) -> bool:
    return SIMULATED_COLUMN.encode() in file.read(1000).split(b"\n")[0]


def refuse_to_replace(paths: Iterable[Path], simulated: Callable[[Path], bool]) -> None:
    """See that writing simulated files to `paths` loses no real ones.

    Raises
    ------
    InputError
        If some are there that are not simulated.
    """
    real = [path for path in paths if path.exists() and not simulated(path)]
    if real:
        names = ", ".join(path.name for path in real)
        raise InputError(
            f"{real[0].parent}: holds {names}, not simulated, which would be lost; choose another folder"
        )
