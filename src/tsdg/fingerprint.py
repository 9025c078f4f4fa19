"""A fingerprint of the code that decides a training's result; comments and docstrings do not count."""

import ast
import hashlib
import inspect
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.util import find_spec, resolve_name
from pathlib import Path

from tsdg import methods

BESIDE = {
    "tsdg", "tsdg.errors", "tsdg.suggest", "tsdg.records", "tsdg.fingerprint", "tsdg.machine", "tsdg.methods",
}  # fmt: skip


def code_fingerprint(method: str, loop: str = "train") -> str:
    """Hash of the modules behind a method, the same for any layout, comment or docstring.

    Covers the training loop (module `loop`, named without ``tsdg.``), the module of the method's class, and
    what they import of the package, so that a new or changed method leaves the results of the others valid.
    Of a plug-in it covers the file, or what the class's module imports of its own package. What cannot change
    a number (`BESIDE`) is left out.
    """
    return _fingerprint(methods.get(method), loop)  # type: ignore[arg-type]


@cache
def _fingerprint(method: type, loop: str) -> str:
    found: set[str] = set()
    open_ = {f"tsdg.{loop}", method.__module__}
    while open_:
        name = open_.pop()
        found.add(name)
        open_ |= _imports(name) - found - BESIDE
    return _digest(found)


def modules_fingerprint(*modules: str) -> str:
    """Hash of some modules of `tsdg`, named without ``tsdg.``; comments and docstrings do not count."""
    return _digest(f"tsdg.{module}" for module in modules)


def _digest(modules: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for name in sorted(modules):
        digest.update(f"{name} {_canonical(ast.parse(_source(name)))}".encode())
    return digest.hexdigest()[:16]


def _source(module: str) -> str:
    return Path(inspect.getfile(import_module(module))).read_text(encoding="utf-8")


def _imports(name: str) -> set[str]:
    """Modules of `tsdg`, and of its own package, that a module imports."""
    packages = {"tsdg", name.partition(".")[0]}
    names = set()
    for node in ast.walk(ast.parse(_source(name))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name.partition(".")[0] in packages}
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                origin = resolve_name("." * node.level + origin, import_module(name).__package__ or "")
            if origin.partition(".")[0] in packages:
                inside = {f"{origin}.{alias.name}" for alias in node.names}
                names |= {module for module in inside if _is_module(module)} or {origin}
    return names


def _is_module(name: str) -> bool:
    """Whether a name inside a package is a module, not something that the package holds."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # what it is inside of is no package
        return False


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
