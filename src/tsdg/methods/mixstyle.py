"""MixStyle: a window's features with the style of another domain's window."""

from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy

BLOCKS = 2  # of the backbone, after which styles are mixed
PROBABILITY = 0.5  # at an iteration, for each of them
EPSILON = 1e-6


class MixStyle(declarations.MixStyle, Method):
    r"""Cross-entropy, with means and deviations over time of early features mixed with another domain's.

    After each of the first two blocks, at half of the iterations, a window's channels take the weighted mean
    of their own mean and deviation and of those of a window of another domain; the weight is drawn from
    Beta(alpha, alpha) for each window. No gradient passes through means and deviations.

    Formula
    -------
    \tilde a_n = \frac{a_n - \bar a_n}{s_n} \, (\mu_n s_n + (1 - \mu_n) s_{j(n)}) + \mu_n \bar a_n + (1 -
    \mu_n) \bar a_{j(n)}, \quad \mu_n \sim \mathrm{Beta}(\alpha, \alpha)
    """

    stream = "MixStyle"

    def draws(self, batch):
        partners, own = [], []
        for stream, alpha in zip(self.streams, self.hparams["alpha"].tolist(), strict=True):
            of_run = np.empty((BLOCKS, self.in_batch, batch), np.int64)
            for of_block in of_run:
                cycle = stream.permutation(self.in_batch)
                places = stream.permuted(np.tile(np.arange(batch), (self.in_batch, 1)), axis=1)
                of_block[cycle] = np.roll(cycle, -1)[:, None] * batch + places
            taken = stream.random((BLOCKS, 1, 1)) < PROBABILITY
            partners.append(of_run)
            own.append(np.where(taken, stream.beta(alpha, alpha, of_run.shape), 1.0))
        return {
            "partners": torch.from_numpy(np.stack(partners)).to(self.device),
            "own": torch.from_numpy(np.stack(own)).to(self.device, self.dtype),
        }

    def losses(self, x, y, draws) -> Losses:
        backbone: Any = getattr(self.network.featurizer, "backbone", self.network.featurizer)
        styles = zip(draws["partners"].unbind(1), draws["own"].unbind(1), strict=True)
        with ExitStack() as hooks:
            for block, style in zip(backbone.blocks, styles, strict=False):
                hook = block.register_forward_hook(lambda block, x, made, style=style: restyled(made, *style))
                hooks.callback(hook.remove)
            z = self.features(x)
        return {"loss": cross_entropy(self.classify(z), y).mean(-1)}


def restyled(x: Tensor, partners: Tensor, own: Tensor) -> Tensor:
    """Activations with the means and deviations over time of two windows.

    Parameters
    ----------
    x : (R, D B, T, C)
    partners : (R, D, B) of int64
        Places among the D B windows of a run.
    own : (R, D, B)
        Weight of a window's own style, from 0 to 1.
    """
    mean = x.detach().mean(2, keepdim=True)
    deviation = (x.detach().var(2, keepdim=True, correction=0) + EPSILON).sqrt()
    runs = torch.arange(len(x), device=x.device).unsqueeze(1)
    partner, weight = partners.flatten(1), own.flatten(1)[..., None, None]
    mixed_mean, mixed_deviation = (torch.lerp(s[runs, partner], s, weight) for s in (mean, deviation))
    return (x - mean) / deviation * mixed_deviation + mixed_mean
