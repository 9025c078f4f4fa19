"""The workflow, run by Snakemake on a tiny study."""

import base64
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from tiny import DOCUMENT, Workflow, tsdg

TABLE = {"select": 1, "table": 1, "accuracy": 1, "summary": 1} | DOCUMENT
RESULTS = TABLE | {"figure": 1, "ranking": 1}  # of which the small table is part


def test_a_run_makes_everything_and_a_second_nothing(finished: Workflow) -> None:
    results = finished.folder / "results"
    made = (
        "tables/small.tex",
        "tables/small.csv",
        "tables/ranking.tex",
        "tables/all.tex",
        "figures/small.png",
    )
    for name in (*made, "figures/gains.pdf", "figures/critical_difference.png"):
        assert (results / name).stat().st_size > 500
    # One draw of ERM, which has nothing to search, and two of V-REx.
    assert len(finished.records()) == 3 * (1 + 2)
    # Neither a new time of the data's card, nor another packing, nor another data set's option is a reason.
    (results / "data/bearings/card.json").touch()
    other = "datasets={other: {prepare: {window: 2048}}}"
    assert finished.plan("--config", "runs_per_job=1", other) == {}


def test_the_report_has_tables_as_tables_and_counts_from_1(finished: Workflow, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert "metadata" not in finished.run("--report", str(path))
    report = path.read_text()
    results = _variable(report, "results")
    assert sorted(_variable(report, "categories")) == ["1 Results", "2 Figures", "3 What went in"]
    table, figure = results["results/tables/small.html"], results["results/figures/small.png"]
    assert table["labels"] == {"no": "1", "table": "small"}
    figures = [entry["labels"]["no"] for entry in results.values() if "figure" in entry["labels"]]
    assert sorted(figures) == ["1", "2", "3"]
    html = base64.b64decode(table["data_uri"].partition(";base64,")[2]).decode()
    assert re.search(r"<td[^>]*>V-REx</td><td[^>]*>(<b>)?\d+\.\d", html)
    image = (finished.folder / "results/figures/small.png").read_bytes()
    assert base64.b64decode(figure["data_uri"].partition(";base64,")[2]) == image
    first = _variable(report, "workflow_desc")
    assert html[html.index("<table") : html.index("</table>")] in first
    assert "results['results/figures/small.png']" in first
    # By other settings than those it was made with, one message says by which.
    asked = ["--report", str(path), "--config", "set=[draws=4]"]
    told = finished.run(*asked)
    assert "metadata" not in told
    made = re.findall(r"small\.csv: 6 of its 15 records are not there \(--configfile (\S+)\)\n", told)
    assert len(made) == 1
    assert "not there" not in finished.run("--report", str(path), "--configfile", made[0])


def _variable(report: str, name: str) -> Any:
    """A variable of a report's scripts."""
    script = report.split(f'<script id="{name.replace("_", "-")}">', 1)[1]
    return json.JSONDecoder().raw_decode(script.split(f"var {name} = ", 1)[1])[0]


def test_an_edit_runs_again_what_it_touches(finished: Workflow) -> None:
    caption = "tables={small: {caption: Another caption.}}"
    assert finished.plan("--config", caption) == {"table": 1} | DOCUMENT
    penalty = "variants={vrex: {hparams: {penalty: 10}}}"
    penalty = penalty.replace("penalty", _searched("vrex"))
    listed = {"hyperparameter": 1}  # the table of all draws
    assert finished.plan("--config", penalty) == {"train": 1} | RESULTS | listed
    # Two more draws are one more pack of two draws and three targets, or six trainings alone.
    assert finished.plan("--config", "set=[draws=4]") == {"train": 1} | RESULTS | listed
    assert finished.plan("--config", "set=[draws=4]", "runs_per_job=1") == {"train": 6} | RESULTS | listed
    # Other raw files are prepared and trained on in the same call.
    simulated = "datasets={bearings: {simulate: {seed: 1}}}"
    table = {"simulate_bearings": 1, "prepare": 1, "train": 2, "select": 1, "table": 1}
    assert finished.plan("--config", simulated, "--", "results/tables/small.tex") == table
    # One more seed is a pack more of each variant.
    assert finished.plan("--config", "set=[seeds=2]") == {"train": 2} | RESULTS


def test_a_derived_data_set_in_a_panel_trains_on_what_is_prepared(finished: Workflow) -> None:
    derived = "datasets={derived: {of: bearings, split: blocked}}"
    panels = ", ".join(
        f"{{dataset: {name}, metrics: [ece], average_only: true}}" for name in ("bearings", "derived")
    )
    table = f"tables={{both: {{rows: [erm], caption: Two., panels: [{panels}]}}}}"
    assert finished.plan("--config", derived, table) == {"train": 1} | TABLE


def test_a_typo_is_one_message(finished: Workflow) -> None:
    text = finished.run("--config", "protocol=tny", fails=True)
    assert "'tny' is not one, did you mean 'tiny'" in text
    assert "Traceback" not in text
    assert "File " not in text
    assert "override '5': write key=value" in finished.run("--config", "set=5", fails=True)


def test_alone_as_in_a_pack(finished: Workflow, tmp_path: Path) -> None:
    alone = finished.copy(tmp_path)
    path = "results/runs/bearings/vrex/B/seed0/hp1.json"
    told = alone.run("--quiet", "rules", "--config", "runs_per_job=1", "--", path)
    assert re.search(r"\n[\d:]{8} 1 of 1 done: train/bearings/vrex/B/seed0/hp1 \([\d.]+ \w+\)\n", told)
    assert not re.search(r"\r|all\.pdf|tsdg train|Select jobs|jobid", told)
    assert "tsdg train" in max((tmp_path / ".snakemake/log").iterdir()).read_text()
    assert [str(record) for record in alone.records()] == [path]
    packed, single = (json.loads((w.folder / path).read_text()) for w in (finished, alone))
    for record in (packed, single):
        del record["timing"], record["machine"], record["checksum"]
    assert single == packed


def test_raw_files_count_by_what_they_hold(finished: Workflow, tmp_path: Path) -> None:
    shutil.copytree(finished.folder, tmp_path, dirs_exist_ok=True)
    copy = Workflow(tmp_path)
    os.utime(tmp_path / "results/data/bearings/card.json", (1, 1))  # other tests touch it
    raw = sorted((tmp_path / "data/simulated/bearings").iterdir())
    for path in raw:  # fetched, copied or restored: new times
        shutil.copyfile(path, path.with_name("new"))
        path.with_name("new").replace(path)
    assert copy.plan() == {}
    metadata = tmp_path / ".snakemake/metadata"
    metadata.rename(tmp_path / "metadata")
    assert copy.plan() == {}
    # Another file of the same signals: it is prepared, to the same windows, and nothing is trained.
    file = raw[0].read_bytes()
    raw[0].write_bytes(file[:100] + b"." + file[101:])  # in the text of the header
    assert copy.plan("--", "results/data/bearings/card.json") == {"prepare": 1}
    (tmp_path / "metadata").rename(metadata)
    records = {path: (tmp_path / path).read_bytes() for path in copy.records()}
    output = copy.run()
    assert "tsdg prepare" in output
    logs = "".join(path.read_text() for path in tmp_path.glob("logs/train/bearings/*/*/*.log"))
    assert sorted(re.findall(r"(\d) of \d runs are recorded already", logs)) == ["3", "6"]
    assert {path: (tmp_path / path).read_bytes() for path in records} == records
    assert copy.plan() == {}
    # One that cannot be prepared: once it can, the table, which is there, is not taken for made of it.
    whole = raw[0].read_bytes()
    raw[0].write_bytes(b"broken")
    told = copy.run("--quiet", "rules", fails=True)
    assert "Error in rule prepare:" in told
    assert "damaged or not a MATLAB file" in told  # of the job's log
    assert "the same command again" in told
    raw[0].write_bytes(whole)
    assert copy.plan("--", "results/tables/small.tex")["prepare"] == 1


def _searched(method: str) -> str:
    from tsdg import methods

    return next(iter(methods.get(method).search))


def test_a_table_of_estimators(finished: Workflow, tmp_path: Path) -> None:
    copy = finished.copy(tmp_path)
    line = "{label: Line, method: estimator, features: spectrum, estimator: sklearn.svm.LinearSVC}"
    table = "{dataset: bearings, rows: [erm, line], baselines: [line], metrics: [accuracy], caption: Lines.}"
    asked = ["--config", f"variants={{line: {line}}}", f"tables={{lines: {table}}}", "device=cuda"]
    only = "protocols={tiny: {iterations: 2}}"
    path = "results/tables/lines.tex"
    records = [f"results/runs/bearings/line/{target}/seed0/hp0.json" for target in "ABC"]
    copy.run(*asked, only, "--", *records)  # device: cuda, yet no GPU is needed
    assert list(map(str, copy.records())) == records
    assert len(list((tmp_path / "results/data/bearings/features").iterdir())) == 1
    copy.run(*asked[:-1], "--", path)
    lines = (tmp_path / path).read_text().splitlines()
    first, rule, second = lines[lines.index(r"\midrule") + 1 :][:3]
    assert (first.split(" ")[0], rule, second.split(" ")[0]) == ("Line", r"\midrule", "ERM")
    assert copy.plan(*asked[:-1], "--", path) == {}


def test_a_field_whose_values_a_shell_would_read_is_held_out(finished: Workflow, tmp_path: Path) -> None:
    copy = finished.copy(tmp_path)
    study = yaml.safe_load((tmp_path / "params.yaml").read_text())
    line = {"label": "Line", "method": "estimator", "features": "statistics"}
    study["variants"]["line"] = line | {"estimator": "sklearn.naive_bayes.GaussianNB"}
    values = {"A": "a b=\"c\", 'd'", "B": "{e} $f$ #%&ü", "C": "{e} $f$ #%&ü"}
    study["datasets"]["bearings"]["domains"] = {name: {"site": value} for name, value in values.items()}
    table = {"dataset": "bearings", "holdout": "site", "rows": ["line"], "metrics": ["accuracy"]}
    study["tables"] = {"sites": table | {"caption": "Sites."}}
    study = {key: value for key, value in study.items() if key not in ("figures", "ranking")}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(study, allow_unicode=True))
    path = "results/tables/sites.tex"
    figure = "results/figures/sites.png"
    told = copy.run("--quiet", "rules", "--config", "runs_per_job=1", "--", path, figure)
    for value in values.values():
        assert f" train/bearings/line/site={value}/seed0/" in told
    assert f"\nmade {figure}, {path}\n" in told
    records = [json.loads((tmp_path / record).read_text()) for record in copy.records()]
    assert {record["run"]["target"]: record["sources"] for record in records} == {
        f"site={values['A']}": ["B", "C"], f"site={values['B']}": ["A"],
    }  # fmt: skip
    by_domain = pd.read_csv(tmp_path / "results/tables/sites_by_domain.csv")
    assert list(by_domain["domain"]) == ["A", "B", "C", "Average", "Worst"]
    assert copy.plan("--config", "runs_per_job=6", "--", path) == {}
    assert tsdg(tmp_path, "status").splitlines()[-1].split()[:4] == ["in", "all", "2", "2"]
    assert "every record" in tsdg(tmp_path, "prune")
