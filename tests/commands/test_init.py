"""What `tsdg init` writes is the repository's, from a clone and from a wheel."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tsdg.commands import init
from tsdg.commands.main import main

PROJECT = Path(__file__).parents[2]
MADE_OF = (
    "pyproject.toml", "README.md", "LICENSE", "params.yaml", "environment.yml", "profiles", "workflow", "src",
)  # fmt: skip


def test_a_folder_is_filled_once(tmp_path, capsys):
    folder = tmp_path / "study"
    assert main(["init", str(folder)]) == 0
    assert (folder / "params.yaml").read_text() == (PROJECT / "params.yaml").read_text()
    for name in ("profiles/default/config.yaml", "slurm/partitions.yaml"):
        assert (folder / name).read_text() == (PROJECT / name).read_text()
    (folder / "params.yaml").write_text("mine")
    assert main(["init", str(folder)]) == 2
    assert "params.yaml: is there already" in capsys.readouterr().err
    assert (folder / "params.yaml").read_text() == "mine"


def test_a_folder_is_filled_whole_or_not_at_all(tmp_path, monkeypatch):
    folder = tmp_path / "study"
    with monkeypatch.context() as patched:
        patched.setattr(init, "write_text", interrupted)
        assert main(["init", str(folder)]) == 130
    assert list(folder.iterdir()) == []
    assert main(["init", str(folder)]) == 0
    assert sorted(path.name for path in folder.iterdir()) == sorted(init.WRITTEN)


def interrupted(*_):
    raise KeyboardInterrupt


@pytest.mark.slow
def test_a_wheel_carries_it(tmp_path):
    for name in MADE_OF:
        if (PROJECT / name).is_dir():
            shutil.copytree(PROJECT / name, tmp_path / name, symlinks=True)
        else:
            shutil.copy(PROJECT / name, tmp_path)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "--quiet"],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as held:
        for name in (
            "params.yaml",
            "environment.yml",  # that the rules name
            "workflow/Snakefile",
            "workflow/rules/train.smk",
            "profiles/slurm/config.yaml",
        ):
            assert held.read(f"tsdg/template/{name}") == (PROJECT / name).read_bytes()
