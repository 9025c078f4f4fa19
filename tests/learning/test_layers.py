"""Layers with a run axis against PyTorch's own layers, one run at a time."""

import pytest
import torch
from reference import SLOPE, close, normal, streams
from torch import nn

from tsdg.learning.layers import BatchNorm, Conv1d

SHAPES = [  # in, out, kernel, stride, padding, length
    (1, 8, 64, 2, 1, 351),
    (1, 8, 64, 2, 1, 63),  # one window, padding included
    (3, 8, 64, 2, 1, 130),
    (8, 8, 3, 2, 1, 37),
    (8, 8, 3, 2, 1, 6),
    (8, 8, 8, 1, 1, 15),
    (8, 8, 8, 1, 1, 6),
    (2, 128, 8, 1, 1, 13),
    (6, 128, 8, 1, 1, 32),
    (16, 24, 5, 1, 1, 11),
    (128, 256, 5, 1, 1, 6),
    (256, 128, 3, 1, 1, 5),
    (4, 3, 4, 3, 0, 11),
    (5, 3, 1, 1, 0, 7),
    (2, 3, 2, 3, 0, 9),  # the stride steps over samples
    (3, 2, 3, 1, 2, 1),
]


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-4)])
@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_convolution_is_that_of_each_run(shape, runs, dtype, tolerance):
    inputs, outputs, kernel, stride, padding, length = shape
    layer = Conv1d(inputs, outputs, kernel, streams(range(runs)), stride=stride, padding=padding).to(dtype)
    x = normal(runs, 4, inputs, length, dtype=dtype).requires_grad_()
    y = layer(x.transpose(2, 3))
    assert y.shape == (runs, 4, layer.output_length(length), outputs)
    upstream = normal(*y.shape, dtype=dtype, seed=1)
    y.backward(upstream)
    for r in range(runs):
        twin = nn.Conv1d(inputs, outputs, kernel, stride, padding).double()
        twin.load_state_dict({name: value[r] for name, value in layer.state_dict().items()})
        own = x[r].detach().double().requires_grad_()
        expected = twin(own)
        expected.backward(upstream[r].double().transpose(1, 2))
        close(y[r].transpose(1, 2), expected, tolerance)
        close(x.grad[r], own.grad, tolerance)
        close(layer.weight.grad[r], twin.weight.grad, tolerance)
        close(layer.bias.grad[r], twin.bias.grad, tolerance)


def normalization(channels, runs, dtype=torch.float64):
    layer = BatchNorm(channels, runs).to(dtype)
    with torch.no_grad():
        layer.weight.copy_(1 + 0.3 * normal(runs, channels, seed=2))
        layer.bias.copy_(normal(runs, channels, seed=3))
        layer.running_mean.copy_(normal(runs, channels, seed=4))
        layer.running_var.copy_(normal(runs, channels, seed=5).square() + 0.1)
    return layer


def normalization_twin(layer, r):
    twin = nn.BatchNorm1d(layer.weight.shape[1]).double()
    twin.load_state_dict({name: value[r] for name, value in layer.state_dict().items()}, strict=False)
    return twin


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize(
    ("runs", "samples", "time", "channels"), [(1, 6, 7, 8), (3, 6, 5, 3), (2, 12, 1, 130)]
)
def test_normalization_is_that_of_each_run_and_group(runs, samples, time, channels, groups):
    layer = normalization(channels, runs)
    twins = [normalization_twin(layer, r) for r in range(runs)]
    x = (2 + 3 * normal(runs, samples, time, channels)).requires_grad_()
    before = x.detach().clone()
    y = layer(x, groups)
    upstream = normal(*y.shape, seed=1)
    y.backward(upstream)
    assert torch.equal(x, before)
    for r, twin in enumerate(twins):
        own = before[r].clone().requires_grad_()
        parts = [twin(part.transpose(1, 2)) for part in own.chunk(groups)]
        expected = nn.functional.leaky_relu(torch.cat(parts).transpose(1, 2), SLOPE)
        expected.backward(upstream[r])
        close(y[r], expected, 1e-10)
        close(x.grad[r], own.grad, 1e-9)
        for name in ("weight", "bias"):
            close(getattr(layer, name).grad[r], getattr(twin, name).grad, 1e-10)
        for name in ("running_mean", "running_var"):
            close(getattr(layer, name)[r], getattr(twin, name), 1e-10)


@pytest.mark.parametrize("training", [True, False])
def test_normalization_leaves_out_what_a_convolution_has_too_many(training):
    conv = Conv1d(1, 8, 64, streams([0]), stride=2, padding=1).double()
    layer, trimmed = normalization(8, 1).train(training), normalization(8, 1).train(training)
    x = normal(1, 6, 351, 1)
    length = conv.output_length(351)
    surplus = conv(x, trim=False)
    assert surplus.shape[2] > length
    y, expected = layer(surplus, 2, length), trimmed(conv(x), 2)
    gradients = [
        torch.autograd.grad(z.square().sum(), (conv.weight, norm.weight, norm.bias))
        for z, norm in ((y, layer), (expected, trimmed))
    ]
    for ours, theirs in zip(
        (y, layer.running_var, *gradients[0]), (expected, trimmed.running_var, *gradients[1]), strict=True
    ):
        close(ours, theirs, 1e-12)


def test_normalization_evaluated_uses_the_averages_and_moves_nothing():
    layer = normalization(5, 2).eval()
    state = {name: value.clone() for name, value in layer.state_dict().items()}
    x = normal(2, 6, 7, 5)
    y = layer(x.clone(), 3)
    for r in range(2):
        expected = nn.functional.leaky_relu(normalization_twin(layer, r).eval()(x[r].transpose(1, 2)), SLOPE)
        close(y[r].transpose(1, 2), expected, 1e-10)
    assert all(torch.equal(value, state[name]) for name, value in layer.state_dict().items())


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_constant_channel_stays_finite(groups, runs):
    layer = normalization(3, runs, torch.float32)
    x = normal(runs, 4, 9, 3, dtype=torch.float32)
    x[..., 1] = 0.7
    x.requires_grad_()
    y = layer(x, groups)
    y.square().sum().backward()
    expected = nn.functional.leaky_relu(layer.bias[:, 1], SLOPE)
    torch.testing.assert_close(y[..., 1], expected[:, None, None].expand(runs, 4, 9), atol=1e-3, rtol=0)
    for tensor in (x.grad, layer.weight.grad, layer.running_var):
        assert tensor.isfinite().all()


@pytest.mark.parametrize(("runs", "tolerance"), [(1, 2e-2), (2, 2e-3)])  # PyTorch's operator, and ours
def test_a_large_offset_costs_little_accuracy(runs, tolerance):
    layer = normalization(3, runs, torch.float32)
    layer.running_mean.zero_()
    x = (1e4 + normal(runs, 16, 50, 3)).float()
    twins = [normalization_twin(layer, r) for r in range(runs)]
    y = layer(x)
    upstream = normal(*y.shape, seed=1).float()
    y.backward(upstream)
    for r, twin in enumerate(twins):
        expected = nn.functional.leaky_relu(twin(x[r].double().transpose(1, 2)).transpose(1, 2), SLOPE)
        expected.backward(upstream[r].double())
        close(y[r], expected, tolerance)
        close(layer.weight.grad[r], twin.weight.grad, tolerance)
        close(layer.running_var[r], twin.running_var, 1e-3)
        close(layer.running_mean[r], twin.running_mean, 1e-5)


@pytest.mark.parametrize("runs", [1, 2])
def test_an_outlier_in_the_first_value_costs_no_accuracy(runs):
    layer = normalization(3, runs, torch.float32)
    layer.running_mean.zero_()
    layer.running_var.zero_()
    x = normal(runs, 16, 50, 3).float()
    x[:, 0, 0] = 1000
    layer(x)
    values = x.double().flatten(1, 2)
    close(layer.running_mean, values.mean(1) * layer.momentum, 2e-6)
    close(layer.running_var, values.var(1) * layer.momentum, 2e-6)
