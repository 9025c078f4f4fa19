"""Group distributionally robust optimization."""

import torch

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy


class GroupDRO(declarations.GroupDRO, Method):
    r"""A weighted sum of the domains' risks, whose weights grow exponentially with a domain's risk.

    Formula
    -------
    \sum_d q_d L_d, \quad q_d \propto q_d \, e^{\eta L_d}
    """

    def setup(self) -> None:
        self.q = torch.full((self.runs, self.domains), 1 / self.domains, dtype=self.dtype, device=self.device)

    def losses(self, x, y, draws) -> Losses:
        risks = cross_entropy(self.classify(self.features(x)), y)
        growth = torch.exp(self.hparams["eta"].unsqueeze(1) * risks.detach())
        q = self.with_batch(self.q, self.of_batch(self.q, draws) * growth, draws)
        self.q.copy_(q / q.sum(1, keepdim=True))
        return {
            "loss": (self.of_batch(self.q, draws) * risks).sum(-1),
            "cross_entropy": risks.detach().mean(-1),
        }
