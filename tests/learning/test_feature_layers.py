"""Features as modules give what features give."""

import numpy as np
import pytest
import torch

from tsdg.learning.feature_layers import FeatureLayer
from tsdg.learning.features import Features

EVERY = ["statistics", {"spectrum": {"level": "plain"}}, {"envelope": {"level": "centred"}}, "modulation"]


@pytest.mark.parametrize(
    ("spec", "length"),
    [
        (EVERY, 2048),
        ([{"spectrum": {"bands": 25, "level": "whitened", "segment": 250}}, "envelope"], 1200),
        (["statistics", "spectrum"], 24),
        ("statistics", 7),
        ({"modulation": {"bands": 3, "segment": 50, "highest": 8}}, 500),
        ({"envelope": {"above": 20, "highest": 10}}, 128),
    ],
)
def test_a_layer_equals_its_features(spec, length):
    x = 2 + np.random.default_rng(0).standard_normal((4, 2, length)).astype(np.float32)
    x[0, 0], x[0, 1], x[1, 0] = 0, 9.81, np.round(x[1, 0])  # nothing, constant, tied
    features = Features(spec, rate=100)
    layer = FeatureLayer(features, length)
    np.testing.assert_allclose(layer(torch.from_numpy(x)), features(x), rtol=1e-7, atol=1e-7)
    assert not layer.state_dict()
