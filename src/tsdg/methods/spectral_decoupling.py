"""Spectral decoupling: large logits cost, so that no feature starves the others."""

from tsdg.methods.base import Losses, Method, cross_entropy
from tsdg.methods.search import Distribution


class SpectralDecoupling(Method):
    """Cross-entropy plus lambda times the mean squared logit."""

    title = "SD"
    citation = "Pezeshki et al., Gradient Starvation: A Learning Proclivity in Neural Networks, NeurIPS 2021"
    least_sources = 1
    some_domains = True
    search = {"lambda": Distribution(0.1, "power", (-5, -1))}

    def losses(self, x, y, draws) -> Losses:
        logits = self.classify(self.features(x))
        risk = cross_entropy(logits, y).mean(-1)
        penalty = logits.square().mean((1, 2, 3))
        return {"loss": risk + self.hparams["lambda"] * penalty, "cross_entropy": risk, "penalty": penalty}
