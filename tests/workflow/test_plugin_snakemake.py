"""A plug-in in the workflow: an edit of its file trains its own variants again."""

from pathlib import Path

from tiny import PROJECT, Workflow

PLUGIN = "variants={penalty: {label: Confidence penalty, method: penalty}}"
RECORDS = [f"results/runs/bearings/{variant}/A/seed0/hp0.json" for variant in ("erm", "penalty")]
ARGUMENTS = ("--config", "runs_per_job=1", "plugins=[penalty.py]", PLUGIN, "--", *RECORDS)


def test_an_edit_trains_its_variants_again(finished: Workflow, tmp_path: Path) -> None:
    source = (PROJECT / "examples/confidence_penalty.py").read_text()
    plugin = tmp_path / "penalty.py"
    plugin.write_text(source)
    workflow = finished.copy(tmp_path)
    workflow.run(*ARGUMENTS)
    assert [str(path) for path in workflow.records()] == RECORDS
    plugin.write_text(source.replace("# (R, D, B, K)", "# logits"))
    assert workflow.plan(*ARGUMENTS) == {}
    plugin.write_text(source.replace("risk - self", "risk - 2 * self"))
    text = workflow.run("--dry-run", *ARGUMENTS)
    assert workflow.plan(*ARGUMENTS) == {"train": 1}
    assert RECORDS[1] in text
    plugin.write_text("METHODS = {}")
    text = workflow.run(*ARGUMENTS, fails=True)
    assert 'plugins: penalty.py: holds no METHODS = {"name": Class}' in text
    assert "Traceback" not in text
