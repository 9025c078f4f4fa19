"""Variance risk extrapolation."""

from tsdg.methods import declarations
from tsdg.methods.annealed import AnnealedPenalty


class VREx(declarations.VREx, AnnealedPenalty):
    r"""Cross-entropy plus the variance of the source domains' risks.

    Formula
    -------
    L + \lambda \, \mathrm{Var}_d \, L_d
    """

    def penalty(self, logits, y, risks):
        return risks.var(-1, correction=0)
