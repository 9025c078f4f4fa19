"""What policies pick, by hand, and correlations that are averaged within targets."""

import math

import pytest

from synthetic_records import make_record
from tsdg.results import policies
from tsdg.results.policies import agreement, compare, render
from tsdg.runs.fingerprint import training_fingerprint
from tsdg.runs.record import read
from tsdg.runs.writing import write
from tsdg.study.run import run_path
from tsdg.study.study import Study


def test_groups_are_correlated_by_themselves():
    up, down = [(0.1, 0.5), (0.2, 0.6), (0.3, 0.9)], [(0.9, 0.1), (0.7, 0.2)]
    saturated, alone = [(1.0, 0.5), (1.0, 0.6)], [(0.5, 0.5)]
    found = agreement([up, down, saturated, alone])
    assert found == (pytest.approx(0), pytest.approx(0), 3, 1)
    assert agreement([up, up])[:2] == (pytest.approx(1), pytest.approx(1))
    assert math.isnan(agreement([saturated]).spearman)


def test_every_policy_picks_its_own_and_what_it_looks_at_is_judged(params, tmp_path, monkeypatch):
    params["tables"]["tiny"] |= {"rows": ["vrex"], "ours": [], "targets": ["A", "D"]}
    study = Study(params, ["protocol=large", "seeds=1"])
    config = study.config("tiny", "vrex")
    settings = {"config": config, "code": {"version": "0", "fingerprint": training_fingerprint(config)}}
    # On B, on the other sources, on the target: the mean takes draw 0, the worst source 1, the oracle 2.
    values = ((0.9, 0.5, 0.2), (0.6, 0.6, 0.4), (0.5, 0.55, 0.9))
    for run in study.shown_runs("tiny"):
        one, others, target = values[run.draw]
        record = make_record(run, [(20, 0.1, 0.8), (40, 0.5, target)], sorted(set("ABCD") - {run.target}))
        for domain, scores in record["checkpoints"][1]["validation"].items():
            scores["accuracy"] = one if domain == "B" else others
        write(tmp_path / "runs" / run_path(run), record | settings | {"hparams": study.hparams(run)})
    reads = []
    monkeypatch.setattr(policies, "read", lambda path, run: reads.append(run) or read(path, run))
    table, remarks = compare(study, "tiny", tmp_path / "runs", tmp_path / "data")
    assert sorted(reads) == sorted(study.shown_runs("tiny"))  # once for all policies
    found = table.set_index("policy")
    assert found["picked"].fillna(0).to_dict() == pytest.approx(
        {"source-validation": 20, "worst-source": 40, "leave-one-source-out": 0, "oracle": 90}
    )
    spearman = found["spearman"]
    assert spearman["source-validation"] == pytest.approx(-1)  # 0.63, 0.6, 0.53 against 0.2, 0.4, 0.9
    assert spearman["worst-source"] == pytest.approx(0)  # 0.5, 0.6, 0.5
    assert spearman[["oracle", "leave-one-source-out"]].isna().all()
    assert found.loc["source-validation", "groups"] == 2
    # Validation rises in all six runs; the target falls from 0.8 in four of them.
    assert found.loc["source-validation", "spearman_checkpoints"] == pytest.approx((2 - 4) / 6)
    assert "18 trainings that leave out a source have no current record" in " ".join(remarks)
    paths = render("tiny_policies", table, study.layout("tiny"), remarks, tmp_path)
    text = paths[1].read_text()
    assert "oracle*" in text
    assert r"V-REx & 20.0 & 40.0 & -- & 90.0 & $-1.00$" in text
    assert r"\textbf" not in text
