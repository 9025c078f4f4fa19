"""Where modules lie, without importing them or what they are inside of."""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path


def file_of(module: str) -> Path | None:
    """The Python file of a module; None of another, and of one that is not there."""
    spec = spec_of(module)
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def spec_of(module: str) -> ModuleSpec | None:
    """What tells where a module lies."""
    if module in sys.modules:
        return sys.modules[module].__spec__
    package = module.rpartition(".")[0]
    if not package:
        return PathFinder.find_spec(module)
    inside = spec_of(package)
    folders = inside and inside.submodule_search_locations
    return PathFinder.find_spec(module, folders) if folders else None
