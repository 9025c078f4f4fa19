"""Empirical risk minimization."""

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy


class ERM(declarations.ERM, Method):
    r"""Mean cross-entropy over all samples of all source domains.

    Formula
    -------
    L = \frac1D \sum_d L_d
    """

    def losses(self, x, y, draws) -> Losses:
        risks = cross_entropy(self.classify(self.features(x)), y)
        return {"loss": risks.mean(-1)}
