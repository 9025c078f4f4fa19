"""`tsdg check-method`: the laws in words, and an exit code."""

from pathlib import Path

import pytest

from tsdg import methods
from tsdg.commands.main import main
from tsdg.methods import laws

EXAMPLE = Path(__file__).parents[2] / "examples/confidence_penalty.py"


@pytest.fixture(autouse=True)
def forget():
    """Plug-ins of one test are none of another's."""
    yield
    methods.use_plugins([])


def test_the_example_keeps_all_laws(capsys):
    assert main(["check-method", str(EXAMPLE)]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == f"Confidence penalty, method 'penalty' of {EXAMPLE}:"
    assert lines == [f"  passed: {law}" for law in [*laws.OF_SETTINGS, *laws.OF_METHODS]]


FLAT = """
class Flat(ConfidencePenalty):
    def losses(self, x, y, draws):
        return {"loss": super().losses(x, y, draws)["loss"].mean()}

METHODS["flat"] = Flat
"""


def test_a_broken_law_is_told_and_ends_with_one(tmp_path, capsys):
    file = tmp_path / "two.py"
    file.write_text(EXAMPLE.read_text() + FLAT)
    assert main(["check-method", str(file), "--method", "flat"]) == 1
    out = capsys.readouterr().out
    assert "  FAILED: losses are a value of each run\n    'loss' of `losses` has shape (); it should" in out
    assert "  not tried: a run is the same in a pack and alone" in out
    assert "'penalty'" not in out
    assert main(["check-method", str(file), "--method", "flatt"]) == 2
    assert "holds no method 'flatt', did you mean 'flat'?; there are penalty, flat" in capsys.readouterr().err
