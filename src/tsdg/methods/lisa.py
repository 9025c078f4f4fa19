"""LISA: mixed are samples that have label or domain in common, so that neither stands for the other."""

import numpy as np
import torch
from torch import Tensor

from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, sample_cross_entropy


class LISA(declarations.LISA, Method):
    r"""Cross-entropy of convex combinations of two samples and of their labels, which share label or domain.

    At each iteration, with probability ``intra_label``, a sample's partner is one of the batch with its label
    from another domain; else it is one of its domain with another label. The weight of the sample is drawn
    from Beta(alpha, alpha). One without such a partner stays as it is.

    Formula
    -------
    \mathrm{mean}_n \, \mu_n \, \ell(\tilde x_n, y_n) + (1 - \mu_n) \, \ell(\tilde x_n, y_{j(n)}), \quad
    \tilde x_n = \mu_n x_n + (1 - \mu_n) x_{j(n)}, \quad \mu_n \sim \mathrm{Beta}(\alpha, \alpha)
    """

    stream = "LISA"

    def draws(self, batch):
        shape, drawn = (self.in_batch, batch), []
        shares, alphas = (self.hparams[name].tolist() for name in ("intra_label", "alpha"))
        for stream, share, a in zip(self.streams, shares, alphas, strict=True):
            drawn.append((stream.random() < share, stream.random(shape), stream.beta(a, a, shape)))
        intra_label, choice, mixing = (np.stack(values) for values in zip(*drawn, strict=True))
        return {
            "intra_label": torch.from_numpy(intra_label).to(self.device),
            "choice": torch.from_numpy(choice).to(self.device, self.dtype),
            "mixing": torch.from_numpy(mixing).to(self.device, self.dtype),
        }

    def losses(self, x, y, draws) -> Losses:
        partner, mixing = partners(y, draws["intra_label"], draws["choice"]), draws["mixing"]
        runs = torch.arange(self.runs, device=y.device).view(-1, 1, 1)
        other_x, other_y = (values.flatten(1, 2)[runs, partner] for values in (x, y))
        weight = mixing[..., None, None]
        logits = self.classify(self.features(weight * x + (1 - weight) * other_x))
        own, others = (sample_cross_entropy(logits, labels) for labels in (y, other_y))
        risks = mixing * own + (1 - mixing) * others
        return {"loss": risks.mean((1, 2))}


def partners(y: Tensor, intra_label: Tensor, choice: Tensor) -> Tensor:
    """Place of each sample's partner among the D B samples of its run, its own where there is none.

    Parameters
    ----------
    y : (R, D, B) of int64
    intra_label : (R,) of bool
        Whether partners have the same label and another domain, or the other way round.
    choice : (R, D, B)
        From 0 to 1: which of those that fit, in their order.

    Returns
    -------
    (R, D, B) of int64
    """
    domains, batch = y.shape[1:]
    label, domain = y.flatten(1), torch.arange(domains, device=y.device).repeat_interleave(batch)
    alike = label.unsqueeze(1) == label.unsqueeze(2)
    together = domain.unsqueeze(0) == domain.unsqueeze(1)
    fits = torch.where(intra_label.view(-1, 1, 1), alike & ~together, together & ~alike)
    number = fits.cumsum(-1)
    count = number[..., -1]
    wanted = torch.minimum((choice.flatten(1) * count).long(), count - 1)
    found = (number <= wanted.unsqueeze(-1)).sum(-1)
    return torch.where(count > 0, found, torch.arange(domains * batch, device=y.device)).view(y.shape)
