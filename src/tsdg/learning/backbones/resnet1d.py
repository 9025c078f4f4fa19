"""A residual network for time series."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tsdg.learning.backbones.base import LINEAR, Backbone, Stem, normalization
from tsdg.learning.same_conv import SameConv1d

KERNELS = (8, 5, 3)


class ResidualBlock(nn.Module):
    """Three convolutions beside a shortcut, which has a convolution of 1 where the channels change."""

    def __init__(self, inputs: int, outputs: int, length: int, generators: list[torch.Generator], norm: str):
        super().__init__()
        runs = len(generators)
        channels = [inputs, *[outputs] * len(KERNELS)]
        self.convs = nn.ModuleList(
            SameConv1d(i, o, kernel, generators)
            for i, o, kernel in zip(channels[:-1], channels[1:], KERNELS, strict=True)
        )
        self.shortcut = SameConv1d(inputs, outputs, 1, generators) if inputs != outputs else nn.Identity()
        first, second = (normalization(norm, outputs, runs, length) for _ in range(2))
        last, beside = (normalization(norm, outputs, runs, length, LINEAR) for _ in range(2))
        self.norms, self.shortcut_norm = nn.ModuleList([first, second, last]), beside
        kernels = ", ".join(map(str, KERNELS))
        self.title = f"Residual block, {outputs} filters of {kernels}"

    def forward(self, x: Tensor, groups: int) -> Tensor:
        beside = self.shortcut_norm(self.shortcut(x), groups)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = norm(conv(x), groups)
        return F.relu(x + beside)


class ResNet1d(Backbone):
    """Residual blocks of three convolutions, averaged over time: `width` channels first, then twice as many.

    Wang, Yan, Oates: "Time Series Classification from Scratch with Deep Neural Networks: A Strong Baseline"
    (IJCNN 2017), whose network is the default: three blocks of 64, 128 and 128 channels.

    Parameters
    ----------
    channels, length : int
    generators : list of torch.Generator
    width, depth : int
        Channels of the first block, and how many blocks.
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
        width: int = 64,
        depth: int = 3,
        stride: int = 1,
        norm: str = "batch",
    ):
        super().__init__()
        self.stem = Stem(channels, length, width, generators, stride, norm)
        shapes = [self.stem.channels, width, *[2 * width] * (depth - 1)]
        self.blocks = nn.ModuleList(
            ResidualBlock(i, o, self.stem.length, generators, norm)
            for i, o in zip(shapes[:-1], shapes[1:], strict=True)
        )
        self.features = shapes[-1]

    def forward(self, x: Tensor, groups: int = 1) -> Tensor:
        x = self.stem(x.transpose(2, 3), groups)
        for block in self.blocks:
            x = block(x, groups)
        return x.mean(2)
