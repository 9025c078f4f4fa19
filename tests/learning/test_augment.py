"""Augmentation by its formulas on hand-made windows, and the shares in which it is drawn."""

from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from tsdg import study
from tsdg.learning.augment import FUNCTIONS, Augmentation
from tsdg.learning.random_filter import RandomFilter

DOMAINS = ["A", "B", "C"]


def windows(runs=1, domains=2, batch=3, channels=2, length=40):
    generator = torch.Generator().manual_seed(0)
    return 5 + 3 * torch.randn(runs, domains, batch, channels, length, generator=generator)


def draws(x, positions=1, taken=None, order=None, scale=1.0):
    """Hand-made draws: all samples take all functions in the given order, unless told otherwise."""
    runs, domains, batch = x.shape[:3]
    order = torch.arange(positions) if order is None else torch.tensor(order)
    taken = torch.ones(runs, domains, batch, positions, dtype=torch.bool) if taken is None else taken
    return {
        "order": order.expand(runs, domains, positions),
        "taken": taken,
        "scale": torch.as_tensor(scale, dtype=torch.float64).expand(runs, domains),
    }


def one(functions, **settings):
    functions = [functions] if isinstance(functions, str) else functions
    return Augmentation([0], [["A", "B"]], functions=functions, **settings)


def statistics(x):
    return x.mean(-1, keepdim=True), x.std(-1, correction=0, keepdim=True)


def test_mean_shift_and_scaling_by_a_windows_own_statistics():
    x = windows()
    mu, sigma = statistics(x)
    shifted = one("mean_shift", mean=-2.0)(x, draws(x))
    torch.testing.assert_close(shifted, x - mu - 2, atol=1e-5, rtol=0)
    scaled = one("scaling")(x, draws(x, scale=[[0.5, 3.0]]))
    expected = (x - mu) / sigma * torch.tensor([0.5, 3.0])[None, :, None, None, None] + mu
    torch.testing.assert_close(scaled, expected, atol=1e-4, rtol=0)


def test_standard_statistics_are_zero_and_one():
    x = windows()
    assert torch.equal(one("mean_shift", statistics="standard", mean=0.5)(x, draws(x)), x + 0.5)
    scaled = one("scaling", statistics="standard")(x, draws(x, scale=1.25))
    torch.testing.assert_close(scaled, 1.25 * x)
    masked = one("masking", statistics="standard", masked=1.0)(x, draws(x))
    assert torch.equal(masked, torch.zeros_like(x))


def test_masking_puts_the_mean_at_a_tenth_of_the_time_steps_of_every_channel_alike():
    x = windows(batch=64, length=200)
    y = one("masking")(x, draws(x))
    hidden = y != x
    assert torch.equal(hidden[..., 0, :], hidden[..., 1, :])
    assert 0.09 < hidden.double().mean() < 0.11
    mu = statistics(x)[0].expand_as(x)
    torch.testing.assert_close(y[hidden], mu[hidden], atol=1e-5, rtol=0)
    assert hidden[0, 0, 0, 0].tolist() != hidden[0, 0, 1, 0].tolist()


def test_functions_apply_one_after_another_in_the_domains_order():
    x = windows(length=30)
    augment = one(["mean_shift", "scaling"], mean=1.0)
    for order in ([0, 1], [1, 0]):
        expected = x
        for function in order:
            mu, sigma = statistics(expected)
            expected = expected - mu + 1 if function == 0 else (expected - mu) / sigma * 2 + mu
        torch.testing.assert_close(
            augment(x, draws(x, 2, order=order, scale=2.0)), expected, atol=1e-4, rtol=0
        )
    orders = one(["masking", "mean_shift"], mean=100.0, masked=0.5)(x, draws(x, 2, order=[1, 0]))
    assert ((orders - 100).abs() < 1e-3).any(), "masking after a shift shows the mean of the shifted window"


def test_what_is_not_taken_stays_and_the_batch_given_is_not_changed():
    x = windows()
    before = x.clone()
    taken = torch.zeros(1, 2, 3, 3, dtype=torch.bool)
    taken[0, 0, 1] = True
    y = one(FUNCTIONS, mean=9.0)(x, draws(x, 3, taken=taken, scale=2.0))
    assert torch.equal(x, before)
    changed = (y != x).flatten(3).any(-1)
    assert changed.tolist() == [[[False, True, False], [False] * 3]]


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, -1234.567])
def test_a_constant_window_has_nothing_to_scale(value):
    x = torch.full((1, 2, 3, 2, 37), value)
    y = one("scaling")(x, draws(x, scale=2.0))
    torch.testing.assert_close(y, x, atol=1e-3, rtol=1e-5)
    for function in FUNCTIONS:
        assert one(function)(x, draws(x)).isfinite().all()


def test_scaling_keeps_its_accuracy_far_from_zero():
    x = (1000 + 0.01 * windows()).float()
    mu, sigma = statistics(x.double())
    expected = (x.double() - mu) / sigma + mu
    torch.testing.assert_close(one("scaling")(x, draws(x)).double(), expected, atol=0.02, rtol=0)


def test_shares_orders_and_bounds_are_as_described():
    augment = Augmentation([0], [DOMAINS], scale=(0.8, 1.2))
    drawn = augment.draws(2000, 16)
    taken = drawn["taken"].double()
    assert taken.shape == (2000, 1, 3, 16, 3)
    first = taken[..., 0]
    assert abs(float(first.mean()) - 0.5) < 0.01
    for further in (1, 2):
        assert not (taken[..., further] > first).any()
        assert abs(float(taken[..., further].mean()) - 0.25) < 0.01
    assert abs(float((taken[..., 1] * taken[..., 2]).mean()) - 0.125) < 0.01  # each on its own
    orders, counts = drawn["order"].flatten(0, 2).unique(dim=0, return_counts=True)
    assert orders.shape == (6, 3)
    assert (counts / counts.sum() - 1 / 6).abs().max() < 0.02
    scale = drawn["scale"]
    assert scale.shape == (2000, 1, 3)
    assert 0.8 <= scale.min() < 0.81
    assert 1.19 < scale.max() <= 1.2
    assert abs(float(scale.mean()) - 1) < 0.01
    for values in drawn.values():  # domains draw apart
        assert not torch.equal(values[:, :, 0], values[:, :, 1])


def test_with_a_coin_per_domain_its_samples_go_together():
    taken = Augmentation([0], [DOMAINS], coin="domain").draws(500, 8)["taken"]
    assert (taken == taken[:, :, :, :1]).all()
    assert abs(float(taken[..., 0].double().mean()) - 0.5) < 0.05
    apart = Augmentation([0], [DOMAINS]).draws(500, 8)["taken"]
    assert (apart != apart[:, :, :, :1]).any()


FURTHER = [
    "jitter",
    "amplitude_mix",
    "phase_shift",
    "time_warp",
    "channel_dropout",
    "rotation",
    "random_filter",
]
CHOICES = [list(FUNCTIONS), *([name, "scaling"] for name in FURTHER)]


@pytest.mark.parametrize("functions", CHOICES, ids=str)
def test_a_run_is_augmented_alone_as_in_a_pack(functions):
    x = windows(runs=3, domains=2, channels=3)
    sources = [["A", "B"], ["B", "C"], ["A", "C"]]
    settings = {"functions": functions, "scale": (0.5, 2), "length": x.shape[-1], "channels": 3}
    pack = Augmentation([0, 1, 0], sources, **settings)
    drawn = pack.draws(4, 3)
    together = [pack(x, {name: value[i] for name, value in drawn.items()}) for i in range(4)]
    for r, seed in enumerate([0, 1, 0]):
        single = Augmentation([seed], sources[r : r + 1], **settings)
        own = single.draws(4, 3)
        for name, value in own.items():
            assert torch.equal(value[:, 0], drawn[name][:, r])
        for i in range(4):
            y = single(x[r : r + 1], {name: value[i] for name, value in own.items()})
            torch.testing.assert_close(y[0], together[i][r])
            assert not torch.equal(y[0], x[r])


@pytest.mark.parametrize("functions", CHOICES, ids=str)
def test_a_domains_draws_do_not_depend_on_the_other_sources(functions):
    settings = {"functions": functions, "scale": (0.5, 2), "length": 40, "channels": 3}
    three = Augmentation([5], [DOMAINS], **settings).draws(50, 4)
    two = Augmentation([5], [["C", "B"]], **settings).draws(50, 4)
    other = Augmentation([6], [DOMAINS], **settings).draws(50, 4)
    for name, value in three.items():
        assert torch.equal(value[:, :, 1], two[name][:, :, 1])
        assert torch.equal(value[:, :, 2], two[name][:, :, 0])
        assert not torch.equal(value, other[name])


@pytest.mark.parametrize("name", FURTHER)
def test_a_further_function_shifts_no_draw_of_the_papers(name):
    """Of as many functions, order, coins and scales are the same, whichever functions they are."""
    alone = Augmentation([0], [DOMAINS], functions=["scaling", "masking"]).draws(20, 4)
    beside = Augmentation([0], [DOMAINS], functions=["scaling", name], length=40, channels=3).draws(20, 4)
    for key, value in alone.items():
        assert torch.equal(value, beside[key])


@pytest.mark.parametrize("statistics", ["window", "standard"])
def test_jitter_has_a_share_of_the_channels_deviation(statistics):
    x = windows(batch=40, length=2000) * torch.tensor([1.0, 20.0]).view(2, 1)
    added = one("jitter", jitter=0.1, statistics=statistics)(x, draws(x)) - x
    sigma = x.std(-1, correction=0) if statistics == "window" else torch.ones(x.shape[:-1])
    torch.testing.assert_close(added.std(-1), 0.1 * sigma, rtol=0.1, atol=0)
    flat = added.flatten(0, 3)
    assert (torch.corrcoef(flat) - torch.eye(len(flat))).abs().max() < 0.12


def test_amplitudes_come_from_the_batch_as_it_was_given():
    x = windows(domains=2, batch=3, length=40)
    augment = one(["mean_shift", "amplitude_mix"], mean=50.0)
    drawn = draws(x, 2) | {"amplitude_mix": augment.draws(1, 3)["amplitude_mix"][0]}
    mix = augment.distortions["amplitude_mix"]
    partners = x.flatten(0, 2)[mix.partners(drawn["amplitude_mix"]).flatten()]
    shifted = (x - x.mean(-1, keepdim=True) + 50).flatten(0, 2)
    expected = mix(shifted, drawn["amplitude_mix"].flatten(0, 2), partners)
    torch.testing.assert_close(augment(x, drawn).flatten(0, 2), expected)


def test_the_study_names_the_functions_that_there_are():
    schema = yaml.safe_load((Path(study.__file__).parent / "params.schema.yaml").read_text())
    names = schema["$defs"]["functions"]["items"]["enum"]
    assert set(names) == {*FUNCTIONS, *FURTHER}
    Augmentation([0], [DOMAINS], functions=names, length=40, channels=3).draws(1, 2)


def test_masks_are_a_runs_own():
    x = windows().expand(2, -1, -1, -1, -1)
    augment = Augmentation([0, 1], [["A", "B"]] * 2, functions=["masking"], masked=0.5)
    first, again = (augment(x, draws(x)) == x for _ in range(2))
    assert not torch.equal(first[0], first[1]), "runs of other seeds hide other time steps"
    assert not torch.equal(first, again)


def test_draws_go_on_where_the_last_ended():
    augment = Augmentation([0], [DOMAINS])
    first, second = (augment.draws(10, 4)["taken"] for _ in range(2))
    assert not torch.equal(first, second)


def test_random_filters_are_those_of_the_windows_own_weights():
    x = windows(domains=2, batch=3, length=60)
    augmentation = one("random_filter", deviation=0.8, smoothness=0.05, length=60)
    drawn = draws(x) | {"random_filter": augmentation.draws(1, 3)["random_filter"][0]}
    weights = drawn["random_filter"].flatten(0, 2).numpy()
    expected = RandomFilter(60, deviation=0.8, smoothness=0.05)(x.flatten(0, 2).numpy(), weights)
    np.testing.assert_allclose(augmentation(x, drawn).flatten(0, 2), expected, atol=1e-4)
    gains = np.log(
        RandomFilter(60, smoothness=0.05).gains(
            augmentation.draws(200, 3)["random_filter"].flatten(0, 3).numpy()
        )
    )
    assert gains.std() == pytest.approx(1, abs=0.02)


def test_random_filters_of_a_domain_are_drawn_apart_from_other_domains():
    both = Augmentation([0], [["A", "B"]], functions=["random_filter"], length=40).draws(5, 4)
    alone = Augmentation([0], [["B"]], functions=["random_filter"], length=40).draws(5, 4)
    assert torch.equal(alone["random_filter"][:, :, 0], both["random_filter"][:, :, 1])
    assert not torch.equal(both["random_filter"][:, :, 0], both["random_filter"][:, :, 1])
