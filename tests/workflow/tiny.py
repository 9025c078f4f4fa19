"""A tiny study on which the workflow runs for real."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

PROJECT = Path(__file__).parents[2]
STUDY = {
    "seed": 0,
    "protocol": "tiny",
    "checkpoint": "last",
    "runs_per_job": 6,
    "device": "cpu",
    "protocols": {"tiny": {"seeds": 1, "draws": 2, "iterations": 2, "evaluate_every": 2, "batch_size": 2}},
    "training": {
        "iterations": 2,
        "evaluate_every": 2,
        "batch_size": 2,
        "learning_rate": 0.001,
        "weight_decay": 5.0e-5,
        "decay_at": 0.8,
        "decay": 0.1,
        "validation_fraction": 0.2,
    },
    "datasets": {
        name: {
            "kind": "bearings",
            "raw": "data/raw/bearings",
            "source": "simulated",
            "simulate": {"seed": 0, "seconds": 1},
            "prepare": {"preset": "default", "stride": 2000},
            "backbone": "bearings",
            "split": "random",
            "domains": {letter: {"load": load} for load, letter in enumerate("ABC")},
        }
        for name in ("bearings", "other")
    },
    "variants": {"erm": {"label": "ERM", "method": "erm"}, "vrex": {"label": "V-REx", "method": "vrex"}},
    "tables": {
        "small": {
            "dataset": "bearings",
            "rows": ["erm", "vrex"],
            "metrics": ["accuracy", "ece"],
            "caption": "A small table.",
        }
    },
    "figures": {
        "gains": {"kind": "forest", "tables": ["small"], "baseline": "erm", "caption": "What is gained."}
    },
    "ranking": {"tables": ["small"], "metric": "accuracy"},
}
# Jobs that follow a change of any table.
DOCUMENT = {"document": 1} | ({"pdf": 1} if shutil.which("pdflatex") else {})


class Workflow:
    """Snakemake in a folder that holds a study."""

    def __init__(self, folder: Path, snakefile: Path = PROJECT / "Snakefile"):
        self.folder, self.snakefile = folder, snakefile
        (folder / "params.yaml").write_text(yaml.safe_dump(STUDY, sort_keys=False))

    def copy(self, folder: Path) -> "Workflow":
        """The same with the prepared data, but no results."""
        for part in ("data", "results/data", ".snakemake/metadata"):
            shutil.copytree(self.folder / part, folder / part)
        return Workflow(folder)

    def command(self, *arguments: str) -> list[str]:
        snakefile = str(self.snakefile)
        return [sys.executable, "-m", "snakemake", "--snakefile", snakefile, "--cores", "2", *arguments]

    def run(self, *arguments: str, fails: bool = False) -> str:
        """What Snakemake says; its exit code must be 0, unless it should fail."""
        done = subprocess.run(
            self.command(*arguments), cwd=self.folder, env=environment(), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False, timeout=600,
        )  # fmt: skip
        assert (done.returncode != 0) == fails, done.stdout
        return done.stdout

    def plan(self, *arguments: str) -> dict[str, int]:
        """Jobs by rule that Snakemake would run, without the packs' numbers."""
        text = self.run("--dry-run", *arguments)
        jobs: dict[str, int] = {}
        for name, count in re.findall(r"^(\w+) +(\d+)$", text.partition("\ntotal ")[0], flags=re.MULTILINE):
            name = re.sub(r"_pack_\d+$", "", name)
            jobs[name] = jobs.get(name, 0) + int(count)
        jobs.pop("all", None)
        assert jobs or "Nothing to be done" in text or "no jobs to be run" in text, text
        return jobs

    def records(self) -> list[Path]:
        """Paths of the records in their places."""
        return sorted(
            path.relative_to(self.folder) for path in self.folder.glob("results/runs/[!.]*/**/*.json")
        )


def tsdg(folder: Path, *arguments: str, fails: bool = False) -> str:
    """What a `tsdg` command says in a folder; its exit code must be 0, unless it should fail."""
    done = subprocess.run(
        [sys.executable, "-m", "tsdg", *arguments], cwd=folder, env=environment(), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode != 0) == fails, done.stdout
    return done.stdout


def environment() -> dict[str, str]:
    return os.environ | {"NO_COLOR": "1"}
