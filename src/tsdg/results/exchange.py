"""Records for other tools: as one table, to MLflow, to TensorBoard."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from tsdg.errors import InputError
from tsdg.runs.record import Record
from tsdg.study.metric import METRICS
from tsdg.study.reading import ADAPTED, AVERAGED, LAST, WAYS
from tsdg.study.run import run_path

MEASURES = ("validation", *METRICS, "windows", "temperature")
HPARAMS = "hparams."  # before the name of a hyperparameter
_AT_ONCE = 1000  # metrics that MLflow takes


def facts(record: Record) -> dict[str, Any]:
    """What a training was of, how long it took, and its hyperparameters."""
    trained = record.diverged_at or record.stopped_at or record.config["iterations"]
    timing = record.timing
    return {
        "dataset": record.run.dataset,
        "variant": record.run.variant,
        "method": record.config["method"],
        "target": record.run.target,
        "seed": record.run.seed,
        "draw": str(record.run.draw),
        "protocol": record.config["protocol"],
        "status": record.status,
        "iterations": trained,
        "seconds": timing.seconds_per_iteration * trained / timing.runs_at_once,
        "device": record.machine.device,
        "simulated": record.data.simulated,
        "data": record.data.fingerprint,
        "code": record.code.fingerprint,
        **{f"{HPARAMS}{name}": float(value) for name, value in record.hparams.items()},
    }


def evaluations(record: Record) -> Iterator[dict[str, Any]]:
    """What each model of a training reaches: its ``weights``, ``iteration``, and `MEASURES` as recorded."""
    for weights in _weights(record):
        for one in record.of_weights(weights).checkpoints:
            yield {
                "weights": weights,
                "iteration": one.iteration,
                "validation": one.source_accuracy,
                **{name: getattr(one.target, name) for name in METRICS},
                "windows": one.target.n,
                "temperature": one.temperature,
            }


def _weights(record: Record) -> list[str]:
    """Those that a record has checkpoints of, see `Record.of_weights`."""
    adapted = {ADAPTED + way for one in record.checkpoints for way in one.adapted or ()}
    averaged = any(one.averaged for one in record.checkpoints)
    return [LAST, *([AVERAGED] if averaged else []), *(way for way in WAYS if way in adapted)]


def table(records: Iterable[Record]) -> pd.DataFrame:
    """A row for each evaluation of each record; one without numbers for a run that diverged before any."""
    rows = [facts(record) | evaluation for record in records for evaluation in [*evaluations(record)] or [{}]]
    found = pd.DataFrame(rows)
    own = sorted(name for name in found if name.startswith(HPARAMS))
    about = [name for name in found if name not in {"weights", "iteration", *MEASURES, *own}]
    columns = [*about, "weights", "iteration", *MEASURES, *own]
    return found.reindex(columns=columns).astype({"iteration": "Int64", "windows": "Int64"})


def curves(record: Record) -> Iterator[tuple[str, int, float]]:
    """Numbers in the course of a training: name, iteration, value."""
    for evaluation in evaluations(record):
        weights, iteration = evaluation["weights"], evaluation["iteration"]
        before = "" if weights == LAST else weights.replace(", ", "/") + "/"
        for name in MEASURES:
            if (value := evaluation[name]) is not None:
                yield f"{before}{name}", iteration, float(value)
    losses = pd.DataFrame(record.losses).set_index("iteration")
    for name in losses:
        for iteration, value in losses[name].dropna().items():
            yield f"losses/{name}", iteration, float(value)


def to_mlflow(records: Iterable[Record], folder: Path) -> str:
    """Write a store of MLflow, with an experiment for each data set and a run for each record.

    Returns
    -------
    str
        The command that shows it.
    """
    try:
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param
    except ImportError:
        raise _lacking("mlflow") from None
    folder.mkdir(parents=True, exist_ok=True)
    store = f"sqlite:///{folder.resolve()}/mlflow.db"
    client, now = MlflowClient(store, store), round(1000 * time.time())
    experiments: dict[str, str] = {}
    for record in records:
        dataset = record.run.dataset
        if dataset not in experiments:
            place = (folder / "artifacts").resolve().as_uri()
            experiments[dataset] = client.create_experiment(dataset, place)
        run = client.create_run(experiments[dataset], run_name=record.run.words).info.run_id
        client.log_batch(run, params=[Param(name, str(value)) for name, value in facts(record).items()])
        metrics = [Metric(name, value, now, step) for name, step, value in curves(record)]
        for start in range(0, len(metrics), _AT_ONCE):
            client.log_batch(run, metrics[start : start + _AT_ONCE])
        client.set_terminated(run, "FINISHED" if record.finished else "FAILED")
    return f"mlflow ui --backend-store-uri {store}"


def to_tensorboard(records: Iterable[Record], folder: Path) -> str:
    """Write a log of TensorBoard for each record, in a folder as its path has it.

    Returns
    -------
    str
        The command that shows it.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
        from torch.utils.tensorboard.summary import hparams
    except ImportError:
        raise _lacking("tensorboard") from None
    for record in records:
        with SummaryWriter(str(folder / run_path(record.run).removesuffix(".json"))) as writer:
            for summary in hparams(facts(record), dict.fromkeys(("accuracy", "validation"), None)):
                writer._get_file_writer().add_summary(summary)
            for name, iteration, value in curves(record):
                writer.add_scalar(name, value, iteration)
    return f"tensorboard --logdir {folder}"


TRACKERS = {"mlflow": to_mlflow, "tensorboard": to_tensorboard}


def _lacking(name: str) -> InputError:
    return InputError(f"--to {name} needs {name}, which is not installed: pip install 'tsdg[{name}]'")
