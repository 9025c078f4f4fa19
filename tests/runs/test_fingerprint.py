"""The code's fingerprint: blind to layout and words, alert to every change of what is computed."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tsdg
from tsdg.data.kinds import KINDS
from tsdg.data.own.prepare import prepare
from tsdg.data.own.simulate import simulate
from tsdg.methods import METHODS, PLUGINS, class_path, get
from tsdg.results.figures import DRAW
from tsdg.runs.code.definitions import Definition
from tsdg.runs.code.reach import Reach
from tsdg.runs.fingerprint import BESIDE, _package, code_fingerprint, functions_fingerprint
from tsdg.runs.training import train
from tsdg.study.run import Run
from tsdg.study.study import Study
from tsdg.toy.train import train as toy_train
from tsdg.workflow import CODE

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
        return {name: FACTOR * self.helper(value) for name, value in total.items()}

    def helper(self, *rest, key=None):
        return -key if rest else [1, "a"]

    def unused(self):
        return 0
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
        monkeypatch.setitem(PLUGINS, "temporary", module.Temporary)
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
        ("FACTOR * self", "FACTOR + self"),
        ("FACTOR * self.helper(value)", "self.helper(value) * FACTOR"),
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
    assert len(set(prints.values())) == len(METHODS)
    assert code_fingerprint("erm", "toy.train") != prints["erm"]
    forget()
    assert code_fingerprint("erm") == prints["erm"]


def reached(*entries):
    """Definitions that some entry points reach, each ``(module, name in it)``."""
    wording = _package()
    roots = []
    for entry in entries:
        module, _, name = entry.partition(":")
        roots.append(wording.modules.named(wording.modules.module(module), name))
        assert isinstance(roots[-1], Definition), entry
    found = Reach(wording, roots).definitions
    return {(d.module.name, f"{d.owner.name}.{d.name}" if d.owner else d.name) for d in found}


def executed(call):
    """Functions of the package that a call runs, each ``(module, name in it)``."""
    seen, inside = set(), str(Path(tsdg.__file__).parent)

    def look(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(inside) and code.co_name[0] != "<":
            seen.add((frame.f_globals["__name__"], code.co_qualname.partition(".<locals>")[0]))

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


def beside(seen):
    """Functions that are known to decide nothing, or are called by one of these."""
    known = {tuple(name.split(":")) for name in BESIDE}
    modules = ("tsdg.runs.fingerprint", "tsdg.runs.code.", "tsdg.methods.plugins")
    return {one for one in seen if one in known or one[0].startswith(modules)}


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_all_that_a_training_runs_counts(name, tiny, params):
    params["variants"]["one"] = {"label": "One", "method": name, "augment": True}
    study = Study(params, ["iterations=3", "evaluate_every=2", "datasets.tiny.split=blocked"])
    run = Run("tiny", "one", "D", 0, "fixed")
    config, hparams = study.config("tiny", "one"), study.hparams(run)
    forget()
    get(name)  # loads its module
    seen = executed(lambda: train(tiny, [run], config, [hparams]))
    assert len(seen) > 50
    entries = (
        "tsdg.runs.training:train",
        class_path(name),
        "tsdg.learning.backbones.paper:HAR",
    )
    assert not seen - beside(seen) - reached(*entries)


@pytest.mark.slow
def test_all_that_a_toy_training_runs_counts(toy_study):
    run = Run("toy", "erm", "D", 0, "fixed")
    config, hparams = toy_study.config("toy", run.variant), toy_study.hparams(run)
    seen = executed(lambda: toy_train(run, config | {"iterations": 10}, hparams))
    assert len(seen) > 40
    assert (
        not seen
        - beside(seen)
        - reached("tsdg.toy.train:train", "tsdg.methods.erm:ERM", "tsdg.learning.backbones.paper:toy")
    )


@pytest.mark.slow
def test_all_that_a_preparation_runs_counts(tmp_path):
    raw, out = tmp_path / "raw", tmp_path / "out"
    seen = executed(lambda: simulate(raw, people=3, seconds=5))
    assert not seen - reached("tsdg.data.own.simulate:simulate")
    options = {
        "window": 100,
        "channels": ["acc-x"],
        "recording": "recording",
        "domain": ["user"],
        "time": "time",
    }
    domains = {f"user{number}": {"user": number} for number in (1, 2)}
    seen = executed(lambda: prepare(raw / "recordings.csv", out, domains=domains, **options))
    assert len(seen) > 30
    assert not seen - reached("tsdg.data.own.prepare:prepare")


@pytest.mark.slow
def test_neither_hashes_nor_the_order_of_imports_matter_and_nothing_is_imported_that_is_only_drawn_with():
    script = """
import sys, tsdg.methods.vrex, tsdg.streams
from tsdg.runs.fingerprint import code_fingerprint, functions_fingerprint
print(functions_fingerprint("results.figures.forest:draw"), code_fingerprint("vrex"), code_fingerprint("erm"))
sys.exit("matplotlib" in sys.modules)
"""
    environment = os.environ | {"PYTHONHASHSEED": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    here = [
        code_fingerprint("erm"),
        code_fingerprint("vrex"),
        functions_fingerprint("results.figures.forest:draw"),
    ]
    assert done.stdout.split() == here[::-1]


def test_what_is_beside_is_there():
    modules = _package().modules
    for name in BESIDE:
        module, _, definition = name.partition(":")
        assert definition in modules.module(module).names


def test_an_unknown_method_has_none():
    with pytest.raises(tsdg.errors.InputError, match="did you mean 'erm'"):
        code_fingerprint("ermm")


@pytest.mark.parametrize("result", CODE)
def test_what_makes_a_result_is_there(result):
    assert len(reached(*(f"tsdg.{entry}" for entry in CODE[result]))) > 3


@pytest.mark.parametrize("kind", DRAW)
def test_what_draws_a_kind_of_figures_is_there(kind):
    assert len(reached(f"tsdg.results.figures.{kind}:draw")) > 10


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", ["simulate", "prepare"])
def test_every_kind_of_data_says_what_makes_it(kind, command):
    entries = KINDS[kind].code(command)
    assert functions_fingerprint(*entries) != functions_fingerprint(entries[0])
    assert len(reached(*(f"tsdg.{entry}" for entry in entries))) > 10
