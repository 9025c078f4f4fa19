"""Invariant risk minimization."""

import torch

from tsdg.methods import declarations
from tsdg.methods.annealed import AnnealedPenalty
from tsdg.methods.base import cross_entropy


class IRM(declarations.IRM, AnnealedPenalty):
    r"""Cross-entropy plus the squared gradient of each domain's risk in a dummy scale on its logits.

    The squared gradient is estimated without bias by the product of two halves of the batch, the even and
    the odd samples; it may be negative.

    Formula
    -------
    L + \lambda \frac1D \sum_d \partial_w L_d^\mathrm{even}(w g)\, \partial_w L_d^\mathrm{odd}(w g) \big|_{w
    = 1}
    """

    def penalty(self, logits, y, risks):
        scale = torch.ones_like(risks, requires_grad=True)
        scaled = logits * scale[..., None, None]
        even = cross_entropy(scaled[:, :, ::2], y[:, :, ::2])
        odd = cross_entropy(scaled[:, :, 1::2], y[:, :, 1::2])
        (even_gradient,) = torch.autograd.grad(even.sum(), scale, create_graph=True)
        (odd_gradient,) = torch.autograd.grad(odd.sum(), scale, create_graph=True)
        return (even_gradient * odd_gradient).mean(-1)
