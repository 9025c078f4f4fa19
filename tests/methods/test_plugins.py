"""Methods from outside of the package: found, checked, trained, and followed by the fingerprint."""

import re
import sys
import traceback
from pathlib import Path

import pytest
import torch

from tsdg import methods
from tsdg.errors import InputError
from tsdg.learning.networks import build
from tsdg.methods import METHODS, plugins
from tsdg.runs.fingerprint import code_fingerprint, training_fingerprint
from tsdg.runs.job import train_job
from tsdg.runs.record import read
from tsdg.study.study import Study

PROJECT = Path(__file__).parents[2]
EXAMPLE = PROJECT / "examples/confidence_penalty.py"
DOCUMENT = PROJECT / "docs/new-method.md"


@pytest.fixture(autouse=True)
def forget():
    """Plug-ins of one test are none of another's."""
    yield
    methods.use_plugins([])


@pytest.fixture
def study(params, tmp_path, monkeypatch):
    """The tiny study with the example as a plug-in beside it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "penalty.py").write_text(EXAMPLE.read_text())
    params["plugins"] = ["penalty.py"]
    params["variants"]["penalty"] = {"label": "Confidence", "method": "penalty", "hparams": {"lambda": 0.5}}
    return Study(params)


def test_the_documented_file_is_the_example():
    assert f"```python\n{EXAMPLE.read_text()}```" in DOCUMENT.read_text()
    assert len(EXAMPLE.read_text().splitlines()) < 30


def test_the_example_is_the_published_formula():
    methods.use_plugins([EXAMPLE])
    network = build("har", channels=2, length=12, classes=3, generators=[torch.Generator() for _ in range(2)])
    method = methods.build(
        "penalty", network=network, domains=3, classes=3, hparams={"lambda": [0.1, 10]}, iterations=5
    )
    x, y = torch.randn(2, 3, 4, 2, 12), torch.randint(3, (2, 3, 4))
    losses = method.losses(x, y, {})
    for run, weight in enumerate((0.1, 10)):
        logits = method.classify(method.features(x))[run].flatten(0, 1)
        entropy = torch.distributions.Categorical(logits=logits).entropy().mean()
        expected = torch.nn.functional.cross_entropy(logits, y[run].flatten()) - weight * entropy
        torch.testing.assert_close(losses["loss"][run], expected)


def test_a_plug_in_trains_and_its_code_counts(study, tiny_folder, tmp_path, params):
    before = {name: code_fingerprint(name) for name in [*METHODS, "penalty"]}
    job = {"targets": ["A"], "seeds": [0], "draws": ["fixed"], "out": tmp_path / "runs"}
    (path,) = train_job(study, tiny_folder, variant="penalty", **job)
    record = read(path)
    assert record.hparams == {"lambda": 0.5}
    assert record.code.fingerprint == training_fingerprint(study.config("tiny", "penalty"))
    source = (tmp_path / "penalty.py").read_text()
    for text, same in (
        (source.replace("# (R, D, B, K)", "# logits"), True),
        (source.replace("risk - self", "risk - 2 * self"), False),
    ):
        assert text != source
        (tmp_path / "penalty.py").write_text(text)
        Study(params)
        assert {name: code_fingerprint(name) for name in METHODS} == {name: before[name] for name in METHODS}
        assert (code_fingerprint("penalty") == before["penalty"]) == same


@pytest.mark.parametrize(
    ("losses", "error", "words"),
    [
        ("{}", InputError, "penalty.py: method 'penalty': `losses` returns no 'loss'"),
        ("1 / 0", ZeroDivisionError, "This is of the plug-in .*penalty.py, method 'penalty'"),
        ("{}['loss']", KeyError, "This is of the plug-in"),
    ],
)
def test_what_fails_in_training_names_the_plug_in(study, tiny_folder, tmp_path, params, losses, error, words):
    path = tmp_path / "penalty.py"
    path.write_text(path.read_text().replace("        return ", f"        return {losses}\n        return "))
    job = {"variant": "penalty", "targets": ["A"], "seeds": [0], "draws": ["fixed"], "out": tmp_path / "runs"}
    with pytest.raises(error) as raised:
        train_job(Study(params), tiny_folder, **job)
    assert re.search(words, "".join(traceback.format_exception(raised.value)))


WANTED = r"a floating-point tensor of shape \(1,\), a value of each run"


@pytest.mark.parametrize(
    ("losses", "words"),
    [
        ("{'loss': loss.mean()}", rf"'loss' of `losses` has shape \(\); it should be {WANTED}"),
        ("{'loss': loss, 'risk': logits.mean((2, 3))}", r"'risk' of `losses` has shape \(1, 3\); it should"),
        ("{'loss': loss.repeat(2)}", r"'loss' of `losses` has shape \(2,\)"),
        ("{'loss': loss, 1: loss}", "a name in `losses` is 1; it should be text"),
        ("{'risk': loss}", f"`losses` returns no 'loss', the objective: {WANTED}"),
        ("loss", f"`losses` returns a Tensor, not a dictionary with 'loss', {WANTED}"),
        ("{'loss': loss, 'steps': torch.ones(1, dtype=int)}", r"'steps' of `losses` is of torch.int64"),
        ("{'loss': loss.item()}", "'loss' of `losses` is a float"),
        ("{'loss': loss.detach()}", "'loss' of `losses` is detached: no gradient leads to the network"),
    ],
)
def test_losses_that_are_no_value_of_each_run_are_told_at_the_first_update(
    study, tiny_folder, tmp_path, params, monkeypatch, losses, words
):
    path = tmp_path / "penalty.py"
    source = re.sub(r"return {.*}", f"return {losses}", path.read_text())
    path.write_text(f"import torch\n{source}")
    steps = []
    monkeypatch.setattr("tsdg.learning.optimizer.Adam.step", lambda *_, **__: steps.append(1))
    job = {"variant": "penalty", "targets": ["A"], "seeds": [0], "draws": ["fixed"], "out": tmp_path / "runs"}
    with pytest.raises(InputError, match=f"^{re.escape(str(path))}: method 'penalty': {words}") as raised:
        train_job(Study(params), tiny_folder, **job)
    assert "\n" not in str(raised.value)
    assert not steps
    assert not [*(tmp_path / "runs").rglob("*.json")]


def test_where_the_file_lies_does_not_count(tmp_path):
    methods.use_plugins([EXAMPLE])
    here = code_fingerprint("penalty")
    (tmp_path / EXAMPLE.name).write_text(EXAMPLE.read_text())
    methods.use_plugins([tmp_path / EXAMPLE.name])
    assert code_fingerprint("penalty") == here


def test_another_study_does_not_know_it(study, params):
    assert methods.get("penalty").title == "Confidence penalty"
    del params["plugins"]
    with pytest.raises(InputError, match=r"variants.penalty: unknown method 'penalty'"):
        Study(params)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.replace("(Method)", "(Metod)"), "line 7: NameError: name 'Metod' is not defined"),
        (lambda s: s + "\n    return", "IndentationError"),
        (lambda s: s.replace("METHODS", "Methods"), "holds no METHODS"),
        (
            lambda s: s.replace('{"penalty": ConfidencePenalty}', '{"erm": ConfidencePenalty}'),
            "there is a method 'erm'",
        ),
        (
            lambda s: s.replace('{"penalty": ConfidencePenalty}', '{"penalty": 3}'),
            "3 is no subclass of tsdg.methods.base",
        ),
        (lambda s: s.replace("title =", "titel ="), "ConfidencePenalty has no `title`, a text"),
        (lambda s: s.replace("def losses", "def loss"), "ConfidencePenalty has no `losses`"),
        (
            lambda s: s.replace('Distribution(0.1, "power", (-2, 0))', "0.1"),
            "'lambda' is no Dist",
        ),
        (lambda s: s.replace("import Distribution", "import Distributon"), "ImportError: cannot import name"),
        (lambda s: s + "\nimport sys; sys.exit(3)", "SystemExit: 3"),
        (
            lambda s: s.replace("    search = ", "    search = 5 #"),
            "ConfidencePenalty.search is no dictionary",
        ),
        (lambda s: s.replace("    search", "    options = 5\n    search"), ".options is no dictionary"),
        (
            lambda s: s.replace("    search", "    options = {'a': 5}\n    search"),
            "options: 'a' is 5; give a list of values",
        ),
    ],
)
def test_a_broken_file_is_one_message(tmp_path, change, words):
    path = tmp_path / "broken.py"
    path.write_text(change(EXAMPLE.read_text()))
    with pytest.raises(InputError) as error:
        methods.use_plugins([path])
    assert words in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["5", "'a b'", "'-a'"])
def test_a_name_of_a_method_is_one_that_params_can_have(tmp_path, name):
    path = tmp_path / "named.py"
    path.write_text(re.sub(r"METHODS = {[^:]*:", f"METHODS = {{{name}:", EXAMPLE.read_text()))
    with pytest.raises(InputError, match=f"METHODS: {name} is no name"):
        methods.use_plugins([path])


def test_files_that_clash_or_are_not_there(tmp_path):
    with pytest.raises(InputError, match=r"nothing.py: no such Python file"):
        methods.use_plugins([tmp_path / "nothing.py"])
    (tmp_path / "other.py").write_text(EXAMPLE.read_text())
    with pytest.raises(InputError, match=r"other.py: there is a method 'penalty' already"):
        methods.use_plugins([EXAMPLE, tmp_path / "other.py"])
    (tmp_path / EXAMPLE.name).write_text(EXAMPLE.read_text())
    with pytest.raises(InputError, match="have the same name; rename one"):
        methods.use_plugins([EXAMPLE, tmp_path / EXAMPLE.name])


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package of two modules with an entry point, as pip would install it."""
    package = tmp_path / "penalties"
    package.mkdir()
    (package / "__init__.py").write_text("")
    source = EXAMPLE.read_text().replace("logits.log_softmax(-1)", "sure(logits)")
    (package / "penalty.py").write_text("from .sure import sure\n" + source)
    (package / "sure.py").write_text("def sure(logits):\n    return logits.log_softmax(-1)\n")
    about = tmp_path / "penalties-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: penalties\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[tsdg.methods]\npenalties = penalties.penalty:ConfidencePenalty\n"
        "spoilt = penalties.penalty:Nothing\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.partition(".")[0] == "penalties"]:
        del sys.modules[name]


def test_an_installed_package_has_methods(installed, params):
    params["variants"]["penalties"] = {"label": "Confidence", "method": "penalties"}
    assert Study(params).search("penalties").keys() == {"lambda"}
    with pytest.raises(InputError, match="did you mean 'penalties'"):
        methods.get("penaltys")
    with pytest.raises(
        InputError, match=r"'spoilt' of the package at penalties.penalty:Nothing: cannot be loaded"
    ):
        methods.get("spoilt")


def test_all_of_an_installed_method_counts(installed):
    before = code_fingerprint("penalties"), code_fingerprint("erm")
    (installed / "sure.py").write_text("def sure(logits):\n    return logits.softmax(-1)\n")
    sys.modules["tsdg.runs.fingerprint"]._of_method.cache_clear()
    assert code_fingerprint("penalties") != before[0]
    assert code_fingerprint("erm") == before[1]


def test_the_group_is_the_documented_one():
    assert f'[project.entry-points."{plugins.GROUP}"]' in DOCUMENT.read_text()
    assert re.search(r"plugins: \[my_method\.py\]", DOCUMENT.read_text())
