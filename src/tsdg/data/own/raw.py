"""A user's own recordings: a file, or a folder of files.

tables
    A row a time step: channels, a label, and columns that tell recordings and domains apart. See `tables`.
arrays
    The same as named arrays of one file, or windows already cut. See `arrays`, `matlab`, `hdf5`, `cut`.
archives
    Windows already cut, as those of time series classification. See `archives`.
signals
    Files that know their rate. See `signals`.
folders
    Any of these, one a recording, and ``metadata.csv`` with a row for each, see `folders`, or names that say
    what is in it, see `file_names`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tsdg.data.own import tables
from tsdg.data.own.archives import open_arff, open_ts
from tsdg.data.own.arrays import arrays_there, open_folder_of_arrays, open_npz
from tsdg.data.own.column_names import renamed
from tsdg.data.own.file_names import read_names
from tsdg.data.own.folders import METADATA, open_folder, read_metadata
from tsdg.data.own.hdf5 import open_hdf5
from tsdg.data.own.matlab import open_matlab
from tsdg.data.own.recordings import FILE, Progress, Source
from tsdg.data.own.signals import companions, open_edf, open_wav, open_wfdb
from tsdg.data.own.tables import open_table, suffix
from tsdg.errors import InputError

HDF5 = (".h5", ".hdf5")
SUFFIXES = (
    ".csv", ".parquet", ".npz", *(s for s in tables.SUFFIXES if s not in (".csv", ".parquet")), ".mat", *HDF5,
    ".wav", ".edf", ".hea", ".ts", ".arff",
)  # fmt: skip
SIMULATED = "recordings.csv"

_LFS = b"version https://git-lfs"
_STARTS = {
    ".parquet": (b"PAR1", "a parquet file"),
    ".npz": (b"PK\3\4", "a zip archive"),
    ".npy": (b"\x93NUM", "a NumPy array"),
    ".gz": (b"\x1f\x8b", "a file compressed by gzip"),
    ".feather": (b"ARROW1", "a feather file"),
    ".h5": (b"\x89HDF", "an HDF5 file"),
    ".wav": (b"RIFF", "sound"),
    ".mat": (b"MATLAB", "a MATLAB file"),
}


def raw_names(entry: Mapping[str, Any]) -> list[str]:
    """See `tsdg.data.kinds.Kind.raw_names`."""
    if entry["source"] == "simulated":
        return [SIMULATED]
    options = entry["prepare"]
    return source_files(entry["raw"], options.get("separator"), options.get("files"))


def is_file(path: str | Path) -> bool:
    """Whether a path is that of one file of recordings, there or not, and not a folder's."""
    return suffix(Path(path)) in SUFFIXES and not Path(path).is_dir()


def open_source(
    path: str | Path,
    *,
    separator: str | None = None,
    axes: str | None = None,
    files: str | None = None,
    columns: Iterable[str | None] = (),
    header: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Source:
    """Open a file, or a folder of files with their ``metadata.csv`` or names that say what is in them.

    Parameters
    ----------
    path : path
    separator : str, optional
        Of the cells of a text, see `tsdg.data.own.tables.separator_of`.
    axes : {"NTC", "NCT"}, optional
        Of windows already cut, see `cut.of_arrays`.
    files : str, optional
        Pattern of the names of a folder's files, see `file_names.read_names`.
    columns : iterable of str or None
        Names of columns that will be asked for, among which may be patterns, see `column_names.renamed`.
    header : sequence of str, optional
        Names of the columns of texts whose first line is a row.
    progress : callable, optional
        Called with the megabytes read and the megabytes in all.

    Raises
    ------
    InputError
        If there is no such file, or it is not what its name says.
    """
    path = Path(path)
    progress = progress or (lambda done, total: None)

    names = [name for name in columns if name is not None]

    def open_file(file: Path, progress: Progress) -> Source:
        check_kind(file)
        if header and suffix(file) not in tables.TEXTS:
            raise InputError(f"{file}: header: is of texts, and this file has names of its own; leave it out")
        return renamed(_opened(file, separator, axes, header, progress), names)

    if files is not None:
        if not path.is_dir():
            raise InputError(f"{path}: files: a pattern of names is for a folder, which this is not")
        table, others = read_names(path, files)
        source = open_folder(path, table, [], open_file, progress)
        there = {file.relative_to(path).as_posix() for file in source.files}
        others = [name for name in others if name not in there]
        rest = f"; {len(others)} not, such as {', '.join(others[:3])}" if others else ""
        source.header.insert(0, f"{path}: {len(table)} files match {files}{rest}")
        return source
    if path.is_dir():
        if arrays := arrays_there(path):
            for name in arrays:
                check_kind(path / name)
            return open_folder_of_arrays(path, arrays, axes, progress)
        table = read_metadata(path, separator)
        return open_folder(path, table, [path / METADATA], open_file, progress)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    return open_file(path, progress)


def _opened(
    file: Path, separator: str | None, axes: str | None, header: Sequence[str] | None, progress: Progress
) -> Source:
    """A file of any kind."""
    match suffix(file):
        case ".npz":
            return open_npz(file, axes, progress)
        case ".mat":
            return open_matlab(file, axes, progress)
        case ".h5" | ".hdf5":
            return open_hdf5(file, axes, progress)
        case ".wav":
            return open_wav(file, progress)
        case ".edf":
            return open_edf(file, progress)
        case ".hea":
            return open_wfdb(file, progress)
        case ".ts":
            return open_ts(file, progress)
        case ".arff":
            return open_arff(file, progress)
    return open_table(file, separator, progress, header)


def source_files(path: str | Path, separator: str | None = None, files: str | None = None) -> list[str]:
    """Names of the files to read, relative to a folder, or to the folder of a file; there or not."""
    path = Path(path)
    if is_file(path):
        return [path.name, *(file.name for file in companions(path))]
    if files is not None:
        listing, names = [], list(read_names(path, files)[0][FILE]) if path.is_dir() else []
    elif names := arrays_there(path):
        return names
    elif not (path / METADATA).is_file():
        return [METADATA]
    else:
        listing, names = [METADATA], list(read_metadata(path, separator)[FILE])
    others = [other for name in names for other in companions(path / name)]
    return [*listing, *names, *(other.relative_to(path).as_posix() for other in others)]


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
    expected = ".gz" if name.endswith(".gz") else ".h5" if name in HDF5 else name if name in _STARTS else None
    if name == ".mat" and found in (None, ".h5"):  # MATLAB 4 begins with a number
        return
    if found != expected:
        what = _STARTS[found][1] if found else "text or something else"
        raise InputError(f"{path}: holds {what}, not what its name says; rename it or save it anew")
