"""Batches of some source domains alone: laws of every method, and what is kept by domain."""

import pytest
import torch
from packs import build, state

from tsdg.methods import METHODS
from tsdg.methods.pairs import take_domains
from tsdg.methods.subject import batch

PLACES = torch.tensor([[0, 2], [1, 2], [0, 1]])  # of each of three runs, at even iterations
STEPS = 5


def present(iteration, runs):
    places = PLACES if iteration % 2 == 0 else PLACES.roll(1, 0)
    return places[list(runs)]


def trained(name, runs=(0, 1, 2), **settings):
    method = build(name, runs=runs, domains_per_batch=2, **settings)
    losses = []
    for iteration in range(STEPS):
        places = present(iteration, runs)
        x, y = (take_domains(values, places) for values in batch(iteration, runs))
        losses.append(method.update(x, y, None, places))
    return method, losses


@pytest.mark.parametrize("name", METHODS)
def test_alone_as_in_a_pack(name):
    packed, losses = trained(name)
    for r in range(3):
        alone, own = trained(name, [r])
        for a, b in zip(losses, own, strict=True):
            torch.testing.assert_close({key: value[r : r + 1] for key, value in a.items()}, dict(b))
        for key, value in state(alone).items():
            if value.dim() and len(value) == 1:
                torch.testing.assert_close(state(packed)[key][r : r + 1], value, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_all_domains_in_their_order_are_as_if_nothing_were_said(name):
    said, unsaid = build(name), build(name)
    every = torch.arange(3).expand(3, -1)
    for iteration in range(STEPS):
        x, y = batch(iteration)
        torch.testing.assert_close(said.update(x, y, None, every), unsaid.update(x, y), rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(state(said), state(unsaid), rtol=1e-9, atol=1e-12)


def test_weights_of_groupdro_grow_by_the_risks_of_those_drawn():
    method = build("groupdro", domains_per_batch=2)
    before = method.q.clone()
    x, y = (take_domains(values, PLACES) for values in batch(0))
    losses = method.update(x, y, None, PLACES)
    rest = torch.ones(3, 3, dtype=torch.bool).scatter(1, PLACES, False)
    ratio = method.q / before
    assert (ratio[rest].unsqueeze(1) < take_domains(ratio, PLACES)).all()
    torch.testing.assert_close(method.q.sum(1), torch.ones(3).double())
    assert (losses["loss"] < losses["cross_entropy"]).all()


def test_an_embedding_of_mtl_moves_when_its_domain_is_drawn():
    method = build("mtl", domains_per_batch=2, embedding="average")
    x, y = (take_domains(values, PLACES) for values in batch(0))
    method.update(x, y, None, PLACES)
    moved = (method.embeddings != 0).any(-1)
    assert torch.equal(moved, torch.zeros(3, 3, dtype=torch.bool).scatter(1, PLACES, True))


@pytest.mark.parametrize("name", ["ours-learned", "ours-metadata"])
def test_domains_are_related_by_what_they_are_wherever_they_stand(name):
    method = build(name, domains_per_batch=2)
    method.iteration = 1  # no update of the similarity
    if name == "ours-learned":
        method.pair_weights.copy_(torch.arange(27).view(3, 3, 3))
        logits, y = torch.zeros(3, 2, 4, 3).double(), torch.zeros(3, 2, 4, dtype=torch.int64)
        weights = method.weights(logits, y, {"present": PLACES})
        for r, (a, b) in enumerate(PLACES.tolist()):
            expected = [[9 * r + 3 * i + j for j in (a, b)] for i in (a, b)]
            assert weights[r].tolist() == expected
            assert method.counts[r].sum(-1).tolist() == [4.0 * (d in (a, b)) for d in range(3)]
    else:
        weights = method.weights(None, None, {"present": PLACES})
        clusters = take_domains(method.cluster, PLACES)
        together = clusters[:, 0] == clusters[:, 1]
        assert together.any()
        assert not together.all()
        torch.testing.assert_close(weights[:, 0, 1], torch.where(together, 0.25, 0.0).double())
        torch.testing.assert_close(weights[:, 0, 0], torch.where(together, 0.25, 0.5).double())
