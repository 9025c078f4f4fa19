"""Networks: a backbone that makes features of windows, and a classifier on them.

Axes: R run, N sample, T time step, C channel, F feature, K class.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tsdg.data.own.backbone import WIDTH
from tsdg.errors import InputError, nearest
from tsdg.learning.layers import MLP, NEGATIVE_SLOPE, BatchNormLeakyReLU, Conv1d, Linear
from tsdg.learning.network_inputs import INPUTS, NetworkInput


def _normalized(x: Tensor, conv: Conv1d, norm: BatchNormLeakyReLU, groups: int) -> Tensor:
    return norm(conv(x, trim=False), groups, conv.output_length(x.shape[2]))


class Backbone(nn.Module):
    """A featurizer, ``(R, N, C, T) -> (R, N, F)``, and what its classifier looks like.

    Its call takes ``groups``, see `tsdg.learning.layers.BatchNormLeakyReLU`.

    Attributes
    ----------
    features : int
        F.
    hidden : tuple of int
        Widths of the classifier's layers between features and logits.
    """

    features: int
    hidden: tuple[int, ...] = ()


class Bearings(Backbone):
    """For long windows of one sensor: six convolutions and a fully connected layer, 32 features.

    The network of the paper's Bearings experiments, which is that of Ragab et al., "Conditional Contrastive
    Domain Generalization for Fault Diagnosis" (IEEE TIM 2022).
    """

    features = 32
    hidden = (32, 32)

    def __init__(self, channels: int, length: int, generators: list[torch.Generator]):
        super().__init__()
        runs = len(generators)
        self.conv1 = Conv1d(channels, 8, 64, generators, stride=2, padding=1)
        self.conv2 = Conv1d(8, 8, 3, generators, stride=2, padding=1)
        self.conv3 = Conv1d(8, 8, 3, generators, stride=2, padding=1)
        self.conv4 = Conv1d(8, 8, 3, generators, stride=2, padding=1)
        self.conv5 = Conv1d(8, 8, 3, generators, stride=2, padding=1)
        self.conv6 = Conv1d(8, 8, 8, generators, padding=1)
        self.norm1, self.norm2, self.norm3, self.norm4 = (BatchNormLeakyReLU(8, runs) for _ in range(4))
        for layer in (self.conv1, self.conv2, self.conv3, self.conv4, self.conv5, self.conv6):
            length = layer.output_length(length)
        if length < 1:
            raise InputError(
                "windows are too short for the bearings backbone: use 222 time steps or more, or `har`"
            )
        self.linear = Linear(8 * length, self.features, generators)

    def forward(self, x: Tensor, groups: int = 1) -> Tensor:
        x = _normalized(x.transpose(2, 3), self.conv1, self.norm1, groups)
        x = _normalized(x, self.conv2, self.norm2, groups)
        x = _normalized(x, self.conv3, self.norm3, groups)
        x = _normalized(x, self.conv4, self.norm4, groups)
        x = F.leaky_relu(self.conv5(x), NEGATIVE_SLOPE)
        x = self.conv6(x)
        return self.linear(x.transpose(2, 3).flatten(2))


class HAR(Backbone):
    """For short multichannel windows: three wide convolutions, averaged over time, `width` features.

    The network of the paper's HHAR (width 128) and MIMIC-III (32) experiments; ``blocks = 1`` is that of its
    toy study.
    """

    def __init__(
        self,
        channels: int,
        length: int,
        generators: list[torch.Generator],
        blocks: int = 3,
        width: int = WIDTH,
    ):
        super().__init__()
        runs = len(generators)
        shapes = [(channels, width, 8), (width, 2 * width, 5), (2 * width, width, 3)][:blocks]
        convs = [Conv1d(i, o, k, generators, padding=1) for i, o, k in shapes]
        self.convs = nn.ModuleList(convs)
        self.norms = nn.ModuleList(BatchNormLeakyReLU(o, runs) for _, o, _ in shapes)
        self.features = shapes[-1][1]
        for layer in convs:
            length = layer.output_length(length)
        if length < 1:
            raise InputError("windows are too short for the har backbone: use 8 time steps or more")

    def forward(self, x: Tensor, groups: int = 1) -> Tensor:
        x = x.transpose(2, 3)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = _normalized(x, conv, norm, groups)  # type: ignore[arg-type]
        return x.mean(2)


def toy(channels: int, length: int, generators: list[torch.Generator]) -> HAR:
    """The network of the paper's toy study: the first block of `HAR`."""
    return HAR(channels, length, generators, blocks=1)


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
        ``(R, N, C, T) -> (R, N, F)``; its call takes ``groups``, see `BatchNormLeakyReLU`.
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
    "toy": toy,
}


def parts(backbone: str, input: str = "raw") -> list[Callable]:
    """What `build` makes the network of a backbone and an input of."""
    return [BACKBONES[backbone], *([] if input == "raw" else [INPUTS[input]])]


def build(
    backbone: str,
    *,
    channels: int,
    length: int,
    classes: int,
    generators: list[torch.Generator],
    embedding: bool = False,
    width: int | None = None,
    input: str = "raw",
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
    width : int, optional
        Of the har backbone. Default: its own.
    input : str
        What the backbone sees of windows: them, ``raw``, or one of `tsdg.learning.network_inputs.INPUTS`.
    """
    if backbone not in BACKBONES:
        raise InputError(
            f"unknown backbone {backbone!r}{nearest(backbone, BACKBONES)}: "
            f"choose one of {', '.join(BACKBONES)}"
        )
    options = {} if width is None else {"width": width}
    before = None if input == "raw" else INPUTS[input](channels, length)
    seen = (channels, length) if before is None else (before.channels, before.length)
    try:
        featurizer = BACKBONES[backbone](*seen, generators, **options)
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
