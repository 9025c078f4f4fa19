"""A trained network adapted to windows of a new domain, without their labels: at evaluation alone.

``all``
    Batch normalization by the statistics of all windows of the domain.
``batches``
    By those of each minibatch, as it comes. Nado et al., "Evaluating Prediction-Time Batch Normalization for
    Robustness under Covariate Shift" (2020).
``blend``
    By the mean of these and of the running averages of the training. Schneider et al., "Improving Robustness
    Against Common Corruptions by Covariate Shift Adaptation" (NeurIPS 2020).
``t3a``
    The classifier's last layer becomes, class by class, the mean of the features that are surest of it.
    Iwasawa and Matsuo, "Test-Time Classifier Adjustment Module for Model-Agnostic Domain Generalization"
    (NeurIPS 2021).

All but the first take windows in the order in which they come: ``shuffled``, or ``by class``, one class after
the other, as a machine gives them whose state changes once in months.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tsdg.errors import InputError
from tsdg.learning.layers import BatchNorm, Linear
from tsdg.learning.networks import Network

ALL, BATCHES, BLEND, T3A = "all", "batches", "blend", "t3a"
SHUFFLED, BY_CLASS = "shuffled", "by class"
ORDERS = (SHUFFLED, BY_CLASS)
BATCH = 64  # windows of a minibatch
SHARE = 0.5  # of the minibatch's statistics in a blend
SUPPORTS = 20  # features that stand for a class, of those that its filter may have in the paper

Seen = Callable[[Tensor], Tensor]  # what the network sees of windows ``(R, n)`` of an index


def names(ways: Sequence[str]) -> list[str]:
    """What the evaluations of some ways are called."""
    return [
        name for way in ways for name in ([way] if way == ALL else [f"{way}, {order}" for order in ORDERS])
    ]


def check(network: Network, ways: Sequence[str]) -> None:
    """Raise `InputError` for a way that a network cannot be adapted by."""
    if set(ways) - {T3A} and not _norms(network):
        raise InputError(
            f"adapt: {', '.join(way for way in ways if way != T3A)}: the backbone has no batch "
            "normalization; leave these out, or choose another backbone"
        )


def features_by_all(network: Network, seen: Seen, index: Tensor, valid: Tensor, size: int) -> Tensor:
    """Features ``(R, N, F)`` by the statistics of all windows, see `statistics_of_all`."""
    found = statistics_of_all(network, seen, index, valid, size)
    with _statistics(network, lambda norm, x: found[norm]):
        return torch.cat([network.featurizer(seen(part)) for part in index.split(size, 1)], 1)


def statistics_of_all(
    network: Network, seen: Seen, index: Tensor, valid: Tensor, size: int
) -> dict[nn.Module, tuple[Tensor, Tensor]]:
    """Mean and variance ``(R, C)`` of all windows that are valid for each batch normalization in its turn.

    Parameters
    ----------
    network : Network
    seen : callable
    index, valid : (R, N)
        Windows of each run, and where there are some.
    size : int
        Windows that go through the network at once.
    """
    found: dict[nn.Module, tuple[Tensor, Tensor]] = {}
    for _ in _norms(network):
        gathered = _Gathered(found)
        with _statistics(network, gathered):
            for part, weight in zip(index.split(size, 1), valid.split(size, 1), strict=True):
                gathered.weight = weight
                network.featurizer(seen(part))
        found |= gathered.complete()
    return found


def has_statistics(network: Network) -> bool:
    """Whether a network has batch normalization."""
    return bool(_norms(network))


def features_by_batches(network: Network, seen: Seen, index: Tensor, valid: Tensor, share: float) -> Tensor:
    """Features ``(R, N, F)``, each minibatch by its own statistics in a share, else the running averages."""
    found = []
    for part, weight in zip(index.split(BATCH, 1), valid.split(BATCH, 1), strict=True):

        def blended(norm: BatchNorm, x: Tensor, weight: Tensor = weight) -> tuple[Tensor, Tensor]:
            count, total, square = _sums(x, weight)
            mean = total / count
            variance = (square / count - mean.square()).clamp(min=0)
            mean, variance = mean.to(x.dtype), variance.to(x.dtype)
            there = weight.any(1, keepdim=True)  # of a run with fewer windows, nothing is left here
            return (
                torch.where(there, norm.running_mean.lerp(mean, share), norm.running_mean),
                torch.where(there, norm.running_var.lerp(variance, share), norm.running_var),
            )

        with _statistics(network, blended):
            found.append(network.featurizer(seen(part)))
    return torch.cat(found, 1)


def t3a(z: Tensor, classifier: nn.Module, supports: int = SUPPORTS) -> Tensor:
    """Logits ``(N, K)`` of the features ``(N, F)`` of one run, in their order, minibatch by minibatch.

    Parameters
    ----------
    z : Tensor
    classifier : nn.Module
        Of that run alone: a sequence that ends in a `Linear`, whose input are the features that are meant.
    supports : int
        How many features stand for a class, those with the least entropy.
    """
    *hidden, last = classifier.children()
    for layer in hidden:
        z = layer(z.unsqueeze(0)).squeeze(0)
    weight, bias = last.get_parameter("weight")[0], last.get_parameter("bias")[0]
    classes = len(weight)
    kept = F.normalize(weight, dim=1)
    logits = weight @ weight.T + bias
    entropy, label = _entropy(logits), logits.argmax(1)
    found = []
    for batch in z.split(BATCH):
        logits = batch @ weight.T + bias
        kept = torch.cat([kept, F.normalize(batch, dim=1)])
        entropy = torch.cat([entropy, _entropy(logits)])
        label = torch.cat([label, logits.argmax(1)])
        surest = torch.cat([_surest(entropy, label == k, supports) for k in range(classes)])
        kept, entropy, label = kept[surest], entropy[surest], label[surest]
        means = F.one_hot(label, classes).to(kept.dtype).T @ kept
        found.append(batch @ F.normalize(means, dim=1).T)
    return torch.cat(found)


def of_run(classifier: nn.Module, r: int) -> nn.Module:
    """The classifier of one of R runs."""
    own: list[nn.Module] = []
    for layer in classifier.children():
        if isinstance(layer, Linear):
            alone = Linear(layer.weight.shape[2], layer.weight.shape[1], [torch.Generator()]).to(layer.weight)
            alone.weight = nn.Parameter(layer.weight[r : r + 1].detach())
            alone.bias = nn.Parameter(layer.bias[r : r + 1].detach())
            layer = alone
        own.append(layer)
    return nn.Sequential(*own)


def _entropy(logits: Tensor) -> Tensor:
    return -(logits.softmax(1) * logits.log_softmax(1)).sum(1)


def _surest(entropy: Tensor, chosen: Tensor, count: int) -> Tensor:
    """Places of those of the chosen with the least entropy."""
    places = chosen.nonzero().squeeze(1)
    return places[entropy[places].sort(stable=True).indices[:count]]


def _norms(network: Network) -> list[BatchNorm]:
    return [part for part in network.featurizer.modules() if isinstance(part, BatchNorm)]


def _sums(x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Count ``(R, 1)``, sum and sum of squares ``(R, C)`` of the windows of x ``(R, N, T, C)`` that count."""
    values, weights = x.double(), weight.double()
    count = weights.sum(1, keepdim=True).clamp(min=1) * x.shape[2]
    return (
        count,
        torch.einsum("rntc,rn->rc", values, weights),
        torch.einsum("rntc,rn->rc", values.square(), weights),
    )


@contextmanager
def _statistics(network: Network, by: Callable[[BatchNorm, Tensor], tuple[Tensor, Tensor]]) -> Iterator[None]:
    """Within it, batch normalization goes by other statistics than its running averages."""
    norms = _norms(network)
    for norm in norms:
        norm.statistics = by
    try:
        yield
    finally:
        for norm in norms:
            norm.statistics = None


class _Gathered:
    """The statistics of the first layer that has none yet, over all that passes."""

    weight: Tensor

    def __init__(self, found: dict[nn.Module, tuple[Tensor, Tensor]]):
        self.found = found
        self.first: BatchNorm | None = None
        self.count: Tensor | float = 0.0
        self.total: Tensor | float = 0.0
        self.square: Tensor | float = 0.0

    def __call__(self, norm: BatchNorm, x: Tensor) -> tuple[Tensor, Tensor]:
        if norm in self.found:
            return self.found[norm]
        if self.first is None:
            self.first = norm
        if norm is self.first:
            sums = _sums(x, self.weight)
            self.count, self.total, self.square = (
                old + new for old, new in zip((self.count, self.total, self.square), sums, strict=True)
            )
        return norm.running_mean, norm.running_var

    def complete(self) -> dict[nn.Module, tuple[Tensor, Tensor]]:
        if self.first is None:
            return {}
        mean = torch.as_tensor(self.total / self.count)
        variance = (self.square / self.count - mean.square()).clamp(min=0)
        like = self.first.running_mean
        return {self.first: (mean.to(like), variance.to(like))}
