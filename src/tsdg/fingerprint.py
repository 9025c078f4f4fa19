"""A fingerprint of the code that decides a training's result; comments and docstrings do not count."""

import ast
import hashlib
import inspect
from functools import cache
from importlib import import_module
from pathlib import Path

from tsdg import methods

SHARED = (
    "augment", "batches", "data.windows", "hparams", "metrics", "networks", "optimizer", "streams", "train",
    "methods.base",
)  # fmt: skip


@cache
def code_fingerprint(method: str) -> str:
    """Hash of the modules behind a method, the same for any layout, comment or docstring.

    Covers the training path and the modules of the method's class and of the classes it builds on, so that
    a new or changed method leaves the results of the others valid.
    """
    names = {f"tsdg.{name}" for name in SHARED}
    names |= {cls.__module__ for cls in methods.get(method).__mro__ if cls.__module__.startswith("tsdg.")}
    if any(name.endswith("selective") for name in names):
        names.add("tsdg.similarity")
    return modules_fingerprint(*(name.removeprefix("tsdg.") for name in names))


def modules_fingerprint(*modules: str) -> str:
    """Hash of some modules of `tsdg`, named without ``tsdg.``; comments and docstrings do not count."""
    digest = hashlib.sha256()
    for name in sorted(f"tsdg.{module}" for module in modules):
        source = Path(inspect.getfile(import_module(name))).read_text(encoding="utf-8")
        digest.update(f"{name} {_canonical(ast.parse(source))}".encode())
    return digest.hexdigest()[:16]


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
