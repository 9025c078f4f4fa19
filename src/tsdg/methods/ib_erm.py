"""Information bottleneck: features that vary no more than the classes need."""

import torch

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy


class IBERM(declarations.IBERM, Method):
    r"""Cross-entropy plus the variance of each feature within a domain, averaged over features and domains.

    The variance weighs nothing before the iteration ``annealing``, when Adam starts anew.

    Formula
    -------
    L + \lambda \, \mathrm{mean}_{d, f} \, \mathrm{Var}_n \, z_{d n f}
    """

    def losses(self, x, y, draws) -> Losses:
        z = self.features(x)
        risk = cross_entropy(self.classify(z), y).mean(-1)
        penalty = z.var(2).mean((1, 2))
        weight = torch.where(self.clock < self.hparams["annealing"], 0.0, self.hparams["lambda"])
        self.optimizer.reset(self.clock == self.hparams["annealing"])
        return {"loss": risk + weight * penalty, "cross_entropy": risk, "penalty": penalty}
