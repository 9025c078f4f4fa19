"""Empirical risk minimization."""

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy


class ERM(declarations.ERM, Method):
    """Mean cross-entropy over all samples of all source domains."""

    def losses(self, x, y, draws) -> Losses:
        risks = cross_entropy(self.classify(self.features(x)), y)
        return {"loss": risks.mean(-1)}
