"""Group distributionally robust optimization."""

import torch

from tsdg.methods.base import Losses, Method, cross_entropy
from tsdg.methods.search import Distribution


class GroupDRO(Method):
    """Minimizes a weighted sum of the domains' risks; weights grow exponentially with a domain's risk."""

    title = "GroupDRO"
    citation = "Sagawa et al., Distributionally Robust Neural Networks for Group Shifts, ICLR 2020"
    forward_default = "per_domain"
    some_domains = True
    search = {"eta": Distribution(0.01, "power", (-3, -1))}

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
