"""Empirical risk minimization."""

from tsdg.methods.base import Losses, Method, cross_entropy


class ERM(Method):
    """Mean cross-entropy over all samples of all source domains."""

    title = "ERM"
    citation = "Vapnik, Statistical Learning Theory, 1998"
    least_sources = 1
    some_domains = True

    def losses(self, x, y, draws) -> Losses:
        risks = cross_entropy(self.classify(self.features(x)), y)
        return {"loss": risks.mean(-1)}
