"""Variance risk extrapolation."""

from tsdg.methods import declarations
from tsdg.methods.annealed import AnnealedPenalty


class VREx(declarations.VREx, AnnealedPenalty):
    """Penalizes the variance of the source domains' risks."""

    def penalty(self, logits, y, risks):
        return risks.var(-1, correction=0)
