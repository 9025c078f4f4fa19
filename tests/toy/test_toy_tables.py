"""The toy tables and figures: functions of records alone, with every gap said."""

import copy
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib.image import imread

from tsdg.commands.main import main
from tsdg.errors import InputError
from tsdg.results.figures import WIDTHS
from tsdg.runs.writing import write
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study
from tsdg.toy import figures, tables
from tsdg.toy.train import train

DOMAINS = "{A: {}, B: {}, C: {}}"
DATASET = f"{{kind: bearings, raw: a, source: official, backbone: har, split: random, domains: {DOMAINS}}}"


@pytest.fixture(scope="module")
def base():
    """A record as training leaves it."""
    config = {
        "method": "erm", "forward": "joint", "options": {}, "clusters": None, "protocol": "small",
        "iterations": 1, "risk_threshold": 0.2, "batch_size": 2,
        "learning_rate": 0.001, "weight_decay": 0.0, "decay_at": 0.8, "decay": 0.1,
    }  # fmt: skip
    return train(Run("toy", "erm", "D", 0, "fixed"), config, {})


@pytest.fixture
def runs(toy_study, base, tmp_path):
    """Records with numbers of our choice: one not stopped, one diverged."""
    folder = tmp_path / "runs"
    for i, run in enumerate(toy_study.table_runs("toy")):
        one = copy.deepcopy(base)
        one["run"] |= {"variant": run.variant, "seed": run.seed}
        one["stopped_at"] = None if i == 0 else 1
        for source, risk, divergence in (("A", 0.1, 2.0), ("B", 0.3, 0.8), ("C", 0.05, 1.7)):
            one["checkpoints"][0]["validation"][source]["accuracy"] = 1 - risk - i / 100
            one["divergence"][source]["value"] = divergence + i / 10
        one["checkpoints"][0]["target"]["accuracy"] = 1 - (0.2, 0.4, 0.1, 0.3)[i]
        if i == 3:
            one |= {"status": "diverged", "diverged_at": 1, "checkpoints": []}
        write(folder / run_path(run), one)
    return folder


def test_a_record_of_something_else_is_named(toy_study, base, runs):
    path = runs / run_path(toy_study.table_runs("toy")[0])
    write(path, {key: value for key, value in base.items() if key != "divergence"})
    with pytest.raises(InputError, match=r"seed0/fixed.json: not a record of the toy study. Delete it"):
        tables.runs(toy_study, runs)


def test_numbers(toy_study, runs):
    table = tables.summarise(tables.runs(toy_study, runs)).set_index(["variant", "source", "quantity"])
    risk = table.loc["erm", "B", "source_risk"]
    assert (risk["mean"], risk["n"], risk["not_stopped"]) == (pytest.approx(0.305), 2, 1)
    assert risk["std"] == pytest.approx(0.01 / 2**0.5)
    assert table.loc["erm", "A", "sum"]["mean"] == pytest.approx(0.105 + 2.05 / 2)
    assert table.loc["erm", "mean", "divergence"]["mean"] == pytest.approx(1.55)
    assert table.loc["erm", "mean", "target_risk"]["mean"] == pytest.approx(0.3)
    ours = table.loc["ours", "mean", "target_risk"]
    assert (ours["mean"], ours["n"], ours["seeds"], ours["diverged"]) == (pytest.approx(0.1), 1, 2, 1)


def test_rank_correlation(toy_study, runs):
    found = tables.rank_correlation(tables.runs(toy_study, runs))
    assert found["n"] == 3
    assert found["runs"] == pytest.approx(-0.5)  # divergences rise, risks are 0.2, 0.4, 0.1
    assert np.isnan(found["methods"])  # of two methods there is none
    assert found["within"] == pytest.approx(1)
    assert tables._correlations(tables.runs(toy_study, runs)).endswith("a method. ")


def test_numbers_for_claims(toy_study, runs):
    found = tables.measured(tables.runs(toy_study, runs)).set_index(["variant", "target", "metric", "seed"])
    assert found.loc["erm", "B", "divergence", 0]["value"] == pytest.approx(0.8)
    assert found.loc["erm", "Average", "divergence", 0]["value"] == pytest.approx(1.5)
    for target in ("D", "Average"):
        assert found.loc["ours", target, "target_risk", 0]["value"] == pytest.approx(0.1)
        assert tables.printed()["toy", "ours", target, "target_risk"] == 0.111
    assert found.index.is_unique


def test_gaps_are_said(toy_study, runs):
    (runs / run_path(toy_study.table_runs("toy")[1])).unlink()
    text = tables.notes(toy_study, tables.runs(toy_study, runs))
    assert "never met the stopping rule, and count as they ended: ERM 1." in text
    assert "Diverged runs, which do not count: Ours, {A, B} aligned 1." in text
    assert "Missing runs, which do not count: ERM 1." in text


def test_files(toy_study, runs, tmp_path):
    for name in ("toy_attributes", "target_risk", "target_risk_full"):
        tex, csv = getattr(tables, name)(toy_study, runs, tmp_path)
        assert (tex.name, csv.name) == (f"{name}.tex", f"{name}.csv")
        assert "&" in tex.read_text()
        assert len(pd.read_csv(csv)) > 3
    text = (tmp_path / "target_risk.tex").read_text()
    assert r"ERM$^\dagger$ & 0.155 $\pm$ 0.007 & 1.550 $\pm$ 0.071 & 0.300 $\pm$ 0.141 \\" in text
    assert r"Ours, \{A, B\} aligned & 0.170 & 1.700 & 0.100 \\" in text
    text = (tmp_path / "target_risk_full.tex").read_text()
    assert (
        r"\multicolumn{1}{c}{} & \multicolumn{4}{c}{Source risk} & \multicolumn{4}{c}{H-divergence} & "
        in text
    )
    assert r"\cmidrule(lr){2-5}\cmidrule(lr){6-9}\cmidrule(lr){10-10}" in text
    assert r"Method & A & B & C & Avg. & A & B & C & Avg. & D \\" in text
    assert r"aligned & 0.120 & 0.320 & 0.070 & 0.170 & 2.200 & 1.000 & 1.900 & 1.700 & 0.100 \\" in text
    printed = pd.read_csv(tmp_path / "target_risk_full.csv").set_index(["variant", "source", "quantity"])[
        "paper"
    ]
    assert printed["ours", "B", "divergence"] == 0.608
    assert printed["ours", "mean", "target_risk"] == 0.111
    assert printed["erm"].isna().all()
    text = (tmp_path / "toy_attributes.tex").read_text()
    assert (
        "signal & Noise s.d. 2 & Noise s.d. 4 \\\\\n\\midrule\n1 & A & B \\\\\n1 and 2 & C & D \\\\" in text
    )
    attributes = pd.read_csv(tmp_path / "toy_attributes.csv").set_index("domain")
    assert attributes["noise_std"].to_dict() == {"A": 2, "B": 4, "C": 2, "D": 4}
    assert attributes["samples"].to_dict() == {"A": 400, "B": 400, "C": 400, "D": 1200}


@pytest.mark.slow
def test_figures_are_reproducible(toy_study, runs, tmp_path):
    for name, width in product(("toy_dataset", "divergence_vs_risk"), WIDTHS.values()):
        draw = partial(getattr(figures, name), toy_study, runs, width=width)
        first, second = (draw(tmp_path / part) for part in "12")
        assert [path.suffix for path in first] == [".pdf", ".png"]
        assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
        assert imread(first[1]).shape[1] == pytest.approx(300 * width, abs=1)


def test_every_variant_is_drawn(toy_params, base, tmp_path, monkeypatch):
    variants = {f"v{i}": {"label": f"{i} $", "method": "erm"} for i in range(11)}
    study = Study(toy_params | {"toy": toy_params["toy"] | {"variants": variants, "ours": []}})
    for run in study.table_runs("toy"):
        one = base | {"run": base["run"] | {"variant": run.variant, "seed": run.seed}, "stopped_at": 1}
        write(tmp_path / run_path(run), one)
    drawn = []
    monkeypatch.setattr(figures, "save", lambda figure, *_, **__: drawn.append(figure))
    figures.divergence_vs_risk(study, tmp_path, tmp_path)
    (legend,) = drawn[0].legends
    assert [text.get_text() for text in legend.get_texts()] == [rf"{i} \$" for i in range(11)]
    assert [ax.get_title() for ax in drawn[0].axes] == [  # all runs are alike
        f"Too few for a rank correlation ({len(study.table_runs('toy'))} runs)",
        "Means ± s.d.: too few for a rank correlation (11 methods)",
    ]
    looks = {(handle.get_marker(), handle.get_color()) for handle in legend.legend_handles}
    assert len(looks) == 11


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("train", "--variant", "ous"), "'ous' is not a variant of the toy study, did you mean 'ours'?"),
        (("train", "--variant", "erm", "--set", "toy.seed=2"), "unknown key 'seed', did you mean 'seeds'?"),
        (
            ("train", "--variant", "ours", "--set", "toy.variants.ours.clusters=[[A, B]]"),
            "must hold each of its domains once",
        ),
        (
            ("train", "--variant", "ours", "--set", "toy.variants.ours.augment=true"),
            "the toy study has no augmentation",
        ),
        (("table", "target_risk", "--set", "toy.variants.ours.hparams.lambd=1"), "did you mean 'lambda'?"),
        (("table", "target_risk", "--set", "toy.ours=[our]"), "toy.ours: 'our' is not a variant of the toy"),
        (
            ("table", "target_risk", "--set", f"datasets.toy={DATASET}"),
            "datasets.toy: the toy study",
        ),
        (("train", "--variant", "erm", "--params", "without.yaml"), "has no key `toy`"),
    ],
)
def test_bad_input_is_one_line(project, toy_params, capsys, arguments, words):
    (project / "params.yaml").rename("without.yaml")
    (project / "params.yaml").write_text(yaml.safe_dump(toy_params))
    assert main(["toy", *arguments]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("tsdg toy: error: ")
    assert words in line
