"""Run records with chosen accuracies, for tests of everything downstream of training."""

from tsdg.runs.writing import FORMAT, write
from tsdg.study.run import Run, run_path


def metrics(accuracy, ece=0.1, auc=None):
    """As `tsdg.learning.metrics.evaluate` returns them; NLL and Brier score follow from the accuracy."""
    follow = {"nll": 2 - accuracy, "brier": 1 - accuracy}
    return {"accuracy": accuracy, "ece": ece, **follow, "auc": auc, "n": 100}


def make_record(run, checkpoints=None, sources=("S", "T"), *, diverged=False, iterations=100, **data):
    """A record whose checkpoints are (iteration, validation accuracy, target accuracy[, target ECE])."""
    checkpoints = ((iterations, 0.5, 0.5),) if checkpoints is None else checkpoints
    end = checkpoints[-1][0] if checkpoints else iterations
    record = {
        "format": FORMAT,
        "status": "diverged" if diverged else "finished",
        "run": {
            "dataset": run.dataset,
            "variant": run.variant,
            "target": run.target,
            "seed": run.seed,
            "draw": run.draw,
        },
        "config": {
            "method": run.variant,
            "iterations": iterations if diverged else end,
            "protocol": data.pop("protocol", "paper"),
        },
        "hparams": {},
        "sources": [name for name in sources if name != run.target],
        "classes": ["0", "1"],
        "data": {"fingerprint": "f", "simulated": False, **data},
        "code": {"version": "0", "fingerprint": "c"},
        "machine": {"device": "cpu"},
        "timing": {"seconds_per_iteration": 0.01, "runs_at_once": 1},
        "checkpoints": [
            {
                "iteration": iteration,
                "validation": {domain: metrics(validation) for domain in sources if domain != run.target},
                "target": metrics(*target),
            }
            for iteration, validation, *target in checkpoints
        ],
        "losses": {"iteration": [1], "total": [1.0]},
    }
    if diverged:
        record["diverged_at"] = checkpoints[-1][0] + 1 if checkpoints else 7
    return record


def save(folder, run, *args, **kwargs):
    write(folder / run_path(run), make_record(run, *args, **kwargs))
    return run


def grid(variants, targets, seeds, draws, dataset="toy"):
    return [
        Run(dataset, variant, target, seed, draw)
        for variant in variants
        for target in targets
        for seed in seeds
        for draw in draws
    ]
