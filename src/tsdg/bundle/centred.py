"""A network of what its input makes of windows, less the mean of their domain."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tsdg.learning.network_inputs import NetworkInput


class CentredNetwork(nn.Module):
    """Logits ``(1, N, K)`` of windows ``(1, N, C, T)``.

    Parameters
    ----------
    before : NetworkInput
    network : nn.Module
        Of what comes out of it, of one run.
    """

    centre: Tensor  # (1, C', T'), the mean of the domain, which no bundle knows beforehand

    def __init__(self, before: NetworkInput, network: nn.Module):
        super().__init__()
        self.before, self.network = before, network
        centre = torch.zeros(1, before.channels, before.length, dtype=torch.float64)
        self.register_buffer("centre", centre, persistent=False)

    def features(self, x: Tensor) -> Tensor:
        """What the mean is of, ``(N, C', T')`` of windows ``(N, C, T)``."""
        return self.before(x.unsqueeze(0)).squeeze(0)

    def forward(self, x: Tensor, centre: Tensor | None = None) -> Tensor:
        seen = self.before(x)
        return self.network(seen - (self.centre if centre is None else centre).to(seen.dtype))
