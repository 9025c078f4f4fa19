"""Spectral decoupling: large logits cost, so that no feature starves the others."""

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy


class SpectralDecoupling(declarations.SpectralDecoupling, Method):
    r"""Cross-entropy plus lambda times the mean squared logit.

    Formula
    -------
    L + \lambda \, \mathrm{mean} \, g^2
    """

    def losses(self, x, y, draws) -> Losses:
        logits = self.classify(self.features(x))
        risk = cross_entropy(logits, y).mean(-1)
        penalty = logits.square().mean((1, 2, 3))
        return {"loss": risk + self.hparams["lambda"] * penalty, "cross_entropy": risk, "penalty": penalty}
