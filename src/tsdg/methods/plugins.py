"""Methods from outside of the package: files that params.yaml names, and installed packages.

A file holds ``METHODS``, a dictionary of names and subclasses of `Method`. A package has entry points of the
group ``tsdg.methods``, each with a method's name and its class.
"""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from tsdg.errors import InputError
from tsdg.methods.search import Distribution

if TYPE_CHECKING:
    from tsdg.methods.base import Method

GROUP = "tsdg.methods"
PREFIX = "tsdg_plugin_"  # of the modules' names


def installed() -> dict[str, EntryPoint]:
    """Entry points of installed packages, by the method's name; none is loaded yet."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        if point.name in found and point.value != found[point.name].value:
            raise InputError(
                f"method {point.name!r}: two installed packages have one of this name, "
                f"{found[point.name].value} and {point.value}; uninstall one"
            )
        found[point.name] = point
    return found


def load_installed(point: EntryPoint) -> type[Method]:
    """Class of an entry point."""
    where = f"method {point.name!r} of the package at {point.value}"
    try:
        cls = point.load()
    except (Exception, SystemExit) as error:
        raise InputError(f"{where}: cannot be loaded ({_words(error)}); correct or uninstall it") from None
    return _checked(cls, where)


def load_file(path: str | Path) -> dict[str, type[Method]]:
    """Methods of a file, by name.

    Raises
    ------
    InputError
        If there is no such file, it does not run, or what it holds is no method.
    """
    path = Path(path)
    if not path.is_file() or path.suffix != ".py":
        raise InputError(f"plugins: {path}: no such Python file; paths are relative to where you work")
    name = PREFIX + path.stem
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = str(path.resolve())
    module.__spec__ = ModuleSpec(name, None, origin=module.__file__)
    try:
        # Not by way of a loader, which would take a cached file for one edited in the same second.
        exec(compile(path.read_bytes(), module.__file__, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        raise InputError(f"plugins: {path}: {told(error, module.__file__)}") from None
    found = getattr(module, "METHODS", None)
    if not isinstance(found, dict) or not found:
        raise InputError(f'plugins: {path}: holds no METHODS = {{"name": Class}}')
    for key in found:
        if not isinstance(key, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", key):
            raise InputError(
                f"plugins: {path}: METHODS: {key!r} is no name: a name has letters a to z, digits, - and _"
            )
    return {key: _checked(cls, f"plugins: {path}: method {key!r}") for key, cls in found.items()}


def load_files(paths: Iterable[str | Path], taken: Iterable[str]) -> dict[str, type[Method]]:
    """Methods of several files; a name may be there once, and none of those that are `taken`."""
    found: dict[str, type[Method]] = {}
    stems: dict[str, Path] = {}
    for path in map(Path, paths):
        if path.stem in stems:
            raise InputError(f"plugins: {stems[path.stem]} and {path} have the same name; rename one")
        stems[path.stem] = path
        for name, cls in load_file(path).items():
            if name in found or name in taken:
                raise InputError(f"plugins: {path}: there is a method {name!r} already; choose another name")
            found[name] = cls
    return found


@contextmanager
def blamed(cls: type[Method], name: str) -> Iterator[None]:
    """Where the training of a method from outside fails, say whose it is."""
    from tsdg.methods.base import LossesError

    try:
        yield
    except LossesError as error:
        raise InputError(f"{inspect.getfile(cls)}: method {name!r}: {error.what}") from None
    except Exception as error:
        if cls.__module__.startswith("tsdg.") or isinstance(error, InputError):
            raise
        error.add_note(f"This is of the plug-in {inspect.getfile(cls)}, method {name!r}.")
        raise


def _checked(cls: object, where: str) -> type[Method]:
    """A class that is a method with all that one states."""
    from tsdg.methods.base import Method

    if not isinstance(cls, type) or not issubclass(cls, Method):
        raise InputError(f"{where}: {cls!r} is no subclass of tsdg.methods.base.Method")
    for attribute in ("title", "citation"):
        if not isinstance(getattr(cls, attribute, None), str):
            raise InputError(f"{where}: {cls.__name__} has no `{attribute}`, a text")
    if cls.losses is Method.losses and cls.step is Method.step:
        raise InputError(f"{where}: {cls.__name__} has no `losses`")
    for attribute in ("search", "options"):
        if not isinstance(getattr(cls, attribute), Mapping):
            raise InputError(f"{where}: {cls.__name__}.{attribute} is no dictionary")
    for option, values in cls.options.items():
        if values is not int and not (isinstance(values, list | tuple) and values):
            raise InputError(
                f"{where}: {cls.__name__}.options: {option!r} is {values!r}; give a list of values, or `int`"
            )
    wrong = [key for key, value in cls.search.items() if not isinstance(value, Distribution)]
    if wrong:
        raise InputError(f"{where}: {cls.__name__}.search: {wrong[0]!r} is no Distribution")
    return cls


def told(error: BaseException, file: str) -> str:
    """An error in one line, with the last line of a file that it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    return f"line {lines[-1]}: {_words(error)}" if lines else _words(error)


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
