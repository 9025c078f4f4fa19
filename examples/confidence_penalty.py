"""Confidence penalty: predictions that are too sure of one class cost."""

from tsdg.methods.base import Method, cross_entropy
from tsdg.methods.search import Distribution


class ConfidencePenalty(Method):
    """Mean cross-entropy, less lambda times the mean entropy of the predictions."""

    title = "Confidence penalty"
    citation = (
        "Pereyra et al., Regularizing Neural Networks by Penalizing Confident Output Distributions, 2017"
    )
    search = {"lambda": Distribution(0.1, "power", (-2, 0))}

    def losses(self, x, y, draws):
        logits = self.classify(self.features(x))  # (R, D, B, K)
        risk = cross_entropy(logits, y).mean(-1)
        logs = logits.log_softmax(-1)
        entropy = -(logs.exp() * logs).sum(-1).mean((1, 2))
        loss = risk - self.hparams["lambda"] * entropy
        return {"loss": loss, "cross_entropy": risk, "entropy": entropy}


METHODS = {"penalty": ConfidencePenalty}
