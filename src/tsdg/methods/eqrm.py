"""Quantile risk minimization: a risk that most domains stay below, instead of the mean one."""

import math

import torch
from torch import Tensor
from torch.special import ndtr, ndtri

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy

HALVINGS = 60


class EQRM(declarations.EQRM, Method):
    r"""The quantile alpha of the distribution of the domains' risks, as a kernel density estimate has it.

    The mean risk before the share ``burn_in`` of the iterations; then Adam starts anew, at a learning rate of
    its own.

    Formula
    -------
    \hat F^{-1}(\alpha), \quad \hat F(t) = \frac1D \sum_d \Phi\left( \frac{t - L_d}{1.06 \, s \, D^{-1/5}}
    \right)
    """

    def setup(self) -> None:
        self.begin = (self.hparams["burn_in"] * self.iterations).floor()

    def rate(self) -> Tensor:
        slower = self.hparams["quantile_lr"] / self.learning_rate
        return (super().rate() * torch.where(self.clock < self.begin, 1.0, slower)).unsqueeze(1)

    def losses(self, x, y, draws) -> Losses:
        risks = cross_entropy(self.classify(self.features(x)), y)
        mean, high = risks.mean(-1), quantile(risks, self.hparams["quantile"])
        self.optimizer.reset(self.clock == self.begin)
        loss = torch.where(self.clock < self.begin, mean, high)
        return {"loss": loss, "cross_entropy": mean, "quantile": high}


def quantile(risks: Tensor, alpha: Tensor) -> Tensor:
    """Quantiles ``(R,)`` of a mixture of Gaussians around the risks ``(R, D)``, alike in width.

    The width is the best one where the risks are Gaussian, 1.06 s D^(-1/5), s their standard deviation. The
    quantile is found by halving; its gradient is that of one more step of Newton's, which is exact.
    """
    width = 1.06 * risks.shape[-1] ** -0.2 * risks.var(-1, keepdim=True).clamp(min=1e-12).sqrt()
    alpha = alpha.unsqueeze(-1)
    with torch.no_grad():
        low, high = (end(risks, -1, keepdim=True) + width * ndtri(alpha) for end in (torch.amin, torch.amax))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            below = ndtr((middle - risks) / width).mean(-1, keepdim=True) < alpha
            low, high = torch.where(below, middle, low), torch.where(below, high, middle)
        middle = (low + high) / 2
        heights = torch.exp(-(((middle - risks) / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))
        density = heights.mean(-1, keepdim=True)
    excess = ndtr((middle - risks) / width).mean(-1, keepdim=True) - alpha
    return (middle - excess / density).squeeze(-1)
