"""CORAL-DG and MMD-DG: features of all source domains alike in distribution."""

import torch
from torch import Tensor

from tsdg.errors import InputError
from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy
from tsdg.methods.kernels import gaussian_kernel


def coral(z: Tensor) -> Tensor:
    """Mean squared difference of means and of covariances for each pair of domains.

    Parameters
    ----------
    z : (R, D, B, F)

    Returns
    -------
    (R, D, D)
    """
    mean = z.mean(2, keepdim=True)
    centred = z - mean
    covariance = centred.transpose(-1, -2) @ centred / (z.shape[2] - 1)
    means = (mean.transpose(1, 2) - mean).square().mean(-1)
    covariances = (covariance.unsqueeze(1) - covariance.unsqueeze(2)).square().mean((-1, -2))
    return means + covariances


def mmd(z: Tensor) -> Tensor:
    """Squared maximum mean discrepancy of each pair of domains, biased estimate with `gaussian_kernel`.

    Parameters
    ----------
    z : (R, D, B, F)

    Returns
    -------
    (R, D, D)
    """
    runs, domains, batch, _ = z.shape
    kernel = gaussian_kernel(z.flatten(1, 2))
    means = kernel.view(runs, domains, batch, domains, batch).mean((2, 4))
    own = means.diagonal(dim1=1, dim2=2)
    return own.unsqueeze(1) + own.unsqueeze(2) - 2 * means


class Alignment(declarations.Alignment, Method):
    """Mean risk plus lambda times the mean discrepancy over pairs of source domains."""

    def setup(self) -> None:
        if self.in_batch < 2:
            raise InputError(
                f"{self.title} aligns pairs of source domains: it needs two or more, not {self.in_batch}"
            )

    def discrepancy(self, z: Tensor) -> Tensor:
        """Discrepancy of every pair of domains, ``(R, D, B, F) -> (R, D, D)``."""
        raise NotImplementedError

    def losses(self, x, y, draws) -> Losses:
        z = self.features(x)
        risk = cross_entropy(self.classify(z), y).mean(-1)
        first, second = torch.triu_indices(self.in_batch, self.in_batch, offset=1, device=z.device)
        penalty = self.discrepancy(z)[:, first, second].mean(-1)
        return {"loss": risk + self.hparams["lambda"] * penalty, "cross_entropy": risk, "penalty": penalty}


class CORAL(declarations.CORAL, Alignment):
    r"""Cross-entropy plus the differences of means and covariances of every two domains' features.

    Formula
    -------
    L + \lambda \, \mathrm{mean}_{i < j} \left( \mathrm{mean} \, (\bar z_i - \bar z_j)^2 + \mathrm{mean} \,
    (C_i - C_j)^2 \right)
    """

    def discrepancy(self, z):
        return coral(z)


class MMD(declarations.MMD, Alignment):
    r"""Cross-entropy plus the maximum mean discrepancy of every two domains' features, with Gaussian kernels.

    Formula
    -------
    L + \lambda \, \mathrm{mean}_{i < j} \, \mathrm{MMD}^2(z_i, z_j)
    """

    def discrepancy(self, z):
        return mmd(z)
