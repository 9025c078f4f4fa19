"""Networks: a backbone that makes features of windows, and a classifier on them.

Axes: R run, N sample, T time step, C channel, F feature, K class.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from tsdg.errors import InputError, nearest
from tsdg.learning.backbones.base import Backbone
from tsdg.learning.backbones.inception import Inception
from tsdg.learning.backbones.options import OPTIONS
from tsdg.learning.backbones.paper import HAR, Bearings, toy
from tsdg.learning.backbones.resnet1d import ResNet1d
from tsdg.learning.backbones.tcn import TCN
from tsdg.learning.backbones.transformer import Transformer
from tsdg.learning.backbones.wdcnn import WDCNN
from tsdg.learning.layers import MLP
from tsdg.learning.network_inputs import INPUTS, NetworkInput


class Transformed(nn.Module):
    """A featurizer of what a network's input makes of windows, ``(R, N, C, T) -> (R, N, F)``."""

    def __init__(self, before: NetworkInput, backbone: Backbone):
        super().__init__()
        self.before, self.backbone = before, backbone

    def forward(self, x: Tensor, groups: int = 1) -> Tensor:
        return self.backbone(self.before(x), groups)


class Network(nn.Module):
    """A featurizer f and a classifier h for each run; logits are h(f(x)).

    Parameters
    ----------
    featurizer : nn.Module
        ``(R, N, C, T) -> (R, N, F)``; its call takes ``groups``, see `tsdg.learning.layers.BatchNorm`.
    classifier : nn.Module
        ``(R, N, F) -> (R, N, K)``.
    features : int
        F.
    """

    def __init__(self, featurizer: nn.Module, classifier: nn.Module, features: int):
        super().__init__()
        self.featurizer, self.classifier, self.features = featurizer, classifier, features

    def forward(self, x: Tensor, groups: int = 1) -> Tensor:
        return self.classifier(self.featurizer(x, groups))


BACKBONES: dict[str, Callable[..., Backbone]] = {
    "bearings": Bearings,
    "har": HAR,
    "resnet1d": ResNet1d,
    "inception": Inception,
    "tcn": TCN,
    "transformer": Transformer,
    "wdcnn": WDCNN,
    "toy": toy,
}


def options(config: Mapping[str, Any]) -> dict[str, Any]:
    """What a configuration or a card says of its backbone's options."""
    return {name: config[name] for name in OPTIONS if config.get(name) is not None}


def build(
    backbone: str,
    *,
    channels: int,
    length: int,
    classes: int,
    generators: list[torch.Generator],
    embedding: bool = False,
    input: str = "raw",
    **options: Any,
) -> Network:
    """Network of a backbone, one copy a run.

    Parameters
    ----------
    backbone : str
        One of `BACKBONES`.
    channels, length, classes : int
        C, T and K of the data.
    generators : list of torch.Generator
        The stream of initial weights of each run; their number is R.
    embedding : bool
        Whether the classifier takes, beside the features, an embedding of the domain as wide as them.
    input : str
        What the backbone sees of windows: them, ``raw``, or one of `tsdg.learning.network_inputs.INPUTS`.
    **options
        Of the backbone, see `tsdg.learning.backbones.options`; None is the default.
    """
    if backbone not in BACKBONES:
        raise InputError(
            f"unknown backbone {backbone!r}{nearest(backbone, BACKBONES)}: "
            f"choose one of {', '.join(BACKBONES)}"
        )
    before = None if input == "raw" else INPUTS[input](channels, length)
    seen = (channels, length) if before is None else (before.channels, before.length)
    given = {name: value for name, value in options.items() if value is not None}
    try:
        featurizer = BACKBONES[backbone](*seen, generators, **given)
    except InputError as error:
        if before is None:
            raise
        raise InputError(
            f"input {input} makes {seen[1]} steps of a window's {length}, and for these {error}; give the "
            "variant another `backbone` or `input`"
        ) from None
    inputs = featurizer.features * (2 if embedding else 1)
    classifier = MLP([inputs, *featurizer.hidden, classes], generators)
    whole = featurizer if before is None else Transformed(before, featurizer)
    return Network(whole, classifier, featurizer.features)
