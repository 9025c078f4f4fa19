"""DVC over the workflow, in a small copy of the project: everything comes back, and only edits run again."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tiny import PROJECT, STUDY, environment

PARTS = (
    "Snakefile", "workflow", "profiles", "environment.yml", "src", "dvc.yaml", ".dvc/config", ".dvcignore",
    ".gitignore",
)  # fmt: skip


class Project:
    """A repository with the project's workflow and a tiny study."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __call__(self, *command: str, fails: bool = False) -> str:
        tools = Path(sys.executable).parent
        roles = ("AUTHOR", "COMMITTER")
        who = {f"GIT_{role}_{what}": "test" for role in roles for what in ("NAME", "EMAIL")}
        path = f"{tools}:{environment()['PATH']}"
        places = {"PYTHONPATH": str(self.folder / "src"), "PATH": path}
        done = subprocess.run(
            command, cwd=self.folder, env=environment() | who | places, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False, timeout=900,
        )  # fmt: skip
        assert (done.returncode != 0) == fails, done.stdout
        return done.stdout

    def edit(self, change) -> None:
        """Change params.yaml."""
        path = self.folder / "params.yaml"
        params = yaml.safe_load(path.read_text())
        change(params)
        path.write_text(yaml.safe_dump(params, sort_keys=False))

    def results(self) -> dict[str, bytes]:
        files = (path for path in self.folder.glob("results/*/**/[!.]*") if path.is_file())
        kept = ("data", "runs", "selected", "tables", "figures")
        return {
            name: path.read_bytes()
            for path in files
            if (name := path.relative_to(self.folder).as_posix()).split("/")[1] in kept
        }

    def commit(self) -> None:
        self("git", "add", "--all")
        self("git", "commit", "--quiet", "--message", "State")


def trained(output: str) -> list[str]:
    """Variants that were trained, from what Snakemake says."""
    return sorted(re.findall(r"tsdg train .* --variant (\S+)", output))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The study made by `dvc repro` from nothing, committed and pushed."""
    folder = tmp_path_factory.mktemp("project")
    for part in PARTS:
        source, target = PROJECT / part, folder / part
        target.parent.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, target)
    stages = (folder / "dvc.yaml").read_text()
    stages = stages.replace("shared: [bearings, bearings-size, hhar, hapt]", "shared: [bearings]")
    (folder / "dvc.yaml").write_text(stages.replace("private: []", "private: [other]"))
    (folder / "params.yaml").write_text(yaml.safe_dump(STUDY, sort_keys=False))
    project = Project(folder)
    # Data of its own: with the same content as the shared, what is private would be shared.
    project.edit(lambda params: params["datasets"]["other"]["prepare"].update(stride=3000))
    project("git", "init", "--quiet")
    project("dvc", "remote", "add", "--default", "here", str(tmp_path_factory.mktemp("remote")))
    output = project("dvc", "repro")
    assert trained(output) == ["erm", "vrex"]
    project.commit()
    project("dvc", "push")
    return project


def test_a_second_repro_runs_nothing(project: Project) -> None:
    output = project("dvc", "repro")
    assert "Data and pipelines are up to date" in output
    assert "Shell command" not in output
    # Directories are tracked, not files.
    assert len((project.folder / "dvc.lock").read_text().splitlines()) < 200 + len(
        yaml.safe_dump(STUDY).splitlines()
    )


def test_metrics_params_and_plots(project: Project) -> None:
    shown = project("dvc", "metrics", "show")
    assert re.search(r"small\.bearings\.erm\.accuracy", shown)
    project("dvc", "plots", "show", "--out", "plots")
    page = (project.folder / "plots/index.html").read_text()
    assert "Accuracy on unseen domains" in page
    assert "small.png" in page
    shutil.rmtree(project.folder / "plots")
    original = (project.folder / "params.yaml").read_text()
    project.edit(lambda params: params["protocols"]["tiny"].update(seeds=2))
    assert "protocols.tiny.seeds" in project("dvc", "params", "diff")
    (project.folder / "params.yaml").write_text(original)


def test_deleted_results_come_back(project: Project) -> None:
    before = project.results()
    shutil.rmtree(project.folder / "results")
    shutil.rmtree(project.folder / ".dvc/cache/files")
    shutil.rmtree(project.folder / ".snakemake/metadata")
    # What is private was not pushed: it is the one thing that does not come back.
    assert "results/data/other" in project("dvc", "pull", fails=True)
    expected = {name: text for name, text in before.items() if not name.startswith("results/data/other/")}
    assert project.results() == expected
    output = project("dvc", "repro", "data@bearings") + project("snakemake", "--cores", "2", "--dry-run")
    assert "tsdg " not in output  # no command; a folder may be called so
    output = project("dvc", "repro")
    assert trained(output) == []
    assert project.results() == before


def test_a_clone_pulls_and_trains_what_an_edit_touches(project: Project, tmp_path: Path) -> None:
    project("git", "clone", "--quiet", str(project.folder), str(tmp_path / "clone"))
    clone = Project(tmp_path / "clone")
    clone("dvc", "pull", "--allow-missing")
    assert "Nothing to be done" in clone("snakemake", "--cores", "2", "--dry-run")
    before = clone.results()
    clone.edit(lambda params: params["variants"]["vrex"].update(hparams={"lambda": 10.0}))
    output = clone("dvc", "repro")
    assert trained(output) == ["vrex"]
    after = clone.results()
    changed = {name for name, text in before.items() if after[name] != text}
    records = {name for name in after if name.startswith("results/runs/")}
    assert {name for name in changed if name in records} == {name for name in records if "/vrex/" in name}
