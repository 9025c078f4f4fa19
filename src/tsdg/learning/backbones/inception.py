"""The network of InceptionTime."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tsdg.learning.backbones.base import LINEAR, Backbone, Stem, max_pool, normalization
from tsdg.learning.same_conv import SameConv1d

RESIDUAL = 3  # modules that a shortcut spans


class InceptionModule(nn.Module):
    """Convolutions of three lengths on a narrow copy of the input, and one of 1 on its greatest values."""

    def __init__(
        self,
        inputs: int,
        width: int,
        kernel: int,
        length: int,
        generators: list[torch.Generator],
        norm: str,
    ):
        super().__init__()

        def conv(channels: int, kernel: int) -> SameConv1d:
            return SameConv1d(channels, width, kernel, generators, bias=False)

        kernels = [kernel, kernel // 2, kernel // 4]
        self.bottleneck = conv(inputs, 1) if inputs > 1 else nn.Identity()
        self.convs = nn.ModuleList(conv(width if inputs > 1 else 1, size) for size in kernels)
        self.pooled = conv(inputs, 1)
        self.norm = normalization(norm, 4 * width, len(generators), length)
        self.title = f"Inception module, 4 × {width} filters of {', '.join(map(str, kernels))} and 1"

    def forward(self, x: Tensor, groups: int) -> Tensor:
        narrow = self.bottleneck(x)
        branches = [conv(narrow) for conv in self.convs]
        return self.norm(torch.cat([*branches, self.pooled(max_pool(x, 3, stride=1, padding=1))], -1), groups)


class Shortcut(nn.Module):
    """What is added around three modules: a convolution of 1, normalized."""

    def __init__(self, inputs: int, outputs: int, length: int, generators: list[torch.Generator], norm: str):
        super().__init__()
        self.conv = SameConv1d(inputs, outputs, 1, generators, bias=False)
        self.norm = normalization(norm, outputs, len(generators), length, LINEAR)
        self.title = f"Shortcut around {RESIDUAL} modules, {outputs} filters of 1"

    def forward(self, x: Tensor, groups: int) -> Tensor:
        return self.norm(self.conv(x), groups)


class Inception(Backbone):
    """Inception modules, a shortcut around each three, averaged over time: 4 `width` features.

    Ismail Fawaz et al.: "InceptionTime: Finding AlexNet for Time Series Classification" (Data Mining and
    Knowledge Discovery 34, 2020), whose network is the default; their classifier is an ensemble of five.

    Parameters
    ----------
    channels, length : int
    generators : list of torch.Generator
    width : int
        Channels of each of a module's four branches.
    depth : int
        Modules.
    kernel : int
        The longest; the others have half of it and a quarter.
    stride : int
        For long windows: above 1, a `Stem` comes first, which the published network does not have.
    norm : str
    """

    def __init__(
        self,
        channels: int,
        length: int,
        generators: list[torch.Generator],
        *,
        width: int = 32,
        depth: int = 6,
        kernel: int = 40,
        stride: int = 1,
        norm: str = "batch",
    ):
        super().__init__()
        self.stem = Stem(channels, length, width, generators, stride, norm)
        self.features = 4 * width
        inputs = [self.stem.channels, *[self.features] * depth]
        length = self.stem.length
        self.blocks = nn.ModuleList(
            InceptionModule(i, width, kernel, length, generators, norm) for i in inputs[:-1]
        )
        self.shortcuts = nn.ModuleList(
            Shortcut(i, self.features, length, generators, norm)
            for i in inputs[: depth - depth % RESIDUAL : RESIDUAL]
        )

    def forward(self, x: Tensor, groups: int = 1) -> Tensor:
        x = before = self.stem(x.transpose(2, 3), groups)
        for place, block in enumerate(self.blocks, start=1):
            x = block(x, groups)
            if place % RESIDUAL == 0:
                x = before = F.relu(x + self.shortcuts[place // RESIDUAL - 1](before, groups))
        return x.mean(2)
