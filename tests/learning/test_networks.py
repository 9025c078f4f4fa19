"""Backbones with a run axis against sequences of PyTorch's own layers, one run at a time."""

import math

import pytest
import torch
from reference import SLOPE, close, normal, streams
from torch import nn

from tsdg.errors import InputError
from tsdg.learning import networks
from tsdg.learning.layers import Conv1d, Linear


def bearings_twin(channels, length, classes):
    shapes = [(channels, 8, 64, 2), *[(8, 8, 3, 2)] * 4, (8, 8, 8, 1)]
    layers = {}
    for i, (inputs, outputs, kernel, stride) in enumerate(shapes, start=1):
        layers[f"featurizer.conv{i}"] = nn.Conv1d(inputs, outputs, kernel, stride, padding=1)
        length = (length + 2 - kernel) // stride + 1
        if i <= 4:
            layers[f"featurizer.norm{i}"] = nn.BatchNorm1d(8)
        if i <= 5:
            layers[f"activation{i}"] = nn.LeakyReLU(SLOPE)
    layers["flat"] = nn.Flatten()
    layers["featurizer.linear"] = nn.Linear(8 * length, 32)
    layers["classifier.0"], layers["relu0"] = nn.Linear(32, 32), nn.ReLU()
    layers["classifier.2"], layers["relu2"] = nn.Linear(32, 32), nn.ReLU()
    layers["classifier.4"] = nn.Linear(32, classes)
    return layers


def har_twin(channels, length, classes):
    layers = {}
    for i, (inputs, outputs, kernel) in enumerate([(channels, 128, 8), (128, 256, 5), (256, 128, 3)]):
        layers[f"featurizer.convs.{i}"] = nn.Conv1d(inputs, outputs, kernel, padding=1)
        layers[f"featurizer.norms.{i}"] = nn.BatchNorm1d(outputs)
        layers[f"activation{i}"] = nn.LeakyReLU(SLOPE)
    return layers | {
        "mean": nn.AdaptiveAvgPool1d(1),
        "flat": nn.Flatten(),
        "classifier.0": nn.Linear(128, classes),
    }


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize(
    ("backbone", "twin_of", "channels", "length"),
    [("bearings", bearings_twin, 1, 401), ("bearings", bearings_twin, 2, 350), ("har", har_twin, 3, 17)],
)
def test_a_backbone_is_its_sequential_twin(backbone, twin_of, channels, length, runs):
    network = networks.build(
        backbone, channels=channels, length=length, classes=4, generators=streams(range(runs))
    )
    network.double()
    twins = []
    for r in range(runs):
        layers = twin_of(channels, length, 4)
        state = {name: value[r] for name, value in network.state_dict().items()}
        for name, layer in layers.items():
            for key in layer.double().state_dict():
                if key != "num_batches_tracked":
                    getattr(layer, key).data.copy_(state.pop(f"{name}.{key}"))
        assert not state, "weights without a twin"
        twins.append(layers)
    x = normal(runs, 6, channels, length)
    labels = torch.arange(6) % 4
    logits = network(x)
    assert logits.shape == (runs, 6, 4)
    nn.functional.cross_entropy(logits.flatten(0, 1), labels.repeat(runs), reduction="sum").backward()
    gradients = {name: parameter.grad for name, parameter in network.named_parameters()}
    network.eval()
    evaluated = network(x)
    for r, layers in enumerate(twins):
        twin = nn.Sequential(*layers.values())
        expected = twin(x[r])
        close(logits[r], expected, 1e-9)
        nn.functional.cross_entropy(expected, labels, reduction="sum").backward()
        for name, layer in layers.items():
            for key, parameter in layer.named_parameters():
                ours = gradients[f"{name}.{key}"][r]
                assert (ours - parameter.grad).abs().max() < 1e-8 * (1 + parameter.grad.abs().max()), (
                    name,
                    key,
                )
        close(evaluated[r], twin.eval()(x[r]), 1e-9)


def test_parameter_names_are_stable():
    network = networks.build("bearings", channels=1, length=512, classes=4, generators=streams([0]))
    convs = [f"featurizer.conv{i}.{key}" for i in range(1, 7) for key in ("weight", "bias")]
    keys = ("weight", "bias", "running_mean", "running_var")
    norms = [f"featurizer.norm{i}.{key}" for i in range(1, 5) for key in keys]
    ends = ["featurizer.linear", "classifier.0", "classifier.2", "classifier.4"]
    full = [f"{end}.{key}" for end in ends for key in ("weight", "bias")]
    assert sorted(network.state_dict()) == sorted(convs + norms + full)
    assert network.state_dict()["featurizer.conv1.weight"].shape == (1, 8, 1, 64)


@pytest.mark.parametrize("backbone", ["bearings", "har"])
def test_initial_weights_are_a_runs_own_and_as_by_pytorch(backbone):
    shape = {"channels": 2, "length": 350, "classes": 3}
    pack = networks.build(backbone, **shape, generators=streams([3, 7, 3]))
    alone = networks.build(backbone, **shape, generators=streams([7]))
    for name, value in pack.named_parameters():
        assert torch.equal(value[0], value[2])
        assert torch.equal(value[1], alone.get_parameter(name)[0])
    layers = [layer for layer in pack.modules() if isinstance(layer, (Conv1d, Linear))]
    assert len(layers) == {"bearings": 10, "har": 4}[backbone]
    for layer in layers:
        bound = 1 / math.sqrt(layer.weight[0, 0].numel())
        assert layer.weight.abs().max() <= bound
        assert layer.bias.abs().max() <= bound
        assert 0.5 * bound < layer.weight.std() * math.sqrt(3) < 1.2 * bound
        assert not torch.equal(layer.weight[0], layer.weight[1])


def test_the_classifier_makes_room_for_an_embedding():
    network = networks.build("har", channels=2, length=20, classes=3, generators=streams([0]), embedding=True)
    assert network.classifier(normal(1, 5, 256, dtype=torch.float32)).shape == (1, 5, 3)


@pytest.mark.parametrize(("backbone", "length"), [("bearings", 100), ("har", 7), ("conv", 100)])
def test_impossible_networks_are_refused(backbone, length):
    with pytest.raises(InputError, match="too short for the" if backbone != "conv" else "bearings, har"):
        networks.build(backbone, channels=1, length=length, classes=2, generators=streams([0]))
