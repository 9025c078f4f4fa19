"""Training on all domains, with the draw that selection chose, into a bundle."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.optimize
import torch

import tsdg
from tsdg import methods
from tsdg.bundle.model import FORMAT, Bundle, Model
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning.batches import Windows
from tsdg.methods import Method
from tsdg.methods.plugins import blamed
from tsdg.runs import record as records
from tsdg.runs.current import is_current
from tsdg.runs.fingerprint import code_fingerprint
from tsdg.runs.job import Report
from tsdg.runs.training import Pack, Progress, choose_device
from tsdg.study.run import Run, draw_order, run_path
from tsdg.study.study import Study

NOBODY = "(nobody)"  # the target when nothing is held out
TEMPERATURES = (0.05, 20.0)


class Bar(Report):
    """As of a training, without a target to report on."""

    def checkpoint(self, run: Run, checkpoint: Mapping[str, Any]) -> None:
        mean = 100 * records.source_accuracy(checkpoint)
        self.bar.write(
            f"{run.variant} iteration {checkpoint['iteration']}: source validation {mean:.1f} %",
            file=sys.stdout,
        )
        sys.stdout.flush()


def export(
    study: Study,
    data: Path,
    *,
    dataset: str | None = None,
    variant: str,
    draw: int | str | None = None,
    seed: int = 0,
    runs: Path = Path("results/runs"),
    device: str | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Bundle:
    """Train a variant on every domain of a data set, and fit the temperature of its confidence.

    Parameters
    ----------
    study : Study
    data : Path
        Folder of the prepared data set.
    dataset : str, optional
        The data set's name in the study; by default the card's.
    variant : str
    draw : int or "fixed", optional
        Hyperparameters; by default those that `selected_draw` chooses.
    seed : int
    runs : Path
        Folder of records.
    device : str, optional
        By default the study's.
    progress : Progress, optional
    say : callable, optional
        Called with what is trained, before it is.

    Raises
    ------
    InputError
        If the method is no function of single windows, no draw can be chosen, or the training diverged.
    """
    prepared = WindowedDataset.load(data)
    name = dataset or prepared.card["name"]
    config = study.config(name, variant)
    method = methods.get(config["method"])
    if method.embeds_domain or method.predict is not Method.predict:
        raise InputError(
            f"{variant}: {method.title} looks at all windows of a domain to classify one of them, so it is "
            "no function of a window and cannot be exported; choose another variant"
        )
    draws = study.draws(variant)
    if draw not in (None, "fixed", *draws):
        raise InputError(
            f"--draw {draw}: not a draw of {variant} under protocol {study.params['protocol']}; choose fixed"
            + (f", or of {draws[0]}-{draws[-1]}" if draws != ["fixed"] else "")
        )
    if draw is not None:
        chosen, why = draw, "as asked for"
    else:
        chosen, why = selected_draw(study, name, variant, runs, prepared.fingerprint)
    run = Run(name, variant, NOBODY, seed, chosen)
    hparams = study.hparams(run)
    trained = without_target(prepared)
    on = choose_device(device or study.params["device"])
    protocol = study.params["protocol"]
    say(
        f"{study.variant(variant)['label']} (method {config['method']}) on all domains of {name}, "
        f"{', '.join(config['domains'])}: {config['iterations']} iterations (protocol {protocol}) "
        f"on {on.type}, draw {chosen} ({why})"
    )
    searched = draw is None and len(draws) > 1  # and so found among records
    if not searched and not _has_records(study, name, variant, runs, prepared.fingerprint):
        say(
            f"{runs} has no current record of {variant} on {name} under protocol {protocol}: nothing "
            "says yet what to expect on a new domain"
        )
    with blamed(method, config["method"]):
        pack = Pack(trained, Windows(trained, on), [run], config, [hparams], progress or Progress())
        (record,) = pack.train()
    if record["status"] == "diverged":
        raise InputError(
            f"{variant}: the training diverged at iteration {record['diverged_at']} with draw {chosen}; "
            "choose another draw with --draw"
        )
    model = Model(pack.method.network.cpu(), *_scales(pack.windows, len(prepared.card["channels"])))
    logits, labels = _validation(pack, model)
    temperature = fit_temperature(logits, labels)
    validation = record["checkpoints"][-1]["validation"]
    card = prepared.card
    overlap = config["split"] == "random" and card["window"]["stride"] < card["window"]["length"]
    notes = [
        "The temperature was fitted on validation windows of the domains trained on, never on another one: "
        "on a new domain, confidences may still be too high.",
        "Validation accuracy is of these domains too; a table of held-out domains says what to expect of a "
        "new one.",
    ]
    if overlap:
        notes.append(
            "Validation windows overlap training windows (split: random), so validation and temperature are "
            "optimistic."
        )
    if card.get("kind") != "table":
        notes.append(f"Signals must be prepared as those of {name}, see its card's options.")
    return Bundle(
        {
            "format": FORMAT,
            "dataset": name,
            "variant": variant,
            "label": study.variant(variant)["label"],
            "method": {"name": config["method"], "title": method.title, "citation": method.citation},
            "classes": prepared.classes,
            "channels": card["channels"],
            "sampling_rate": card.get("sampling_rate"),
            "resample": card.get("resample"),
            "columns": {key: card.get("options", {}).get(key) for key in ("recording", "time")},
            "window": {"short": "drop"} | card["window"],
            "input": "float32 (N, C, T): windows, channels in this order, time steps; as in the recordings",
            "output": "float32 (N, K): logits; softmax gives probabilities",
            "network": {"backbone": config["backbone"]},
            "standardize": _listed(model, card["channels"]) if config["standardize"] else None,
            "temperature": temperature,
            "domains": {domain: card["domains"][domain] for domain in config["domains"]},
            "validation": {
                domain: {key: validation[domain][key] for key in ("accuracy", "ece", "n")}
                for domain in validation
            },
            "draw": chosen,
            "draw_chosen": why,
            "hparams": hparams,
            "seed": seed,
            "config": config,
            "simulated": card.get("simulated", False),
            "data": card["fingerprint"],
            "code": {"version": tsdg.__version__, "fingerprint": code_fingerprint(config["method"])},
            "notes": notes,
        },
        model,
    )


def without_target(data: WindowedDataset) -> WindowedDataset:
    """A data set with one more domain of a single window, to be held out so that none of the others is."""
    first = data.windows.head(1).assign(domain=NOBODY)
    windows = pd.concat([data.windows, first], ignore_index=True)
    return replace(data, windows=windows, card=data.card | {"domains": data.card["domains"] | {NOBODY: {}}})


def selected_draw(
    study: Study, dataset: str, variant: str, runs: Path, fingerprint: str
) -> tuple[int | str, str]:
    """The draw with the best source validation over all targets and seeds with a record, and why.

    Accuracy on targets has no say. A draw with more finished records goes before one with fewer. Records of
    other settings, code or data (`fingerprint`) do not count.
    """
    draws = study.draws(variant)
    if len(draws) == 1:
        return draws[0], "the only one of the protocol"
    found = current_validation(study, dataset, variant, runs, fingerprint)
    if not found:
        raise InputError(
            f"{runs}: no current records of {variant} on {dataset} under protocol "
            f"{study.params['protocol']}, from which a draw could be selected; make the table first, or "
            "give --draw fixed"
        )

    def rank(draw: int | str) -> tuple:
        return -len(found[draw]), -fsum(found[draw]) / len(found[draw]), draw_order(draw)

    best = min(found, key=rank)
    mean = fsum(found[best]) / len(found[best])
    return best, f"best source validation, {mean:.1%} over {len(found[best])} runs of {len(found)} draws"


def current_validation(
    study: Study, dataset: str, variant: str, runs: Path, fingerprint: str
) -> dict[int | str, list[float]]:
    """Accuracies of source validation of each draw's finished runs with a current record."""
    config = study.config(dataset, variant)
    found: dict[int | str, list[float]] = {}
    for run in study.runs(dataset, [variant]):
        path = runs / run_path(run)
        if path.exists():
            record = records.read(path)
            records.check_run(path, record, run)
            current = is_current(record, config, study.hparams(run), fingerprint)
            if current and record["status"] == "finished":
                found.setdefault(run.draw, []).append(records.source_accuracy(record["checkpoints"][-1]))
    return found


def _has_records(study: Study, dataset: str, variant: str, runs: Path, fingerprint: str) -> bool:
    try:
        return bool(current_validation(study, dataset, variant, runs, fingerprint))
    except InputError:  # a damaged one, of which nothing depends here
        return True


def fit_temperature(logits: np.ndarray, labels: np.ndarray) -> float:
    """The T that makes softmax(logits / T) likeliest, ``(N, K)`` and ``(N,)``. Guo et al., ICML 2017."""

    def loss(log_temperature: float) -> float:
        scaled = logits / np.exp(log_temperature)
        scaled = scaled - scaled.max(1, keepdims=True)
        return float((np.log(np.exp(scaled).sum(1)) - scaled[np.arange(len(labels)), labels]).mean())

    found = scipy.optimize.minimize_scalar(loss, bounds=tuple(np.log(TEMPERATURES)), method="bounded")
    return float(np.exp(found.x))


def _scales(windows: Windows, channels: int) -> tuple[torch.Tensor, torch.Tensor]:
    if windows.scales is None:
        return torch.zeros(channels), torch.ones(channels)
    mean, deviation = windows.scales
    return mean[0].cpu(), deviation[0].cpu()


def _listed(model: Model, channels: Sequence[str]) -> list[dict[str, Any]]:
    """Mean and deviation of each channel; a channel that is never measured stays out by a huge deviation."""
    deviation = model.deviation.nan_to_num(posinf=torch.finfo(torch.float32).max)
    pairs = zip(channels, model.mean.flatten().tolist(), deviation.flatten().tolist(), strict=True)
    return [{"channel": channel, "mean": mean, "deviation": scale} for channel, mean, scale in pairs]


@torch.no_grad()
def _validation(pack: Pack, model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Logits and labels of all sources' validation windows, as the model to take away gives them."""
    (sources,) = pack.sources
    rows = np.concatenate([sources.evaluation[name] for name in sources.names])
    index = torch.from_numpy(rows).to(pack.device)
    x = pack.windows.views[pack.windows.starts[index]].cpu()
    labels = pack.windows.labels[index].cpu().numpy()
    return torch.cat([model(part) for part in x.split(256)]).double().numpy(), labels


def summary(card: Mapping[str, Any]) -> str:
    """A bundle in one line."""
    accuracies = [scores["accuracy"] for scores in card["validation"].values()]
    return (
        f"{card['label']} on {', '.join(card['domains'])}: source validation "
        f"{100 * sum(accuracies) / len(accuracies):.1f} %, draw {card['draw']} ({card['draw_chosen']}), "
        f"temperature {card['temperature']:.2f}"
    )
