import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import layouts
from golden import GOLDEN, ONE_SEED, layout, selected
from layouts import panel
from synthetic_records import grid, save
from tsdg.results import captions, tables
from tsdg.results.numbers import summarise
from tsdg.results.paper import compare
from tsdg.results.selection import select
from tsdg.study.layout import PAPER_PROTOCOL, Protocol
from tsdg.study.levels import Level
from tsdg.study.run import Run


def tabular(tex):
    return re.search(r"\\begin\{tabular\}\{(\w+)\}(.*)\\end\{tabular\}", tex, re.S).groups()


def cells_of(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)&", line.removesuffix(r"\\"))]


def body(tex):
    """{row label: [cells of each block]}"""
    rows = {}
    for line in tabular(tex)[1].splitlines():
        if line.endswith(r"\\") and "multicolumn" not in line:
            label, *cells = cells_of(line)
            rows.setdefault(label, []).append(cells)
    return rows


def test_the_golden_table(tmp_path):
    paths = tables.render("toy", selected(tmp_path, GOLDEN), layout(), tmp_path / "out")
    assert [p.name for p in paths] == ["toy.csv", "toy.tex"]
    table = pd.read_csv(paths[0]).set_index(["variant", "target", "metric"])
    erm_p, erm_mean = table.loc["erm", "P", "accuracy"], table.loc["erm", "Average", "accuracy"]
    assert (erm_p["mean"], erm_p["std"], erm_p["n"]) == (pytest.approx(72), pytest.approx(2), 3)
    assert erm_mean["mean"] == pytest.approx(66)
    assert erm_mean["std"] == pytest.approx(np.std([60, 66, 72], ddof=1))
    assert erm_mean["shared_mean"] == pytest.approx(66)
    text = paths[1].read_text()
    rows = body(text)
    assert rows["ERM"][0] == [rf"\underline{{{value}}}" for value in ("72.0", "60.0", "66.0", "60.0")]
    assert rows["irm"][0] == [r"\textbf{80.0}", "10.0", "45.0", "10.0"]
    assert rows[r"Ours\_\{$\lambda$\}"][0] == [
        r"\textbf{80.0}",
        r"\textbf{91.0}",
        r"\textbf{85.5}",
        r"\textbf{80.0}",
    ]
    assert rows["ERM"][1] == [r"\textbf{10.0}"] * 4
    assert text.count("\\hdashline\\addlinespace\nOurs") == 2
    assert "Toy. Protocol paper: 3 seeds, 20 hyperparameter draws, 3,000 iterations. Best in" in text


def test_baselines_stand_first_above_a_rule_and_are_not_counted_as_the_papers(tmp_path):
    accuracies = {(row, "P"): (0.9,) for row in ("erm", "linear", "ours")}
    runs = selected(tmp_path, accuracies, seeds=1)
    shape = layout(
        ["erm", "linear", "ours"], panels=[panel("toy", "P", ["accuracy"], paper="bearings")],
        baselines=["linear"], protocol=ONE_SEED,
    )  # fmt: skip
    text = tables.render("toy", runs, shape, tmp_path / "out")[1].read_text()
    rows = [line.split(" ")[0] for line in tabular(text)[1].splitlines()]
    assert rows[rows.index("linear") - 1 :][:3] == [r"\midrule", "linear", r"\midrule"]
    assert "No networks, and not the paper's: linear." in text
    assert set(compare(summarise(runs, shape), shape)["variant"]) == {"erm", "ours"}


@pytest.mark.parametrize("arrange", ["beneath", "beside"])
def test_latex_is_well_formed(tmp_path, arrange):
    one = selected(tmp_path, GOLDEN)
    other = one.assign(dataset="other")
    panels = [
        panel("toy", "PQ", ["accuracy", "ece"], title="T & T"),
        panel("other", "PQ", ["accuracy", "nll"], average_only=True),
    ]
    shape = layout(arrange=arrange, caption="50% of A&B_C #1 {x} ~ ^ \\ $", panels=panels)
    text = tables.render("toy", pd.concat([one, other]), shape, tmp_path)[1].read_text()
    columns, rows = tabular(text)
    assert len(columns) == 1 + (5 if arrange == "beneath" else 10)
    for line in rows.splitlines():
        if line.endswith(r"\\"):
            spans = [re.match(r"\\multicolumn\{(\d+)\}", cell) for cell in cells_of(line)]
            assert sum(int(span[1]) if span else 1 for span in spans) == len(columns)
    plain = re.sub(r"\\[\\{}$%&#_^~]", "", text)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    assert "%" not in plain
    assert sorted(re.findall(r"\\begin\{(\w+)", text)) == sorted(re.findall(r"\\end\{(\w+)", text))
    assert r"50\% of A\&B\_C \#1 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} \$" in text


def test_gaps_are_marked_and_named(tmp_path):
    accuracies = {key: values for key, values in GOLDEN.items() if key[0] != "irm"}
    accuracies["erm", "Q"] = (0.5, 0.6)
    accuracies["ours", "P"] = (None, None, None)
    runs = selected(tmp_path, accuracies, simulated=True, protocol="quick")
    quick = Protocol("quick", seeds=3, draws=1, iterations=100, reduced=True)
    text = tables.render("toy", runs, layout(protocol=quick), tmp_path)[1].read_text()
    rows = body(text)
    assert rows["ERM"][0] == [
        r"\textbf{72.0}",
        r"\underline{55.0}$^\dagger$",
        r"\textbf{63.5}$^\dagger$",
        r"\textbf{55.0}$^\dagger$",
    ]
    assert rows["irm"][0] == ["--"] * 4
    assert rows[r"Ours\_\{$\lambda$\}"][0] == ["div.", r"\textbf{91.0}", "--", "--"]
    words = captions.caption(runs, layout(protocol=quick))
    assert (
        "Reduced protocol quick: 3 seeds, 1 hyperparameter draw, 100 iterations (the paper: 3 seeds, 20"
        in words
    )
    assert "Simulated raw files (toy)" in words
    assert "Missing runs: ERM at Q (seed 2), irm (all)." in words
    assert "Diverged runs: Ours_{λ} at P (seed 0; seed 1; seed 2)." in words
    assert "No average where a target has no result (irm, Ours_{λ})." in words
    assert "†" in words
    assert "Under another protocol: ERM (quick), Ours_{λ} (quick)." in captions.caption(runs, layout())
    table = summarise(runs, layout()).set_index(["variant", "target", "metric"])
    average = table.loc["erm", "Average", "accuracy"]
    assert (average["n"], average["missing"]) == (2, "Q (seed 2)")
    assert np.isnan(table.loc["ours", "Average", "accuracy"]["mean"])


@pytest.mark.parametrize(
    ("settled", "protocol", "words"),
    [
        ((), "paper", "Protocol paper: 3 seeds, 20 hyperparameter draws, 3,000 iterations."),
        (("a", "b"), "paper", "Protocol paper: 3 seeds, fixed hyperparameters, 3,000 iterations."),
        (("a", "b"), "single", "Protocol single: 3 seeds, fixed hyperparameters, 3,000 iterations."),
        (("a", "b"), "quick", "Reduced protocol quick: 1 seed, fixed hyperparameters, 120 iterations (the "
            "paper: 3 seeds, fixed hyperparameters, 3,000 iterations)."),
        (("a",), "paper", "3 seeds, 20 hyperparameter draws, 3,000 iterations; nothing to search for a."),
        (("a",), "single", "Reduced protocol single: 3 seeds, fixed hyperparameters, 3,000 iterations (the "
            "paper: 3 seeds, 20 hyperparameter draws, 3,000 iterations)."),
    ],
)  # fmt: skip
def test_a_caption_speaks_of_a_search_only_where_there_is_something_to_search(
    tmp_path, settled, protocol, words
):
    seeds, draws, iterations = {
        "paper": (3, 20, 3000),
        "single": (3, "fixed", 3000),
        "quick": (1, "fixed", 120),
    }[protocol]
    used = Protocol(protocol, seeds, draws, iterations)
    used = replace(used, reduced=used.is_less_than(PAPER_PROTOCOL))
    shape = layouts.layout(["a", "b"], panel("toy", "P"), protocol=used, settled=settled)
    save(tmp_path, Run("toy", "a", "P", 0, 0))
    caption = captions.caption(select(grid(["a", "b"], "P", range(seeds), [0]), tmp_path), shape)
    assert words in caption
    assert ("draw" in caption) == (len(settled) < 2)


def test_a_caption_tells_draws_made_anew(tmp_path):
    used = Protocol("domainbed", 3, 20, 3000, anew=True, checkpoint="best")
    shape = layouts.layout(["b", "a"], panel("toy", "P"), protocol=used, settled=["a", "b"], baselines=["b"])
    caption = captions.caption(select(grid(["a", "b"], "P", range(3), [0]), tmp_path), shape)
    assert (
        "Protocol domainbed: 3 seeds, 20 hyperparameter draws of each, with seeds of their own, the first "
        "being the published values, 3,000 iterations, the checkpoint with the best source validation; draws "
        "of a differ by their seed alone; nothing to search for what is no network."
    ) in caption


def test_many_gaps_are_counted_and_lost_draws_are_gaps(tmp_path):
    targets = [f"t{i}" for i in range(6)]
    for target in targets:
        save(tmp_path, Run("toy", "erm", target, 0, 0))
    runs = select(grid(["erm"], targets, [0], [0, 1]), tmp_path)
    shape = layout(["erm"], targets, ours=[], protocol=ONE_SEED)
    words = captions.caption(runs, shape)
    assert "Missing runs: targets concerned: ERM 6 of 6; each is listed in the csv file." in words
    table = summarise(runs, shape)
    assert (table[table.target.str.startswith("t")]["missing"] == "seed 0: 1 of 2 draws").all()


def test_a_lost_draw_marks_its_mean_and_the_average(tmp_path):
    expected = grid(["erm"], "PQ", [0], [0, 1])
    for run in expected[1:]:
        save(tmp_path, run, ((100, 0.5, 0.7),))
    runs = select(expected, tmp_path)
    text = tables.render("toy", runs, layout(["erm"], ours=[], protocol=ONE_SEED), tmp_path)[1].read_text()
    assert body(text)["ERM"][0] == [
        r"\textbf{70.0}$^\dagger$",
        r"\textbf{70.0}",
        *[r"\textbf{70.0}$^\dagger$"] * 2,
    ]
    assert "Missing runs: ERM at P (seed 0: 1 of 2 draws)." in text
    assert r"$^\dagger$ Mean of what there is, not of all seeds and draws." in text


def test_a_seed_that_diverged_marks_the_mean_of_the_others(tmp_path):
    runs = selected(tmp_path, {("erm", "P"): (0.7, None, 0.8), ("erm", "Q"): (0.5, 0.5, 0.5)})
    text = tables.render("toy", runs, layout(rows=["erm"], ours=[]), tmp_path)[1].read_text()
    marked = [
        r"\textbf{75.0}$^\dagger$",
        r"\textbf{50.0}",
        r"\textbf{62.5}$^\dagger$",
        r"\textbf{50.0}$^\dagger$",
    ]
    assert body(text)["ERM"][0] == marked
    assert "Diverged runs: ERM at P (seed 1)." in text


def test_a_diverged_draw_among_others_is_told_but_not_marked(tmp_path):
    save(tmp_path, Run("toy", "erm", "P", 0, 0), diverged=True)
    save(tmp_path, Run("toy", "erm", "P", 0, 1))
    runs = select(grid(["erm"], ["P"], [0], [0, 1]), tmp_path)
    shape = layout(["erm"], "P", ours=[], protocol=ONE_SEED)
    words = captions.caption(runs, shape)
    assert "Diverged runs: ERM at P (seed 0: 1 of 2 draws)." in words
    assert "†" not in words


def test_an_undefined_metric_is_explained(tmp_path):
    runs = selected(tmp_path, GOLDEN)
    shape = layout(metrics=["accuracy", "auc"])
    assert "AUC is undefined for P, Q (a class is not there)." in captions.caption(runs, shape)
    unknown = layout(metrics=["accuracy", "ece_calibrated"])
    words = captions.caption(runs.assign(ece_calibrated=np.nan), unknown)
    assert "ECE, calibrated is undefined for P, Q (not in the records)." in words
    text = tables.render("toy", runs, shape, tmp_path)[1].read_text()
    assert body(text)["ERM"][1] == ["--"] * 4


def test_comparison_with_the_paper(tmp_path):
    runs = [Run("bearings", v, t, 0, 0) for v in ("erm", "irm", "ours-learned") for t in "AC"]
    for run in runs[:-2]:
        save(tmp_path, run, ((100, 0.5, 0.644),))
    shown = panel("bearings", "AC", ["accuracy", "ece"], paper="bearings")
    shape = layout(["erm", "irm", "ours-learned"], panels=[shown], ours=[], protocol=ONE_SEED)
    paths = tables.render("b", select(runs, tmp_path), shape, tmp_path)
    assert [p.name for p in paths] == ["b.csv", "b.tex", "b_comparison.csv", "b_comparison.md"]
    compared = pd.read_csv(paths[2], keep_default_na=False).set_index(["variant", "target", "metric"])
    assert float(compared.loc["erm", "A", "accuracy"]["difference"]) == pytest.approx(-1.0)
    row = compared.loc["erm", "A", "ece"]
    assert (row["paper"], row["difference"], row["note"]) == ("", "", "the paper prints none")
    assert float(compared.loc["erm", "C", "accuracy"]["paper"]) == 96.0
    row = compared.loc["ours-learned", "A", "accuracy"]
    assert (row["paper"], row["difference"], row["note"]) == ("89.1", "", "no result here")
    text = paths[3].read_text()
    assert "| ERM | A | Accuracy (%) | 64.4 | 65.4 | -1.0 |" in text
    assert "Protocol paper: 1 seed, 20" in text
    assert "Missing runs: ours-learned (all)." in text


def test_few_windows_are_told(tmp_path, monkeypatch):
    runs = selected(tmp_path, GOLDEN)
    assert "Few windows" not in captions.caption(runs, layout())
    monkeypatch.setattr(captions, "FEW", 101)
    assert "Few windows to test on: P 100, Q 100." in captions.caption(runs, layout())


def test_rows_to_which_the_new_domain_gives_more_stand_apart_and_are_marked_apart(tmp_path):
    accuracies = {
        ("erm", "P"): (0.5,),
        ("linear", "P"): (0.6,),
        ("own", "P"): (0.9,),
        ("faults", "P"): (0.4,),
    }
    runs = selected(tmp_path, accuracies, seeds=1)
    shape = replace(
        layouts.layout(
            ["own", "erm", "faults", "linear"], panel("toy", ["P"]), protocol=ONE_SEED, baselines=["linear"]
        ),
        levels={"own": Level("domain"), "faults": Level("none", omits=True)},
    )
    text = tables.render("toy", runs, shape, tmp_path / "out")[1].read_text()
    lines = [line for line in tabular(text)[1].splitlines() if line.endswith(r"\\")]
    assert [cells_of(line)[0].removeprefix(r"\multicolumn{3}{l}") for line in lines[2:]] == [
        r"{\emph{Nothing of the new domain}}",
        "linear",
        "erm",
        r"{\emph{Nothing of the new domain, the reference class left out}}",
        "faults",
        r"{\emph{Windows of the new domain, unlabelled}}",
        "own",
    ]
    rows = body(text)
    assert [rows[name][0][0] for name in ("linear", "erm", "faults", "own")] == [
        r"\textbf{60.0}",
        r"\underline{50.0}",
        r"\textbf{40.0}",
        r"\textbf{90.0}",
    ]
    assert "Windows of the new domain, unlabelled: own. Rows are compared and marked only with" in text
