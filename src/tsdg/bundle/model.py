"""The model of a bundle: a plain function from windows to logits, and the folder that keeps it."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tsdg.bundle import schema
from tsdg.bundle.centred import CentredNetwork
from tsdg.bundle.linear import LinearNetwork
from tsdg.errors import InputError
from tsdg.files import atomic, write_text
from tsdg.learning.centring import NONE
from tsdg.learning.features import Features
from tsdg.learning.networks import INPUTS, build, options
from tsdg.runs.strict import parsed

CARD, WEIGHTS, ONNX = "card.json", "weights.safetensors", "model.onnx"
_REMEDY = "make it again with `tsdg export`"


Centred = LinearNetwork | CentredNetwork  # networks that may take the mean of a domain


class Model(nn.Module):
    """Logits ``(N, K)`` of raw windows ``(N, C, T)``: standardized, through the network.

    Those of an ensemble are the logarithm of the mean of its members' probabilities. What a centred network
    takes off is the mean that it has, or that of windows of the domain ``(M, C, T)``, where they are given.

    Parameters
    ----------
    network : Network, CentredNetwork or LinearNetwork
        Of one run, or of an ensemble's.
    mean, deviation : (C,)
        What each channel is reduced by and divided by; 0 and 1 where it is taken as it is.
    members : int
        R of the network.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, network: nn.Module, mean: Tensor, deviation: Tensor, members: int = 1):
        super().__init__()
        self.network, self.members = network, members
        self.register_buffer("mean", mean.reshape(-1, 1).float())
        self.register_buffer("deviation", deviation.reshape(-1, 1).float())
        self.eval()

    def standardized(self, x: Tensor) -> Tensor:
        """Windows as the network takes them."""
        x = (x - self.mean) / self.deviation
        return torch.where(x.isnan(), torch.zeros_like(x), x)  # what is missing is the mean

    def mean_of(self, windows: Tensor) -> Tensor:
        """What the windows ``(N, C, T)`` of a domain are centred by: the mean of some of them."""
        assert isinstance(self.network, Centred)
        return self.network.features(self.standardized(windows)).double().mean(0, keepdim=True)

    def forward(self, x: Tensor, of_domain: Tensor | None = None) -> Tensor:
        x = self.standardized(x).unsqueeze(0)
        if of_domain is not None:
            return self.network(x, self.mean_of(of_domain)).squeeze(0)
        if self.members == 1:
            return self.network(x).squeeze(0)
        logits = self.network(x.expand(self.members, *x.shape[1:]))
        return logits.log_softmax(-1).logsumexp(0) - math.log(self.members)


@dataclass
class Bundle:
    """A model and its card.

    Attributes
    ----------
    card : dict
        What the model is, takes and gives, see `tsdg.bundle.card`.
    model : Model
    """

    card: dict[str, Any]
    model: Model

    @classmethod
    def load(cls, folder: str | Path) -> Bundle:
        """Open a bundle.

        Raises
        ------
        InputError
            If a file is missing, damaged or of another format, or not as `save` wrote it.
        """
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        folder = Path(folder)
        for name in (CARD, WEIGHTS):
            if not (folder / name).is_file():
                raise InputError(f"{folder}: not a bundle, {name} is missing; {_REMEDY}")
        try:
            card = parsed((folder / CARD).read_bytes())
            schema.check(card)
        except OSError as error:
            raise InputError(f"{folder / CARD}: cannot be read ({error.strerror}); {_REMEDY}") from None
        except RecursionError:
            raise InputError(f"{folder / CARD}: is nested too deeply; {_REMEDY}") from None
        except ValueError as error:
            raise InputError(f"{folder / CARD}: not the card of a bundle, {error}; {_REMEDY}") from None
        if card.pop("checksum") != _checksum(card, (folder / WEIGHTS).read_bytes()):
            raise InputError(
                f"{folder}: {CARD} and {WEIGHTS} are not what was exported together; undo what was changed "
                f"in them, or {_REMEDY}"
            )
        try:
            weights = load_file(folder / WEIGHTS)
            model = empty_model(card)
            one = model.members == 1
            model.network.load_state_dict({k: v.unsqueeze(0) if one else v for k, v in weights.items()})
        except (SafetensorError, RuntimeError) as error:
            words = " ".join(str(error).split())[:200]
            raise InputError(
                f"{folder / WEIGHTS}: not the weights of this card ({words}); {_REMEDY}"
            ) from None
        for name, value in weights.items():
            if not value.isfinite().all():
                raise InputError(f"{folder / WEIGHTS}: {name} holds values that are not finite; {_REMEDY}")
        return cls(card, model)

    def save(self, folder: str | Path) -> list[Path]:
        """Write weights and card; a weight has no run axis, unless of an ensemble."""
        from safetensors.torch import save

        folder = Path(folder)
        state = {name: value.detach() for name, value in self.model.network.state_dict().items()}
        one = self.model.members == 1
        weights = save({k: (v[0] if one else v).contiguous().clone() for k, v in state.items()})
        with atomic(folder / WEIGHTS) as temporary:
            temporary.write_bytes(weights)  # readable as its neighbours are
        card = self.card | {"checksum": _checksum(self.card, weights)}
        write_text(folder / CARD, json.dumps(card, indent=1, ensure_ascii=False) + "\n")
        return [folder / WEIGHTS, folder / CARD]

    @torch.no_grad()
    def logits(self, x: Tensor) -> Tensor:
        """Logits ``(N, K)`` of windows ``(N, C, T)``."""
        return torch.cat([self.model(part) for part in x.split(256)]) if len(x) else self.model(x)


def _checksum(card: dict[str, Any], weights: bytes) -> str:
    """SHA-256 of a card without it and of the weights: an edit of either shows, a new layout does not."""
    text = json.dumps(json.loads(json.dumps(card)), sort_keys=True)
    return hashlib.sha256(text.encode() + weights).hexdigest()


def empty_model(card: dict[str, Any]) -> Model:
    """The model of a card with weights of no meaning."""
    channels, length, classes = len(card["channels"]), card["window"]["length"], len(card["classes"])
    network: nn.Module
    if "features" in card["network"]:
        features = Features(card["network"]["features"], card["sampling_rate"])
        network = LinearNetwork.empty(features, channels, length, classes)
    else:
        seen = card["network"].get("input", "raw")
        before = INPUTS[seen](channels, length) if _center(card) != NONE else None
        network = build(
            card["network"]["backbone"],
            channels=before.channels if before else channels,
            length=before.length if before else length,
            classes=classes,
            generators=[torch.Generator()] * card.get("members", 1),
            input="raw" if before else seen,
            **options(card["network"]),
        )
        if before:
            network = CentredNetwork(before, network)
    scales = card["standardize"] or [{"mean": 0.0, "deviation": 1.0}] * len(card["channels"])
    mean, deviation = (torch.tensor([scale[key] for scale in scales]) for key in ("mean", "deviation"))
    return Model(network, mean, deviation, card.get("members", 1))


def _center(card: dict[str, Any]) -> str:
    return (card.get("given") or {}).get("center", NONE)


def write_onnx(bundle: Bundle, folder: str | Path) -> Path:
    """Write the model for ONNX: input ``windows (N, C, T)`` float32, output ``logits (N, K)``; N is free.

    That of a centred model has a second input, likewise: the windows of the domain that it is centred by,
    called ``reference`` or ``domain``.
    """
    path = Path(folder) / ONNX
    shape = (2, len(bundle.card["channels"]), bundle.card["window"]["length"])
    inputs = ["windows", *[center for center in [_center(bundle.card)] if center != NONE]]
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it names packages that it does without
    with atomic(path) as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter about itself
        torch.onnx.export(
            bundle.model,
            tuple(torch.zeros(shape) for _ in inputs),
            temporary,
            input_names=inputs,
            output_names=["logits"],
            dynamic_shapes=tuple({0: torch.export.Dim(f"N{k}")} for k in range(len(inputs))),
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    return path
