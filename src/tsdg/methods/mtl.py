"""Marginal transfer learning."""

import numpy as np
import torch
from torch import Tensor

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy
from tsdg.streams import torch_stream


class MTL(declarations.MTL, Method):
    r"""The classifier sees, beside a sample's features, an embedding of its domain.

    The embedding is a moving average of the domain's mean features, and of an unseen domain their mean
    (``average``); or, as the reference implementation has it by an oversight, noise, new for every sample at
    every use (``noise``).

    Formula
    -------
    \sum_d L_d(h([z, e_d])), \quad e_d \leftarrow a \bar z_d + (1 - a) e_d
    """

    stream = "MTL"
    embeds_domain = True

    def __init__(self, *args, embedding: str = "noise", **kwargs):
        self.noisy = embedding == "noise"
        super().__init__(*args, **kwargs)

    def setup(self) -> None:
        shape = (self.runs, self.domains, self.network.features)
        self.embeddings = torch.zeros(shape, dtype=self.dtype, device=self.device)

    def _normal(self, shape: tuple[int, ...]) -> Tensor:
        values = np.stack([stream.normal(size=shape) for stream in self.streams])
        return torch.from_numpy(values).to(self.device, self.dtype)

    def draws(self, batch):
        return {"noise": self._normal((self.in_batch, batch, self.network.features))} if self.noisy else {}

    def losses(self, x, y, draws) -> Losses:
        z = self.features(x)
        if self.noisy:
            beside = draws["noise"]
        else:
            a = self.hparams["a"].view(-1, 1, 1)
            embeddings = a * z.mean(2) + (1 - a) * self.of_batch(self.embeddings, draws)
            self.embeddings.copy_(self.with_batch(self.embeddings, embeddings.detach(), draws))
            beside = embeddings.unsqueeze(2).expand_as(z)
        risks = cross_entropy(self.classify(torch.cat([z, beside], -1)), y)
        return {"loss": risks.sum(-1), "cross_entropy": risks.detach().mean(-1)}

    def predict(self, z, valid=None):
        if self.noisy:
            noise = [
                torch.randn(z.shape[1:], generator=torch_stream(seed, "test noise")) for seed in self.seeds
            ]
            embedding = torch.stack(noise).to(z)
        else:
            weight = torch.ones_like(z[..., :1]) if valid is None else valid.unsqueeze(-1).to(z.dtype)
            embedding = (z * weight).sum(1, keepdim=True) / weight.sum(1, keepdim=True)
        return self.network.classifier(torch.cat([z, embedding.expand_as(z)], -1))
