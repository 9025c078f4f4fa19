"""Training on all domains, with the draw that selection chose, into a bundle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import scipy.optimize
import torch

import tsdg
from tsdg import methods
from tsdg.bundle.model import FORMAT, Bundle, Model
from tsdg.data.kinds import KINDS
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning.inputs import Windows
from tsdg.methods import Method, estimators
from tsdg.methods.plugins import blamed
from tsdg.runs.recipe import Recipe, Recipes
from tsdg.runs.record import read
from tsdg.runs.training import Progress, Result, Trainer, choose_device
from tsdg.study.run import RECORDS, draw_order, run_path
from tsdg.study.study import Study

TEMPERATURES = (0.05, 20.0)


@dataclass(frozen=True)
class Choice:
    """What is exported: a variant trained on every domain of a data set, and why by that draw."""

    dataset: str
    variant: str
    draw: int | str
    why: str
    seed: int


def export(
    study: Study,
    data: Path,
    *,
    dataset: str | None = None,
    variant: str,
    draw: int | str | None = None,
    seed: int = 0,
    runs: Path = Path(RECORDS),
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
    _check_method(config["method"], variant)
    choice = Choice(name, variant, *_draw(study, name, variant, draw, runs, prepared.fingerprint), seed)
    on = choose_device(device or study.params["device"])
    say(_announcement(study, choice, config, on))
    found_in_records = draw is None and len(study.draws(variant)) > 1
    if not found_in_records and not _has_records(study, name, variant, runs, prepared.fingerprint):
        say(
            f"{runs} has no current record of {variant} on {name} under protocol "
            f"{study.params['protocol']}: nothing says yet what to expect on a new domain"
        )
    recipes = Recipes(study, {study.prepared(name): prepared.fingerprint})
    recipe = recipes.of_draw(name, variant, choice.draw)
    trainer, result = _trained(prepared, recipe, choice, on, progress)
    model = Model(trainer.method.network.cpu(), *_scales(trainer.windows, len(prepared.card["channels"])))
    temperature = fit_temperature(*_validation(trainer, model))
    validation = result.checkpoints[-1]["validation"]
    card = {
        **_identity(study, choice, config["method"]),
        **_interface(prepared, config, model),
        "temperature": temperature,
        "domains": {domain: prepared.card["domains"][domain] for domain in config["domains"]},
        "validation": {
            domain: {key: scores[key] for key in ("accuracy", "ece", "n")}
            for domain, scores in validation.items()
        },
        **_provenance(prepared, choice, recipe),
        "notes": _notes(prepared, name, config),
    }
    return Bundle(card, model)


def _check_method(name: str, variant: str) -> None:
    if name == estimators.METHOD:
        raise InputError(
            f"{variant}: an estimator cannot be exported; choose a variant that trains a network"
        )
    method = methods.get(name)
    if method.embeds_domain or method.predict is not Method.predict:
        raise InputError(
            f"{variant}: {method.title} looks at all windows of a domain to classify one of them, so it is "
            "no function of a window and cannot be exported; choose another variant"
        )


def _draw(
    study: Study, dataset: str, variant: str, wanted: int | str | None, runs: Path, fingerprint: str
) -> tuple[int | str, str]:
    """The draw that is wanted, or else selected, and why."""
    draws = study.draws(variant)
    if wanted is None:
        return selected_draw(study, dataset, variant, runs, fingerprint)
    if wanted not in ("fixed", *draws):
        numbers = f", or of {draws[0]}-{draws[-1]}" if draws != ["fixed"] else ""
        raise InputError(
            f"--draw {wanted}: not a draw of {variant} under protocol {study.params['protocol']}; "
            f"choose fixed{numbers}"
        )
    return wanted, "as asked for"


def _announcement(study: Study, choice: Choice, config: Mapping[str, Any], device: torch.device) -> str:
    return (
        f"{study.variant(choice.variant)['label']} (method {config['method']}) on all domains of "
        f"{choice.dataset}, {', '.join(config['domains'])}: {config['iterations']} iterations "
        f"(protocol {study.params['protocol']}) on {device.type}, draw {choice.draw} ({choice.why})"
    )


def _trained(
    data: WindowedDataset,
    recipe: Recipe,
    choice: Choice,
    device: torch.device,
    progress: Progress | None,
) -> tuple[Trainer, Result]:
    method = recipe.config["method"]
    with blamed(methods.get(method), method):
        trainer = Trainer(
            data, Windows(data, device), recipe.config,
            targets=[None], seeds=[choice.seed], hparams=[recipe.hparams],
        )  # fmt: skip
        (result,) = trainer.train(progress, [choice.variant])
    if result.diverged_at is not None:
        raise InputError(
            f"{choice.variant}: the training diverged at iteration {result.diverged_at} with draw "
            f"{choice.draw}; choose another draw with --draw"
        )
    return trainer, result


def _identity(study: Study, choice: Choice, name: str) -> dict[str, Any]:
    """What the model is."""
    method = methods.get(name)
    return {
        "format": FORMAT,
        "dataset": choice.dataset,
        "variant": choice.variant,
        "label": study.variant(choice.variant)["label"],
        "method": {"name": name, "title": method.title, "citation": method.citation},
    }


def _interface(data: WindowedDataset, config: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """What the model takes and gives."""
    card = data.card
    return {
        "classes": data.classes,
        "channels": card["channels"],
        "sampling_rate": card.get("sampling_rate"),
        "resample": card.get("resample"),
        "columns": {key: card.get("options", {}).get(key) for key in ("recording", "time")},
        "window": {"short": "drop"} | card["window"],
        "input": "float32 (N, C, T): windows, channels in this order, time steps; as in the recordings",
        "output": "float32 (N, K): logits; softmax gives probabilities",
        "network": {"backbone": config["backbone"]},
        "standardize": _listed(model, card["channels"]) if config["standardize"] else None,
    }


def _provenance(data: WindowedDataset, choice: Choice, recipe: Recipe) -> dict[str, Any]:
    """What decided the training."""
    return {
        "draw": choice.draw,
        "draw_chosen": choice.why,
        "hparams": recipe.hparams,
        "seed": choice.seed,
        "config": recipe.config,
        "simulated": data.card.get("simulated", False),
        "data": recipe.data,
        "code": {"version": tsdg.__version__, "fingerprint": recipe.code},
    }


def _notes(data: WindowedDataset, name: str, config: Mapping[str, Any]) -> list[str]:
    """What whoever uses the model has to know."""
    window = data.card["window"]
    notes = [
        "The temperature was fitted on validation windows of the domains trained on, never on another one: "
        "on a new domain, confidences may still be too high.",
        "Validation accuracy is of these domains too; a table of held-out domains says what to expect of a "
        "new one.",
    ]
    if config["split"] == "random" and window["stride"] < window["length"]:
        notes.append(
            "Validation windows overlap training windows (split: random), so validation and temperature are "
            "optimistic."
        )
    kind = KINDS.get(data.card.get("kind", ""))
    if kind is None or not kind.own:
        notes.append(f"Signals must be prepared as those of {name}, see its card's options.")
    return notes


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
    recipes = Recipes(study, {study.prepared(dataset): fingerprint})
    found: dict[int | str, list[float]] = {}
    for run in study.runs(dataset, [variant]):
        path = runs / run_path(run)
        if path.exists():
            record = read(path, run)
            if record.finished and not recipes.of(run).difference(record.recipe):
                found.setdefault(run.draw, []).append(record.checkpoints[-1].source_accuracy)
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
def _validation(trainer: Trainer, model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Logits and labels of all sources' validation windows, as the model to take away gives them."""
    (sources,) = trainer.sources
    rows = np.concatenate([sources.evaluation[name] for name in sources.names])
    index = torch.from_numpy(rows).to(trainer.device)
    x = trainer.windows.views[trainer.windows.starts[index]].cpu()
    labels = trainer.windows.labels[index].cpu().numpy()
    return torch.cat([model(part) for part in x.split(256)]).double().numpy(), labels


def summary(card: Mapping[str, Any]) -> str:
    """A bundle in one line."""
    accuracies = [scores["accuracy"] for scores in card["validation"].values()]
    return (
        f"{card['label']} on {', '.join(card['domains'])}: source validation "
        f"{100 * sum(accuracies) / len(accuracies):.1f} %, draw {card['draw']} ({card['draw_chosen']}), "
        f"temperature {card['temperature']:.2f}"
    )
