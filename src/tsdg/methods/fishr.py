"""Fishr: gradients of the classifier vary alike on every domain."""

from typing import Any

import torch
from torch.nn import functional as F

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy


class Fishr(declarations.Fishr, Method):
    r"""Cross-entropy plus the squared distances of the domains' gradient variances to their mean.

    The gradients are those of each sample's cross-entropy with respect to weights and bias of the
    classifier's last layer, ``(softmax(g) - onehot(y)) [h, 1]``, with h what enters it. Their variance over a
    domain's samples is averaged over iterations, and weighs nothing before the share ``burn_in`` of these,
    when Adam starts anew.

    Formula
    -------
    L + \lambda \, \mathrm{mean}_d \, \mathrm{mean} \, (v_d - \bar v)^2, \quad v_d = \mathrm{Var}_n \,
    \nabla_{W, b} \, \ell_n
    """

    def setup(self) -> None:
        width = self.layers()[-1].weight[0].numel() // self.classes + 1
        shape = (self.runs, self.domains, self.classes, width)
        self.variance = torch.zeros(shape, dtype=self.dtype, device=self.device)
        self.begin = (self.hparams["burn_in"] * self.iterations).floor()

    def layers(self) -> list[Any]:
        """The classifier's."""
        return list(self.network.classifier.children())

    def losses(self, x, y, draws) -> Losses:
        *hidden, last = self.layers()
        h = self.features(x).flatten(1, 2)
        for layer in hidden:
            h = layer(h)
        logits = last(h).unflatten(1, y.shape[1:])
        risk = cross_entropy(logits, y).mean(-1)
        slope = logits.softmax(-1) - F.one_hot(y, self.classes)
        h = F.pad(h, (0, 1), value=1.0).unflatten(1, y.shape[1:])  # with the bias's input
        mean, square = (
            torch.einsum("rdbk,rdbf->rdkf", slope**power, h**power) / y.shape[2] for power in (1, 2)
        )
        past = self.hparams["average"].view(-1, 1, 1, 1)
        variance = past * self.of_batch(self.variance, draws) + (1 - past) * (square - mean**2)
        self.variance.copy_(self.with_batch(self.variance, variance.detach(), draws))
        variance = variance / (1 - past)
        penalty = (variance - variance.mean(1, keepdim=True)).square().mean((1, 2, 3))
        weight = torch.where(self.clock < self.begin, 0.0, self.hparams["lambda"])
        self.optimizer.reset(self.clock == self.begin)
        return {"loss": risk + weight * penalty, "cross_entropy": risk, "penalty": penalty}
