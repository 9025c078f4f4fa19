"""Numbers by domain, from records by hand."""

import pandas as pd
import pytest

from layouts import layout, panel
from synthetic_records import make_record, metrics
from tsdg.results import show, tables
from tsdg.results.by_domain import by_domain
from tsdg.results.selection import select
from tsdg.runs.writing import write
from tsdg.study.layout import Protocol
from tsdg.study.run import Run, run_path

GROUPS = {"user=a": ("A", "B")}
SHAPE = layout(
    ["erm", "line"],
    panel("one", ["user=a", "C"], ["accuracy", "auc"], groups=GROUPS),
    protocol=Protocol("paper", seeds=2, draws=1, iterations=100),
)


def chosen(folder, accuracies):
    """Selected runs {(variant, target, seed): accuracies of its domains}; a domain alone has no more."""
    runs = []
    for (variant, target, seed), values in accuracies.items():
        run = Run("one", variant, target, seed, 0)
        record = make_record(run, ((100, 0.5, sum(values) / len(values)),))
        if target in GROUPS:
            scored = zip(GROUPS[target], values, strict=True)
            record["checkpoints"][-1]["target"]["domains"] = {name: metrics(value) for name, value in scored}
        write(folder / run_path(run), record)
        runs.append(run)
    return select(runs, folder)


def test_every_domain_counts_alike_and_one_without_a_value_leaves_no_average(tmp_path):
    selected = chosen(
        tmp_path,
        {
            ("erm", "user=a", 0): (0.5, 0.7), ("erm", "user=a", 1): (0.7, 0.7),
            ("erm", "C", 0): (0.9,), ("erm", "C", 1): (0.8,),
            ("line", "user=a", 0): (0.2, 0.4),
        },
    )  # fmt: skip
    table = by_domain(selected, SHAPE, tmp_path)
    own = table[(table["variant"] == "erm") & (table["metric"] == "accuracy")].set_index("domain")
    over = {name: name for name in ("Average", "Worst")}
    assert own["target"].to_dict() == {"A": "user=a", "B": "user=a", "C": "C"} | over
    assert own["mean"].to_dict() == pytest.approx(
        {"A": 60, "B": 70, "C": 85, "Average": (60 + 70 + 85) / 3, "Worst": 60}
    )
    assert own.loc["A", "std"] == pytest.approx(100 * 0.2 / 2**0.5)
    assert own.loc["Average", "std"] == pytest.approx(100 * (2.2 / 3 - 2.1 / 3) / 2**0.5)
    assert own["n"].tolist() == [2] * 5
    line = table[(table["variant"] == "line") & (table["metric"] == "accuracy")].set_index("domain")["mean"]
    assert line[["A", "B"]].tolist() == pytest.approx([20, 40])
    assert line[["C", "Average", "Worst"]].isna().all()
    assert table[table["metric"] == "auc"]["mean"].isna().all()


def test_the_csv_stands_beside_a_table_with_groups_alone(tmp_path):
    selected = chosen(tmp_path, {("erm", "user=a", 0): (0.5, 0.7), ("erm", "C", 0): (0.9,)})
    made = tables.render("held", selected, SHAPE, tmp_path / "out", tmp_path)
    assert made[-1].name == "held_by_domain.csv"
    assert list(pd.read_csv(made[-1])["domain"].unique()) == ["A", "B", "C", "Average", "Worst"]
    shown = show.lines(made[-1])[1].splitlines()
    assert [line.split() for line in shown[:2]] == [
        ["user=a", "C", "Average", "Worst"],
        ["A", "B", "C", "Average", "Worst"],
    ]
    text = made[1].read_text()
    assert "Held out together: user=a is A, B." in text
    plain = layout(["erm"], panel("one", ["C"]))
    assert [path.name for path in tables.render("held", selected, plain, tmp_path)] == [
        "held.csv",
        "held.tex",
    ]
