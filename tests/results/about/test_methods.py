"""The page of methods: in step with the classes, and whole."""

import re
from pathlib import Path

import pandas as pd
import pytest

from tsdg.commands.main import main
from tsdg.learning.augment import Augmentation
from tsdg.methods import METHODS
from tsdg.results.about.methods import SIMPLE, page, read_costs

PROJECT = Path(__file__).parents[3]
COSTS = PROJECT / "src/tsdg/methods/costs.csv"
PAGE = (PROJECT / "docs/methods.md").read_text()


def test_the_page_is_what_the_command_prints(capsys):
    assert main(["methods", str(COSTS)]) == 0
    assert capsys.readouterr().out == PAGE, "run `make methods`"


def test_every_method_has_a_formula_a_measured_cost_and_a_source():
    sections = PAGE.split("\n## ")[1:]
    assert len(sections) == len(METHODS)
    for (name, method), section in zip(METHODS.items(), sections, strict=True):
        assert section.startswith(f"{method.title}\n\n`{name}`: ")
        (formula,) = re.findall(r"```math\n(.+)\n```", section)
        assert formula.count("{") == formula.count("}")
        assert formula.count(r"\left") - formula.count(r"\leftarrow") == formula.count(r"\right")
        assert f"Source: {method.citation}." in section
        assert re.search(r"Cost: \d+\.\d\d \(Bearings\), \d+\.\d\d \(MIMIC-III\)\.", section)
        for key, distribution in method.search.items():
            assert f"{key} {distribution}" in section


def test_costs_are_those_of_the_file():
    costs = pd.DataFrame({"shape": ["bearings"], "method": ["mldg"], "ratio": [3.456]})
    text = page(costs)
    assert text.count("Cost: ") == 1
    assert "Cost: 3.46 (Bearings)." in text


def test_every_augmentation_is_there():
    names = re.findall(r"^\| `(\w+)` \|", PAGE, re.M)
    Augmentation([0], [["A", "B"]], functions=names, length=40, channels=3)
    assert len(names) == len(set(names)) == 10
    assert set(SIMPLE) < set(names)


def test_a_file_that_holds_no_costs_is_one_message(tmp_path, capsys):
    path = tmp_path / "costs.csv"
    for text, words in ((None, "cannot be read"), ("shape,ratio\n", "has no column method")):
        if text:
            path.write_text(text)
        assert main(["methods", str(path)]) == 2
        error = capsys.readouterr().err
        assert words in error
        assert "benchmarks/costs.py" in error
        assert error.count("\n") == 1
    assert read_costs(COSTS)["ratio"].between(0.5, 50).all()


@pytest.mark.parametrize("name", METHODS)
def test_an_idea_is_one_sentence(name):
    line = re.search(rf"^`{name}`: (.+)$", PAGE, re.M)[1]
    assert line.endswith(".")
    assert ". " not in line
