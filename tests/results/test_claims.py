"""Claims: what is compared, by which numbers, and which status follows."""

import math
from pathlib import Path

import pandas as pd
import pytest

import layouts
from synthetic_records import make_record
from tsdg.errors import InputError
from tsdg.results import claims, measures
from tsdg.results.selection import select
from tsdg.runs.writing import write
from tsdg.study.claims import Claim
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study

PUBLISHED = Path(__file__).parents[2] / "params.yaml"


def values(**of_rows):
    """By row, values of target P by seed."""
    rows = [("d", row, "P", seed, "ece", v) for row, vs in of_rows.items() for seed, v in enumerate(vs)]
    return pd.DataFrame(rows, columns=list(measures.COLUMNS))


def status(found, margin=0.0):
    claim = Claim("c", "c", "t", "ece", (("ours", "erm"),), at=("P",), margin=margin)
    return claims.evaluate(claim, {"d": ["P"]}, found, {}).iloc[0]


def test_the_interval_over_seeds_decides():
    found = status(values(erm=[5, 6, 7], ours=[4, 4, 4]))
    # Less ECE is better; differences 1, 2, 3; t of 2 degrees of freedom is 4.3027.
    assert found["difference"] == 2
    assert found["low"] == pytest.approx(2 - 4.3027 / math.sqrt(3), abs=1e-3)
    assert found["status"] == "not shown"
    assert found["needed"] == 5  # a difference of two standard deviations
    assert status(values(erm=[5, 6, 7], ours=[4, 5, 6.1]))["status"] == "holds"
    assert status(values(erm=[5, 6, 7], ours=[4, 5, 6.1]), margin=2)["status"] == "contradicted"
    assert status(values(erm=[5, 6, 7], ours=[5.5, 6.5, 7.6]), margin=-1)["status"] == "holds"
    assert status(values(erm=[5], ours=[1]))["status"] == "not shown"
    assert status(values(erm=[5, 6]))["status"] == "not run"


def test_seeds_are_paired():
    found = values(erm=[5, 6, 7], ours=[4, 5, 6.1])
    assert status(found[~((found["variant"] == "ours") & (found["seed"] == 0))])["n"] == 2


@pytest.mark.parametrize(
    ("statuses", "at_least", "claim"),
    [
        (["holds", "not run", "holds"], 2, "holds"),
        (["holds", "not run", "holds"], None, "not run"),
        (["contradicted", "not run", "holds"], None, "contradicted"),
        (["contradicted", "not shown", "holds"], 2, "not shown"),
        (["contradicted", "contradicted", "holds"], 2, "contradicted"),
    ],
)
def test_a_claim_of_several(statuses, at_least, claim):
    assert claims.claim_status(statuses, at_least) == claim


def test_what_figures_show_as_numbers():
    losses = {"iteration": [1, 2, 3, 4], "consistency": [2.0, 6.0, 5.0, 1.0], "loss": [1.0, 1.0, 1.0, 1.0]}
    assert measures.half_reached(losses, "consistency") == 4
    assert math.isnan(measures.half_reached(losses, "loss"))
    domains = {name: {"site": site} for name, site in zip("ABCD", "nnns", strict=True)}
    neighbours = {"A": "B", "B": "D", "C": "A", "D": "C"}
    assert measures.same_as_neighbour(neighbours, domains, "site") == 50
    assert measures.same_by_chance(neighbours, domains, "site") == pytest.approx(50)


def test_measures_of_records_and_averages(tmp_path):
    runs = [Run("d", row, target, 0, 0) for row in ("erm", "ours") for target in "PQ"]
    for k, run in enumerate(runs):
        record = make_record(run, ((100, 0.5, 0.6 + k / 10),), sources="STU")
        record["timing"]["seconds_per_iteration"] = 1 + k
        record["neighbours"] = [{"iteration": 1, "of": {"S": "T", "T": "S", "U": "S"}}]
        write(tmp_path / run_path(run), record)
    shape = layouts.layout(["erm", "ours"], layouts.panel("d", "PQ"))
    domains = {"d": {name: {"site": site} for name, site in zip("STU", "nns", strict=True)}}
    names = ["accuracy", "time/erm", "neighbours/site", "chance/site"]
    found = measures.measured(select(runs, tmp_path), shape, names, domains, tmp_path)
    found = found.set_index(["variant", "target", "metric"])["value"]
    assert found["ours", "Q", "accuracy"] == pytest.approx(90)
    assert found["ours", "Average", "accuracy"] == pytest.approx(85)
    assert (found["ours", "P", "time/erm"], found["ours", "Q", "time/erm"]) == (300, 200)
    assert found["ours", "P", "neighbours/site"] == pytest.approx(200 / 3)
    assert found["ours", "P", "chance/site"] == pytest.approx(100 / 3)


def test_the_papers_own_numbers_have_what_its_claims_say():
    study = Study.load(PUBLISHED)
    for claim in study.claims:
        if claim.table == "toy":
            continue
        layout = study.layout(claim.table)
        targets = {panel.dataset: panel.targets for panel in layout.panels}
        printed = claims.printed_by_paper(layout)
        found = claims.evaluate(claim, targets, values(), printed)
        if claim.name != "ablation-hhar-together" and found["paper"].notna().all():
            assert (found["paper_difference"] > 1e-9).sum() >= (claim.at_least or len(found)), claim.name


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("user.better=[ems]", "claims.user: rows: 'ems' is not a row of table hhar_user1"),
        ("user.metric=acuracy", "did you mean 'accuracy'?"),
        ("user.at=[Z]", "claims.user: at: 'Z' is not a target"),
        ("user.at_least=2", "at_least: 2 of 1 comparisons"),
        ("neighbours-user.metric=neighbours/usr", "did you mean 'user'?"),
        ("toy-b.table=toys", "claims.toy-b.table: 'toys' is not a table"),
        ("user.than=150", "than: 150 is no value of accuracy, which is from 0 to 100 %"),
        ("user.than=-0.5", "than: -0.5 is no value of accuracy"),
        (
            "user={says: x, table: hhar, metric: accuracy, better: [erm, mmd], than: [coral, erm]}",
            "erm is comp",
        ),
        ("own={says: x, table: hhar, metric: accuracy, pairs: [[erm, erm]]}", "compared with itself"),
        (
            "toy-b={says: x, table: toy, metric: divergence, better: [ours], than: [ours]}",
            "compared with itself",
        ),
        ("user.pairs=[[erm, erm]]", "a claim has `pairs`, or `better` and `than`"),
    ],
)
def test_what_a_claim_names_must_be_there(change, words):
    with pytest.raises(InputError) as caught:
        Study.load(PUBLISHED, [f"claims.{change}"])
    assert words in str(caught.value)
