"""Fish: gradients of the domains' risks that point the same way, to first order."""

import numpy as np
import torch
from torch import Tensor

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy
from tsdg.methods.pairs import take_domains


class Fish(declarations.Fish, Method):
    r"""A step on one domain after another, in random order, of all of which the network goes a share epsilon.

    Running averages go that share too. With ``forward: joint`` all domains are in the batch normalization of
    each step, at D times the cost.

    Formula
    -------
    \theta \leftarrow \theta + \epsilon \, (\tilde\theta - \theta), \quad \tilde\theta \text{ after a step
    on } L_d \text{ for one } d \text{ after another}
    """

    stream = "Fish"

    def draws(self, batch):
        order = np.stack([stream.permutation(self.in_batch) for stream in self.streams])
        return {"order": torch.from_numpy(order).to(self.device)}

    def own(self) -> list[Tensor]:
        """What of the network each run has its own of, ``(R, ...)``: parameters and running averages."""
        values = self.network.state_dict().values()
        return [value for value in values if value.is_floating_point() and value.shape[:1] == (self.runs,)]

    def losses(self, x, y, draws) -> Losses:
        raise NotImplementedError("Fish has no single objective: its steps are composed in `step`")

    def step(self, x, y, draws) -> Losses:
        start = [value.clone() for value in self.own()]
        total = torch.zeros(self.runs, dtype=self.dtype, device=self.device)
        for domain in draws["order"].split(1, dim=1):
            if self.per_domain:
                risk = cross_entropy(
                    self.classify(self.features(take_domains(x, domain))), take_domains(y, domain)
                )
            else:
                risk = take_domains(cross_entropy(self.classify(self.features(x)), y), domain)
            self.optimizer.zero_grad()
            risk.sum().backward()
            self.optimizer.step(scale=self.rate())
            total += risk.detach().squeeze(1)
        for old, new in zip(start, self.own(), strict=True):
            share = self.hparams["epsilon"].view(-1, *[1] * (new.dim() - 1))
            new.copy_(torch.lerp(old, new, share))
        return {"loss": total / self.in_batch}
