"""The code's fingerprint: blind to layout and words, alert to every change of what is computed."""

import importlib
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import tsdg
from tsdg import methods
from tsdg.methods import METHODS
from tsdg.runs.fingerprint import code_fingerprint, modules_fingerprint

SOURCE = '''
"""Module."""
from tsdg.methods.erm import ERM

FACTOR = 2


class Temporary(ERM):
    """Class."""

    title = "Temporary"
    search = {}

    def losses(self, x, y, draws):
        """Method."""
        total = super().losses(x, y, draws)
        return {name: FACTOR * value for name, value in total.items()}

    def helper(self, *rest, key=None):
        return -key if rest else [1, "a"]
'''


@pytest.fixture
def fingerprint(tmp_path, monkeypatch):
    """Fingerprint of a method by its module's source."""

    def of(source):
        if source in KNOWN:
            return KNOWN[source]
        path = tmp_path / "temporary.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location("tsdg.methods.temporary", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        monkeypatch.setitem(METHODS, "temporary", module.Temporary)
        forget()
        KNOWN[source] = code_fingerprint("temporary")
        return KNOWN[source]

    yield of
    forget()


KNOWN: dict[str, str] = {}


def forget():
    for function in vars(sys.modules["tsdg.runs.fingerprint"]).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Module."""', '"""Other words\n\nin lines."""'),
        ('"""Module."""', ""),
        ('    """Class."""\n', ""),
        ('        """Method."""', '        """Objective."""'),
        ('        """Method."""\n', "        # no docstring\n"),
        ("FACTOR = 2", "FACTOR = 2  # a factor"),
        ("FACTOR = 2", "FACTOR = (\n    2\n)"),
        ("\n\nclass", "\n\n\n\n\nclass"),
        ('"Temporary"', "'Temporary'"),
        ("[1, ", "[\n            1,\n            "),
    ],
)
def test_words_and_layout_do_not_count(fingerprint, old, new):
    assert old in SOURCE
    assert fingerprint(SOURCE.replace(old, new)) == fingerprint(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FACTOR = 2", "FACTOR = 3"),
        ("FACTOR = 2", "FACTOR = 2.0"),
        ("FACTOR * value", "FACTOR + value"),
        ("FACTOR * value", "value * FACTOR"),
        ("search = {}", "search = {None: None}"),
        ("-key", "+key"),
        ("*rest, key=None", "rest=(), key=None"),
        ("key=None", "key=0"),
        ("key=None", "key"),
        ('"a"]', '"a", None]'),
        ("return -key", "return key"),
        ("if rest", "if not rest"),
        ("super().losses(x, y, draws)", "super().losses(y, x, draws)"),
        ('        """Method."""\n', '        "not first"; """Method."""\n        y = 1 - y\n'),
    ],
)
def test_code_counts(fingerprint, old, new):
    assert old in SOURCE
    assert fingerprint(SOURCE.replace(old, new)) != fingerprint(SOURCE)


def test_every_method_has_its_own_and_keeps_it():
    prints = {name: code_fingerprint(name) for name in METHODS}
    assert len({type(value) for value in prints.values()}) == 1
    for name, value in prints.items():
        for other, theirs in prints.items():
            assert (value == theirs) == (_modules(name) == _modules(other)), (name, other)
    forget()
    assert code_fingerprint("erm") == prints["erm"]


def _modules(name):
    return {cls.__module__ for cls in methods.get(name).__mro__}


def _tsdg_modules_of(module):
    """Modules of `tsdg` whose names a module holds: what it is computed with."""
    held = {getattr(value, "__module__", None) or "" for value in vars(module).values()}
    held |= {value.__name__ for value in vars(module).values() if inspect.ismodule(value)}
    return {name for name in held if name.startswith("tsdg.")} - {module.__name__}


# They say things, refuse them, or keep them, but compute nothing.
SILENT = {
    f"tsdg.{name}"
    for name in ("errors", "files", "methods", "runs.fingerprint", "runs.machine", "runs.record", "study.run")
}


def _not_read(monkeypatch, fingerprint, start):
    """Modules behind some that their fingerprint does not read, and all of them."""
    behind, todo = set(), list(start)
    while todo:
        module = todo.pop()
        if module not in behind | SILENT:
            behind.add(module)
            todo += _tsdg_modules_of(importlib.import_module(module))
    read, seen = Path.read_text, set()

    def recorded(path, *args, **kwargs):
        seen.add(path.resolve())
        return read(path, *args, **kwargs)

    monkeypatch.setattr(Path, "read_text", recorded)
    forget()
    fingerprint()
    files = {module: Path(inspect.getfile(sys.modules[module])).resolve() for module in behind}
    return [module for module, file in files.items() if file not in seen], behind


@pytest.mark.parametrize(
    "name", ["ours-learned", "rsc-ours-metadata", "cdann", "vrex", "mixup", "mldg", "correlation"]
)
def test_every_module_behind_a_method_counts(name, monkeypatch):
    start = ["tsdg.runs.training", methods.get(name).__module__]
    unread, behind = _not_read(monkeypatch, lambda: code_fingerprint(name), start)
    assert len(behind) > 10
    assert not unread


@pytest.mark.parametrize(
    ("name", "one"),
    [
        ("data.own.prepare", "tsdg.data.own.recordings"),
        ("data.hhar.prepare", "tsdg.data.windows"),
        ("data.mimic3.prepare", "tsdg.data.simulated"),
        ("results.figures.accuracy", "tsdg.results.numbers"),
    ],
)
def test_every_module_behind_another_result_counts(name, one, monkeypatch):
    unread, behind = _not_read(monkeypatch, lambda: modules_fingerprint(name), [f"tsdg.{name}"])
    assert one in behind
    assert not unread


@pytest.mark.slow
def test_a_fingerprint_imports_nothing_that_is_only_drawn_with():
    script = "import sys; from tsdg.runs.fingerprint import *; modules_fingerprint('results.figures.forest');"
    script += "sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_unknown_method_has_none():
    with pytest.raises(tsdg.errors.InputError, match="did you mean 'erm'"):
        code_fingerprint("ermm")
