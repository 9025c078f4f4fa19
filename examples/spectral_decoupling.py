"""Spectral decoupling: large logits cost, so that no feature starves the others."""

from tsdg.methods.base import Method, cross_entropy
from tsdg.methods.search import Distribution


class SpectralDecoupling(Method):
    """Mean cross-entropy, and lambda times the mean squared logit."""

    title = "SD"
    citation = "Pezeshki et al., Gradient Starvation: A Learning Proclivity in Neural Networks, NeurIPS 2021"
    search = {"lambda": Distribution(0.1, "power", (-5, -1))}

    def losses(self, x, y, draws):
        logits = self.classify(self.features(x))  # (R, D, B, K)
        risk = cross_entropy(logits, y).mean(-1)
        penalty = logits.square().mean((1, 2, 3))
        loss = risk + self.hparams["lambda"] * penalty
        return {"loss": loss, "cross_entropy": risk, "penalty": penalty}


METHODS = {"sd": SpectralDecoupling}
