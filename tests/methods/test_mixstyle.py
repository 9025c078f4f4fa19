"""MixStyle's partners, and that it acts on every backbone and leaves no trace."""

import pytest
import torch
from packs import build

from tsdg.learning.networks import BACKBONES
from tsdg.learning.networks import build as network
from tsdg.methods.mixstyle import restyled
from tsdg.methods.subject import CLASSES
from tsdg.streams import torch_stream


def test_partners_are_of_another_domain_each_of_its_windows_once():
    method, seen = build("mixstyle"), set()
    for _ in range(20):
        drawn = method.draws(6)
        for partners in drawn["partners"].flatten(0, 1):
            domains = partners // 6
            assert (domains == domains[:, :1]).all()
            assert sorted(domains[:, 0].tolist()) == [0, 1, 2]
            assert (domains[:, 0] != torch.arange(3)).all()
            assert (partners.sort(-1).values % 6 == torch.arange(6)).all()
            seen.add(tuple(domains[:, 0].tolist()))
        plain = (drawn["own"] == 1).flatten(2).all(-1)
        assert plain.shape == (3, 2)
    assert seen == {(1, 2, 0), (2, 0, 1)}


def test_half_of_the_blocks_and_iterations_mix():
    method = build("mixstyle")
    plain = torch.stack([(method.draws(4)["own"] == 1).flatten(2).all(-1) for _ in range(200)])
    assert (plain.double().mean(0) - 0.5).abs().max() < 0.15
    assert abs(float((plain[..., 0] == plain[..., 1]).double().mean()) - 0.5) < 0.1


def test_wholly_another_style_has_its_mean_and_deviation_and_the_own_course():
    x = torch.randn(1, 4, 30, 2).double() * torch.tensor([1.0, 9, 3, 5]).view(1, 4, 1, 1) + 7
    partners = torch.tensor([[[2, 3], [1, 0]]])
    y = restyled(x, partners, torch.zeros(1, 2, 2).double())
    partner = x[:, partners.flatten()]
    torch.testing.assert_close(y.mean(2), partner.mean(2))
    torch.testing.assert_close(y.std(2), partner.std(2), rtol=1e-5, atol=1e-5)
    for n in range(4):
        course = torch.stack([x[0, n, :, 0], y[0, n, :, 0]])
        assert float(torch.corrcoef(course)[0, 1]) == pytest.approx(1)
    torch.testing.assert_close(restyled(x, partners, torch.ones(1, 2, 2).double()), x)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_it_mixes_after_blocks_of_every_backbone_and_leaves_no_hook(backbone):
    def large(generators, embedding=False):
        return network(backbone, channels=2, length=1024, classes=CLASSES, generators=generators)

    losses = []
    for own in (0.3, 1.0):
        method = build("mixstyle", runs=(0,), network=large)
        drawn = method.draws(4)
        x = torch.randn(1, 3, 4, 2, 1024, generator=torch_stream(0, "x"), dtype=torch.double)
        y = torch.arange(12).view(1, 3, 4) % CLASSES
        losses.append(method.update(x, y, drawn | {"own": torch.full_like(drawn["own"], own)})["loss"])
        assert not any(module._forward_hooks for module in method.modules())
    assert not torch.allclose(*losses)
