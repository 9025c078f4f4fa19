"""Edits of the package under a finished study: what changes no number is adopted, and then nothing runs."""

import os
import re
import shutil
from pathlib import Path

import pytest
from tiny import PROJECT, Workflow, tsdg


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package, which commands run."""
    shutil.copytree(PROJECT / "src/tsdg", tmp_path / "src/tsdg", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "src"))
    return tmp_path / "src/tsdg"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


@pytest.fixture
def study(finished: Workflow, tmp_path: Path) -> Workflow:
    """The finished study, to be changed."""
    return Workflow(shutil.copytree(finished.folder, tmp_path / "study"))


def test_edits_under_a_finished_study(study: Workflow, package: Path) -> None:
    folder = study.folder
    records = {path: (folder / path).read_bytes() for path in study.records()}
    assert study.plan() == {}
    edit(package / "methods/vrex.py", '"""Variance risk', '# A comment.\n"""The variance of risks; risk')
    assert study.plan() == {}

    # Seen by the fingerprint, and no other number: a + a is 2 a to the bit.
    variance = "risks.var(-1, correction=0)"
    edit(package / "methods/vrex.py", f"return {variance}", f"v = {variance}\n        return (v + v) / 2")
    edit(package / "methods/base.py", ".mean(-1)", ".mean(dim=-1)")
    assert study.plan()["train"] == 2
    (folder / ".snakemake/locks").mkdir(exist_ok=True)
    (folder / ".snakemake/locks/0.input.lock").touch()
    assert "Snakemake is at work here" in tsdg(folder, "adopt", fails=True)
    (folder / ".snakemake/locks/0.input.lock").unlink()
    assert "9 of them known to Snakemake, can be adopted" in tsdg(folder, "adopt", "--dry-run")
    assert study.plan()["train"] == 2
    said = tsdg(folder, "adopt")
    assert len(re.findall("up to iteration 2, to the bit", said)) == 4
    assert "9 records, 9 of them known to Snakemake, are adopted" in said
    assert study.plan() == {}
    assert "Nothing to be done" in study.run()
    assert re.search(r"in all +9 +9 ", tsdg(folder, "status"))
    assert "no record is outdated" in tsdg(folder, "adopt")

    # Another number: refused, and all is as it was.
    adopted = {path: (folder / path).read_bytes() for path in study.records()}
    assert adopted.keys() == records.keys()
    edit(package / "methods/annealed.py", "risk + weight * penalty", "risk + 2 * weight * penalty")
    refused = tsdg(folder, "adopt", fails=True)
    assert re.search(r"vrex/\w/seed0/hp\d.json: losses.\w+ at iteration 2 was [\d.]+ and is [\d.]+", refused)
    assert adopted == {path: (folder / path).read_bytes() for path in study.records()}
    assert study.plan()["train"] == 1


def test_long_names_are_found(tmp_path: Path) -> None:
    """Snakemake's own way to keep what it knows of a file is followed for names of any length."""
    from snakemake.persistence.file import FilePersistence

    from tsdg.runs.provenance import FOLDER, _kept

    for name in ("a", "b" * 400):
        path = f"results/runs/{name}/seed0/fixed.json"
        theirs = FilePersistence._record_path(_Sizes(), str(tmp_path / FOLDER / "metadata"), path)
        assert os.fspath(_kept(tmp_path, Path(path))) == theirs


class _Sizes:
    """What of Snakemake's persistence tells the length of names."""

    def _fetch_max_len(self, folder: str) -> int:
        return os.pathconf("/", "PC_NAME_MAX")
