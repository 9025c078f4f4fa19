"""A fingerprint of the code that decides a training's result; comments and docstrings do not count."""

import ast
import hashlib
import inspect
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tsdg import methods

BESIDE = {
    "tsdg", "tsdg.errors", "tsdg.suggest", "tsdg.records", "tsdg.fingerprint", "tsdg.machine", "tsdg.methods",
}  # fmt: skip


@cache
def code_fingerprint(method: str, loop: str = "train") -> str:
    """Hash of the modules behind a method, the same for any layout, comment or docstring.

    Covers the training loop (module `loop`, named without ``tsdg.``), the module of the method's class, and
    what they import of the package, so that a new or changed method leaves the results of the others valid.
    What cannot change a number (`BESIDE`) is left out.
    """
    found: set[str] = set()
    open_ = {f"tsdg.{loop}", methods.get(method).__module__}
    while open_:
        name = open_.pop()
        found.add(name)
        open_ |= _imports(_source(name)) - found - BESIDE
    return modules_fingerprint(*(name.removeprefix("tsdg.") for name in found))


def modules_fingerprint(*modules: str) -> str:
    """Hash of some modules of `tsdg`, named without ``tsdg.``; comments and docstrings do not count."""
    digest = hashlib.sha256()
    for name in sorted(f"tsdg.{module}" for module in modules):
        digest.update(f"{name} {_canonical(ast.parse(_source(name)))}".encode())
    return digest.hexdigest()[:16]


def _source(module: str) -> str:
    return Path(inspect.getfile(import_module(module))).read_text(encoding="utf-8")


def _imports(source: str) -> set[str]:
    """Modules of the package that a source imports."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "tsdg":
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = (
                {name for name in inside if find_spec(name) is not None} if node.module == "tsdg" else set()
            )
            names |= modules or {node.module}
    return names


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
