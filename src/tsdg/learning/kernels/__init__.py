"""Triton kernels in place of layers' operators, for packs on a GPU. Off unless `use` is called.

No GPU has run them yet: Triton's interpreter proves them on a CPU, and its compiler takes them. What is to be
done on the first GPU is in ``benchmarks/README.md``.
"""

import os

import torch
from torch import nn

from tsdg.errors import InputError
from tsdg.learning.layers import BatchNorm, Conv1d

FEW = 15  # channels, of which products of matrices use a GPU badly


def use(network: nn.Module) -> None:
    """Have a network's batch normalizations and convolutions of few channels done by kernels.

    Parameters and buffers stay what they are.

    Raises
    ------
    InputError
        If the network is not on a GPU or not of single precision, or Triton is not installed.
    """
    try:
        import triton  # noqa: F401
    except ImportError:
        raise InputError(
            "the kernels need Triton, which PyTorch's builds for CUDA bring: install one of them"
        ) from None
    first = next(network.parameters())
    if not first.is_cuda and os.environ.get("TRITON_INTERPRET") != "1":
        raise InputError("the kernels run on a GPU, and the network is on a CPU: train it on device `cuda`")
    if first.dtype != torch.float32:
        raise InputError(f"the kernels are of single precision, and the network is of {first.dtype}")
    from tsdg.learning.kernels.conv import KernelConv1d
    from tsdg.learning.kernels.norm import KernelBatchNorm

    for part in network.modules():
        if type(part) is BatchNorm:
            part.__class__ = KernelBatchNorm
        elif type(part) is Conv1d and part.weight.shape[2] <= FEW:
            part.__class__ = KernelConv1d
