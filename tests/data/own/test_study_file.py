"""The params file that `tsdg check --write` makes: a whole study, every choice with a comment."""

import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import yaml

from tsdg.commands.main import main
from tsdg.data.own.prepare import prepare
from tsdg.data.own.study_file import name_of
from tsdg.study.study import Study


def tsdg(*words, folder):
    """A command's outcome."""
    return subprocess.run([sys.executable, "-m", "tsdg", *words], cwd=folder, capture_output=True, text=True)


@pytest.mark.slow
def test_a_study_is_written_that_runs_at_once(tmp_path):
    rng = np.random.default_rng(0)
    parts = [
        pd.DataFrame({"rec": f"{u}{k}", "user: who": u, "label": k, "t": np.arange(80) / 50, "a#1": rng.normal(size=80)})  # noqa: E501
        for u in ("no", "ä b", "1e3") for k in "ab"
    ]  # fmt: skip
    pd.concat(parts).to_csv(tmp_path / "my data.csv", index=False)
    words = ["check", "my data.csv", "--domain", "user: who", "--recording", "rec", "--window", "16"]
    done = tsdg(*words, "--write", "study.yaml", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "study.yaml").read_text()
    study = Study.load(tmp_path / "study.yaml")
    entry = study.dataset("my-data")
    assert yaml.safe_load(text)["datasets"]["my-data"]["prepare"]["time"] == "t"
    assert [values["user: who"] for values in entry["domains"].values()] == ["1e3", "no", "ä b"]
    prepare_section = text[text.index("prepare:") : text.index("backbone:")].splitlines()
    assert all(" # " in line for line in prepare_section if line.strip())
    quick = Study.load(tmp_path / "study.yaml", ["protocol=quick"])
    runs = len(quick.table_runs("my-data"))
    assert runs < len(study.table_runs("my-data"))
    for command in ("plan", "status"):
        [line] = (line for line in done.stdout.splitlines() if line.strip().startswith(f"tsdg {command} "))
        assert line.strip() in text
        said = tsdg(*shlex.split(line)[1:], folder=tmp_path)
        assert said.returncode == 0, said.stderr
        assert "my-data" in said.stdout
        assert re.search(rf"\b{runs}\b", said.stdout)
    for ran in re.findall(r"snakemake [^#\n]+", done.stdout):
        assert ran.endswith(" --quiet rules")  # a line a job and the time left, behind the target
        assert ran in text
    card = prepare(tmp_path / entry["raw"], tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    assert sum(sum(row.values()) for row in card["counts"].values()) == 30
    again = tsdg(*words, "--write", "study.yaml", folder=tmp_path)
    assert again.returncode != 0
    assert "is there already" in again.stderr
    assert (tmp_path / "study.yaml").read_text() == text


@pytest.mark.parametrize("rare", [6, 2])
def test_metrics_that_count_classes_alike_come_first_where_they_are_unbalanced(tmp_path, capsys, rare):
    rng = np.random.default_rng(0)
    windows = [(u, k, n) for u in "uvw" for k, count in (("run", 7), ("fall", rare)) for n in range(count)]
    parts = [
        pd.DataFrame({"rec": f"{u}{k}{n}", "user": u, "label": k, "x": rng.normal(size=16)})
        for u, k, n in windows
    ]
    pd.concat(parts).to_csv(tmp_path / "d.csv", index=False)
    words = [
        "check",
        str(tmp_path / "d.csv"),
        "--domain",
        "user",
        "--recording",
        "rec",
        "--window",
        "16",
        "--quick",
    ]
    assert main([*words, "--write", str(tmp_path / "s.yaml")]) == 0
    assert main(words) == 0
    proposed = yaml.safe_load(capsys.readouterr().out.split("runs at once.\n")[-1])["tables"]["d"]
    text = (tmp_path / "s.yaml").read_text()
    metrics = ["macro_f1", "balanced_accuracy"] * (rare == 2) + ["accuracy", "ece"]
    assert Study.load(tmp_path / "s.yaml").table("d")["metrics"] == proposed["metrics"] == metrics
    assert ("# classes are unbalanced" in text) == (rare == 2)
    assert proposed["caption"] in " ".join(text.split())


@pytest.mark.parametrize(("text", "name"), [("Zürich, 1", "Zurich-1"), ("a_b-c", "a_b-c"), ("東", "")])
def test_names(text, name):
    assert name_of(text) == name
