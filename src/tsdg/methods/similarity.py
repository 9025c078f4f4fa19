"""Which source domains are related: clusters known beforehand, or nearest neighbours learned from logits.

Axes: R run, D source domain, B sample, K class, L logit. A domain that lacks a class in a batch has no
centroid of it: the centroid is NaN there.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def class_sums(values: Tensor, labels: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """Sum of the values and number of the samples of each domain and class.

    Parameters
    ----------
    values : (R, D, B, L)
    labels : (R, D, B)
    classes : int
        K.

    Returns
    -------
    sums : (R, D, K, L)
    counts : (R, D, K)
    """
    members = torch.nn.functional.one_hot(labels, classes).to(values.dtype).transpose(-1, -2)
    return members @ values, members.sum(-1)


def centroids(sums: Tensor, counts: Tensor) -> Tensor:
    """Mean of each domain and class, ``(R, D, K, L)``; NaN where there is no sample."""
    return torch.where(counts.unsqueeze(-1) > 0, sums / counts.clamp(min=1).unsqueeze(-1), torch.nan)


def same_cluster(clusters: Sequence[int] | Tensor) -> Tensor:
    """Whether two source domains are in one cluster: ``(..., D)`` of int to ``(..., D, D)`` of bool."""
    clusters = torch.as_tensor(clusters)
    return clusters.unsqueeze(-1) == clusters.unsqueeze(-2)


def metadata_weights(clusters: Sequence[int] | Tensor) -> Tensor:
    """Weight of each pair of source domains from their clusters (paper, eq. 4): 1 / (2 |cluster|) within one.

    Parameters
    ----------
    clusters : (..., D) of int
        Cluster of each source domain.

    Returns
    -------
    (..., D, D)
    """
    same = same_cluster(clusters).double()
    return same / (2 * same.sum(-1, keepdim=True))


def squared_distances(centroids: Tensor) -> Tensor:
    """Squared distances of the domains' class centroids, ``(R, K, D, D)``; NaN where one is missing."""
    by_class = centroids.transpose(1, 2)
    return (by_class.unsqueeze(-2) - by_class.unsqueeze(-3)).square().sum(-1)


def nearest_neighbours(centroids: Tensor) -> Tensor:
    """For each domain, the one nearest to it for the most classes (tie: the smaller mean distance).

    Parameters
    ----------
    centroids : (R, D, K, L)

    Returns
    -------
    (R, D) of int64
        With two domains or more, never the domain itself.
    """
    domains = centroids.shape[1]
    itself = torch.eye(domains, dtype=torch.bool, device=centroids.device)
    distances = squared_distances(centroids).sqrt()
    known = ~(distances.isnan() | itself)
    reach = distances.masked_fill(~known, torch.inf)
    nearest = torch.nn.functional.one_hot(reach.argmin(-1), domains) * known.any(-1, keepdim=True)
    votes = nearest.sum(1).masked_fill(itself, -1)  # (R, D, D)
    mean = torch.where(known, distances, 0.0).sum(1) / known.sum(1).clamp(min=1)
    mean = mean.masked_fill(known.sum(1) == 0, torch.inf)
    tied = votes == votes.max(-1, keepdim=True).values
    # A tie among domains at no known distance still has a winner: infinity is not the domain itself.
    return mean.clamp(max=torch.finfo(mean.dtype).max).masked_fill(~tied, torch.inf).argmin(-1)


def neighbour_weights(centroids: Tensor, neighbours: Tensor, xi: Tensor, rbf: str = "bandwidth") -> Tensor:
    """Weight of each domain's neighbour (paper, eq. 5), the mean over classes of a radial basis function.

    Parameters
    ----------
    centroids : (R, D, K, L)
    neighbours : (R, D)
    xi : (R,)
    rbf : {"bandwidth", "gamma", "one"}
        ``exp(-d^2 / (2 xi^2))`` as in the equation, ``exp(-xi d^2)`` as in the text, or 1.

    Returns
    -------
    (R, D, D)
        Zero but at each domain's neighbour. Classes without a distance are left out of the mean.
    """
    squared = squared_distances(centroids)
    xi = xi.view(-1, 1, 1, 1)
    if rbf == "bandwidth":
        values = torch.exp(-squared / (2 * xi.square()))
    elif rbf == "gamma":
        values = torch.exp(-xi * squared)
    else:
        values = torch.ones_like(squared).masked_fill(squared.isnan(), torch.nan)
    chosen = torch.nn.functional.one_hot(neighbours, centroids.shape[1]).to(values.dtype)
    return torch.nan_to_num(values.nanmean(1)) * chosen
