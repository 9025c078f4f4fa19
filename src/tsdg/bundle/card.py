"""A bundle's card: what the model is, what it takes and gives, how good it was, and what decided it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

import tsdg
from tsdg import methods
from tsdg.bundle.model import Model
from tsdg.bundle.schema import FORMAT
from tsdg.data.kinds import KINDS
from tsdg.data.windows import WindowedDataset
from tsdg.learning.backbones.options import OPTIONS
from tsdg.methods import estimators
from tsdg.runs.recipe import Recipe
from tsdg.study.reading import AVERAGED
from tsdg.study.study import Study


@dataclass(frozen=True)
class Choice:
    """What is exported: a variant trained on every domain of a data set, and why by that draw."""

    dataset: str
    variant: str
    draw: int | str
    why: str
    seed: int
    members: int = 1


def make_card(
    study: Study,
    choice: Choice,
    recipe: Recipe,
    data: WindowedDataset,
    model: Model,
    *,
    standardized: bool,
    temperature: float,
    validation: Mapping[str, Mapping[str, Any]],
    given: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The card of a trained model.

    Parameters
    ----------
    standardized : bool
        Whether the model standardizes windows, and so fills what is missing of them.
    temperature : float
    validation : mapping
        Its scores on each domain's validation windows.
    given : mapping, optional
        See `tsdg.bundle.new_domain.given`.
    """
    config = recipe.config
    return {
        **_identity(study, choice, config),
        **_interface(data, config, model if standardized else None),
        "temperature": temperature,
        "given": given,
        "domains": {domain: data.card["domains"][domain] for domain in config["domains"]},
        "validation": {
            domain: {key: scores[key] for key in ("accuracy", "ece", "n")}
            for domain, scores in validation.items()
        },
        **_provenance(data, choice, recipe),
        **({"members": choice.members} if choice.members > 1 else {}),
        "notes": _model_notes(study, choice) + _notes(data, choice.dataset, config),
    }


def summary(card: Mapping[str, Any]) -> str:
    """A bundle in one line."""
    accuracies = [scores["accuracy"] for scores in card["validation"].values()]
    estimated = card["method"]["name"] == estimators.METHOD
    return (
        f"{card['label']} on {', '.join(card['domains'])}: source validation "
        f"{100 * sum(accuracies) / len(accuracies):.1f} %"
        + ("" if estimated and not card["hparams"] else f", draw {card['draw']} ({card['draw_chosen']})")
        + ("" if estimated else f", temperature {card['temperature']:.2f}")
    )


def _identity(study: Study, choice: Choice, config: Mapping[str, Any]) -> dict[str, Any]:
    """What the model is."""
    method = {"name": config["method"]}
    if config["method"] == estimators.METHOD:
        method |= {"title": config["estimator"], "citation": ""}
    else:
        known = methods.get(config["method"])
        method |= {"title": known.title, "citation": known.citation}
    return {
        "format": FORMAT,
        "dataset": choice.dataset,
        "variant": choice.variant,
        "label": study.variant(choice.variant)["label"],
        "method": method,
    }


def _interface(data: WindowedDataset, config: Mapping[str, Any], model: Model | None) -> dict[str, Any]:
    """What the model takes and gives."""
    card = data.card
    options = card.get("options", {})
    columns = {key: options.get(key) for key in ("recording", "time")}
    if isinstance(options.get("sampling_rate"), str):
        columns["rate"] = options["sampling_rate"]
    return {
        "classes": data.classes,
        "channels": card["channels"],
        "sampling_rate": card.get("sampling_rate"),
        "resample": card.get("resample"),
        "order": card.get("order"),
        "columns": columns,
        "window": {"short": "drop"} | card["window"],
        "input": "float32 (N, C, T): windows, channels in this order, time steps; as in the recordings",
        "output": "float32 (N, K): logits; softmax gives probabilities",
        "network": {key: config[key] for key in ("backbone", *OPTIONS, "input", "features") if key in config},
        "standardize": _listed(model, card["channels"]) if model else None,
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


def _model_notes(study: Study, choice: Choice) -> list[str]:
    """What the model is where it is not the last weights of one training."""
    notes = []
    if study.reading(choice.variant).weights == AVERAGED:
        notes.append("Its weights are the mean over the end of the training, see `average` in the settings.")
    if choice.members > 1:
        last = choice.seed + choice.members - 1
        notes.append(
            f"An ensemble of the trainings with seeds {choice.seed} to {last}: probabilities are the mean of "
            "theirs. None has seen the validation windows, which are the same for all."
        )
    return notes


def _notes(data: WindowedDataset, name: str, config: Mapping[str, Any]) -> list[str]:
    """What whoever uses the model has to know."""
    window = data.card["window"]
    if config["method"] == estimators.METHOD:
        confidence = "Confidences are the estimator's own: on a new domain, they may be too high."
    else:
        confidence = (
            "The temperature was fitted on validation windows of the domains trained on, never on another "
            "one: on a new domain, confidences may still be too high."
        )
    notes = [
        confidence,
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


def _listed(model: Model, channels: Sequence[str]) -> list[dict[str, Any]]:
    """Mean and deviation of each channel; a channel that is never measured stays out by a huge deviation."""
    deviation = model.deviation.nan_to_num(posinf=torch.finfo(torch.float32).max)
    pairs = zip(channels, model.mean.flatten().tolist(), deviation.flatten().tolist(), strict=True)
    return [{"channel": channel, "mean": mean, "deviation": scale} for channel, mean, scale in pairs]
