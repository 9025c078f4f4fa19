"""The workflow as a module of another one, as `snakedeploy` writes it."""

from pathlib import Path

import yaml
from tiny import PROJECT, STUDY, Workflow

SNAKEFILE = f"""
configfile: "params.yaml"

module tsdg:
    snakefile: "{PROJECT / "workflow/Snakefile"}"
    config: config

use rule * from tsdg

onstart:
    tsdg.onstart()

onsuccess:
    tsdg.onsuccess()

onerror:
    tsdg.onerror()
"""


def test_a_module_makes_what_the_workflow_makes(finished: Workflow, tmp_path: Path) -> None:
    snakefile = tmp_path / "Snakefile"
    snakefile.write_text(SNAKEFILE)
    module = Workflow(finished.folder, snakefile)
    assert module.plan() == finished.plan() == {}
    more = ("--config", "set=[draws=4]")
    assert module.plan(*more) == finished.plan(*more) != {}


def test_overrides_reach_a_module_with_a_section_of_its_own(tmp_path: Path) -> None:
    snakefile = tmp_path / "Snakefile"
    section = SNAKEFILE.replace('configfile: "params.yaml"', 'configfile: "whole.yaml"')
    snakefile.write_text(section.replace("config: config", 'config: config["tsdg"]'))
    module, whole = Workflow(tmp_path, snakefile), Workflow(tmp_path)
    (tmp_path / "whole.yaml").write_text(yaml.safe_dump({"samples": "a.tsv", "tsdg": STUDY}))
    more = ("--config", "set=[draws=4]", "samples=b.tsv", "runs_per_job=1")
    assert module.plan(*more) == whole.plan(more[0], more[1], more[3]) != whole.plan()


def test_a_module_with_a_prefix_is_refused(tmp_path: Path) -> None:
    snakefile = tmp_path / "Snakefile"
    for moved in ('prefix: "sub"', 'replace_prefix: {"results/": "sub/"}'):
        snakefile.write_text(SNAKEFILE.replace("config: config", f"config: config\n    {moved}"))
        said = Workflow(tmp_path, snakefile).run("--dry-run", fails=True)
        assert "The module takes no `prefix`" in said
        assert "Traceback" not in said
