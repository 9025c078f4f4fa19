"""What IRM and V-REx share: a penalty on the domains' risks that takes its weight at an iteration."""

import torch
from torch import Tensor

from tsdg.methods.base import Losses, Method, cross_entropy


class AnnealedPenalty(Method):
    """Mean risk plus a weighted penalty; the weight is 1 at first and lambda from the annealing iteration on.

    Adam starts anew at that iteration, as the gradient's size jumps.
    """

    def penalty(self, logits: Tensor, y: Tensor, risks: Tensor) -> Tensor:
        """Penalty ``(R,)`` from logits ``(R, D, B, K)``, labels and the risks ``(R, D)``."""
        raise NotImplementedError

    def losses(self, x, y, draws) -> Losses:
        logits = self.classify(self.features(x))
        risks = cross_entropy(logits, y)
        risk, penalty = risks.mean(-1), self.penalty(logits, y, risks)
        weight = torch.where(self.clock < self.hparams["annealing"], 1.0, self.hparams["lambda"])
        self.optimizer.reset(self.clock == self.hparams["annealing"])
        return {"loss": risk + weight * penalty, "cross_entropy": risk, "penalty": penalty}
