"""A user's own recordings: a file, or a folder of files.

tables
    A row a time step: channels, a label, and columns that tell recordings and domains apart. See `tables`.
arrays
    The same as arrays in one file, or windows already cut. See `arrays`, `cut`.
folders
    Files, one a recording, and ``metadata.csv`` with a row for each. See `folders`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tsdg.data.own import tables
from tsdg.data.own.arrays import arrays_there, open_folder_of_arrays, open_npz
from tsdg.data.own.folders import METADATA, open_folder, read_metadata
from tsdg.data.own.recordings import FILE, Progress, Source
from tsdg.data.own.tables import open_table, suffix
from tsdg.errors import InputError

SUFFIXES = (".csv", ".parquet", ".npz", *tables.SUFFIXES[1:])
SIMULATED = "recordings.csv"

_LFS = b"version https://git-lfs"
_STARTS = {
    ".parquet": (b"PAR1", "a parquet file"),
    ".npz": (b"PK\3\4", "a zip archive"),
    ".npy": (b"\x93NUM", "a NumPy array"),
    ".gz": (b"\x1f\x8b", "a file compressed by gzip"),
    ".feather": (b"ARROW1", "a feather file"),
}


def raw_names(entry: Mapping[str, Any]) -> list[str]:
    """See `tsdg.data.kinds.Kind.raw_names`."""
    if entry["source"] == "simulated":
        return [SIMULATED]
    return source_files(entry["raw"], entry["prepare"].get("separator"))


def is_file(path: str | Path) -> bool:
    """Whether a path is that of one file of recordings, there or not, and not a folder's."""
    return suffix(Path(path)) in SUFFIXES and not Path(path).is_dir()


def open_source(
    path: str | Path,
    *,
    separator: str | None = None,
    axes: str | None = None,
    progress: Progress | None = None,
) -> Source:
    """Open a file, or a folder of files with their ``metadata.csv``.

    Parameters
    ----------
    path : path
    separator : str, optional
        Of the cells of a text, see `tsdg.data.own.tables.separator_of`.
    axes : {"NTC", "NCT"}, optional
        Of windows already cut, see `cut.of_arrays`.
    progress : callable, optional
        Called with the megabytes read and the megabytes in all.

    Raises
    ------
    InputError
        If there is no such file, or it is not what its name says.
    """
    path = Path(path)
    progress = progress or (lambda done, total: None)

    def open_file(file: Path, progress: Progress) -> Source:
        check_kind(file)
        if suffix(file) == ".npz":
            return open_npz(file, axes, progress)
        return open_table(file, separator, progress)

    if path.is_dir():
        if names := arrays_there(path):
            for name in names:
                check_kind(path / name)
            return open_folder_of_arrays(path, names, axes, progress)
        return open_folder(path, read_metadata(path, separator), open_file, progress)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    return open_file(path, progress)


def source_files(path: str | Path, separator: str | None = None) -> list[str]:
    """Names of the files to read, relative to a folder, or to the folder of a file; there or not."""
    path = Path(path)
    if is_file(path):
        return [path.name]
    if names := arrays_there(path):
        return names
    if not (path / METADATA).is_file():
        return [METADATA]
    return [METADATA, *read_metadata(path, separator)[FILE]]


def check_kind(path: Path) -> None:
    """Refuse a file that is not what its name says."""
    name = suffix(path)
    if name in (".pt", ".pth"):
        raise InputError(
            f"{path}: PyTorch's files may run code when read; convert it: d = torch.load({path.name!r}); "
            f"numpy.savez({path.with_suffix('.npz').name!r}, X=d['samples'], y=d['labels'], domain=...)"
        )
    if name not in (*SUFFIXES, ".npy"):
        raise InputError(f"{path}: {name or 'no suffix'} is not known; use {', '.join(SUFFIXES)}")
    with open(path, "rb") as file:
        head = file.read(len(_LFS))
    if head == _LFS:
        raise InputError(
            f"{path}: is a Git LFS pointer, not the file; run `git lfs pull` where it comes from"
        )
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{path}: is UTF-16; save the file as UTF-8: iconv -f UTF-16 -t UTF-8")
    if not head:
        raise InputError(f"{path}: is empty")
    found = next((end for end, (start, _) in _STARTS.items() if head.startswith(start)), None)
    expected = ".gz" if name.endswith(".gz") else name if name in _STARTS else None
    if found != expected:
        what = _STARTS[found][1] if found else "text or something else"
        raise InputError(f"{path}: holds {what}, not what its name says; rename it or save it anew")
