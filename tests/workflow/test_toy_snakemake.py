"""The toy study in the workflow: planned when the study has it, and only as much as is asked for."""

from pathlib import Path

from tiny import DOCUMENT, Workflow

TOY = (
    "toy={seeds: 6, iterations: 10, risk_threshold: 0.2, "
    "variants: {erm: {label: ERM, method: erm}, dann: {label: DANN-DG, method: dann}}}"
)


def test_one_target_each(finished: Workflow) -> None:
    # Six seeds are a block of five and a block of one, for each variant.
    tables = {"toy_attributes": 1, "target_risk": 1, "target_risk_full": 1}
    figures = {"toy_dataset": 1, "divergence_vs_risk": 1}
    trainings = {"toy_train_0": 2, "toy_train_5": 2}
    assert finished.plan("--config", TOY) == trainings | tables | figures | DOCUMENT


def test_what_needs_no_training_is_made_without(tmp_path: Path) -> None:
    made = ("results/tables/toy_attributes.tex", "results/figures/toy_dataset.pdf")
    Workflow(tmp_path).run("--config", TOY, "--", *made)
    assert all((tmp_path / path).stat().st_size > 500 for path in made)
    assert not (tmp_path / "results/runs").exists()
