"""Adam on the run axis against `torch.optim.Adam`, one run at a time."""

import pytest
import torch
from torch import nn

from tsdg.learning.optimizer import Adam

SHAPES = [(3, 4), (5,)]
LR, WEIGHT_DECAY, BETA1 = (1e-2, 3e-3, 1e-1), (0.0, 0.1, 1e-2), (0.9, 0.0, 0.5)


def draw(*shape, seed):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


def pack(runs=(0, 1, 2), dtype=torch.double, **settings):
    parameters = [
        nn.Parameter(draw(3, *shape, seed=i)[list(runs)].to(dtype)) for i, shape in enumerate(SHAPES)
    ]
    settings = {
        "lr": torch.tensor([LR[r] for r in runs]),
        "weight_decay": torch.tensor([WEIGHT_DECAY[r] for r in runs], dtype=dtype),
        "beta1": torch.tensor([BETA1[r] for r in runs], dtype=dtype),
        "beta2": 0.99,
    } | settings
    settings["lr"] = torch.as_tensor(settings["lr"]).to(dtype)
    return parameters, Adam(parameters, **settings)


def give_gradients(parameters, step, runs=(0, 1, 2)):
    for i, parameter in enumerate(parameters):
        parameter.grad = draw(3, *SHAPES[i], seed=10 * step + i + 2)[list(runs)].to(parameter.dtype)


def torch_adam(r, lr=None):
    parameters = [nn.Parameter(draw(3, *shape, seed=i)[r]) for i, shape in enumerate(SHAPES)]
    lr = lr or float(torch.tensor(LR)[r])
    return parameters, torch.optim.Adam(parameters, lr, (BETA1[r], 0.99), weight_decay=WEIGHT_DECAY[r])


def torch_step(parameters, optimizer, r, step):
    for i, parameter in enumerate(parameters):
        parameter.grad = draw(3, *SHAPES[i], seed=10 * step + i + 2)[r]
    optimizer.step()


def snapshot(parameters, optimizer):
    state = [*parameters, optimizer.mean, optimizer.square, optimizer.steps]
    return [value.detach().clone() for value in state]


def test_each_run_is_torchs_adam():
    """With its own learning rate, weight decay and beta1; the rate falls after three steps."""
    parameters, optimizer = pack()
    for step in range(6):
        give_gradients(parameters, step)
        optimizer.step(scale=1.0 if step < 3 else torch.tensor(0.1))
    for r in range(3):
        expected, reference = torch_adam(r)
        for step in range(6):
            if step == 3:
                reference.param_groups[0]["lr"] *= float(torch.tensor(0.1))
            torch_step(expected, reference, r, step)
        torch.testing.assert_close([p[r] for p in parameters], expected, rtol=1e-12, atol=1e-12)


def test_defaults_are_torchs():
    parameters = [nn.Parameter(draw(1, 4, seed=0))]
    optimizer = Adam(parameters, lr=1e-2)
    expected = [nn.Parameter(parameters[0][0].detach().clone())]
    reference = torch.optim.Adam(expected, 1e-2)
    for step in range(4):
        parameters[0].grad = 1e-8 * draw(1, 4, seed=step)  # as small as epsilon
        expected[0].grad = parameters[0].grad[0]
        optimizer.step()
        reference.step()
    torch.testing.assert_close(parameters[0][0], expected[0], rtol=1e-12, atol=1e-12)


def test_a_gradient_may_lie_in_memory_in_any_order():
    """PyTorch's own operator, which takes the step of one run, reads memory as it comes."""
    parameters = [nn.Parameter(draw(1, 4, 3, seed=0))]
    optimizer = Adam(parameters, lr=1e-2)
    expected = [nn.Parameter(parameters[0][0].detach().clone())]
    reference = torch.optim.Adam(expected, 1e-2)
    for step in range(3):
        parameters[0].grad = draw(1, 3, 4, seed=step + 1).transpose(1, 2)
        expected[0].grad = parameters[0].grad[0].clone()
        optimizer.step()
        reference.step()
    torch.testing.assert_close(parameters[0][0], expected[0], rtol=1e-12, atol=1e-12)


def test_reset_begins_anew_in_its_runs_only():
    parameters, optimizer = pack()
    for step in range(5):
        if step == 2:
            optimizer.reset(torch.tensor([False, True, False]))
        give_gradients(parameters, step)
        optimizer.step()
    for r in range(3):
        expected, reference = torch_adam(r)
        for step in range(5):
            if step == 2 and r == 1:
                reference = torch.optim.Adam(
                    expected, reference.param_groups[0]["lr"], (BETA1[r], 0.99), weight_decay=WEIGHT_DECAY[r]
                )
            torch_step(expected, reference, r, step)
        torch.testing.assert_close([p[r] for p in parameters], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("gradient", ["finite", "infinite"])
def test_an_inactive_run_is_untouched_to_the_bit(gradient):
    parameters, optimizer = pack()
    give_gradients(parameters, 0)
    optimizer.step()
    before = snapshot(parameters, optimizer)
    give_gradients(parameters, 1)
    if gradient == "infinite":
        for parameter in parameters:
            parameter.grad[1] = torch.inf
    optimizer.step(active=torch.tensor([True, False, True]))
    for new, old in zip(snapshot(parameters, optimizer), before, strict=True):
        assert torch.equal(new[1], old[1])
        assert not torch.equal(new[0], old[0])
        assert not torch.equal(new[2], old[2])
    # Its next step is its second, not its third.
    give_gradients(parameters, 2)
    optimizer.step()
    expected, reference = torch_adam(1)
    torch_step(expected, reference, 1, 0)
    torch_step(expected, reference, 1, 2)
    torch.testing.assert_close([p[1] for p in parameters], expected, rtol=1e-12, atol=1e-12)


def test_a_run_that_is_not_finite_leaves_the_others_as_they_are():
    results = []
    for bad in (0.0, torch.nan):
        parameters, optimizer = pack()
        for step in range(3):
            give_gradients(parameters, step)
            parameters[0].grad[1] += bad
            optimizer.step()
        results.append(snapshot(parameters, optimizer))
    for clean, dirty in zip(*results, strict=True):
        assert torch.equal(clean[[0, 2]], dirty[[0, 2]])


def test_a_missing_gradient_counts_as_zero():
    parameters, optimizer = pack()
    give_gradients(parameters, 0)
    parameters[1].grad = None
    optimizer.step()
    other, other_optimizer = pack()
    give_gradients(other, 0)
    other[1].grad = torch.zeros_like(other[1])
    other_optimizer.step()
    torch.testing.assert_close(parameters, other, rtol=0, atol=0)


def test_zero_grad():
    parameters, optimizer = pack()
    give_gradients(parameters, 0)
    optimizer.zero_grad()
    assert all(parameter.grad is None for parameter in parameters)
