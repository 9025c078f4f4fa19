"""Risk distribution matching: the worst domain's samples are as hard as all domains' are."""

import torch
from torch.nn import functional as F

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, sample_cross_entropy
from tsdg.methods.kernels import gaussian_kernel

GAMMAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)


class RDM(declarations.RDM, Method):
    r"""Cross-entropy plus the distance of its distributions over the worst domain's samples and over all.

    The distance is lambda times their squared maximum mean discrepancy and ``variance`` times the sum of
    their variances; the worst domain is that of the greatest risk. It counts from the share ``burn_in`` of
    the iterations on, when Adam starts anew, at a learning rate of its own.

    Formula
    -------
    L + \lambda \, \mathrm{MMD}^2(\ell_w, \ell) + v \, (\mathrm{Var} \, \ell_w + \mathrm{Var} \, \ell),
    \quad w = \arg\max_d L_d
    """

    def setup(self) -> None:
        self.begin = (self.hparams["burn_in"] * self.iterations).floor()

    def rate(self) -> torch.Tensor:
        slower = self.hparams["matching_lr"] / self.learning_rate
        return (super().rate() * torch.where(self.clock < self.begin, 1.0, slower)).unsqueeze(1)

    def losses(self, x, y, draws) -> Losses:
        each = sample_cross_entropy(self.classify(self.features(x)), y)  # (R, D, B)
        risks = each.mean(-1)
        worst = F.one_hot(risks.argmax(-1), y.shape[1]).to(each.dtype)
        kernel = gaussian_kernel(each.flatten(1).unsqueeze(-1), GAMMAS)
        kernel = kernel.unflatten(2, y.shape[1:]).unflatten(1, y.shape[1:]).mean((2, 4))  # (R, D, D)
        apart = worst - 1 / y.shape[1]  # weights of the domains in one distribution less those in the other
        discrepancy = torch.einsum("rd,rde,re->r", apart, kernel, apart)
        variance = each.flatten(1).var(-1) + (worst * each.var(-1)).sum(-1)
        penalty = self.hparams["lambda"] * discrepancy + self.hparams["variance"] * variance
        self.optimizer.reset(self.clock == self.begin)
        risk = risks.mean(-1)
        loss = risk + torch.where(self.clock < self.begin, 0.0, penalty)
        return {"loss": loss, "cross_entropy": risk, "discrepancy": discrepancy, "variance": variance}
