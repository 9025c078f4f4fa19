"""Gradients that have gradients themselves, which those of kernels do not."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def differentiable(
    function: Callable[..., Tensor], inputs: Sequence[Tensor], needed: Sequence[bool], grad: Tensor
) -> list[Tensor | None]:
    """Gradients of a function of PyTorch's operators by the inputs for which they are needed."""
    wanted = [value for value, need in zip(inputs, needed, strict=True) if need]
    found = iter(torch.autograd.grad(function(*inputs), wanted, grad, create_graph=True))
    return [next(found) if need else None for need in needed]
