"""AND-mask: only where the domains agree on a direction does the network move."""

import torch
from torch import Tensor

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy


class ANDMask(declarations.ANDMask, Method):
    r"""The mean gradient of the domains' risks where its sign, averaged over domains, is tau or more in size.

    Elsewhere it is 0; what is left of a layer's weights, or of its biases, is divided by its share of them.

    Formula
    -------
    \nabla = \frac{m}{\mathrm{mean} \, m} \odot \frac1D \sum_d \nabla L_d, \quad m = \left[ \left\lvert
    \frac1D \sum_d \mathrm{sign} \, \nabla L_d \right\rvert \ge \tau \right]
    """

    def losses(self, x, y, draws) -> Losses:
        raise NotImplementedError("AND-mask has no single objective: its gradient is composed in `step`")

    def risks(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Risk of each domain, ``(R,)``; each has a forward pass of its own where it is normalized alone."""
        if not self.per_domain:
            return cross_entropy(self.classify(self.features(x)), y).unbind(1)
        domains = zip(x.split(1, dim=1), y.split(1, dim=1), strict=True)
        return tuple(cross_entropy(self.classify(self.features(own)), of).squeeze(1) for own, of in domains)

    def step(self, x, y, draws) -> Losses:
        risks, parameters = self.risks(x, y), self.optimizer.parameters
        gradients = [torch.autograd.grad(risk.sum(), parameters, retain_graph=True) for risk in risks]
        for parameter, *of_domains in zip(parameters, *gradients, strict=True):
            gradient = torch.stack([g.flatten(1) for g in of_domains])  # (D, R, weights)
            agreed = gradient.sign().mean(0).abs() >= self.hparams["tau"].unsqueeze(1)
            share = agreed.to(self.dtype).mean(1, keepdim=True)
            parameter.grad = (agreed * gradient.mean(0) / (share + 1e-10)).view_as(parameter)
        self.optimizer.step(scale=self.rate())
        return {"loss": torch.stack(risks).mean(0)}
