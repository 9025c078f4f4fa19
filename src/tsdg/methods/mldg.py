"""Meta-learning domain generalization, first order."""

from copy import deepcopy

import torch
from torch import nn

from tsdg.learning.optimizer import Adam
from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy
from tsdg.methods.pairs import random_cycle, take_domains


class MLDG(declarations.MLDG, Method):
    r"""A step on one domain should also help another.

    For each pair of a random cycle of domains, a copy of the network takes one Adam step on the first
    domain; the network's gradient is the mean over pairs of the first domain's gradient, at the old
    weights, plus beta times the second domain's, at the copy's.

    With ``forward: per_domain``, as in the reference implementation, all forward passes are in copies and the
    network's own batch-normalization averages never move; ``joint`` moves them by a pass of its own.

    Formula
    -------
    \frac1D \sum_{(i, j)} L_i(\theta) + \beta L_j(\theta - \mathrm{Adam}(\nabla L_i(\theta)))
    """

    stream = "MLDG"

    def draws(self, batch):
        return {"pairs": random_cycle(self.streams, self.in_batch).to(self.device)}

    def losses(self, x, y, draws) -> Losses:
        raise NotImplementedError("MLDG has no single objective: its gradient is composed in `step`")

    def step(self, x, y, draws) -> Losses:
        parameters = self.optimizer.parameters
        total = [torch.zeros_like(p) for p in parameters]
        objective = torch.zeros(self.runs, dtype=self.dtype, device=self.device)
        beta = self.hparams["beta"]
        for pair in draws["pairs"].unbind(1):
            copy = deepcopy(self.network)
            first, second = (take_domains(x, d.unsqueeze(1)).squeeze(1) for d in pair.unbind(1))
            first_y, second_y = (take_domains(y, d.unsqueeze(1)).squeeze(1) for d in pair.unbind(1))
            inner = self._risk(copy, first, first_y)
            inner_gradients = torch.autograd.grad(inner.sum(), list(copy.parameters()))
            optimizer = Adam(copy.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay)
            for parameter, gradient in zip(copy.parameters(), inner_gradients, strict=True):
                parameter.grad = gradient
            optimizer.step()
            outer = self._risk(copy, second, second_y)
            outer_gradients = torch.autograd.grad(outer.sum(), list(copy.parameters()))
            for sum_, a, b in zip(total, inner_gradients, outer_gradients, strict=True):
                sum_ += a + beta.view(-1, *[1] * (b.dim() - 1)) * b
            objective += inner.detach() + beta * outer.detach()
        for parameter, gradient in zip(parameters, total, strict=True):
            parameter.grad = gradient / self.in_batch
        if not self.per_domain:
            with torch.no_grad():
                self.network.featurizer(x.flatten(1, 2))
        self.optimizer.step(scale=self.rate())
        return {"loss": objective / self.in_batch}

    @staticmethod
    def _risk(network: nn.Module, x, y):
        """Risk of one domain, ``(R, B, C, T)`` and ``(R, B)`` to ``(R,)``."""
        return cross_entropy(network(x), y)
