"""What a model takes of a new domain: recordings of its reference class, or its windows unlabelled.

Statistics of windows stand for a domain only if all kinds of windows are among them. Those of one kind alone
differ little among each other, which shows: so a batch of one kind is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from tsdg.bundle.model import Bundle, Centred, Model
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning.adaptation import has_statistics, statistics_of_all
from tsdg.learning.centring import DOMAIN, NONE, REFERENCE
from tsdg.learning.features import Features

BLOCK = 256  # windows in memory at a time
FEWEST = 10  # windows of a class, on average, that adapting takes; and of a reference
LOG_POWER = {"spectrum": {"level": "plain"}}


class Windows(Protocol):
    """Windows ``(n, C, T)`` by their numbers ``(n,)`` from 0."""

    def __len__(self) -> int: ...
    def __call__(self, numbers: Tensor, /) -> Tensor: ...


def given(model: Model, data: WindowedDataset, config: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the card says of it: None of a model that takes nothing of a new domain.

    ``center`` and ``reference`` as in params.yaml; ``one_kind`` and ``all_kinds``: how much windows of one
    class of a domain differ among each other at most, and those of a whole domain at least.
    """
    center = config.get("center", NONE)
    if center == NONE and not _adapts(model):
        return None
    windows = data.windows
    label = windows["label"].to_numpy()
    one, every = [], []
    for domain in config["domains"]:
        here = (windows["domain"] == domain).to_numpy() & (label >= 0)
        if here.any():
            levels, own = log_power(model, _Rows(data, here)), label[here]
            every.append(spread(levels))
            one += [spread(levels[own == k]) for k in np.unique(own)]
    return {
        "center": center,
        "reference": config.get("reference"),
        "one_kind": max(one),
        "all_kinds": min(every),
    }


def log_power(model: Model, windows: Windows) -> np.ndarray:
    """Log power ``(N, F)`` of windows by frequency and channel."""
    of, numbers = Features(LOG_POWER), torch.arange(len(windows))
    return np.concatenate([of(model.standardized(windows(part)).numpy()) for part in numbers.split(BLOCK)])


def spread(levels: np.ndarray) -> float:
    """How much windows differ: the variance of their log power, its mean over frequencies."""
    return float(levels.var(0).mean())


def check_asked(card: Mapping[str, Any], *, reference: bool, adapt: bool) -> None:
    """Raise `InputError` unless a model is given what it takes, and nothing else."""
    about = card.get("given") or {}
    center = about.get("center", NONE)
    if reference and center != REFERENCE:
        raise InputError("--reference: the model takes no reference recordings; leave it out")
    if center == REFERENCE and not reference:
        raise InputError(
            f"the model takes recordings of class {about['reference']} of the same domain: give them with "
            "--reference FILE"
        )
    if center == DOMAIN and not adapt:
        raise InputError(
            "the model takes features less their domain's mean: give --adapt, and a file with recordings of "
            "all kinds of one domain"
        )
    if adapt and (not about or center == REFERENCE):
        raise InputError("--adapt: the model takes nothing of the windows that it classifies; leave it out")


def take_reference(bundle: Bundle, windows: Windows, where: str, say: Callable[[str], None]) -> None:
    """Centre a model on the mean of windows of its reference class, and say so, or that they are more.

    Raises
    ------
    InputError
        They are few.
    """
    about = bundle.card["given"]
    name, one, every = about["reference"], about["one_kind"], about["all_kinds"]
    _check_count(len(windows), FEWEST, where, f"of class {name}")
    found = spread(log_power(bundle.model, windows))
    if one < every and found > sqrt(one * every):
        say(
            f"{where}: --reference: its windows differ by {found:.2g}, more than those of one kind do (up "
            f"to {one:.2g}; those of a whole domain from {every:.2g}): is each of them {name}?"
        )
    _centre(bundle.model, windows)
    say(f"Reference: the mean of {len(windows)} windows of {where}, which are taken for {name}.")


def take_windows(bundle: Bundle, windows: Windows, where: str, say: Callable[[str], None]) -> None:
    """Centre a model, or its batch normalization, on the windows that it will classify, and say so.

    Raises
    ------
    InputError
        They are few, or of one kind.
    """
    about, model, count = bundle.card["given"], bundle.model, len(windows)
    kinds, center = ", ".join(bundle.card["classes"]), about["center"]
    otherwise = "" if center == DOMAIN else ", or leave --adapt out"
    _check_count(count, FEWEST * len(bundle.card["classes"]), where, f"of all kinds ({kinds}){otherwise}")
    found, one, every = spread(log_power(model, windows)), about["one_kind"], about["all_kinds"]
    if one < every and found < sqrt(one * every):
        raise InputError(
            f"{where}: --adapt: its windows differ by {found:.2g}, which is as windows of one kind do (up to "
            f"{one:.2g}; those of a whole domain from {every:.2g}), and statistics of one kind are not those "
            f"of a domain: give recordings of all kinds ({kinds}) at once{otherwise}"
        )
    if center == DOMAIN:
        _centre(model, windows)
        say(f"Adapted: features are less their mean over the {count} windows of {where}.")
        return
    network: Any = model.network
    with torch.no_grad():
        statistics = statistics_of_all(
            network, lambda part: model.standardized(windows(part[0]))[None],
            torch.arange(count)[None], torch.ones(1, count), BLOCK,
        )  # fmt: skip
    for norm, (mean, variance) in statistics.items():
        norm.get_buffer("running_mean").copy_(mean)
        norm.get_buffer("running_var").copy_(variance)
    say(f"Adapted: batch normalization goes by the statistics of the {count} windows of {where}.")


class _Rows:
    """Some windows of a prepared data set."""

    def __init__(self, data: WindowedDataset, chosen: np.ndarray):
        self.signals, self.length = data.signals, data.card["window"]["length"]
        self.starts = data.windows["start"].to_numpy()[chosen]

    def __len__(self) -> int:
        return len(self.starts)

    def __call__(self, numbers: Tensor) -> Tensor:
        parts = [self.signals[start : start + self.length].T for start in self.starts[numbers.numpy()]]
        return torch.from_numpy(np.stack(parts))


def _adapts(model: Model) -> bool:
    return not isinstance(model.network, Centred) and has_statistics(model.network)  # type: ignore[arg-type]


def _check_count(count: int, least: int, where: str, what: str) -> None:
    if count < least:
        raise InputError(f"{where}: {count} windows are few for statistics; give {least} or more, {what}")


def _centre(model: Model, windows: Windows) -> None:
    network = model.network
    assert isinstance(network, Centred)
    total = torch.zeros_like(network.centre)
    for part in torch.arange(len(windows)).split(BLOCK):
        total += len(part) * model.mean_of(windows(part))
    network.centre.copy_(total / len(windows))
