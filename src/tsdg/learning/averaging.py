"""The running mean of a network's weights: a second model from the same training."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from tsdg.learning.networks import Network


class AveragedNetwork:
    """A network with the mean of all weights that another one had, and batch statistics of its own.

    Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization" (UAI 2018); for
    domain generalization Arpit et al., "Ensemble of Averages" (NeurIPS 2022).

    Parameters
    ----------
    network : Network
        Of R runs.

    Attributes
    ----------
    network : Network
        Of their means.
    count : int
        How many weights are in the mean.
    """

    def __init__(self, network: Network):
        self.network = deepcopy(network).requires_grad_(False)
        self.count = 0

    @torch.no_grad()
    def add(self, network: Network) -> None:
        """Take weights into the mean."""
        self.count += 1
        torch._foreach_lerp_(list(self.network.parameters()), list(network.parameters()), 1 / self.count)

    @torch.no_grad()
    def estimate(self, batches: Iterable[tuple[Tensor, ...]], per_domain: bool) -> None:
        """Estimate the statistics of batch normalization anew, as means over batches.

        Parameters
        ----------
        batches : iterable
            Windows ``(R, D, B, C, T)`` first, see `tsdg.learning.batches.minibatches`.
        per_domain : bool
            Whether each domain of a batch is normalized alone.
        """
        norms: list[Any] = [part for part in self.network.modules() if hasattr(part, "running_mean")]
        if not norms:
            return
        self.network.train()
        number = 0
        for x, *_ in batches:
            for part in x.unbind(1) if per_domain else [x.flatten(1, 2)]:
                number += 1
                for norm in norms:
                    norm.momentum = 1 / number
                self.network.featurizer(part)
        self.network.eval()
