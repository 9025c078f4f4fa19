"""Training on all domains, with the draw that selection chose, into a bundle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.special import softmax
from torch import nn

from tsdg import methods
from tsdg.bundle import new_domain
from tsdg.bundle.card import Choice, make_card
from tsdg.bundle.centred import CentredNetwork
from tsdg.bundle.draws import chosen_draw, has_records
from tsdg.bundle.linear import linear_network
from tsdg.bundle.model import Bundle, Model
from tsdg.data.integrity import load_checked
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning import metrics
from tsdg.learning.calibration import fit_temperature
from tsdg.learning.centring import NONE
from tsdg.learning.inputs import Windows
from tsdg.methods import estimators
from tsdg.methods.base import Method
from tsdg.methods.plugins import blamed
from tsdg.runs.domains import check_domains
from tsdg.runs.estimation import Fitting
from tsdg.runs.recipe import Recipe, Recipes
from tsdg.runs.training import Progress, Result, Trainer, choose_device
from tsdg.study.reading import AVERAGED, WAYS, Reading
from tsdg.study.run import RECORDS
from tsdg.study.study import Study


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
        Hyperparameters; by default those that `tsdg.bundle.draws.selected_draw` chooses.
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
    prepared = load_checked(data)
    name = dataset or prepared.card["name"]
    config, reading = study.config(name, variant), study.reading(variant)
    _check_reading(study, variant, reading)
    check_domains(study, name, prepared, Path(data))
    _check_method(config["method"], variant)
    chosen = chosen_draw(study, name, reading.variant, draw, runs, prepared.fingerprint, seed)
    choice = Choice(name, variant, *chosen, seed, members(study, variant))
    on = choose_device(device or study.params["device"])
    say(_announcement(study, choice, config, on))
    found_in_records = draw is None and len(study.draws(variant)) > 1
    if not found_in_records and not has_records(study, name, reading.variant, runs, prepared.fingerprint):
        say(
            f"{runs} has no current record of {variant} on {name} under protocol "
            f"{study.params['protocol']}: nothing says yet what to expect on a new domain"
        )
    recipes = Recipes(study, {study.prepared(name): prepared.fingerprint})
    recipe = recipes.of_draw(name, variant, choice.draw, seed)
    if config["method"] == estimators.METHOD:
        fitting, result = _fitted(prepared, recipe, choice, progress)
        model, standardized = _model(linear_network(fitting), fitting.windows)
        taught, temperature = fitting.dataset, 1.0
        validation = result.checkpoints[-1]["validation"]
    else:
        trainers = _trained(prepared, recipe, choice, on, progress)
        network: nn.Module = stacked([_network(trainer, reading.weights).cpu() for trainer in trainers])
        if before := trainers[0].before:
            network = CentredNetwork(before.before.cpu(), network)
        model, standardized = _model(network, trainers[0].windows, choice.members)
        scored = _validation(trainers[0], model)
        temperature = fit_temperature(*(np.concatenate(part) for part in zip(*scored.values(), strict=True)))
        taught = trainers[0].dataset
        validation = {domain: metrics.evaluate(softmax(z, 1), y) for domain, (z, y) in scored.items()}
    given = new_domain.given(model, taught, recipe.config) if choice.members == 1 else None
    card = make_card(
        study, choice, recipe, taught, model, standardized=standardized, temperature=temperature,
        validation=validation, given=given,
    )  # fmt: skip
    return Bundle(card, model)


def members(study: Study, variant: str) -> int:
    """How many trainings a model of a variant takes: of an ensemble as many as the protocol has seeds."""
    return study.protocol.seeds if study.reading(variant).ensemble else 1


def _check_reading(study: Study, variant: str, reading: Reading) -> None:
    if reading.weights == AVERAGED and reading.since is None:
        raise InputError(
            f"{variant}: {reading.variant} is trained without `average`; give it one, such as "
            "--set 'average={from: 0.2}'"
        )
    if reading.weights in WAYS:
        raise InputError(
            f"{variant}: networks are adapted where they are used; export {reading.variant}, which "
            "`tsdg predict --adapt` adapts to the windows of a file"
        )
    if reading.ensemble and study.protocol.seeds < 2:
        raise InputError(
            f"{variant}: an ensemble is of the protocol's seeds, and {study.protocol.name} has one; choose "
            "another with --set protocol=..."
        )
    row = study.variant(variant)
    for what, met in (
        ("estimators", row["method"] == estimators.METHOD),
        ("centred networks", row.get("center", NONE) != NONE),
    ):
        if reading.ensemble and met:
            raise InputError(f"{variant}: an ensemble of {what} cannot be exported; choose {reading.variant}")


def stacked(networks: Sequence[nn.Module]) -> nn.Module:
    """Networks of one run each as one of all their runs."""
    whole = deepcopy(networks[0])
    states = [network.state_dict() for network in networks]
    for name, value in [*whole.named_parameters(), *whole.named_buffers()]:
        if name in states[0]:
            value.data = torch.cat([state[name] for state in states])
    return whole


def _network(trainer: Trainer, weights: str) -> nn.Module:
    if weights == AVERAGED and trainer.averaged:
        return trainer.averaged.network
    return trainer.method.network


def _check_method(name: str, variant: str) -> None:
    if name == estimators.METHOD:
        return
    method = methods.get(name)
    if method.embeds_domain or method.predict is not Method.predict:
        raise InputError(
            f"{variant}: {method.title} looks at all windows of a domain to classify one of them, so it is "
            "no function of a window and cannot be exported; choose another variant"
        )


def _announcement(study: Study, choice: Choice, config: Mapping[str, Any], device: torch.device) -> str:
    how = f": draw {choice.draw} ({choice.why})"
    what = f"method {config['method']}"
    if config["method"] == estimators.METHOD:
        what = f"{config['estimator']} of features"
        how = how if "search" in study.variant(choice.variant) else ""
    else:
        protocol = f"protocol {study.params['protocol']}"
        how = f": {config['iterations']} iterations ({protocol}) on {device.type}, {how[2:]}"
    return (
        f"{study.variant(choice.variant)['label']} ({what}) on all domains of {choice.dataset}, "
        f"{', '.join(config['domains'])}{how}"
    )


def _fitted(
    data: WindowedDataset, recipe: Recipe, choice: Choice, progress: Progress | None
) -> tuple[Fitting, Result]:
    """A fitted estimator, and how good it was."""
    fitting = Fitting(
        data, Windows(data), recipe.config, target=None, seed=choice.seed, hparams=recipe.hparams
    )
    return fitting, fitting.train(progress, choice.variant)


def _trained(
    data: WindowedDataset,
    recipe: Recipe,
    choice: Choice,
    device: torch.device,
    progress: Progress | None,
) -> list[Trainer]:
    """A trainer of each member, after its training; all have the validation windows of the first."""
    method, found = recipe.config["method"], []
    with blamed(methods.get(method), method):
        for seed in range(choice.seed, choice.seed + choice.members):
            trainer = Trainer(
                data, Windows(data, device), recipe.config,
                targets=[None], seeds=[seed], splits=[choice.seed], hparams=[recipe.hparams],
            )  # fmt: skip
            (result,) = trainer.train(progress, [choice.variant])
            if result.diverged_at is not None:
                raise InputError(
                    f"{choice.variant}: the training diverged at iteration {result.diverged_at} with draw "
                    f"{choice.draw}; choose another draw with --draw"
                )
            found.append(trainer)
    return found


def _model(network: nn.Module, windows: Windows, members: int = 1) -> tuple[Model, bool]:
    """The model of a network and what its windows went through, and whether this is a standardization."""
    if windows.scales is None:
        channels = windows.views.shape[1]
        return Model(network, torch.zeros(channels), torch.ones(channels), members), False
    mean, deviation = windows.scales
    return Model(network, mean[0].cpu(), deviation[0].cpu(), members), True


@torch.no_grad()
def _validation(trainer: Trainer, model: Model) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Logits and labels of each source's validation windows, as the model to take away gives them.

    A source is centred by its own training windows, or reference.
    """
    (sources,) = trainer.sources
    found = {}
    for d, name in enumerate(sources.names):
        if isinstance(model.network, CentredNetwork) and trainer.before:
            model.network.centre.copy_(trainer.before.means[:, d])
        index = torch.from_numpy(sources.evaluation[name]).to(trainer.device)
        x = trainer.windows.views[trainer.windows.starts[index]].cpu()
        logits = torch.cat([model(part) for part in x.split(256)]).double().numpy()
        found[name] = logits, trainer.windows.labels[index].cpu().numpy()
    return found
