"""A network with wide first kernels, for vibration."""

import torch
from torch import Tensor, nn

from tsdg.errors import InputError
from tsdg.learning.backbones.base import Backbone, max_pool, normalization, normalized
from tsdg.learning.layers import Conv1d, Linear

KERNEL, STRIDE = 64, 16  # of the first convolution


class PooledConv(nn.Module):
    """A convolution with its normalization and ReLU, then the greater of each two time steps."""

    def __init__(self, conv: Conv1d, length: int, runs: int, norm: str):
        super().__init__()
        self.conv = conv
        outputs, steps = conv.weight.shape[1], conv.output_length(length)
        self.length = steps // 2
        self.norm = normalization(norm, outputs, runs, steps)
        self.title = (
            f"Convolution, {outputs} filters of {conv.kernel_size}, stride {conv.stride}, pooled by 2"
        )

    def forward(self, x: Tensor, groups: int) -> Tensor:
        return max_pool(normalized(x, self.conv, self.norm, groups), 2, stride=2)


class WDCNN(Backbone):
    """For long windows of vibration: a first convolution of 64 steps, then narrow ones, and 100 features.

    Zhang et al.: "A New Deep Learning Model for Fault Diagnosis with Good Anti-Noise and Domain Adaptation
    Ability on Raw Vibration Signals" (Sensors 17, 2017), whose network is the default.

    Parameters
    ----------
    channels, length : int
    generators : list of torch.Generator
    width : int
        Channels of the first convolution; the second has twice, further ones four times as many.
    depth : int
        Convolutions, 2 or more.
    norm : str
    """

    features = 100
    normalizations = ("batch", "layer")  # the features are normalized too, which have no time

    def __init__(
        self,
        channels: int,
        length: int,
        generators: list[torch.Generator],
        *,
        width: int = 16,
        depth: int = 5,
        norm: str = "batch",
    ):
        super().__init__()
        runs = len(generators)
        widths = [width, 2 * width, *[4 * width] * (depth - 2)][:depth]
        self.blocks, steps = nn.ModuleList(), length
        for place, outputs in enumerate(widths):
            if place == 0:
                conv = Conv1d(
                    channels, outputs, KERNEL, generators, stride=STRIDE, padding=(KERNEL - STRIDE) // 2
                )
            else:
                padding = 0 if place == len(widths) - 1 else 1
                conv = Conv1d(widths[place - 1], outputs, 3, generators, padding=padding)
            block = PooledConv(conv, steps, runs, norm)
            self.blocks.append(block)
            steps = block.length
            if steps < 1:
                raise InputError(
                    f"windows of {length} time steps are too short for the wdcnn backbone with "
                    f"`depth: {depth}`: give it a smaller one, or take another backbone"
                )
        self.linear = Linear(widths[-1] * steps, self.features, generators)
        self.norm = normalization(norm, self.features, runs, 1)

    def forward(self, x: Tensor, groups: int = 1) -> Tensor:
        x = x.transpose(2, 3)
        for block in self.blocks:
            x = block(x, groups)
        z = self.linear(x.transpose(2, 3).flatten(2))
        return self.norm(z.unsqueeze(2), groups).squeeze(2)
