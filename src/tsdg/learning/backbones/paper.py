"""The paper's networks."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tsdg.data.own.backbone import WIDTH
from tsdg.errors import InputError
from tsdg.learning.backbones.base import Backbone, normalization, normalized
from tsdg.learning.layers import NEGATIVE_SLOPE, Conv1d, Linear


class Bearings(Backbone):
    """For long windows of one sensor: six convolutions and a fully connected layer, 32 features.

    The network of the paper's Bearings experiments, which is that of Ragab et al., "Conditional Contrastive
    Domain Generalization for Fault Diagnosis" (IEEE TIM 2022).
    """

    features = 32
    hidden = (32, 32)

    def __init__(self, channels: int, length: int, generators: list[torch.Generator], *, norm: str = "batch"):
        super().__init__()
        runs = len(generators)
        self.conv1 = Conv1d(channels, 8, 64, generators, stride=2, padding=1)
        self.conv2 = Conv1d(8, 8, 3, generators, stride=2, padding=1)
        self.conv3 = Conv1d(8, 8, 3, generators, stride=2, padding=1)
        self.conv4 = Conv1d(8, 8, 3, generators, stride=2, padding=1)
        self.conv5 = Conv1d(8, 8, 3, generators, stride=2, padding=1)
        self.conv6 = Conv1d(8, 8, 8, generators, padding=1)
        lengths = []
        for layer in (self.conv1, self.conv2, self.conv3, self.conv4, self.conv5, self.conv6):
            length = layer.output_length(length)
            lengths.append(length)
        if length < 1:
            raise InputError(
                "windows are too short for the bearings backbone: use 222 time steps or more, or `har`"
            )
        self.norm1, self.norm2, self.norm3, self.norm4 = (
            normalization(norm, 8, runs, steps, NEGATIVE_SLOPE) for steps in lengths[:4]
        )
        self.blocks = [self.norm1, self.norm2, self.norm3, self.norm4]
        self.linear = Linear(8 * length, self.features, generators)

    def forward(self, x: Tensor, groups: int = 1) -> Tensor:
        x = normalized(x.transpose(2, 3), self.conv1, self.norm1, groups)
        x = normalized(x, self.conv2, self.norm2, groups)
        x = normalized(x, self.conv3, self.norm3, groups)
        x = normalized(x, self.conv4, self.norm4, groups)
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
        *,
        width: int = WIDTH,
        norm: str = "batch",
    ):
        super().__init__()
        runs = len(generators)
        shapes = [(channels, width, 8), (width, 2 * width, 5), (2 * width, width, 3)][:blocks]
        convs = [Conv1d(i, o, k, generators, padding=1) for i, o, k in shapes]
        self.convs = nn.ModuleList(convs)
        self.features = shapes[-1][1]
        lengths = []
        for layer in convs:
            length = layer.output_length(length)
            lengths.append(length)
        if length < 1:
            raise InputError("windows are too short for the har backbone: use 8 time steps or more")
        self.norms = nn.ModuleList(
            normalization(norm, o, runs, steps, NEGATIVE_SLOPE)
            for (_, o, _), steps in zip(shapes, lengths, strict=True)
        )
        self.blocks = list(self.norms)

    def forward(self, x: Tensor, groups: int = 1) -> Tensor:
        x = x.transpose(2, 3)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = normalized(x, conv, norm, groups)  # type: ignore[arg-type]
        return x.mean(2)


def toy(channels: int, length: int, generators: list[torch.Generator]) -> HAR:
    """The network of the paper's toy study: the first block of `HAR`."""
    return HAR(channels, length, generators, blocks=1)
