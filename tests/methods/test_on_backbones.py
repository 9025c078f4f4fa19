"""Every method trains every backbone: in a pack as alone, and evaluated without a trace."""

from dataclasses import replace

import pytest
import torch

from tsdg.learning import networks
from tsdg.learning.networks import BACKBONES, Transformed
from tsdg.methods import METHODS, laws
from tsdg.methods.subject import CHANNELS, CLASSES, LENGTH, Subject

SMALL = {  # times that the laws' windows are repeated, and options
    "bearings": (25, {}),
    "har": (1, {"width": 3, "norm": "layer"}),
    "resnet1d": (1, {"width": 3, "depth": 2}),
    "inception": (1, {"width": 2, "depth": 3, "kernel": 8}),
    "tcn": (1, {"width": 3, "depth": 2}),
    "transformer": (1, {"width": 4, "depth": 1, "heads": 2, "patch": 3}),
    "wdcnn": (15, {"width": 2, "depth": 2}),
}

# A gradient that is 0 but for rounding counts by its sign: of a bias before normalization, of the keys' bias.
ROUNDED = {("wdcnn", "and-mask"), ("transformer", "and-mask")}


class Repeated(torch.nn.Module):
    def __init__(self, times):
        super().__init__()
        self.times = times

    def forward(self, x):
        return x.repeat(1, 1, 1, self.times)


def network_of(backbone):
    times, options = SMALL[backbone]

    def make(generators, embedding=False):
        network = networks.build(
            backbone, channels=CHANNELS, length=times * LENGTH, classes=CLASSES, generators=generators,
            embedding=embedding, **options,
        )  # fmt: skip
        network.featurizer = Transformed(Repeated(times), network.featurizer)
        return network

    return make


def test_all_backbones_are_tried():
    assert set(SMALL) == set(BACKBONES) - {"toy"}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("backbone", SMALL)
def test_a_method_trains_a_backbone(backbone, method, monkeypatch):
    # A bias in front of batch normalization has no gradient but what rounding makes, which Adam makes large.
    monkeypatch.setattr(laws, "TOLERANCE", 1e-6)
    subject = replace(Subject.drawn(method), network=network_of(backbone))
    if (backbone, method) not in ROUNDED:
        laws.packed_is_alone(subject)
        laws.evaluation_changes_nothing(subject)
    laws.poor_batches_stay_finite(subject)
