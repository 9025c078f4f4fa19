"""Tables as pages: the numbers and marks of the LaTeX, with intervals; nothing of LaTeX is left in them."""

import html
import re
from argparse import Namespace
from pathlib import Path

import pytest

from golden import GOLDEN, layout, selected
from layouts import layout as any_layout
from layouts import panel
from tsdg.results import tables
from tsdg.results.about import hyperparameters
from tsdg.results.html import page
from tsdg.results.latex import document, escape
from tsdg.results.lead import lead
from tsdg.results.numbers import summarise

TEMPLATE = Path(__file__).parents[2] / "workflow/report/workflow.rst"


def rows(text):
    return [re.findall(r"<td[^>]*>(.*?)</td>", line) for line in re.findall(r"<tr.*?</tr>", text)]


def test_a_page_has_the_numbers_and_marks_of_the_latex_and_intervals(tmp_path):
    tables.render("toy", selected(tmp_path, GOLDEN), layout(), tmp_path)
    text = (tmp_path / "toy.html").read_text()
    found = {label: cells for label, *cells in rows(text)[:6]}
    assert [cell.split(" ")[0] for cell in found["ERM"][:3]] == ["<u>72.0</u>", "<u>60.0</u>", "<u>66.0</u>"]
    assert found["ERM"][0] == "<u>72.0</u> <small>± 5.0</small>"  # 4.303 * 2 / sqrt(3)
    assert found["Ours_{λ}"][2].startswith("<b>85.5</b>")
    assert '<tr class="dashed"><td class="l">Ours_{λ}' in text
    assert '<td class="c" colspan="4">Accuracy (%)</td>' in text
    assert "interval over seeds" in text
    assert "interval over seeds" not in (tmp_path / "toy.tex").read_text()


def test_the_worst_targets_interval_is_of_its_own_seeds_and_a_gap_elsewhere_marks_it(tmp_path):
    runs = selected(tmp_path, {("erm", "P"): (0.9,), ("erm", "Q"): (0.5, 0.6, 0.7)})
    tables.render("toy", runs, layout(["erm"], ours=[], metrics=["accuracy"]), tmp_path)
    [cells] = [cells for label, *cells in rows((tmp_path / "toy.html").read_text()) if label == "ERM"]
    of_p, of_q, _, worst = (re.sub("</?[bu]>", "", cell) for cell in cells)
    assert of_q == "60.0 <small>± 24.8</small>"  # 4.303 * 10 / sqrt(3)
    assert worst == of_q.replace("60.0", "60.0†")
    assert of_p == "90.0†"


@pytest.mark.parametrize(
    "words", ["A&B <i> 50% of C_D #1 {x} ~ ^ \\ $", "$x$ \\textbf{a}", "[a]", "μ ± 1 × λ† – −", "é\x07 & b"]
)
def test_words_come_through_as_they_are(words):
    text = page(document("n", words, "lr", [rf"{escape(words)} & 1 \\"]), title=words, lead=words)
    plain = "".join(letter for letter in words if letter.isprintable())
    shown = [rows(text)[0][0], *re.findall(r'<p class="notes">(.*)</p>', text)]
    assert [html.unescape(one) for one in shown] == [plain] * 2
    assert text.count(html.escape(words)) >= 2


def test_mathematics_is_spelt_out(tmp_path):
    hyperparameters.render(tmp_path)
    text = (tmp_path / "hyperparameter.html").read_text()
    assert ["", "iterations before the penalty has this weight", "⌊ 10<sup>U(0, 4)</sup> ⌋"] in rows(text)
    assert not re.search(r"[\\$]", text)


def test_the_lead_names_the_best_on_average_and_the_best_network(tmp_path):
    found = lead(summarise(selected(tmp_path, GOLDEN), layout()), layout())
    assert found.startswith("Best average accuracy over 2 targets that training has not seen: Ours_{λ} 85.5")
    assert "; then ERM 66.0 ± 14.9 %." in found  # 4.303 * 6 / sqrt(3)
    shape = any_layout(["linear", "net"], panel("toy", "P", ["ece"]), baselines=["linear"])
    runs = selected(tmp_path / "2", {("linear", "P"): (0.9,), ("net", "P"): (0.8,)}, seeds=1)
    assert "Best network: net " in lead(summarise(runs, shape), shape)


@pytest.mark.parametrize("drawn", [["late"], []])
def test_the_report_starts_with_the_first_table_that_has_a_figure_and_else_with_the_first(drawn, tmp_path):
    jinja2, docutils = pytest.importorskip("jinja2"), pytest.importorskip("docutils.core")
    files = []
    for number, (name, rule) in enumerate(
        [
            ("late", "table"),
            ("early", "table"),
            ("networks", "networks"),
            *((one, "accuracy") for one in drawn),
        ]
    ):
        path = tmp_path / f"{name}.{'png' if rule == 'accuracy' else 'html'}"
        path.write_text(page(document(name, "Some.", "l", [rf"This is {name} \\"])))
        job = Namespace(rule=Namespace(name=rule))
        files.append(Namespace(path=path, target=path.name, job=job, labels={"no": f"{9 - number}"}))
    template = jinja2.Environment(trim_blocks=True, lstrip_blocks=True).from_string(TEMPLATE.read_text())
    body = docutils.publish_parts(template.render(files=files), writer="html")["html_body"]
    assert "system-message" not in body
    assert rows(body)[0] == [f"This is {'late' if drawn else 'early'}"]
    assert (f"results['{tmp_path}/late.png'].data_uri" in body) == bool(drawn)
    assert (
        "system-message" not in docutils.publish_parts(template.render(files=[]), writer="html")["html_body"]
    )
