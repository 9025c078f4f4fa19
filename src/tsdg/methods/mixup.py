"""Interdomain mixup."""

import numpy as np
import torch

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy
from tsdg.methods.pairs import random_cycle, take_domains


class InterdomainMixup(declarations.InterdomainMixup, Method):
    r"""Cross-entropy of convex combinations of two domains' samples, with their labels combined alike.

    Formula
    -------
    \frac1D \sum_{(i, j)} \mu \, \ell(\tilde x, y_i) + (1 - \mu) \, \ell(\tilde x, y_j), \quad \tilde x =
    \mu x_i + (1 - \mu) x_j, \quad \mu \sim \mathrm{Beta}(\alpha, \alpha)
    """

    stream = "Interdomain Mixup"

    def draws(self, batch):
        alphas = self.hparams["alpha"].tolist()
        mixing = np.stack(
            [s.beta(a, a, size=self.in_batch) for s, a in zip(self.streams, alphas, strict=True)]
        )
        return {
            "pairs": random_cycle(self.streams, self.in_batch).to(self.device),
            "mixing": torch.from_numpy(mixing).to(self.device, self.dtype),
        }

    def losses(self, x, y, draws) -> Losses:
        first, second = draws["pairs"].unbind(-1)
        mixing = draws["mixing"]
        weight = mixing[..., None, None, None]
        mixed = weight * take_domains(x, first) + (1 - weight) * take_domains(x, second)
        logits = self.classify(self.features(mixed))
        risks = mixing * cross_entropy(logits, take_domains(y, first))
        risks = risks + (1 - mixing) * cross_entropy(logits, take_domains(y, second))
        return {"loss": risks.mean(-1)}
