"""Representation self-challenging."""

import torch
from torch import Tensor

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy


def quantile(values: Tensor, q: Tensor) -> Tensor:
    """Quantile of the last axis by linear interpolation, ``(R, ..., N)``, with a q ``(R,)`` for each run."""
    ordered = values.sort(-1).values
    place = (q * (values.shape[-1] - 1)).view(-1, *[1] * (values.dim() - 1)).expand(*values.shape[:-1], 1)
    below = place.floor().long()
    above = place.ceil().long()
    low, high = ordered.gather(-1, below), ordered.gather(-1, above)
    return (low + (high - low) * (place - below)).squeeze(-1)


class RSC(declarations.RSC, Method):
    r"""Cross-entropy with the features muted that the prediction of the true class rests on most.

    Of every sample, features whose gradient of the true class's logit is at or above the (1 - p) quantile;
    of the batch, the fraction b of samples whose true-class probability falls most by the muting.

    Formula
    -------
    L(h(m \odot z)), \quad m_f = 0 \text{ where } \partial g_y / \partial z_f \text{ is in its greatest
    share } p
    """

    def losses(self, x, y, draws) -> Losses:
        z = self.features(x)
        logits = self.classify(z)
        true_logits = logits.gather(-1, y.unsqueeze(-1)).squeeze(-1)
        (gradient,) = torch.autograd.grad(true_logits.sum(), z, retain_graph=True)
        with torch.no_grad():
            kept = gradient < quantile(gradient, 1 - self.hparams["p"]).unsqueeze(-1)
            muted = self.classify(z * kept)
            fall = (logits.softmax(-1) - muted.softmax(-1)).gather(-1, y.unsqueeze(-1)).flatten(1)
            untouched = fall < quantile(fall, 1 - self.hparams["b"]).unsqueeze(-1)
            mask = kept | untouched.view(*y.shape, 1)
        risk = cross_entropy(self.classify(z * mask), y).mean(-1)
        return {"loss": risk}
