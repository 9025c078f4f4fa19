"""Variance risk extrapolation."""

from tsdg.methods.annealed import AnnealedPenalty, annealed_search


class VREx(AnnealedPenalty):
    """Penalizes the variance of the source domains' risks."""

    title = "V-REx"
    citation = "Krueger et al., Out-of-Distribution Generalization via Risk Extrapolation, ICML 2021"
    search = annealed_search(default=10)

    def penalty(self, logits, y, risks):
        return risks.var(-1, correction=0)
