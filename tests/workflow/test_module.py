"""The workflow as a module of another one, as `snakedeploy` writes it."""

from pathlib import Path

from tiny import PROJECT, Workflow

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
