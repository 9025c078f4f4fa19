"""Tables as the paper lays them out."""

import re
from pathlib import Path

import pandas as pd
import pytest

import layouts
from golden import ONE_SEED, selected
from layouts import panel
from tsdg.errors import InputError
from tsdg.results import tables
from tsdg.study.paper_style import Group, PaperStyle
from tsdg.study.study import Study

ROWS = ["erm", "irm", "ours", "rsc-ours"]
VALUES = {
    ("erm", "P"): (0.7,), ("erm", "Q"): (0.5,), ("irm", "P"): (0.9,), ("irm", "Q"): (0.4,),
    ("ours", "P"): (0.8,), ("ours", "Q"): (0.7,), ("rsc-ours", "P"): (0.8,), ("rsc-ours", "Q"): (0.6,),
}  # fmt: skip


def lines(tmp_path, style, *panels, **options):
    """The lines of the tabular, and the text around it."""
    shape = layouts.layout(
        ROWS, *panels or [panel("toy", "PQ", ["accuracy", "ece", "nll"])], protocol=ONE_SEED, style=style,
        **options,
    )  # fmt: skip
    tables.render("t", selected(tmp_path, VALUES, seeds=1), shape, tmp_path / "out")
    text = (tmp_path / "out/t.tex").read_text()
    inside = re.search(r"\\toprule\n(.*)\n\\bottomrule", text, re.S)[1].splitlines()
    return [line.removesuffix(r" \\") for line in inside], text


def test_targets_of_the_first_metric_and_the_average_of_the_second(tmp_path):
    groups = (Group({"ours": "Ours (M)"}), Group({"rsc-ours": "+ Ours (M)"}, title="RSC"))
    found, text = lines(tmp_path, PaperStyle(groups=groups), baselines=["irm"])
    assert found[0] == (
        r" & \multicolumn{3}{c}{Accuracy (\%) $\uparrow$} & \multicolumn{1}{c}{ECE (\%) $\downarrow$}"
    )
    assert [re.findall(r"\{c\}\{(.*?)\}", found[2])] == [["P", "Q", "Avg.", "Avg."]]
    dashed = r"\addlinespace\hdashline\addlinespace"
    assert found[3:] == [
        r"\midrule", r"irm & 90.0 & 40.0 & 65.0 & \textbf{10.0}",
        r"\midrule", r"erm & 70.0 & 50.0 & 60.0 & \textbf{10.0}",
        dashed, r"Ours (M) & 80.0 & 70.0 & \textbf{75.0} & \textbf{10.0}",
        dashed, "RSC &  &  &  & ", r"+ Ours (M) & 80.0 & 60.0 & \underline{70.0} & \textbf{10.0}",
    ]  # fmt: skip
    assert "Best average in bold, second best underlined." in text
    body = (tmp_path / "out/t.body.tex").read_text()
    assert body.startswith("% In the preamble: \\usepackage{booktabs,arydshln,amssymb}\n\\begin{table}")
    assert body.endswith("\\end{table}\n")


def test_heads_stand_in_place_of_a_rows_name(tmp_path):
    cells = {"erm": (False, 8), "irm": (True, 4), "ours": (False, "N_a"), "rsc-ours": (True, 1)}
    style = PaperStyle(heads=("Reg.", "# clusters"), cells=cells, mark="columns")
    assert lines(tmp_path, style)[0] == [
        r"Reg. & \# clusters & Avg. Accuracy (\%) $\uparrow$", r"\midrule", " & 8 & 60.0",
        r"\checkmark & 4 & 65.0", r" & N\_a & \textbf{75.0}", r"\checkmark & 1 & 70.0",
    ]  # fmt: skip


def test_each_group_has_its_best(tmp_path):
    groups = (Group({"erm": "e", "irm": "i"}, "One"), Group({"ours": "o", "rsc-ours": "r"}, "Two"))
    found = lines(tmp_path, PaperStyle(groups=groups, mark="groups"))[0]
    bold = [line.split(" & ")[0] for line in found if r"\textbf{65.0}" in line or r"\textbf{75.0}" in line]
    assert bold == ["i", "o"]
    assert not [line for line in lines(tmp_path, PaperStyle(mark="none"))[0] if "textbf" in line]


def test_a_matrix_has_na_where_there_is_no_row(tmp_path):
    cells = {
        "erm": ("F", "s", "L2"), "irm": ("F", "d", "L2"), "ours": ("G", "s", "KL"),
        "rsc-ours": ("G", "d", "L2"),
    }  # fmt: skip
    style = PaperStyle(heads=("What", "Level", "Distance"), cells=cells, matrix=True, mark="columns")
    found, text = lines(tmp_path, style)
    assert found == [
        r" & \multicolumn{2}{c}{s} & \multicolumn{2}{c}{d}", r"\cmidrule(lr){2-3}\cmidrule(lr){4-5}",
        "What & L2 & KL & L2 & KL", r"\midrule", "F & 60.0 & N/A & 65.0 & N/A",
        r"G & N/A & \textbf{75.0} & 70.0 & N/A",
    ]  # fmt: skip
    assert r"Averages of Accuracy (\%). Best in bold." in text


@pytest.mark.parametrize(
    ("style", "words"),
    [
        (PaperStyle(groups=(Group({"vrex": "V"}),)), "groups: vrex must be among rows"),
        (PaperStyle(heads=("Reg.",), cells={"erm": (True,)}), "cells: irm, ours, rsc-ours must have 1"),
        (PaperStyle(cells={"vrex": (True,)}), "cells: vrex must be among rows"),
        (PaperStyle(heads=("a",), cells=dict.fromkeys(ROWS, ("x",)), matrix=True), "three `heads`"),
        (PaperStyle(heads=("a", "b", "c"), cells=dict.fromkeys(ROWS, ("x",) * 3), matrix=True), "same place"),
    ],
)
def test_what_does_not_fit_is_told(style, words):
    with pytest.raises(InputError, match=words):
        layouts.layout(ROWS, panel("toy", "P"), style=style)


def test_the_papers_tables_are_laid_out_so_and_can_be_had_in_full():
    published = Path(__file__).parents[2] / "params.yaml"
    study = Study.load(published)
    compared = {name for name in study.tables if any(panel.paper for panel in study.panels(name))}
    assert {name for name in study.tables if study.layout(name).style} == compared
    assert Study.load(published, ["tables.bearings.layout=full"]).layout("bearings").style is None
    order = [row for row in study.layout("bearings").rows if row not in study.layout("bearings").baselines]
    printed = pd.read_csv(published.parent / "src/tsdg/data/paper/bearings.csv")["row"].unique()
    assert order == [*printed]
