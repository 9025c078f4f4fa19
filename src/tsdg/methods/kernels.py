"""The Gaussian kernel of maximum mean discrepancies."""

from collections.abc import Sequence

import torch
from torch import Tensor

GAMMAS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)


def gaussian_kernel(samples: Tensor, gammas: Sequence[float] = GAMMAS) -> Tensor:
    """``exp(-gamma d^2)`` of the distance d of each pair of samples, summed over gammas.

    Parameters
    ----------
    samples : (R, N, L)
    gammas : sequence of float

    Returns
    -------
    (R, N, N)
    """
    samples = samples - samples.detach().mean(1, keepdim=True)  # keeps the digits of small distances
    norms = samples.square().sum(-1)
    squared = norms.unsqueeze(1) + norms.unsqueeze(2) - 2 * samples @ samples.transpose(1, 2)
    squared = squared.clamp(min=1e-30)
    return torch.stack([torch.exp(-gamma * squared) for gamma in gammas]).sum(0)
