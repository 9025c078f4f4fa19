"""The command line: what a careless user sees, and the way from runs to a table."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from tiny_study import without, write_tiny
from tsdg.commands.main import main, parser
from tsdg.data.bearings.recordings import RECORDINGS
from tsdg.errors import InputError, check_known
from tsdg.runs.record import check_run, read
from tsdg.study.run import parse_run_path

COMMANDS = (
    "fetch", "simulate", "prepare", "train", "select", "table", "figure", "show", "datasets", "networks",
    "hparams", "check", "export", "predict", "ranking", "document", "pdf",
)  # fmt: skip


@pytest.fixture
def params(figure_params):
    return figure_params


@pytest.fixture
def tsdg(project, tiny_folder, capsys):
    """Run a command; give its exit code, output lines and error lines."""
    (project / "data").symlink_to(tiny_folder)

    def call(*arguments):
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as exit:
            code = exit.code
        out, err = capsys.readouterr()
        return code, out.splitlines(), [line for line in err.splitlines() if line.strip()]

    return call


TRAIN = ("train", "--data", "data", "--variant", "erm", "--target", "A")


def replaced(arguments, option, *values):
    position = arguments.index(option)
    return (*arguments[: position + 1], *values, *arguments[position + 2 :])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (replaced(TRAIN, "--variant", "emr"), "'emr' is not a variant, did you mean 'erm'?"),
        (replaced(TRAIN, "--target", "AA"), "target 'AA' is not a domain of tiny, did you mean 'A'?"),
        (replaced(TRAIN, "--target", "A", "Q"), "target 'Q' is not a domain of tiny"),
        (replaced(TRAIN, "--data", "nowhere"), "nowhere: not a prepared data set"),
        ((*TRAIN, "--dataset", "tinny"), "'tinny' is not a data set, did you mean 'tiny'?"),
        ((*TRAIN, "--params", "no.yaml"), "no.yaml: not found"),
        ((*TRAIN, "--set", "iterations"), "'iterations': write key=value"),
        ((*TRAIN, "--set", "iteration=3"), "unknown key 'iteration', did you mean 'iterations'?"),
        ((*TRAIN, "--set", "iterations=-1"), "-1 is wrong: a number of iterations from 1"),
        ((*TRAIN, "--set", "validation_fraction=1"), "1 is wrong: a number between 0 and 1"),
        (("select", "tny"), "'tny' is not a table, did you mean 'tiny'?"),
        (("table", "tniy"), "did you mean 'tiny'?"),
        (("figure", "tny"), "did you mean 'tiny'?"),
        (("figure", "gain"), "'gain' is not a table or figure, did you mean 'gains'?"),
        (
            ("figure", "gains", "--selected", "s/tny.csv"),
            "'tny' is not a table of the figure, did you mean 'tiny'?",
        ),
        (
            ("ranking", "--set", "tables.tiny.selection=oracle"),
            "ranking.tables: table tiny is selected by",
        ),
        (("select", "tiny", "--set", "tables.tiny.selection=worst"), "did you mean 'worst-source'?"),
        (("ranking",), "results/selected/tiny.csv: not a file of selected runs"),
        (("ranking", "--selected", "tny.csv"), "'tny' is not a table of the ranking, did you mean 'tiny'?"),
        (("ranking", "--selected", "tiny.csv", "s/tiny.csv"), "the file of table tiny is given twice"),
        (("document", "tiny"), "results/tables/tiny.tex: not a table as LaTeX"),
        (("document",), "all.tex: there is no table to put into it"),
        (("table", "tiny"), "tsdg select"),
        (("hparams", "--set", "protocol=lrge"), "did you mean 'large'?"),
        (
            ("export", "--data", "tiny", "--variant", "erm"),
            "'tiny' is not prepared; first `snakemake --cores 1 results/data/tiny/card.json`",
        ),
    ],
)
def test_bad_input_is_one_line_and_code_2(tsdg, project, arguments, words):
    before = sorted(project.rglob("*"))
    code, out, err = tsdg(*arguments)
    assert (code, len(err), out) == (2, 1, []), err
    assert err[0].startswith(f"tsdg {arguments[0]}: error: ")
    assert words in err[0]
    assert sorted(project.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*TRAIN, "--draw", "x"), "'x' is not a whole number from 0"),
        ((*TRAIN, "--seed", "-1"), "'-1' is not a whole number from 0"),
        ((*TRAIN, "--device", "tpu"), "invalid choice: 'tpu'"),
        ((*TRAIN, "--iterations", "3"), "unrecognized arguments: --iterations 3"),
        (("trian",), "did you mean 'train'?"),
        (("table", "tiny", "--selection", "worst"), "no selection, did you mean 'worst-source'?"),
        (("train", "--data", "data"), "--variant, --target"),
    ],
)
def test_wrong_usage_is_code_2(tsdg, arguments, words):
    code, _, err = tsdg(*arguments)
    assert code == 2
    assert words in err[-1]


def test_tsdg_alone_says_what_there_is(tsdg):
    code, out, err = tsdg()
    assert (code, out) == (2, [])
    assert {line.split()[0] for line in err} >= set(COMMANDS)


def test_the_command_line_waits_for_no_library():
    script = "import sys; from tsdg.commands.main import parser; parser(); sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_channel_may_begin_with_a_dash():
    arguments = ["--raw=a.csv", "--out=o", "--domains={}", "--window=5", "--channels=-x", "--channels=y z"]
    assert parser().parse_args(["prepare", "table", *arguments]).channels == ["-x", "y z"]


@pytest.mark.parametrize(
    "arguments",
    [
        (*TRAIN, "--out", "params.yaml"),
        (*TRAIN, "--set", "iterations=2.0"),
        (*TRAIN, "--set", "variants.ours-metadata.clusters=[site, [A, B]]"),
        (*TRAIN, "--set", "datasets.tiny.domains.A.site=[1, 2]"),
        ("hparams", "--out", "new/hparams.csv"),
        ("select", "tiny", "--out", "params.yaml/selected.csv"),
    ],
    ids=lambda arguments: " ".join(arguments[-2:]),
)
def test_careless_input_is_done_or_refused_in_one_line(tsdg, arguments):
    if "--variant" in arguments:
        arguments = replaced(arguments, "--variant", "ours-metadata")
    code, _, err = tsdg(*arguments)
    assert code == 0 or (code == 2 and len(err) == 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("check", "data", "--domain", "user", "user"), "--domain: 'user' is there twice; give it once"),
        (("check", "data", "--intervals", ""), "--intervals: is empty; give it a value, or leave it out"),
        (("simulate", "hapt", "--seconds", "1e12"), "seconds: 1e+12 is not from 5 to 3600"),
        (("simulate", "bearings", "--seconds", "1e9"), "seconds: 1e+09 is not from 1 to 600"),
        (("simulate", "table", "--seconds", "nan"), "seconds: nan is not from 5 to 3600"),
        (("status", "--watch", "9" * 20), "is not a whole number of seconds from 1 to 86400"),
        (
            ("status", "--watch", "tiny"),
            "'tiny' is not a whole number of seconds from 1 to 86400; tables stand",
        ),
        (("predict", "bundle", "new.csv", "--out", "."), "--out: . is a folder where a file belongs"),
        (("predict", "bundle", "new.csv", "--out", ""), "--out: . is a folder where a file belongs"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(tsdg, arguments, words):
    code, _, err = tsdg(*arguments)
    assert code == 2
    assert words in err[-1]
    assert [line for line in err if ": error: " in line] == err[-1:]


def test_too_little_memory_is_one_line(tsdg, monkeypatch):
    def simulate(*_, **__):
        return np.empty(1 << 50)

    monkeypatch.setattr("tsdg.data.hapt.simulate.simulate", simulate)
    code, _, [line] = tsdg("simulate", "hapt")
    assert code == 2
    assert "more memory is needed than there is (Unable to allocate" in line
    assert line.endswith("give smaller values, or fewer or shorter recordings")


@pytest.mark.parametrize(
    "arguments",
    [
        (*TRAIN, "--draw", "5-3"),
        (*TRAIN, "--set", "learning_rate=.nan"),
    ],
    ids=lambda arguments: " ".join(arguments[-2:]),
)
def test_what_cannot_be_meant_is_refused(tsdg, arguments):
    assert tsdg(*arguments)[0] == 2


def test_numbers_may_be_written_as_everywhere_else(tsdg):
    assert tsdg(*TRAIN, "--set", "learning_rate=1e-3", "--set", "iterations=1")[0] == 0


def test_a_key_given_twice_is_refused(tsdg, project):
    text = (project / "params.yaml").read_text()
    (project / "params.yaml").write_text("seed: 1\n" + text)
    code, _, err = tsdg(*TRAIN)
    assert code == 2
    assert "seed" in err[0]


def test_a_diverged_run_is_told(tsdg):
    code, out, err = tsdg(*TRAIN, "--set", "learning_rate=1.0e+30")
    assert code == 0
    assert any("diverged" in line for line in out + err)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seed: [", "params.yaml: not readable as YAML"),
        ("", "params.yaml: should hold keys"),
        ("- seed", "params.yaml: should hold keys"),
        (b"seed: \xff", "params.yaml: not readable as YAML"),
        ({"protokol": "small"}, "top level: unknown key 'protokol', did you mean 'protocol'?"),
        ({"protocols": {"small": {"seeds": 1, "draws": 1, "draw": 1}}}, "key 'draw', did you mean 'draws'?"),
    ],
)  # fmt: skip
def test_a_wrong_params_yaml_is_one_line_that_names_the_place(tsdg, project, params, text, words):
    if isinstance(text, dict):
        text = yaml.safe_dump(params | text)
    (project / "params.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    code, out, err = tsdg(*TRAIN)
    assert (code, len(err), out) == (2, 1, []), err
    assert "params.yaml: " in err[0]
    assert words in err[0]
    (project / "params.yaml").unlink()
    assert "params.yaml: not found" in tsdg(*TRAIN)[2][0]


@pytest.mark.parametrize("name", ["card.json", "windows.parquet", "signals.npy"])
@pytest.mark.parametrize("damage", ["truncated", "missing", "nonsense"])
def test_a_damaged_data_set_is_one_line_that_names_the_file(tsdg, project, tiny_folder, name, damage):
    shutil.copytree(tiny_folder, project / "bad")
    path = project / "bad" / name
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif damage == "nonsense":
        path.write_bytes(b"nonsense\xff")
    else:
        path.unlink()
    code, _, err = tsdg(*replaced(TRAIN, "--data", "bad"))
    assert (code, len(err)) == (2, 1), err
    assert name in err[0]
    assert "tsdg prepare" in err[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_describes_every_command(tsdg, command):
    code, out, err = tsdg(command, "--help")
    assert (code, err) == (0, [])
    assert f"usage: tsdg {command}" in out[0]
    assert any(line.strip().endswith(".") for line in out[1:])
    assert any(line.split()[:1] == [command] for line in tsdg("--help")[1])


def written(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_draws_and_targets_go_to_their_files(tsdg, project):
    arguments = replaced(TRAIN, "--target", "A", "C")
    arguments = replaced(arguments, "--variant", "vrex")
    code, out, _ = tsdg(*arguments, "--seed", "1", "--draw", "0-1", "--out", "runs", "--set", "iterations=2")
    assert code == 0
    assert written(project / "runs") == [
        f"tiny/vrex/{target}/seed1/hp{draw}.json" for target in "AC" for draw in (0, 1)
    ]
    scores = [line for line in out if "iteration 2:" in line and "source validation" in line]
    assert [re.sub(r".*, \d+ s left$", "left", line) == "left" for line in scores] == [True] * 3 + [False]
    made = [read(project / "runs" / path) for path in written(project / "runs")]
    assert made[0].hparams == made[2].hparams != made[1].hparams
    for path, record in zip(written(project / "runs"), made, strict=True):
        check_run(path, record, parse_run_path(path))
        assert record.config["iterations"] == 2


def test_a_derived_data_set_trains_on_the_others_data(tsdg, project, params):
    params["datasets"]["part"] = {"of": "tiny", "domains": ["A", "B", "D"]}
    (project / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    assert tsdg(*TRAIN, "--dataset", "part", "--out", "runs")[0] == 0
    assert written(project / "runs") == ["part/erm/A/seed0/fixed.json"]
    assert read(project / "runs/part/erm/A/seed0/fixed.json").sources == ["B", "D"]
    code, _, err = tsdg(*replaced(TRAIN, "--target", "C"), "--dataset", "part")
    assert (code, len(err)) == (2, 1)
    assert "target 'C' is not a domain of part" in err[0]


def test_draws_are_written_as_numbers_ranges_or_fixed(tsdg, project):
    arguments = (*replaced(TRAIN, "--variant", "vrex"), "--out", "runs", "--set", "iterations=1")
    assert tsdg(*arguments, "--draw", "fixed", "2,4", "hp6")[0] == 0
    names = [path.rsplit("/", 1)[1] for path in written(project / "runs")]
    assert names == ["fixed.json", "hp2.json", "hp4.json", "hp6.json"]


def test_from_runs_to_the_table(tsdg, project):
    for variant in ("erm", "ours-learned"):
        arguments = replaced(replaced(TRAIN, "--target", "A", "D"), "--variant", variant)
        assert tsdg(*arguments)[0] == 0
    assert tsdg("select", "tiny")[:2] == (0, ["results/selected/tiny.csv"])
    assert tsdg("table", "tiny")[:2] == (0, ["results/tables/tiny.csv", "results/tables/tiny.tex"])
    text = (project / "results/tables/tiny.tex").read_text()
    assert "Reduced protocol small: 1 seed" in text
    assert "Missing" not in text
    with open(project / "results/tables/tiny.csv", newline="") as file:
        rows = {(row["variant"], row["target"], row["metric"]): row for row in csv.DictReader(file)}
    record = json.loads((project / "results/runs/tiny/erm/A/seed0/fixed.json").read_bytes())
    accuracy = record["checkpoints"][-1]["target"]["accuracy"]
    assert float(rows["erm", "A", "accuracy"]["mean"]) == pytest.approx(100 * accuracy)
    for name in ("tiny", "gains"):
        code, out, _ = tsdg("figure", name)
        assert (code, out) == (0, [f"results/figures/{name}.pdf", f"results/figures/{name}.png"])
        assert all((project / path).stat().st_size > 1000 for path in out)
    code, out, _ = tsdg("ranking")
    assert (code, len(out)) == (0, 6)
    assert (
        "Nothing is said of fewer than 3 targets." in (project / "results/tables/next_domain.tex").read_text()
    )
    other = "results/selection/oracle"
    code, _, err = tsdg("table", "tiny", "--selection", "oracle")
    assert (code, len(err)) == (2, 1)
    assert err[0].endswith("Make it again with `tsdg select`.")
    assert tsdg("select", "tiny", "--selection", "oracle")[1] == [f"{other}/selected/tiny.csv"]
    assert tsdg("table", "tiny", "--selection", "oracle")[1][0] == f"{other}/tables/tiny.csv"
    marked = (project / other / "tables/tiny.tex").read_text()
    assert "Oracle, no result" in marked
    assert r"\textbf" in text
    assert r"\textbf" not in marked
    code, _, err = tsdg("table", "tiny", "--selected", f"{other}/selected/tiny.csv")
    assert (code, "selected under other settings" in err[0]) == (2, True)
    paths = [f"results/tables/tiny_policies.{kind}" for kind in ("csv", "tex")]
    assert tsdg("policies", "tiny")[:2] == (0, paths)
    code, _, err = tsdg("policies", "tiny", "--metric", "ece")
    assert (code, len(err), "'ece' is not a metric that may select" in err[0]) == (2, 1, True)
    code, _, err = tsdg("ranking", "--selection", "oracle")
    assert (code, len(err), "neither ranked nor claimed" in err[0]) == (2, 1, True)
    code, out, err = tsdg("document")
    assert (code, out) == (0, ["results/tables/all.tex"])
    assert (
        "left out: datasets, domain_attributes, datasets_samplesize, augmentations, networks, hyperparameter"
        in err[0]
    )
    assert (project / out[0]).read_text().count(
        r"\begin{table}"
    ) == 3  # the table, the ranking and what follows from it


def test_a_table_of_runs_that_are_not_there_says_so(tsdg, project):
    assert tsdg("select", "tiny", "--out", "s.csv")[0] == 0
    assert tsdg("table", "tiny", "--selected", "s.csv", "--out", "t")[0] == 0
    assert "Missing runs: ERM (all), Ours (learned) (all)." in (project / "t/tiny.tex").read_text()


def test_what_has_gaps_is_out_of_the_way_of_what_is_whole(tsdg, project):
    """Until it is whole: then the commands that were given first write where the workflow does."""

    def places():
        select, table, summary = (tsdg(*command) for command in commands)
        assert (select[0], table[0], summary[0]) == (0, 0, 0)
        return [Path(line).parent.as_posix() for _, out, _ in (select, table, summary) for line in out[:1]]

    commands = (("select", "tiny"), ("table", "tiny"), ("summary", "tiny"))
    assert tsdg(*TRAIN, "--target", "A", "D")[0] == 0
    assert places() == ["results/partial/selected", "results/partial/tables", "results/partial"]
    assert tsdg("figure", "tiny")[2] == [
        "2 runs have no current record: what there is, is in results/partial/figures"
    ]
    for *command, place in (
        ("select", "tiny", "results/selected/tiny.csv"),
        ("table", "tiny", "results/tables"),
    ):
        code, _, err = tsdg(*command, "--out", place)
        assert (code, len(err)) == (2, 1)
        assert "is for what has no gap" in err[0]
    _, _, err = tsdg("select", "tiny", "--set", "training.batch_size=4")
    assert "4 runs have no current record" in err[0]
    assert "2 have an outdated one: delete results/runs/tiny/erm/A/seed0/fixed.json ..." in err[0]
    assert not (project / "results/selected").exists()
    assert not (project / "results/tables").exists()
    assert tsdg(*replaced(TRAIN, "--variant", "ours-learned"), "--target", "A", "D")[0] == 0
    assert places() == ["results/selected", "results/tables", "results"]


@pytest.mark.parametrize(
    "setting",
    [
        "iterations=500", "seeds=2", "draws=3", "checkpoint=best", "training.batch_size=4",
        "datasets.tiny.split=blocked", "datasets.tiny.raw=elsewhere",
        "datasets.tiny.prepare={preset: published}",
        "variants.erm.augment=true",
    ],
)  # fmt: skip
def test_selected_runs_are_not_shown_under_other_settings(tsdg, project, setting):
    assert tsdg("select", "tiny")[0] == 0
    for command in ("table tiny", "figure tiny", "figure gains", "ranking", "summary tiny"):
        code, out, err = tsdg(*command.split(), "--set", setting)
        assert (code, out, len(err)) == (2, [], 1)
        assert "tiny.csv: the runs of variant erm on tiny were selected under other settings" in err[0]
        assert re.search(r"`tsdg select tiny --set \S", err[0])
    assert tsdg("select", "tiny", "--set", setting)[0] == 0
    assert tsdg("table", "tiny", "--set", setting)[0] == 0


def test_selected_runs_stay_those_of_a_study_that_only_calls_things_otherwise(tsdg, project):
    assert tsdg("select", "tiny")[0] == 0
    same = (
        "tables.tiny.caption=Other.", "variants.erm.label=Other", "device=auto", "runs_per_job=3",
        "tables.tiny.targets=[A]", "protocol=named",
        "protocols.named={seeds: 1, draws: fixed, iterations: 6, evaluate_every: 6}",
    )  # fmt: skip
    code, _, err = tsdg("table", "tiny", *(word for setting in same for word in ("--set", setting)))
    assert (code, len(err)) == (0, 1)
    assert "runs have no current record: what there is, is in results/partial" in err[0]


def test_selected_runs_that_were_edited_are_refused(tsdg, project):
    """Else what is gone would be whole, and what was never trained or is missing would count."""
    for row in ("erm", "ours-learned"):
        assert tsdg(*replaced(TRAIN, "--variant", row), "--target", "A", "D")[0] == 0
    assert tsdg("select", "tiny", "--out", "whole.csv")[0] == 0
    lines = (project / "whole.csv").read_text().splitlines()
    first = lines[1].split(",")
    assert first[:5] == ["per_seed", "tiny", "erm", "A", "0"]

    def refused(*rows):
        (project / "edited.csv").write_text("\n".join([lines[0], *rows]) + "\n")
        code, out, [error] = tsdg("table", "tiny", "--selected", "edited.csv", "--out", "t")
        assert (code, out) == (2, [])
        assert "tsdg select" in error
        return error

    other = ",".join([*first[:4], "5", *first[5:]])
    place = "of data set tiny, variant erm, target A, rule per_seed"
    assert f"no row is {place}" in refused(*lines[2:])
    assert f"rows {place} have seeds [5], where [0] belong" in refused(other, *lines[2:])
    assert f"rows {place} have seeds [0, 5]" in refused(other, *lines[1:])
    assert f"rows {place} have seeds [0, 0]" in refused(lines[1], *lines[1:])
    assert "variant erm, target A, rule shared" in refused(*(row for row in lines[1:] if row[:3] == "per"))
    missing = lines[1].replace(",finished,", ",missing,")
    assert "edited.csv: a run has numbers, but its status is missing" in refused(missing, *lines[2:])
    lost = lines[1].replace(",finished,1,1,", ",finished,0,1,")
    assert "status and draws_found differ" in refused(lost, *lines[2:])
    (project / "edited.csv").write_text("\n".join(lines) + "\n")
    assert tsdg("table", "tiny", "--selected", "edited.csv", "--out", "t")[0] == 0


@pytest.mark.parametrize(
    "command", [("table", "tiny"), ("figure", "tiny"), ("figure", "gains"), ("ranking",)]
)
def test_selected_runs_of_another_table_are_refused(tsdg, project, command):
    assert tsdg("select", "tiny", "--set", "tables.tiny.targets=[B]", "--out", "tiny.csv")[0] == 0
    code, _, err = tsdg(*command, "--selected", "tiny.csv")
    assert (code, len(err)) == (2, 1)
    assert (
        "tiny.csv: not of table tiny as params.yaml has it: no row is of data set tiny, variant erm" in err[0]
    )
    assert "make it with `tsdg select tiny --out tiny.csv`" in err[0]
    assert not list(project.glob("results/*/*.tex"))


def test_a_file_of_no_claims_table_is_refused(tsdg, project):
    """Else its claims would be told as not run."""
    claim = "claims={k: {says: Better., table: tiny, metric: accuracy, better: [erm], than: others}}"
    assert tsdg("select", "tiny", "--out", "tiny.csv")[0] == 0
    (project / "tinny.csv").write_bytes((project / "tiny.csv").read_bytes())
    claims = ("claims", "--set", claim, "--out", "t", "--selected")
    code, out, [error] = tsdg(*claims, "tinny.csv")
    assert (code, out) == (2, [])
    assert "tinny.csv: 'tinny' is not a table of a claim, did you mean 'tiny'?" in error
    assert tsdg(*claims, "tiny.csv")[0] == tsdg(*claims)[0] == 0


def test_hparams_of_every_draw_are_listed(tsdg, project):
    (project / "results").mkdir()
    code, out, _ = tsdg("hparams", "--set", "protocol=large")
    assert (code, out) == (0, ["results/hparams.csv"])
    lines = (project / "results/hparams.csv").read_text().splitlines()
    assert lines[0] == "variant,draw,hparam,value"
    assert len(lines) == 1 + 6 + 3 + 6


def test_check_of_recordings_and_of_a_data_set(tsdg, project):
    code, _, _ = tsdg("simulate", "table", "--out", "recordings", "--people", "3", "--seconds", "6")
    assert code == 0
    columns = ("--domain", "user", "--time", "time", "--window", "64")
    classes = ("--classes", '{"1": "walking", "4": "sitting"}')
    code, lines, _ = tsdg("check", "recordings/recordings.csv", *columns, *classes, "--as", "mine")
    assert code == 0
    assert "recordings/recordings.csv: 6 recordings of" in lines[0]
    entry = yaml.safe_load("\n".join(lines[lines.index("datasets:") :]))["datasets"]["mine"]
    assert entry["prepare"]["classes"] == {1: "walking", 4: "sitting"}
    tree = yaml.safe_load((project / "params.yaml").read_text())
    tree["datasets"]["mine"] = entry
    (project / "params.yaml").write_text(yaml.safe_dump(tree))
    code, again, _ = tsdg("check", "mine")
    assert code == 0
    assert again == lines[: len(again)]
    start = again.index(next(line for line in again if line.startswith("baselines: accuracy")))
    assert [line.split()[0] for line in again[start + 2 : -1]] == ["user1", "user2", "user3", "average"]
    assert again[-1].startswith("in words: ")
    assert tsdg("check", "mine", "--quick")[1] == again[:start]
    assert "is prepared already" in tsdg("check", project / "data", "--window", "8")[2][-1]
    assert "'mien' is not a data set, did you mean 'mine'?" in tsdg("check", "mien")[2][-1]
    assert "no such file" in tsdg("check", "recordings/other.csv")[2][-1]
    _, lines, _ = tsdg("check", "recordings/recordings.csv", *columns, "--domain", "site")  # both columns
    assert "      user1-south: {user: 1, site: south}" in lines


def test_check_says_which_domains_are_alike(tsdg, project):
    code, lines, _ = tsdg("check", "data", "--quick", "--transfer", "--out", "alike")
    assert code == 0
    start = next(number for number, line in enumerate(lines) if line.startswith("transfer: accuracy in %"))
    assert sorted(line.split()[0] for line in lines[start + 2 : start + 6]) == ["A", "B", "C", "D"]
    assert any(line.startswith("  of the same site ") for line in lines)
    assert lines[-3:] == [f"alike/transfer.{kind}" for kind in ("pdf", "png", "csv")]
    table = pd.read_csv(project / "alike/transfer.csv", index_col="source")
    assert list(table.index) == list(table.columns)
    assert tsdg("check", "data", "--out", "alike")[2] == [
        "tsdg check: error: --out: is for the matrix of --transfer; give both"
    ]


TABLE = """dataset,variant,label,target,metric,n,mean
d,ours,Same,A,accuracy,1,50
d,erm,Same,A,accuracy,0,{}
"""


def test_show_prints_variants_that_have_one_label(tsdg, project):
    (project / "t.csv").write_text(TABLE.format(""))
    assert tsdg("show", "t.csv")[1] == [
        "t: d, Accuracy (%)",
        "        A",
        "Same 50.0",
        "Same   --",
    ]
    (project / "other.csv").write_text(TABLE.replace(",1,", ",2,").format(""))
    assert tsdg("show", "other.csv")[1][0] == "other: d, Accuracy (%), mean over seeds"


@pytest.mark.parametrize(
    "text",
    [
        "",
        TABLE.splitlines()[0],
        "a,b\n1,2\n",
        TABLE.format("x"),
        TABLE.replace("erm", "ours").format("1"),
        TABLE.replace("accuracy", "speed").format("1"),
    ],
)
def test_show_refuses_what_is_no_table(tsdg, project, text):
    (project / "t.csv").write_text(text)
    code, out, err = tsdg("show", "t.csv")
    assert (code, out, len(err)) == (2, [], 1)
    assert "t.csv: not a table's csv" in err[0]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "dataset,variant,data,code\nd,erm,0123456789,12345678e9\n",
            ["dataset variant       data       code", "      d     erm 0123456789 12345678e9"],
        ),
        (
            "table,dataset,variant,accuracy,windows\nt,d,NA,41.23456,120000\nt,d,erm,,\n",
            [
                "table dataset variant  accuracy  windows",
                "    t       d      NA     41.23   120000",
                "    t       d     erm",
            ],
        ),
        (
            "dataset,variant,target,metric,label,mean,n,paper\nd,erm,A,accuracy,ERM,50,2,65.5\n",
            [
                "dataset variant target   metric label  mean  n  paper",
                "      d     erm      A accuracy   ERM    50  2   65.5",
            ],
        ),
    ],
)
def test_show_prints_other_csv_as_they_are(tsdg, project, text, shown):
    (project / "t.csv").write_text(text)
    code, out, _ = tsdg("show", "t.csv")
    assert (code, [line.rstrip() for line in out]) == (0, shown)


def test_the_version_says_what_trains(tsdg):
    [line] = tsdg("--version")[1]
    assert re.fullmatch(r"tsdg \S+( \(commit \w+(, edited)?\))?, Python 3\.\S+, PyTorch 2\.\S+", line)


@pytest.mark.parametrize(
    ("words", "meant"),
    [(("chek",), "`tsdg --help` lists, did you mean 'check'?"), (("prepare", "bearngs"), "mean 'bearings'?")],
)
def test_a_command_that_is_none_has_a_nearest_one(capsys, words, meant):
    with pytest.raises(SystemExit):
        main(words)
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.endswith(meant)
    assert "export" not in error


def test_of_many_names_the_first_are_listed():
    names = [f"name{i}" for i in range(40)]
    with pytest.raises(InputError) as error:
        check_known("nane7", names, "table")
    assert "did you mean 'name7'?; there are name0, name1," in str(error.value)
    assert str(error.value).endswith("name14, ..., 40 in all")


def test_a_shell_completes_commands_and_files(tsdg, project):
    (project / "complete.bash").write_text("\n".join(tsdg("--print-completion", "bash")[1]))
    (project / "results").mkdir()
    ask = "COMP_WORDS=(tsdg {}); COMP_CWORD={}; _shtab_tsdg; echo ${{COMPREPLY[@]}}"
    files = (
        "show",
        "check",
        "check x --metadata",
        "check x --join y",
        "export --data",
        "status",
        "plan --params",
    )
    asked = [
        ask.format("prepare be", 2),
        *(ask.format(f"{words} resu", len(words.split()) + 1) for words in files),
    ]
    words = "; ".join(["source complete.bash", *asked, "complete -p tsdg"])
    ran = subprocess.run(["bash", "-c", words], capture_output=True, text=True, cwd=project)
    *found, otherwise = ran.stdout.splitlines()
    assert found == ["bearings", *["results"] * len(files)], ran.stderr
    assert "-o default" in otherwise


def test_classes_that_no_source_has_are_told_everywhere(tsdg, project, tmp_path):
    folder = write_tiny(tmp_path / "results/data/tiny")
    for domain in "BCD":
        without(folder, domain, label=1)
    (project / "data").unlink()
    (project / "data").symlink_to(folder)
    code, out, _ = tsdg(*TRAIN, "B")
    assert code == 0
    told = [line for line in out if "no source has a window of class" in line]
    assert told == ["target A: no source has a window of class fast, so that nothing teaches it"]
    assert "classes of one domain: fast in A alone" in "\n".join(tsdg("check", "data", "--quick")[1])
    assert tsdg("select", "tiny", "--out", "s.csv")[0] == 0
    assert tsdg("table", "tiny", "--selected", "s.csv", "--out", "t")[0] == 0
    assert "No source has windows of classes: fast (A)." in (project / "t/tiny.tex").read_text()
    without(folder, "A", label=1)
    assert "classes without a window: fast; nothing" in "\n".join(tsdg("check", "data", "--quick")[1])
    assert tsdg("select", "tiny", "--out", "s.csv")[0] == 0
    assert tsdg("table", "tiny", "--selected", "s.csv", "--out", "t")[0] == 0
    assert "classes: fast (every target)." in (project / "t/tiny.tex").read_text()


def test_a_class_of_one_domain_is_told_when_it_is_prepared(tsdg, project):
    rows = [f"{x},{'ab'[x % 16 < 8 and who == 2]},{who}" for who in range(3) for x in range(64)]
    (project / "mine.csv").write_text("\n".join(["x,label,who", *rows]))
    domains = json.dumps({name: {"who": who} for who, name in enumerate("ABC")})
    code, out, _ = tsdg(
        "prepare", "table", "--raw", "mine.csv", "--out", "mine", "--domains", domains, "--window", 8
    )
    assert code == 0
    assert "  note: classes of one domain: b in C alone; where it is held out, nothing teaches them" in out


def test_the_recordings_table_has_an_address(tsdg, tmp_path):
    file = tmp_path / "mine.csv"
    code, out, _ = tsdg("prepare", "bearings", "--write-recordings", file)
    assert (code, file.read_bytes()) == (0, RECORDINGS.read_bytes())
    assert "give it with --recordings" in out[0]
    code, _, err = tsdg("prepare", "bearings", "--write-recordings", file)
    assert code == 2
    assert "is there already" in err[-1]


@pytest.mark.parametrize(
    "domains",
    ['{"a": 5}', '{"a": null}', "[1]", '{"a": {"who": [1]}}', '{"a/../b": {"who": 1}}',
     '{"": {"who": 1}}', '{"a": {"who": 1}, "a": {"who": 2}}', '{"a": {"who": NaN}}', "[" * 9999],
)  # fmt: skip
def test_domains_that_are_none_are_told(tsdg, domains):
    code, out, err = tsdg(
        "prepare", "table", "--raw", "x.csv", "--out", "o", "--window", "8", f"--domains={domains}"
    )
    assert (code, out) == (2, [])
    assert "argument --domains: " in err[-1]
    assert """no JSON object such as '{"A": {"user": 1}}': """ in err[-1]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["plan", "--version", "--help", "--print-completion bash"])
def test_a_disk_that_is_full_is_told_whatever_is_printed(project, words, unbuffered):
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "tsdg", *words.split()],
            stdout=full, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert ended.returncode == 2
    assert "error: output: No space left on device" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["--version", "--print-completion bash"])
def test_what_nobody_reads_ends_without_a_word(project, words, unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [sys.executable, "-m", "tsdg", *words.split()],
        stdout=writer, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (1, "")
