"""All tables in one LaTeX document."""

import shutil

import pytest

from tsdg.errors import InputError
from tsdg.results import document
from tsdg.results.latex import document as table
from tsdg.results.latex import escape, row


def test_the_document_holds_the_tables_in_order(tmp_path):
    names = [f"t{k}" for k in range(12)]
    for name in names:
        (tmp_path / f"{name}.tex").write_text(table(name, f"Table {name}, 50% & more.", "l", [row([name])]))
    tex = document.write([tmp_path / f"{name}.tex" for name in names], tmp_path / "all.tex")
    text = tex.read_text()
    assert [text.count(part) for part in (r"\documentclass", r"\begin{document}", r"\end{document}")] == [
        1
    ] * 3
    places = [text.index(rf"\label{{tab:{name}}}") for name in names]
    assert places == sorted(places)
    if shutil.which(document.LATEX):
        pdf = document.compiled(tex)
        assert pdf == tmp_path / "all.pdf"
        assert pdf.read_bytes().startswith(b"%PDF")
        assert sorted(path.suffix for path in tmp_path.iterdir() if path.stem == "all") == [".pdf", ".tex"]


def test_a_cell_is_one_line_and_no_option_of_the_row_before_it():
    assert escape("[a] *b\n\nc\x07") == "{[}a] *b c"
    assert escape("*") == "{*}"


def test_rows_that_a_page_could_not_hold_stand_closer():
    short, long = (table("t", "Some.", "l", [row(["x"])] * count) for count in (50, 51))
    assert r"\renewcommand{\arraystretch}{0.85}" in long.partition(r"\begin{tabular}")[0]
    assert r"\arraystretch" not in short


def test_what_is_not_a_table_is_named(tmp_path):
    (tmp_path / "x.tex").write_text("nothing")
    for name in ("x.tex", "absent.tex"):
        with pytest.raises(InputError, match=name):
            document.write([tmp_path / name], tmp_path / "all.tex")
    with pytest.raises(InputError, match="there is no table to put into it"):
        document.write([], tmp_path / "all.tex")


def test_without_latex_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="install TeX Live"):
        document.compiled(tmp_path / "all.tex")


@pytest.mark.skipif(not shutil.which(document.LATEX), reason="no pdflatex")
def test_a_mistake_in_latex_is_one_message(tmp_path):
    (tmp_path / "bad.tex").write_text(table("bad", "Bad.", "l", [r"\nocommand \\"]))
    with pytest.raises(InputError, match=r"bad.tex: pdflatex stopped: ! Undefined control sequence"):
        document.compiled(tmp_path / "bad.tex")
