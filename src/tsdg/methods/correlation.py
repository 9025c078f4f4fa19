"""Correlation: features of a class close to their mean, whichever the domain."""

import torch

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy
from tsdg.methods.similarity import class_sums


class Correlation(declarations.Correlation, Method):
    r"""Cross-entropy plus the squared distances of all features to their class's mean in the batch, summed.

    Formula
    -------
    L + \lambda \sum_n \Vert z_n - \bar z_{y_n} \Vert^2
    """

    def losses(self, x, y, draws) -> Losses:
        z = self.features(x)
        risk = cross_entropy(self.classify(z), y).mean(-1)
        sums, counts = class_sums(z.flatten(1, 2).unsqueeze(1), y.flatten(1).unsqueeze(1), self.classes)
        means = (sums / counts.clamp(min=1).unsqueeze(-1)).squeeze(1)  # (R, K, F)
        own = torch.nn.functional.one_hot(y.flatten(1), self.classes).to(z.dtype) @ means
        spread = (z.flatten(1, 2) - own).square().sum((1, 2))
        return {"loss": risk + self.hparams["lambda"] * spread, "cross_entropy": risk, "spread": spread}
