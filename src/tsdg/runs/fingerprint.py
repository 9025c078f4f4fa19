"""Fingerprints of the code that decides a result: layout, comments and docstrings do not count.

They follow the imports inside of the package, but for modules that cannot change a number (`BESIDE`).
"""

import ast
import hashlib
import sys
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import resolve_name
from pathlib import Path

from tsdg import methods
from tsdg.methods import estimators

BESIDE = {
    "tsdg", "tsdg.errors", "tsdg.files", "tsdg.methods", "tsdg.runs.fingerprint", "tsdg.runs.machine",
    "tsdg.runs.recipe", "tsdg.runs.record", "tsdg.runs.writing", "tsdg.study.run",
}  # fmt: skip


def code_fingerprint(method: str, loop: str = "runs.training") -> str:
    """Hash of the modules behind a method, so that a new or changed one leaves the results of others valid.

    Covers the training loop (module `loop`, named without ``tsdg.``), the module of the method's class, and
    what they import; of a plug-in the file, or what the class's module imports of its own package.
    """
    if method == estimators.METHOD:
        return modules_fingerprint("runs.estimation")
    return _fingerprint(methods.get(method), loop)  # type: ignore[arg-type]


@cache
def _fingerprint(method: type, loop: str) -> str:
    return _digest(f"tsdg.{loop}", method.__module__)


@cache
def modules_fingerprint(*modules: str) -> str:
    """Hash of some modules of `tsdg`, named without ``tsdg.``, and of what they import of it."""
    return _digest(*(f"tsdg.{module}" for module in modules))


def _digest(*modules: str) -> str:
    found: set[str] = set()
    open_ = set(modules)
    while open_:
        name = open_.pop()
        found.add(name)
        open_ |= _imports(name) - found - BESIDE
    digest = hashlib.sha256()
    for name in sorted(found):
        digest.update(f"{name} {_text(_source(name))}".encode())
    return digest.hexdigest()[:16]


def _source(module: str) -> str:
    return Path(_found(module).origin or "").read_text(encoding="utf-8")


def _found(module: str) -> ModuleSpec:
    spec = _spec(module)
    if spec is None:
        raise ModuleNotFoundError(f"no module {module}")
    return spec


def _spec(module: str) -> ModuleSpec | None:
    """Where a module lies, without importing it or what it is inside of."""
    if module in sys.modules:
        return sys.modules[module].__spec__
    package = module.rpartition(".")[0]
    if not package:
        return PathFinder.find_spec(module)
    inside = _spec(package)
    folders = inside and inside.submodule_search_locations
    return PathFinder.find_spec(module, folders) if folders else None


def _imports(name: str) -> set[str]:
    """Modules of `tsdg`, and of its own package, that a module imports."""
    packages = {"tsdg", name.partition(".")[0]}
    names = set()
    for node in ast.walk(_tree(_source(name))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name.partition(".")[0] in packages}
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                origin = resolve_name("." * node.level + origin, _found(name).parent or "")
            if origin.partition(".")[0] in packages:
                inside = {f"{origin}.{alias.name}" for alias in node.names}
                names |= {module for module in inside if _spec(module)} or {origin}
    return names


@cache
def _tree(source: str) -> ast.Module:
    return ast.parse(source)


@cache
def _text(source: str) -> str:
    return _canonical(_tree(source))


def _canonical(node: object) -> str:
    """A syntax tree as text, without docstrings and empty fields, alike in all versions of Python."""
    if isinstance(node, list):
        return "[" + " ".join(_canonical(item) for item in node) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = {name: value for name, value in ast.iter_fields(node) if value not in (None, [])}
    body = fields.get("body")
    if (
        isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and ast.get_docstring(node, clean=False) is not None
    ):
        fields["body"] = body[1:]  # type: ignore[index]
    return f"({type(node).__name__} " + " ".join(f"{k}={_canonical(v)}" for k, v in fields.items()) + ")"
