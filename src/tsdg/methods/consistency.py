"""How much related domains disagree on a class: pair by pair, or each with its cluster's centroid.

Axes: R run, D source domain, B sample, K class, L width of the values (logits, features or soft labels). A
domain that lacks a class in a batch has no part in that class.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from tsdg.methods.kernels import gaussian_kernel
from tsdg.methods.similarity import class_sums

Distance = Callable[[Tensor, Tensor], Tensor]


def pairwise_consistency(
    values: Tensor, labels: Tensor, weights: Tensor, classes: int, kernel: str = "linear"
) -> Tensor:
    """Weighted differences of every two domains, summed over classes (paper, eq. 3).

    Parameters
    ----------
    values : (R, D, B, L)
    labels : (R, D, B) of int64
    weights : (R, D, D)
        Weight of each ordered pair of domains.
    classes : int
        K.
    kernel : {"linear", "gaussian"}
        The squared distance of the class centroids, or the squared maximum mean discrepancy.

    Returns
    -------
    (R,)
        Pairs of which a domain has no sample of the class in the batch are left out.
    """
    means, counts = class_means(values, labels, classes)
    if kernel == "gaussian":
        difference = class_mmd(values, labels, counts)
    else:
        difference = (means.unsqueeze(1) - means.unsqueeze(2)).square().sum(-1)  # (R, D, D, K)
    present = counts > 0
    both = present.unsqueeze(1) & present.unsqueeze(2)
    return (weights.unsqueeze(-1) * torch.where(both, difference, 0.0)).sum((1, 2, 3))


def domain_consistency(
    values: Tensor, labels: Tensor, same: Tensor, classes: int, distance: Distance
) -> Tensor:
    """Distance of each domain's class centroid to its cluster's, summed over domains and classes.

    Parameters
    ----------
    values : (R, D, B, L)
    labels : (R, D, B) of int64
    same : (R, D, D)
        1 for domains of one cluster, else 0.
    classes : int
        K.
    distance : callable
        One of `DISTANCES`.

    Returns
    -------
    (R,)
    """
    means, counts = class_means(values, labels, classes)
    distances = distance(means, cluster_means(means, counts, same))
    return torch.where(counts > 0, distances, 0.0).sum((1, 2))


def sample_consistency(
    values: Tensor, labels: Tensor, same: Tensor, classes: int, distance: Distance
) -> Tensor:
    """Distance of each sample to its class's centroid of the cluster.

    The mean over the samples of a domain and class, summed over domains and classes. Parameters as of
    `domain_consistency`.
    """
    means, counts = class_means(values, labels, classes)
    members = F.one_hot(labels, classes).to(values.dtype)  # (R, D, B, K)
    of_sample = members @ cluster_means(means, counts, same)
    share = members @ (1 / counts.clamp(min=1)).unsqueeze(-1)
    return (share.squeeze(-1) * distance(values, of_sample)).sum((1, 2))


def class_means(values: Tensor, labels: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """Centroid of each domain and class ``(R, D, K, L)``, 0 without a sample, and counts ``(R, D, K)``."""
    sums, counts = class_sums(values, labels, classes)
    return sums / counts.clamp(min=1).unsqueeze(-1), counts


def cluster_means(means: Tensor, counts: Tensor, same: Tensor) -> Tensor:
    """Mean of the class centroids of the domains in each domain's cluster, ``(R, D, K, L)``."""
    total = torch.einsum("rde,rekl->rdkl", same, means)
    number = same @ (counts > 0).to(same.dtype)
    return total / number.clamp(min=1).unsqueeze(-1)


def class_mmd(values: Tensor, labels: Tensor, counts: Tensor) -> Tensor:
    """Squared maximum mean discrepancy of every two domains' samples of a class, biased, ``(R, D, D, K)``."""
    runs, domains, batch, _ = values.shape
    shares = F.one_hot(labels, counts.shape[-1]) / counts.clamp(min=1).unsqueeze(2)  # (R, D, B, K)
    kernel = gaussian_kernel(values.flatten(1, 2)).view(runs, domains, batch, domains, batch)
    means = torch.einsum("ribjc,ribk->rijck", kernel, shares)
    means = torch.einsum("rijck,rjck->rijk", means, shares)
    own = means.diagonal(dim1=1, dim2=2).transpose(1, 2)  # (R, D, K)
    return own.unsqueeze(1) + own.unsqueeze(2) - 2 * means


def l2(member: Tensor, centroid: Tensor) -> Tensor:
    """Squared distance over the last axis."""
    return (member - centroid).square().sum(-1)


def cosine(member: Tensor, centroid: Tensor) -> Tensor:
    """1 minus the cosine of the angle over the last axis."""
    return 1 - F.cosine_similarity(member, centroid, dim=-1)


def kl(member: Tensor, centroid: Tensor) -> Tensor:
    """Kullback-Leibler divergence of distributions over the last axis: member from centroid."""
    least = torch.finfo(member.dtype).tiny  # 0 log 0 is 0
    return (member * (member.clamp(min=least).log() - centroid.clamp(min=least).log())).sum(-1)


DISTANCES: dict[str, Distance] = {"l2": l2, "cosine": cosine, "kl": kl}
