"""MATLAB's files: numbers and texts by name, those of structs by path, as ``bearing.gs``."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.io

from tsdg.data.own.arrays import Array, of_variables
from tsdg.data.own.hdf5 import is_hdf5, open_hdf5
from tsdg.data.own.recordings import Progress, Source
from tsdg.errors import InputError


def open_matlab(path: Path, axes: str | None, progress: Progress) -> Source:
    """A file of MATLAB 4 to 7, read whole, or of MATLAB 7.3, which is HDF5."""
    if is_hdf5(path):
        return open_hdf5(path, axes, progress)
    try:
        found = scipy.io.loadmat(path, squeeze_me=True, struct_as_record=False)
    except Exception as error:  # SciPy raises nearly anything on damaged files
        raise InputError(f"{path}: damaged or not a MATLAB file ({error}); save it anew") from None
    variables: dict[str, Array] = {}
    for name, value in found.items():
        if not name.startswith("__"):
            variables.update(_flat(name, value))
    return of_variables(path, variables, axes, progress)


def _flat(name: str, value: object) -> Iterator[tuple[str, np.ndarray]]:
    """The numbers and texts of a variable; of a struct or a cell array those in it."""
    if isinstance(value, scipy.io.matlab.mat_struct):
        for field in value._fieldnames:
            yield from _flat(f"{name}.{field}", getattr(value, field))
        return
    array = np.asarray(value)
    if array.dtype.kind != "O":
        yield name, array
    elif array.ndim == 1 and all(isinstance(item, str) for item in array):
        yield name, array.astype(str)
    else:
        for number, item in enumerate(array.reshape(-1), start=1):
            yield from _flat(f"{name}({number})", item)
