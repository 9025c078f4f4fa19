"""A temporal convolutional network."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tsdg.learning.backbones.base import Backbone, Stem, normalization
from tsdg.learning.layers import NORMS
from tsdg.learning.same_conv import SameConv1d, WeightNormConv1d

WEIGHT = "weight"


class TemporalBlock(nn.Module):
    """Two dilated convolutions that look back alone, beside a shortcut."""

    def __init__(
        self,
        inputs: int,
        width: int,
        kernel: int,
        dilation: int,
        length: int,
        generators: list[torch.Generator],
        norm: str,
    ):
        super().__init__()
        layer = WeightNormConv1d if norm == WEIGHT else SameConv1d
        self.convs = nn.ModuleList(
            layer(channels, width, kernel, generators, dilation=dilation, causal=True)
            for channels in (inputs, width)
        )
        self.norms = nn.ModuleList(
            Activation() if norm == WEIGHT else normalization(norm, width, len(generators), length)
            for _ in range(2)
        )
        self.shortcut = SameConv1d(inputs, width, 1, generators) if inputs != width else nn.Identity()
        self.title = f"Temporal block, {width} filters of {kernel}, dilation {dilation}"

    def forward(self, x: Tensor, groups: int) -> Tensor:
        beside = self.shortcut(x)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = norm(conv(x), groups)
        return F.relu(x + beside)


class Activation(nn.Module):
    """ReLU in the place of a normalization."""

    def forward(self, x: Tensor, groups: int) -> Tensor:
        return F.relu(x)


class TCN(Backbone):
    """Causal convolutions, those of each block twice as far apart: the last step's `width` values.

    Bai, Kolter, Koltun: "An Empirical Evaluation of Generic Convolutional and Recurrent Networks for Sequence
    Modeling" (2018). Causal and with weight normalization as published; width and kernel are those of its
    sequential MNIST. Without its dropout. No farther apart than the window is long, beyond which there are
    zeros alone.

    Parameters
    ----------
    channels, length : int
    generators : list of torch.Generator
    width : int
    kernel : int
        Time steps, 2 or more.
    depth : int, optional
        Blocks. Default: as few as it takes for the last step to see the whole window.
    stride : int
        For long windows: above 1, a `Stem` comes first, which the published network does not have.
    norm : str
        ``weight``, or a normalization of activations in its place, which the stem has anyway.
    """

    normalizations = (WEIGHT, *NORMS)

    def __init__(
        self,
        channels: int,
        length: int,
        generators: list[torch.Generator],
        *,
        width: int = 25,
        depth: int | None = None,
        kernel: int = 7,
        stride: int = 1,
        norm: str = WEIGHT,
    ):
        super().__init__()
        before = "batch" if norm == WEIGHT else norm
        self.stem = Stem(channels, length, width, generators, stride, before)
        self.features = width
        length = self.stem.length
        inputs = [self.stem.channels, *[width] * ((depth or _covering(length, kernel)) - 1)]
        self.blocks = nn.ModuleList(
            TemporalBlock(channels, width, kernel, min(2**place, length), length, generators, norm)
            for place, channels in enumerate(inputs)
        )

    def forward(self, x: Tensor, groups: int = 1) -> Tensor:
        x = self.stem(x.transpose(2, 3), groups)
        for block in self.blocks:
            x = block(x, groups)
        return x[:, :, -1]


def _covering(length: int, kernel: int) -> int:
    """Blocks from which the last step sees so many: with b of them, 1 + 2 (kernel - 1) (2^b - 1)."""
    blocks = 1
    while 1 + 2 * (kernel - 1) * (2**blocks - 1) < length:
        blocks += 1
    return blocks
