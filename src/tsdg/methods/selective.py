"""Selective consistency regularization ("Ours"): consistent predictions among related domains only."""

from __future__ import annotations

import torch
from torch import Tensor

from tsdg.errors import InputError
from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy
from tsdg.methods.consistency import DISTANCES, domain_consistency, pairwise_consistency, sample_consistency
from tsdg.methods.similarity import (
    centroids,
    class_sums,
    metadata_weights,
    nearest_neighbours,
    neighbour_weights,
    same_cluster,
)


class SelectiveConsistency(declarations.SelectiveConsistency, Method):
    """Cross-entropy plus lambda times the inconsistency of related domains.

    Options
    -------
    regularize : {"logits", "features", "soft_labels"}
        What must agree.
    kernel : {"linear", "gaussian"}
        How two domains are compared, see `tsdg.methods.consistency.pairwise_consistency`.
    """

    def __init__(self, *args, regularize: str = "logits", kernel: str = "linear", **kwargs):
        self.regularize, self.kernel = regularize, kernel
        super().__init__(*args, **kwargs)

    def weights(self, logits: Tensor, labels: Tensor, draws) -> Tensor:
        """Weight of each ordered pair of source domains, ``(R, D, D)``, without gradient."""
        raise NotImplementedError

    def inconsistency(self, values: Tensor, logits: Tensor, labels: Tensor, draws) -> Tensor:
        """How much related domains disagree in values ``(R, D, B, L)``, ``(R,)``."""
        weights = self.weights(logits, labels, draws)
        return pairwise_consistency(values, labels, weights, self.classes, self.kernel)

    def losses(self, x, y, draws) -> Losses:
        z = self.features(x)
        logits = self.classify(z)
        risk = cross_entropy(logits, y).mean(-1)
        values = {"logits": logits, "features": z}.get(self.regularize)
        if values is None:
            values = logits.softmax(-1)
        omega = self.inconsistency(values, logits, y, draws)
        return {"loss": risk + self.hparams["lambda"] * omega, "cross_entropy": risk, "consistency": omega}


class MetadataConsistency(declarations.MetadataConsistency, SelectiveConsistency):
    r"""Cross-entropy plus the distances of the class centroids of domains of a cluster, known from metadata.

    Options
    -------
    distance : {"l2", "cosine", "kl"}
        To the centroid of the cluster, see `tsdg.methods.consistency.DISTANCES`; kl takes soft labels.
    level : {"domain", "sample"}
        What is compared with it: the centroids of its domains, or their samples.

    Formula
    -------
    L + \lambda \sum_k \sum_{i, j} w_{ij} \Vert c_{ik} - c_{jk} \Vert^2, \quad w_{ij} = \frac{1}{2 \lvert
    C_i \rvert} \text{ for } j \in C_i, \text{ else } 0
    """

    def __init__(self, *args, distance: str = "l2", level: str = "domain", **kwargs):
        self.distance, self.level = distance, level
        super().__init__(*args, **kwargs)

    def setup(self) -> None:
        if self.clusters is None:
            raise InputError(
                "Ours (metadata) needs to know which domains belong together: give the data set `clusters` "
                "(a metadata field such as [location], or lists of domains) in params.yaml"
            )
        self.cluster = self.clusters.to(self.device).expand(self.runs, self.domains)

    def weights(self, logits, labels, draws):
        return metadata_weights(self.of_batch(self.cluster, draws)).to(self.dtype)

    def inconsistency(self, values, logits, labels, draws):
        distance = DISTANCES[self.distance]
        same = same_cluster(self.of_batch(self.cluster, draws)).to(self.dtype)
        if self.level == "sample":
            return sample_consistency(values, labels, same, self.classes, distance)
        if self.distance != "l2":
            return domain_consistency(values, labels, same, self.classes, distance)
        return super().inconsistency(values, logits, labels, draws)  # the same, where no class is missing


class LearnedConsistency(declarations.LearnedConsistency, SelectiveConsistency):
    r"""Cross-entropy plus the distances of each domain's class centroids to those of its nearest neighbour.

    Centroids are means over all training logits since the last update; the first update has one batch.

    Options
    -------
    rbf : {"bandwidth", "gamma", "one"}
        Form of the weight, see `tsdg.methods.similarity.neighbour_weights`.
    neighbour : {"nearest", "random"}
    every : int
        Iterations between updates of the similarity.

    Formula
    -------
    L + \lambda \sum_k \sum_i w_i \Vert c_{ik} - c_{n(i) k} \Vert^2, \quad n(i) \text{ found anew at times}
    """

    stream = "Ours (learned)"

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
        for total, new in ((self.sums, sums), (self.counts, counts)):
            total.copy_(self.with_batch(total, self.of_batch(total, draws) + new, draws))
        if self.refreshes():
            means = centroids(self.sums, self.counts)
            neighbours = draws["neighbours"] if self.neighbour == "random" else nearest_neighbours(means)
            self.neighbours.copy_(neighbours)
            self.pair_weights.copy_(neighbour_weights(means, neighbours, self.hparams["xi"], self.rbf))
            self.sums.zero_()
            self.counts.zero_()
        rows = self.of_batch(self.pair_weights, draws)
        return self.of_batch(rows.transpose(1, 2), draws).transpose(1, 2)

    def phase(self):
        return self.refreshes()

    def observe(self):
        if self.refreshes():
            self.history.append((self.iteration, self.neighbours.clone()))

    def kept(self, r, names):
        """``neighbours``: the neighbour of every source domain at each update of the similarity."""
        return {
            "neighbours": [
                {"iteration": i, "of": {names[d]: names[n] for d, n in enumerate(chosen[r].tolist())}}
                for i, chosen in self.history
            ]
        }
