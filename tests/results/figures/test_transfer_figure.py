"""The matrix of who learns from whom, of records by hand."""

import pandas as pd
import pytest

from layouts import layout, panel
from synthetic_records import make_record, metrics
from tsdg.errors import InputError
from tsdg.results.figures.transfer import draw, transfers
from tsdg.results.selection import select
from tsdg.runs.writing import write
from tsdg.study.layout import Protocol
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study

DOMAINS = {"A": {"site": "x y"}, "B": {"site": "$z$"}, "C": {"site": "$z$"}}
GROUPS = {f"not {name}": tuple(domain for domain in DOMAINS if domain != name) for name in DOMAINS}
SHAPE = layout(
    ["line"], panel("one", GROUPS, groups=GROUPS), protocol=Protocol("p", seeds=2, draws=1, iterations=100)
)


def chosen(folder, missing=()):
    runs = [Run("one", "line", target, seed, 0) for target in GROUPS for seed in (0, 1)]
    for run in runs:
        source = run.target.removeprefix("not ")
        if source in missing:
            continue
        scores = {domain: metrics(0.5 + 0.1 * run.seed) for domain in GROUPS[run.target]}
        record = make_record(run, ((100, 0.9, 0.5 + 0.1 * run.seed),), [source])
        record["checkpoints"][-1]["target"]["domains"] = scores
        write(folder / run_path(run), record)
    return select(runs, folder)


def test_a_cell_is_the_mean_over_seeds_and_the_diagonal_validation(tmp_path):
    table = transfers(chosen(tmp_path), SHAPE, "line", tmp_path).set_index(["source", "domain"])
    assert len(table) == 9
    assert table.loc[("A", "B"), ["mean", "std", "n"]].tolist() == pytest.approx([0.55, 0.1 / 2**0.5, 2])
    assert table.loc[("B", "B"), "mean"] == pytest.approx(0.9)


@pytest.mark.parametrize("missing", ["", "B", "ABC"])
def test_it_is_drawn_of_what_there_is_and_its_numbers_stand_beside_it(missing, tmp_path):
    selected = chosen(tmp_path, missing)
    options = {"variant": "line", "metadata": {"one": DOMAINS}}
    made = draw(selected, SHAPE, tmp_path, tmp_path / "out", "f", **options)
    assert [path.name for path in made] == ["f.pdf", "f.png", "f.csv"]
    assert set(pd.read_csv(made[-1])["source"]) == set(DOMAINS) - set(missing)


def test_it_is_of_a_table_of_single_sources(params):
    params["figures"] = {"who": {"kind": "transfer", "tables": ["tiny"], "variant": "erm", "caption": "."}}
    with pytest.raises(InputError, match=r"figures.who.tables: tiny has other targets.*single-source"):
        Study(params)
    del params["tables"]["tiny"]["targets"]
    params["tables"]["tiny"] |= {"holdout": "single-source", "rows": ["erm"], "ours": []}
    figure = Study(params).figure("who")
    assert figure.options["metadata"]["tiny"]["A"] == {"site": "north", "load": 0}
