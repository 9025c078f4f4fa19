"""The methods' formulas at points where the answer is known, and their random choices."""

import math

import numpy as np
import pytest
import torch
from packs import build
from torch import nn
from torch.nn import functional as F

from tsdg.methods.adversarial import CDANN, DANN
from tsdg.methods.alignment import coral, mmd
from tsdg.methods.base import cross_entropy
from tsdg.methods.consistency import (
    cosine,
    domain_consistency,
    kl,
    l2,
    pairwise_consistency,
    sample_consistency,
)
from tsdg.methods.kernels import GAMMAS
from tsdg.methods.mldg import MLDG
from tsdg.methods.pairs import random_cycle, take_domains
from tsdg.methods.rsc import quantile
from tsdg.methods.similarity import metadata_weights, same_cluster
from tsdg.methods.subject import CLASSES, batch
from tsdg.streams import numpy_stream

DOUBLE = torch.double


def samples(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


# CORAL and MMD


@pytest.mark.parametrize("discrepancy", [coral, mmd])
def test_identical_samples_do_not_differ(discrepancy):
    z = samples(2, 1, 6, 4).expand(2, 3, 6, 4)
    assert discrepancy(z).abs().max() < 1e-9


def test_coral_by_hand():
    """Means (1, 0) and (0, 2); covariances [[2, 0], [0, 0]] and [[0, 0], [0, 8]]."""
    first, second = [[0.0, 0.0], [2.0, 0.0]], [[0.0, 0.0], [0.0, 4.0]]
    value = coral(torch.tensor([[first, second]], dtype=DOUBLE))
    between = (1 + 4) / 2 + (4 + 0 + 0 + 64) / 4
    torch.testing.assert_close(value, torch.tensor([[[0, between], [between, 0]]], dtype=DOUBLE))


def test_mmd_by_loops():
    z = samples(1, 2, 5, 3)
    x, y = z[0].numpy()

    def kernel(a, b):
        return sum(math.exp(-gamma * sum((a - b) ** 2)) for gamma in (1e-3, 1e-2, 1e-1, 1, 10, 100, 1000))

    def mean(u, v):
        return sum(kernel(a, b) for a in u for b in v) / (len(u) * len(v))

    assert float(mmd(z)[0, 0, 1]) == pytest.approx(mean(x, x) + mean(y, y) - 2 * mean(x, y), rel=1e-9)


def test_mmd_of_two_gaussians():
    """E exp(-gamma (x - y)^2) = exp(-gamma m^2 / c) / sqrt(c), c = 1 + 4 gamma, if x - y ~ N(m, 2).

    The samples are quantiles of the distributions, so that no chance is involved.
    """
    n, shift = 400, 2.0
    quantiles = torch.special.ndtri((torch.arange(n, dtype=DOUBLE) + 0.5) / n)
    z = torch.stack([quantiles, quantiles + shift]).view(1, 2, n, 1)
    value = 0.0
    for gamma in GAMMAS:
        c = 1 + 4 * gamma
        value += 2 * (1 - math.exp(-gamma * shift**2 / c)) / math.sqrt(c)
    assert float(mmd(z)[0, 0, 1]) == pytest.approx(value, rel=0.01)


# IRM


def test_irm_penalty_is_a_product_of_slopes():
    """By finite differences of the risk in the scale of the logits; it can be negative."""
    method = build("irm")
    logits, y = samples(3, 3, 6, CLASSES), batch(0)[1]
    h = 1e-5

    def slope(rows):
        up, down = (cross_entropy(scale * logits[:, :, rows], y[:, :, rows]) for scale in (1 + h, 1 - h))
        return (up - down) / (2 * h)

    products = slope(slice(0, None, 2)) * slope(slice(1, None, 2))
    penalty = method.penalty(logits, y, cross_entropy(logits, y))
    torch.testing.assert_close(penalty.detach(), products.mean(1), rtol=1e-6, atol=1e-9)
    assert (products < 0).any()


# RSC


def rsc_risk(p, b, weight, z, y):
    """RSC's risk where the features are given and the classifier is one matrix (K, F) without bias."""
    method = build("rsc", runs=(0,), domains=1, hparams={"p": p, "b": b})
    method.features = lambda x: z.clone().requires_grad_()
    method.classify = lambda z: z @ weight.T
    return float(method.losses(None, y, {})["loss"].detach())


def risk_of(logits, y):
    return float(F.cross_entropy(torch.tensor(logits, dtype=DOUBLE), torch.tensor(y)))


WEIGHT = torch.tensor([[4.0, 3, 2, 1, 0], [0, 0, 0, 0, 0]], dtype=DOUBLE)  # gradient of the logit of class 0
Z = torch.tensor([[[[0.3] * 5, [0.02] * 5]]], dtype=DOUBLE)
Y = torch.zeros(1, 1, 2, dtype=torch.long)


@pytest.mark.parametrize(
    ("p", "kept"),
    [
        (0.5, 1 + 0),  # the quantile of the gradient is 2: what lies at it is muted too
        (0.3, 2 + 1 + 0),  # 2.8
        (0.0, 3 + 2 + 1 + 0),  # 4: even then the largest is muted
    ],
)
def test_rsc_mutes_the_features_that_matter_most(p, kept):
    """And with b = 0 still the one sample of two whose probability falls most."""
    assert rsc_risk(p, 0.0, WEIGHT, Z, Y) == pytest.approx(risk_of([[0.3 * kept, 0], [0.2, 0]], [0, 0]))


def test_rsc_mutes_tied_features_together():
    weight = torch.tensor([[2.0, 2, 1, 0, 0], [0, 0, 0, 0, 0]], dtype=DOUBLE)
    assert rsc_risk(0.0, 0.0, weight, Z, Y) == pytest.approx(risk_of([[0.3, 0], [0.1, 0]], [0, 0]))


def test_rsc_mutes_tied_samples_together():
    same = Z[:, :, :1].expand(1, 1, 2, 5)
    assert rsc_risk(0.0, 0.0, WEIGHT, same, Y) == pytest.approx(risk_of([[1.8, 0], [1.8, 0]], [0, 0]))


def test_rsc_looks_at_the_true_class():
    """Of class 1 no feature has a gradient: all tie. Muting them helps both samples, the second less."""
    expected = risk_of([[3.0, 0], [0, 0]], [1, 1])
    assert rsc_risk(0.0, 0.0, WEIGHT, Z, torch.ones_like(Y)) == pytest.approx(expected)


def test_quantile_is_numpys():
    values, q = samples(4, 3, 7), torch.tensor([0.0, 0.37, 0.5, 1.0], dtype=DOUBLE)
    expected = [np.quantile(v.numpy(), float(p), axis=-1) for v, p in zip(values, q, strict=True)]
    torch.testing.assert_close(quantile(values, q), torch.from_numpy(np.stack(expected)))


# DANN-DG and CDANN-DG


@pytest.mark.parametrize("name", ["dann", "cdann"])
def test_gradient_penalty_by_finite_differences(name):
    """Mean over samples of the squared gradient of a sample's domain cross-entropy in what is seen of it."""
    method = build(name, runs=(0,), hparams={"gradient_penalty": 1.0}).eval()
    z, (_, y) = samples(1, 3, 6, 10), batch(0, (0,))
    method.features = lambda x: z.clone().requires_grad_()
    with_penalty = method.losses(None, y, {})["discriminator"]
    method.hparams["gradient_penalty"] = torch.zeros(1, dtype=DOUBLE)
    penalty = float((with_penalty - method.losses(None, y, {})["discriminator"]).detach())

    domain, h, total = torch.arange(3).repeat_interleave(6), 1e-6, 0.0
    with torch.no_grad():
        for feature in range(10):
            step = torch.zeros(10, dtype=DOUBLE).index_fill(0, torch.tensor(feature), h)
            seen = [method.discriminator_input((z + s).flatten(1, 2), y.flatten(1)) for s in (step, -step)]
            up, down = (F.cross_entropy(method.discriminator(s)[0], domain, reduction="none") for s in seen)
            total += float((((up - down) / (2 * h)) ** 2).mean())
    assert penalty == pytest.approx(total, rel=1e-5)


def test_conditional_discriminator_weighs_classes_alike():
    losses = torch.tensor([[1.0, 2.0, 3.0, 10.0]], dtype=DOUBLE)
    y = torch.tensor([[0, 0, 0, 1]])
    # Three classes: mean 2 of the first, 10 of the second, none of the third.
    assert float(CDANN.discriminator_risk(build("cdann"), losses, y)) == pytest.approx((2 + 10) / 3)
    assert float(DANN.discriminator_risk(build("dann"), losses, y)) == pytest.approx(4)


# MLDG


class Line(nn.Module):
    """Logits (w x, 0), so that the risk of a sample x of class 0 is log(1 + exp(-w x))."""

    def __init__(self, w):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([[w]], dtype=DOUBLE))
        self.featurizer = lambda x, groups=1: x

    def forward(self, x, groups=1):
        g = self.w * x.flatten(1)
        return torch.stack([g, torch.zeros_like(g)], -1)


def test_mldg_gradient_of_one_parameter():
    """Adam's first step has length lr whatever the gradient, so the copy's weight is known: first order."""
    lr, beta, w = 0.1, 0.7, 0.3
    x = torch.tensor([1.0, -2.0, 0.5], dtype=DOUBLE).view(1, 3, 1, 1, 1)
    y = torch.zeros(1, 3, 1, dtype=torch.long)
    method = MLDG(Line(w), 3, 2, {"beta": beta}, 5, learning_rate=lr, weight_decay=0.0)
    method.update(x, y, {"pairs": torch.tensor([[[0, 1], [1, 2], [2, 0]]])})

    def slope(d, w):
        value = float(x[0, d, 0])
        return -value / (1 + math.exp(w * value))

    gradient = 0.0
    for i, j in ((0, 1), (1, 2), (2, 0)):
        at_old = slope(i, w)
        gradient += (at_old + beta * slope(j, w - lr * np.sign(at_old))) / 3
    assert float(method.network.w.grad) == pytest.approx(gradient, rel=1e-6)


# MTL


def test_gradient_flows_through_the_average_embedding():
    """With a classifier that sees the embedding alone, only the average reaches the featurizer."""
    for embedding, flows in (("average", True), ("noise", False)):
        method = build("mtl", embedding=embedding, hparams={"a": 0.5})
        with torch.no_grad():
            method.network.classifier[0].weight[..., :10] = 0
        method.update(*batch(0))
        assert bool(method.network.featurizer.convs[0].weight.grad.any()) == flows


def test_embedding_weighs_the_new_mean():
    method = build("mtl", embedding="average", hparams={"a": (0.9, 0.5, 1.0)})
    old, mean = method.embeddings.clone(), samples(3, 3, 10)
    method.features = lambda x: mean.unsqueeze(2).expand(3, 3, 6, 10)
    x, y = batch(0)
    method.losses(x, y, {})
    a = torch.tensor([0.9, 0.5, 1.0], dtype=DOUBLE).view(3, 1, 1)
    torch.testing.assert_close(method.embeddings, a * mean + (1 - a) * old)
    assert not method.embeddings.requires_grad


def test_an_unseen_domain_is_embedded_by_its_mean():
    method = build("mtl", embedding="average", runs=(0, 1))
    z = samples(2, 5, 10)
    valid = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    logits = method.predict(z, valid)
    for r, n in ((0, 5), (1, 3)):
        embedding = z[r, :n].mean(0).expand(n, 10)
        layer = method.network.classifier[0]
        expected = torch.cat([z[r, :n], embedding], 1) @ layer.weight[r].T + layer.bias[r]
        torch.testing.assert_close(logits[r, :n], expected)


# Ours


def labels_with_every_class(*shape):
    return torch.arange(math.prod(shape)).reshape(shape) % CLASSES


def test_consistency_by_loops():
    logits, y, weights = samples(2, 3, 5, CLASSES), batch(1, (0, 1), size=5)[1], samples(2, 3, 3, seed=1)
    assert any((y[r, d] != k).all() for r in range(2) for d in range(3) for k in range(CLASSES))
    expected = torch.zeros(2, dtype=DOUBLE)
    for r in range(2):
        for i in range(3):
            for j in range(3):
                for k in range(CLASSES):
                    a, b = logits[r, i][y[r, i] == k], logits[r, j][y[r, j] == k]
                    if len(a) and len(b):
                        expected[r] += weights[r, i, j] * ((a.mean(0) - b.mean(0)) ** 2).sum()
    torch.testing.assert_close(pairwise_consistency(logits, y, weights, CLASSES), expected)


def test_metadata_consistency_is_the_spread_about_the_cluster_mean():
    clusters = [0, 1, 0, 0, 1, 2]
    logits, y = samples(1, 6, 6, CLASSES), labels_with_every_class(1, 6, 6)
    centroids = torch.stack(
        [torch.stack([logits[0, d][y[0, d] == k].mean(0) for k in range(CLASSES)]) for d in range(6)]
    )
    spread = 0
    for c in (0, 1, 2):
        members = centroids[[d for d in range(6) if clusters[d] == c]]
        spread += ((members - members.mean(0)) ** 2).sum()
    weights, same = metadata_weights([clusters]).double(), same_cluster([clusters]).double()
    for value in (
        pairwise_consistency(logits, y, weights, CLASSES),
        domain_consistency(logits, y, same, CLASSES, l2),
    ):
        torch.testing.assert_close(value, spread.view(1), rtol=1e-6, atol=0)


def test_kernels_of_samples_that_are_alike_find_no_difference():
    logits = samples(1, 1, 6, 4).expand(1, 3, 6, 4)
    y = torch.tensor([0, 1, 2, 0, 1, 2]).expand(1, 3, 6)
    value = pairwise_consistency(logits, y, torch.ones(1, 3, 3, dtype=DOUBLE), CLASSES, kernel="gaussian")
    assert value.abs() < 1e-9


def test_gaussian_consistency_of_one_class_is_the_mmd_of_the_domains():
    z, y, weights = samples(1, 3, 5, 4), torch.zeros(1, 3, 5, dtype=torch.long), samples(1, 3, 3, seed=1)
    value = pairwise_consistency(z, y, weights, CLASSES, kernel="gaussian")
    torch.testing.assert_close(value, (weights * mmd(z)).sum((1, 2)))


def test_distances_by_hand():
    a, b = torch.tensor([[1.0, 0.0], [0.5, 0.5]]), torch.tensor([[1.0, 1.0], [0.25, 0.75]])
    assert l2(a, b).tolist() == pytest.approx([1, 0.125])
    assert cosine(a, b).tolist() == pytest.approx([1 - math.sqrt(0.5), 1 - 0.5 / math.sqrt(0.3125)])
    half = torch.tensor([0.5, 0.5])
    assert kl(a, half).tolist() == pytest.approx([math.log(2), 0])  # 0 log 0 is 0
    assert float(kl(half, b[1])) == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3))


@pytest.mark.parametrize("consistency", [domain_consistency, sample_consistency])
@pytest.mark.parametrize("distance", [l2, cosine, kl])
def test_classes_without_samples_and_sure_predictions_have_gradients(consistency, distance):
    """Domain 2 has class 0 alone, nobody has class 2; the first sample is sure of its class."""
    logits = samples(1, 3, 4, CLASSES)
    logits[0, 0, 0] = torch.tensor([1e4, 0, 0])
    logits.requires_grad_()
    y, same = torch.tensor([[[0, 0, 1, 1], [1, 0, 1, 1], [0, 0, 0, 0]]]), torch.ones(1, 3, 3, dtype=DOUBLE)
    value = consistency(logits.softmax(-1), y, same, CLASSES, distance)
    (gradient,) = torch.autograd.grad(value.sum(), logits)
    assert value > 0
    assert gradient.isfinite().all()


def test_sample_consistency_is_the_variance_within_a_cluster_of_one():
    """Each sample counts as a share of its domain and class: doubling a batch changes nothing."""
    values, same = samples(1, 2, 6, 4), torch.eye(2, dtype=DOUBLE).unsqueeze(0)
    y = labels_with_every_class(1, 2, 6)
    once = sample_consistency(values, y, same, CLASSES, l2)
    twice = sample_consistency(values.repeat(1, 1, 2, 1), y.repeat(1, 1, 2), same, CLASSES, l2)
    torch.testing.assert_close(once, twice)
    spread = sum(values[0, d][y[0, d] == k].var(0, unbiased=False).sum() for d in range(2) for k in range(3))
    torch.testing.assert_close(once, spread.view(1))
    assert domain_consistency(values, y, same, CLASSES, l2).abs() < 1e-12


def test_consistency_takes_values_of_any_width():
    values, y = samples(1, 2, 4, 7), torch.tensor([[[0, 0, 1, 1], [0, 1, 1, 1]]])
    weights = torch.tensor([[[0.0, 1.0], [0.0, 0.0]]], dtype=DOUBLE)
    first = values[0, 0, :2].mean(0) - values[0, 1, 0]
    second = values[0, 0, 2:].mean(0) - values[0, 1, 1:].mean(0)
    expected = (first**2).sum() + (second**2).sum()
    torch.testing.assert_close(pairwise_consistency(values, y, weights, CLASSES), expected.view(1))


# Random choices


@pytest.mark.parametrize("domains", [2, 3, 7])
def test_cycles_are_cycles(domains):
    streams = [numpy_stream(seed, "test") for seed in range(30)]
    orders = set()
    for pairs in random_cycle(streams, domains).tolist():
        first, second = zip(*pairs, strict=True)
        assert sorted(first) == sorted(second) == list(range(domains))
        at, seen = 0, set()
        for _ in range(domains):  # one cycle, not several
            at = dict(zip(first, second, strict=True))[at]
            seen.add(at)
        assert len(seen) == domains
        orders.add(first)
    assert len(orders) > 1


def test_take_domains():
    values = samples(2, 3, 4)
    taken = take_domains(values, torch.tensor([[2, 0], [1, 1]]))
    torch.testing.assert_close(taken, torch.stack([values[0, [2, 0]], values[1, [1, 1]]]))


def many(name, count=200, **settings):
    method = build(name, **settings)
    draws = [method.draws(8) for _ in range(count)]
    return {key: torch.stack([draw[key] for draw in draws]) for key in draws[0]}


def test_mixing_coefficients_follow_their_beta():
    """Between 0 and 1, one a pair, with Beta(a, a)'s variance 1 / (4 (2 a + 1)) in each run."""
    mixing = many("mixup", hparams={"alpha": (0.1, 1.0, 10.0)})["mixing"]
    assert mixing.shape == (200, 3, 3)
    assert ((mixing >= 0) & (mixing <= 1)).all()
    expected = torch.tensor([1 / (4 * (2 * a + 1)) for a in (0.1, 1.0, 10.0)], dtype=DOUBLE)
    torch.testing.assert_close(mixing.var((0, 2)), expected, rtol=0.2, atol=0)
    torch.testing.assert_close(mixing.mean((0, 2)), torch.full((3,), 0.5, dtype=DOUBLE), rtol=0, atol=0.06)


def test_noise_embeddings_are_standard_normal():
    noise = many("mtl")["noise"]
    assert abs(float(noise.mean())) < 0.05
    assert float(noise.std()) == pytest.approx(1, abs=0.05)
    assert len(noise.flatten().unique()) == noise.numel()


@pytest.mark.parametrize("domains", [2, 3, 6])
def test_random_neighbours_are_any_other_domain(domains):
    neighbours = many("ours-learned", domains=domains, runs=(0, 1), neighbour="random", hparams={"xi": 1})
    neighbours = neighbours["neighbours"]
    for d in range(domains):
        assert set(neighbours[..., d].flatten().tolist()) == set(range(domains)) - {d}


@pytest.mark.parametrize("name", ["mixup", "mldg"])
def test_pairs_are_drawn_anew(name):
    pairs = many(name, count=30)["pairs"]
    assert pairs.shape == (30, 3, 3, 2)
    for r in range(3):
        assert len(pairs[:, r].unique(dim=0)) > 1
    assert not torch.equal(pairs[:, 0], pairs[:, 1])
