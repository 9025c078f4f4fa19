import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import layouts
from layouts import panel
from synthetic_records import grid, save
from tsdg.data import paper
from tsdg.errors import InputError
from tsdg.results import tables
from tsdg.results.selection import select
from tsdg.study.layout import Protocol
from tsdg.study.run import Run

ONE_SEED = replace(layouts.PAPER, seeds=1)


def layout(rows=("ours", "erm", "irm"), targets="PQ", metrics=("accuracy", "ece"), panels=None, **changes):
    names = {"erm": "ERM", "ours": "Ours_{λ}"}
    defaults = {
        "labels": {row: label for row, label in names.items() if row in rows},
        "ours": ["ours"],
        "caption": "Toy.",
    }
    return layouts.layout(rows, *(panels or [panel("toy", targets, metrics)]), **defaults | changes)


def selected(folder, accuracies, seeds=3, **facts):
    """Runs of one draw: {(variant, target): one accuracy a seed; None: diverged; absent seeds: missing}."""
    runs = grid(
        dict.fromkeys(v for v, _ in accuracies), dict.fromkeys(t for _, t in accuracies), range(seeds), [0]
    )
    for (variant, target), values in accuracies.items():
        for seed, value in enumerate(values):
            run = Run("toy", variant, target, seed, 0)
            save(folder, run, ((100, 0.5, value or 0, 0.1),), diverged=value is None, **facts)
    return select(runs, folder)


GOLDEN = {
    ("erm", "P"): (0.70, 0.72, 0.74),
    ("erm", "Q"): (0.50, 0.60, 0.70),
    ("irm", "P"): (0.80, 0.80, 0.80),
    ("irm", "Q"): (0.10, 0.10, 0.10),
    ("ours", "P"): (0.8001, 0.8001, 0.8001),
    ("ours", "Q"): (0.90, 0.91, 0.92),
}


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
    assert rows["ERM"][0] == [r"\underline{72.0}", r"\underline{60.0}", r"\underline{66.0}"]
    assert rows["irm"][0] == [r"\textbf{80.0}", "10.0", "45.0"]
    assert rows[r"Ours\_\{$\lambda$\}"][0] == [r"\textbf{80.0}", r"\textbf{91.0}", r"\textbf{85.5}"]
    assert rows["ERM"][1] == [r"\textbf{10.0}"] * 3
    assert text.count("\\hdashline\\addlinespace\nOurs") == 2
    assert "Toy. Protocol paper: 3 seeds, 20 hyperparameter draws, 3,000 iterations. Best in" in text


@pytest.mark.parametrize("metric", ["accuracy", "nll"])  # the helper's NLL is 2 - accuracy: lower is better
def test_what_prints_alike_ranks_alike_and_the_next_print_is_second(tmp_path, metric):
    values = {"erm": 0.4, "irm": 0.6, "ours": 0.5996, "rsc": 0.6, "dann": 0.3}
    runs = selected(tmp_path, {(variant, "P"): [value] for variant, value in values.items()}, seeds=1)
    shape = layout(list(values), "P", [metric], labels={}, ours=[], protocol=ONE_SEED)
    table = tables.summarise(runs, shape)
    assert table[table.target == "P"]["rank"].fillna(0).tolist() == [2, 1, 1, 1, 0]


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
    assert len(columns) == 1 + (4 if arrange == "beneath" else 8)
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
    assert rows["ERM"][0] == [r"\textbf{72.0}", r"\underline{55.0}$^\dagger$", r"\textbf{63.5}$^\dagger$"]
    assert rows["irm"][0] == ["--", "--", "--"]
    assert rows[r"Ours\_\{$\lambda$\}"][0] == ["div.", r"\textbf{91.0}", "--"]
    words = tables.caption(runs, layout(protocol=quick))
    assert (
        "Reduced protocol quick: 3 seeds, 1 hyperparameter draw, 100 iterations (the paper: 3 seeds, 20"
        in words
    )
    assert "Simulated raw files (toy)" in words
    assert "Missing runs: ERM at Q (seed 2), irm (all)." in words
    assert "Diverged runs: Ours_{λ} at P (seed 0; seed 1; seed 2)." in words
    assert "No average where a target has no result (irm, Ours_{λ})." in words
    assert "†" in words
    assert "Under another protocol: ERM (quick), Ours_{λ} (quick)." in tables.caption(runs, layout())
    table = tables.summarise(runs, layout()).set_index(["variant", "target", "metric"])
    average = table.loc["erm", "Average", "accuracy"]
    assert (average["n"], average["missing"]) == (2, "Q (seed 2)")
    assert np.isnan(table.loc["ours", "Average", "accuracy"]["mean"])


def test_many_gaps_are_counted_and_lost_draws_are_gaps(tmp_path):
    targets = [f"t{i}" for i in range(6)]
    for target in targets:
        save(tmp_path, Run("toy", "erm", target, 0, 0))
    runs = select(grid(["erm"], targets, [0], [0, 1]), tmp_path)
    shape = layout(["erm"], targets, ours=[], protocol=ONE_SEED)
    words = tables.caption(runs, shape)
    assert "Missing runs: targets concerned: ERM 6 of 6; each is listed in the csv file." in words
    table = tables.summarise(runs, shape)
    assert (table[table.target != "Average"]["missing"] == "seed 0: 1 of 2 draws").all()


def test_a_seed_that_diverged_marks_the_mean_of_the_others(tmp_path):
    runs = selected(tmp_path, {("erm", "P"): (0.7, None, 0.8), ("erm", "Q"): (0.5, 0.5, 0.5)})
    text = tables.render("toy", runs, layout(rows=["erm"], ours=[]), tmp_path)[1].read_text()
    marked = [r"\textbf{75.0}$^\dagger$", r"\textbf{50.0}", r"\textbf{62.5}$^\dagger$"]
    assert body(text)["ERM"][0] == marked
    assert "Diverged runs: ERM at P (seed 1)." in text


def test_a_diverged_draw_among_others_is_told_but_not_marked(tmp_path):
    save(tmp_path, Run("toy", "erm", "P", 0, 0), diverged=True)
    save(tmp_path, Run("toy", "erm", "P", 0, 1))
    runs = select(grid(["erm"], ["P"], [0], [0, 1]), tmp_path)
    shape = layout(["erm"], "P", ours=[], protocol=ONE_SEED)
    words = tables.caption(runs, shape)
    assert "Diverged runs: ERM at P (seed 0: 1 of 2 draws)." in words
    assert "†" not in words


def test_an_undefined_metric_is_explained(tmp_path):
    runs = selected(tmp_path, GOLDEN)
    shape = layout(metrics=["accuracy", "auc"])
    assert "AUC is undefined for P, Q" in tables.caption(runs, shape)
    text = tables.render("toy", runs, shape, tmp_path)[1].read_text()
    assert body(text)["ERM"][1] == ["--"] * 3


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
    for key in (("erm", "C", "accuracy"), ("erm", "A", "ece"), ("irm", "A", "accuracy")):
        row = compared.loc[key]
        assert (row["paper"], row["difference"], row["note"]) == ("", "", "the paper's number is not at hand")
    row = compared.loc["ours-learned", "A", "accuracy"]
    assert (row["paper"], row["difference"], row["note"]) == ("89.1", "", "no result here")
    text = paths[3].read_text()
    assert "| ERM | A | Accuracy (%) | 64.4 | 65.4 | -1.0 |" in text
    assert "Protocol paper: 1 seed, 20" in text
    assert "Missing runs: ours-learned (all)." in text


def test_the_papers_sample_sizes_add_up():
    bearings = paper.numbers("bearings-samples")
    assert bearings.groupby("target")["value"].sum().to_dict() == dict.fromkeys("ABCDEFGH", 4000)
    assert paper.numbers("mimic3-samples")["value"].sum() == 164 + 625 + 1179 + 495
    with pytest.raises(InputError, match="bearings, bearings-samples"):
        paper.numbers("hhar")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": [], "ours": []}, "needs rows"),
        ({"targets": []}, "toy: a panel needs targets and metrics"),
        ({"metrics": ["acc"]}, "acc unknown; known are accuracy"),
        ({"ours": ["dann"]}, "dann must be among rows"),
        ({"panels": [panel("a", "PQ"), panel("a", "PQ")]}, "a data set can have one panel"),
        ({"panels": [panel("a", "PQ"), panel("b", "PQ", ["ece", "nll"])]}, "equally many metrics"),
        ({"arrange": "above"}, "neither 'beneath' nor 'beside'"),
    ],
)
def test_a_wrong_layout_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        layout(**changes)


def test_few_windows_are_told(tmp_path, monkeypatch):
    runs = selected(tmp_path, GOLDEN)
    assert "Few windows" not in tables.caption(runs, layout())
    monkeypatch.setattr(tables, "FEW", 101)
    assert "Few windows to test on: P 100, Q 100." in tables.caption(runs, layout())
