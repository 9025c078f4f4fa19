"""Selective consistency regularization ("Ours"): consistent predictions among related domains only."""

from __future__ import annotations

import torch
from torch import Tensor

from tsdg.errors import InputError
from tsdg.hparams import Distribution
from tsdg.methods.base import Losses, Method, cross_entropy
from tsdg.similarity import centroids, class_sums, metadata_weights, nearest_neighbours, neighbour_weights

CITATION = "Zhang, Ragab & Foo, Domain Generalization via Selective Consistency Regularization, ICPR 2022"


def consistency(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """Weighted squared distances between the domains' class centroids (paper, eq. 3).

    Parameters
    ----------
    logits : (R, D, B, K)
    labels : (R, D, B) of int64
    weights : (R, D, D)
        Weight of each ordered pair of domains.

    Returns
    -------
    (R,)
        Pairs of which a domain has no sample of the class in the batch are left out.
    """
    return pairwise_consistency(logits, labels, weights, logits.shape[-1])


def pairwise_consistency(values: Tensor, labels: Tensor, weights: Tensor, classes: int) -> Tensor:
    """`consistency` of any values ``(R, D, B, L)``: logits, features or soft labels."""
    sums, counts = class_sums(values, labels, classes)
    means = sums / counts.clamp(min=1).unsqueeze(-1)
    squared = (means.unsqueeze(1) - means.unsqueeze(2)).square().sum(-1)  # (R, D, D, K)
    present = counts > 0
    both = present.unsqueeze(1) & present.unsqueeze(2)
    return (weights.unsqueeze(-1) * torch.where(both, squared, 0.0)).sum((1, 2, 3))


class SelectiveConsistency(Method):
    """Cross-entropy plus lambda times the inconsistency of related domains.

    Options
    -------
    regularize : {"logits", "features", "soft_labels"}
        What must agree.
    """

    citation = CITATION
    search = {"lambda": Distribution(0.01, "power", (-3, -1))}
    options = {"regularize": ("logits", "features", "soft_labels")}

    def __init__(self, *args, regularize: str = "logits", **kwargs):
        self.regularize = regularize
        super().__init__(*args, **kwargs)

    def weights(self, logits: Tensor, labels: Tensor, draws) -> Tensor:
        """Weight of each ordered pair of source domains, ``(R, D, D)``, without gradient."""
        raise NotImplementedError

    def losses(self, x, y, draws) -> Losses:
        z = self.features(x)
        logits = self.classify(z)
        risk = cross_entropy(logits, y).mean(-1)
        values = {"logits": logits, "features": z}.get(self.regularize)
        if values is None:
            values = logits.softmax(-1)
        omega = pairwise_consistency(values, y, self.weights(logits, y, draws), self.classes)
        return {"loss": risk + self.hparams["lambda"] * omega, "cross_entropy": risk, "consistency": omega}


class MetadataConsistency(SelectiveConsistency):
    """Related are the domains of a cluster, known from metadata."""

    title = "Ours (metadata)"
    uses_clusters = True

    def setup(self) -> None:
        if self.clusters is None:
            raise InputError(
                "Ours (metadata) needs to know which domains belong together: give the data set `clusters` "
                "(a metadata field such as [location], or lists of domains) in params.yaml"
            )
        clusters = self.clusters.to(self.device).expand(self.runs, self.domains)
        self.pair_weights = metadata_weights(clusters).to(self.dtype)

    def weights(self, logits, labels, draws):
        return self.pair_weights


class LearnedConsistency(SelectiveConsistency):
    """Related to a domain is its nearest neighbour by class centroids of the logits, found anew at times.

    Centroids are means over all training logits since the last update; the first update has one batch.

    Options
    -------
    rbf : {"bandwidth", "gamma", "one"}
        Form of the weight, see `tsdg.similarity.neighbour_weights`.
    neighbour : {"nearest", "random"}
    every : int
        Iterations between updates of the similarity.
    """

    title = "Ours (learned)"
    search = {**SelectiveConsistency.search, "xi": Distribution(0.1, "power", (-2, 2))}
    options = {
        **SelectiveConsistency.options,
        "rbf": ("bandwidth", "gamma", "one"),
        "neighbour": ("nearest", "random"),
        "every": int,
    }

    def __init__(self, *args, rbf: str = "bandwidth", neighbour: str = "nearest", every: int = 100, **kwargs):
        self.rbf, self.neighbour, self.every = rbf, neighbour, every
        super().__init__(*args, **kwargs)

    def setup(self) -> None:
        self.sums = self._zeros(self.domains, self.classes, self.classes)
        self.counts = self._zeros(self.domains, self.classes)
        self.pair_weights = self._zeros(self.domains, self.domains)
        self.neighbours = torch.zeros(self.runs, self.domains, dtype=torch.int64, device=self.device)
        self.history: list[tuple[int, Tensor]] = []

    def _zeros(self, *shape: int) -> Tensor:
        return torch.zeros(self.runs, *shape, dtype=self.dtype, device=self.device)

    def draws(self, batch):
        if self.neighbour == "nearest":
            return {}
        others = torch.stack(
            [torch.from_numpy(s.integers(1, max(2, self.domains), self.domains)) for s in self.streams]
        )
        return {"neighbours": ((torch.arange(self.domains) + others) % self.domains).to(self.device)}

    def refreshes(self) -> bool:
        """Whether the similarity is found anew at this iteration."""
        return self.iteration % self.every == 0

    @torch.no_grad()
    def weights(self, logits, labels, draws):
        sums, counts = class_sums(logits, labels, self.classes)
        self.sums += sums
        self.counts += counts
        if self.refreshes():
            means = centroids(self.sums, self.counts)
            neighbours = draws["neighbours"] if self.neighbour == "random" else nearest_neighbours(means)
            self.neighbours.copy_(neighbours)
            self.pair_weights.copy_(neighbour_weights(means, neighbours, self.hparams["xi"], self.rbf))
            self.sums.zero_()
            self.counts.zero_()
        return self.pair_weights

    def phase(self):
        return self.refreshes()

    def observe(self):
        if self.refreshes():
            self.history.append((self.iteration, self.neighbours.clone()))
