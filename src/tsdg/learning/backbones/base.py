"""What a backbone is, and what several are made of.

Axes: R run, N sample, T time step, C channel, F feature.
"""

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tsdg.errors import InputError
from tsdg.learning.layers import NORMS, BatchNorm, Conv1d, InstanceNorm, LayerNorm

Norm = BatchNorm | LayerNorm | InstanceNorm
RELU, LINEAR = 0.0, 1.0  # slopes of activations below zero


class Backbone(nn.Module):
    """A featurizer, ``(R, N, C, T) -> (R, N, F)``, and what its classifier looks like.

    Its call takes ``groups``, see `tsdg.learning.layers.BatchNorm`. What its constructor takes by name
    alone are its options, which `params.yaml` may give.

    Attributes
    ----------
    features : int
        F.
    hidden : tuple of int
        Widths of the classifier's layers between features and logits.
    normalizations : tuple of str
        Values of its option ``norm``.
    blocks : sequence of Module
        In the order in which a window passes them. Each gives ``(R, N, T, C)``, so that a forward hook on one
        acts after it.
    """

    features: int
    hidden: tuple[int, ...] = ()
    normalizations: ClassVar[tuple[str, ...]] = tuple(NORMS)
    blocks: list | nn.ModuleList


def normalization(norm: str, channels: int, runs: int, length: int, slope: float = RELU) -> Norm:
    """Normalization of windows of so many time steps, followed by an activation.

    Parameters
    ----------
    norm : str
        One of `tsdg.learning.layers.NORMS`.
    channels, runs, length : int
    slope : float
        See `tsdg.learning.layers.BatchNorm`.
    """
    if norm == "instance" and length < 2:
        raise InputError(
            "`norm: instance` needs two time steps, and of these windows one is left where it acts; give "
            "the backbone `norm: layer` or `norm: batch`, or use longer windows"
        )
    return NORMS[norm](channels, runs, slope)


def normalized(x: Tensor, conv: Conv1d, norm: Norm, groups: int) -> Tensor:
    """A convolution with its normalization and activation."""
    return norm(conv(x, trim=False), groups, conv.output_length(x.shape[2]))


def max_pool(x: Tensor, size: int, *, stride: int, padding: int = 0) -> Tensor:
    """The greatest of neighbouring time steps, ``(R, N, T, C) -> (R, N, T', C)``."""
    image = x.flatten(0, 1).transpose(1, 2).unsqueeze(3)
    pooled = F.max_pool2d(image, (size, 1), (stride, 1), (padding, 0))
    return pooled.squeeze(3).transpose(1, 2).unflatten(0, x.shape[:2])


class Stem(nn.Module):
    """For windows that are long, a strided convolution with its normalization and ReLU; at stride 1 nothing.

    Its kernel has four strides.

    Parameters
    ----------
    channels, length : int
        Of windows.
    width : int
        Channels that come out of the convolution.
    generators : list of torch.Generator
    stride : int
    norm : str

    Attributes
    ----------
    channels, length : int
        Of what comes out.
    title : str
        In the table of networks.
    """

    def __init__(
        self,
        channels: int,
        length: int,
        width: int,
        generators: list[torch.Generator],
        stride: int,
        norm: str,
    ):
        super().__init__()
        self.channels, self.length, self.stride = channels, length, stride
        if stride == 1:
            return
        self.conv = Conv1d(channels, width, 4 * stride, generators, stride=stride, padding=3 * stride // 2)
        self.channels, self.length = width, self.conv.output_length(length)
        if self.length < 1:
            raise InputError(
                f"windows of {length} time steps are too short for the backbone's `stride: {stride}`; "
                "give it a smaller one"
            )
        self.title = f"Convolution, {width} filters of {4 * stride}, stride {stride}"
        self.norm = normalization(norm, width, len(generators), self.length)

    def forward(self, x: Tensor, groups: int) -> Tensor:
        return x if self.stride == 1 else normalized(x, self.conv, self.norm, groups)
