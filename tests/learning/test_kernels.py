"""Triton kernels against PyTorch's operators: on a GPU where there is one, else by Triton's interpreter.

`conftest` turns the interpreter on.
"""

import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest
import torch
from reference import SLOPE, close, normal, streams
from torch import nn

from tsdg import methods
from tsdg.errors import InputError
from tsdg.learning import kernels, networks
from tsdg.learning.layers import BatchNorm, Conv1d
from tsdg.methods.subject import CHANNELS, CLASSES, DOMAINS, LENGTH, RUNS, batch

triton = pytest.importorskip(
    "triton", reason="Triton, which PyTorch's builds for CUDA bring, is not installed"
)
from tsdg.learning.kernels import conv, norm  # noqa: E402 - which need Triton

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture
def small_parts(monkeypatch):
    """So that few values make several tiles of several parts."""
    monkeypatch.setattr(norm, "TILE", 128)
    monkeypatch.setattr(norm, "FEWEST_TILES", 2)
    monkeypatch.setattr(norm, "MOST_PARTS", 5)
    monkeypatch.setattr(conv, "ROWS", 32)
    monkeypatch.setattr(conv, "DEPTH", 32)
    monkeypatch.setattr(conv, "MOST_PARTS", 3)


def normalization(channels, runs, slope=SLOPE):
    layer = BatchNorm(channels, runs, slope)
    with torch.no_grad():
        layer.weight.copy_(1 + 0.3 * normal(runs, channels, seed=2))
        layer.bias.copy_(normal(runs, channels, seed=3))
    return layer


def with_kernels(layer):
    changed = deepcopy(layer).to(DEVICE)
    kernels.use(changed)
    assert type(changed) is not type(layer)
    return changed


def exact(layer, x, upstream, groups, length):
    """What stock normalization in double precision gives, run by run and group by group."""
    y, gradient, twins = [], [], []
    for r in range(x.shape[0]):
        twin = nn.BatchNorm1d(x.shape[3]).double()
        twin.load_state_dict({name: value[r] for name, value in layer.state_dict().items()}, strict=False)
        own = x[r].detach().double().requires_grad_()
        parts = [twin(part.transpose(1, 2)) for part in own[:, :length].chunk(groups)]
        y.append(nn.functional.leaky_relu(torch.cat(parts).transpose(1, 2), layer.slope))
        y[-1].backward(upstream[r].double())
        gradient.append(own.grad)
        twins.append(twin)
    return torch.stack(y), torch.stack(gradient), twins


@pytest.mark.parametrize(
    ("channels", "slope", "groups", "length", "data"),
    [
        (8, SLOPE, 3, 11, "standard"),
        (1, 0.0, 2, 13, "outlier"),
        (35, SLOPE, 1, 13, "outlier"),
        (3, 1.0, 1, 9, "offset"),
    ],
)
def test_normalization_is_as_exact_as_single_precision_allows(
    channels, slope, groups, length, data, small_parts
):
    layer = normalization(channels, 2, slope)
    x = 2 + normal(2, 6, 13, channels).float()
    if data == "outlier":
        x[:, 0, 0] = 1000
    elif data == "offset":
        x += 100
    upstream = normal(2, 6, length, channels, seed=1).float()
    expected, gradient, twins = exact(layer, x, upstream, groups, length)
    ours, x = with_kernels(layer), x.to(DEVICE).requires_grad_()
    y = ours(x, groups, length)
    y.backward(upstream.to(DEVICE))
    tolerance = 1e-4 if data == "offset" else 1e-6  # of data of which single precision keeps so much
    close(y, expected, tolerance)
    close(x.grad, gradient, 2 * tolerance)
    for r, twin in enumerate(twins):
        close(ours.weight.grad[r], twin.weight.grad, tolerance)
        close(ours.bias.grad[r], twin.bias.grad, tolerance)
        close(ours.running_mean[r], twin.running_mean, 1e-6)
        close(ours.running_var[r], twin.running_var, 1e-6)


def test_normalization_of_a_run_is_the_same_alone():
    layer = normalization(8, 3)
    x = normal(3, 2, 150, 8).float().to(DEVICE)
    packed = with_kernels(layer)(x, 2)
    with torch.no_grad():
        layer.weight, layer.bias, layer.running_mean, layer.running_var = (
            nn.Parameter(layer.weight[1:2]), nn.Parameter(layer.bias[1:2]),
            layer.running_mean[1:2], layer.running_var[1:2],
        )  # fmt: skip
    assert torch.equal(packed[1:2], with_kernels(layer)(x[1:2], 2))


SHAPES = [  # in, out, kernel, stride, padding, length
    (1, 8, 64, 2, 1, 91),
    (8, 8, 3, 2, 1, 37),
    (6, 40, 8, 1, 1, 12),
    (2, 3, 2, 3, 0, 9),  # the stride steps over samples
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_convolution_is_that_of_each_run(shape, small_parts):
    inputs, outputs, kernel, stride, padding, length = shape
    layer = with_kernels(Conv1d(inputs, outputs, kernel, streams(range(2)), stride=stride, padding=padding))
    x = normal(2, 3, length, inputs).float().to(DEVICE).requires_grad_()
    y = layer(x, trim=False)
    upstream = normal(*y.shape, seed=1).float()
    y.backward(upstream.to(DEVICE))
    for r in range(2):
        twin = nn.Conv1d(inputs, outputs, kernel, stride, padding).double()
        twin.load_state_dict({name: value[r] for name, value in layer.state_dict().items()})
        own = x[r].detach().cpu().double().transpose(1, 2).requires_grad_()
        expected = twin(own)
        expected.backward(upstream[r].double().transpose(1, 2))
        close(y[r].transpose(1, 2), expected, 1e-6)
        close(x.grad[r].transpose(1, 2), own.grad, 1e-6)
        close(layer.weight.grad[r], twin.weight.grad, 2e-6)
        close(layer.bias.grad[r], twin.bias.grad, 2e-6)


@pytest.mark.parametrize("kind", ["norm", "conv"])
def test_a_gradient_has_a_gradient(kind):
    layer = normalization(3, 2) if kind == "norm" else Conv1d(3, 4, 5, streams(range(2)), 2, 1)

    def penalty(layer, x):
        y = layer(x)
        (gradient,) = torch.autograd.grad(y.pow(3).sum(), x, create_graph=True)
        return torch.autograd.grad(gradient.square().sum(), (x, layer.weight))

    ours = penalty(with_kernels(layer), normal(2, 4, 9, 3).float().to(DEVICE).requires_grad_())
    if kind == "norm":  # whose own gradient has none where there are several runs
        whole = normalization(3, 2).double()
        x = normal(2, 4, 9, 3).requires_grad_()
        theirs = []
        for r in range(2):
            alone = normalization(3, 1).double()
            with torch.no_grad():
                alone.weight.copy_(whole.weight[r : r + 1])
                alone.bias.copy_(whole.bias[r : r + 1])
            theirs.append(penalty(alone, x[r : r + 1]))
        expected = [torch.cat(parts) for parts in zip(*theirs, strict=True)]
    else:
        expected = penalty(layer.double(), normal(2, 4, 9, 3).requires_grad_())
    for found, wanted in zip(ours, expected, strict=True):
        close(found, wanted, 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["erm", "irm"])
def test_a_pack_trains_as_without(method):
    declared = methods.get(method)

    def losses(changed):
        network = networks.build(
            "har", width=8, channels=CHANNELS, length=LENGTH, classes=CLASSES, generators=streams(RUNS),
        )  # fmt: skip
        network = network.to(DEVICE)
        if changed:
            kernels.use(network)
        hparams = {name: [0.5, 0.5, 0.5] for name in declared.search}
        trained = methods.build(
            method, network=network, domains=DOMAINS, classes=CLASSES, hparams=hparams, iterations=2
        )
        batches = (batch(iteration) for iteration in range(2))
        return torch.stack([trained.update(x.float().to(DEVICE), y.to(DEVICE))["loss"] for x, y in batches])

    close(losses(True), losses(False), 1e-4)


@pytest.mark.slow
def test_triton_compiles_every_kernel_for_a_gpu(tmp_path):
    script = Path(__file__).with_name("compiled_kernels.py")
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    ended = subprocess.run(
        [sys.executable, script], env=environment | {"TRITON_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert sorted(ended.stdout.split()) == sorted([*conv.KERNELS, *norm.KERNELS])


def test_where_kernels_cannot_run_is_said(monkeypatch):
    with pytest.raises(InputError, match="float64"):
        kernels.use(normalization(3, 2).double())
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with pytest.raises(InputError, match="on a CPU"):
        kernels.use(normalization(3, 2))
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(InputError, match="need Triton"):
        kernels.use(normalization(3, 2))
