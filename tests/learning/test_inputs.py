"""Windows as they go into a network: slices of the signals, filled and standardized."""

import numpy as np
import pandas as pd
import pytest
import torch
from held_out import DOMAINS, sources

from tsdg.data.windows import WindowedDataset, write
from tsdg.learning.augment import Augmentation
from tsdg.learning.batches import minibatches
from tsdg.learning.inputs import Windows

LENGTH = 6


def test_windows_are_slices_of_the_signals(tiny):
    windows = Windows(tiny)
    index = torch.tensor([[0, 5, len(tiny.windows) - 1], [40, 5, 77]])
    x, y = windows[index]
    assert (x.shape, y.shape) == ((2, 3, 2, 12), (2, 3))
    for position in np.ndindex(2, 3):
        row = tiny.windows.iloc[int(index[position])]
        expected = tiny.signals[row["start"] : row["start"] + row["length"]].T
        np.testing.assert_array_equal(x[position].numpy(), expected)
        assert int(y[position]) == row["label"]


@pytest.fixture(scope="module")
def incomplete(tmp_path_factory):
    """Ten recordings of one window a domain; the first channel has gaps, the third is measured in A alone."""
    rng = np.random.default_rng(0)
    recordings = [rng.normal(3, 2, (LENGTH, 3)).astype(np.float32) for _ in range(40)]
    for number, recording in enumerate(recordings):
        recording[rng.random(LENGTH) < 0.4, 0] = np.nan
        recording[:, 2] = 5.0 if number // 10 == 0 else np.nan
    table = pd.DataFrame({"start": np.arange(40) * LENGTH, "length": LENGTH, "label": np.arange(40) % 2})
    table["domain"], table["recording"] = np.repeat(DOMAINS, 10), np.arange(40).astype(str)
    card = {"name": "incomplete", "classes": ["0", "1"], "channels": ["x", "y", "z"]}
    card |= {"window": {"length": LENGTH, "stride": LENGTH}, "domains": {name: {} for name in DOMAINS}}
    folder = tmp_path_factory.mktemp("incomplete") / "set"
    write(folder, iter(recordings), windows=table, card=card)
    return WindowedDataset.load(folder)


def test_missing_values_are_carried_forward_within_the_recording(incomplete):
    x = Windows(incomplete)[torch.arange(40)][0].numpy()
    for window, start in zip(x, incomplete.windows["start"], strict=True):
        expected = pd.DataFrame(incomplete.signals[start : start + LENGTH]).ffill().to_numpy().T
        np.testing.assert_array_equal(window, expected)
    assert np.isnan(x[:, 0, 0]).any()  # before the first value


def test_each_run_is_standardized_by_its_own_sources_training_windows(incomplete):
    parts = [sources(incomplete, "A", 0), sources(incomplete, "D", 1)]
    windows = Windows(incomplete)
    index = torch.arange(40).expand(2, 40)
    x, _ = windows.standardized(parts)[index]
    plain = windows[index][0].numpy()
    for r, part in enumerate(parts):
        train = plain[r][np.concatenate(list(part.train.values()))]
        for channel in (0, 1):
            values = train[:, channel][~np.isnan(train[:, channel])].astype(float)
            expected = np.nan_to_num((plain[r][:, channel] - values.mean()) / values.std())
            np.testing.assert_allclose(x[r][:, channel], expected, atol=1e-5)
    assert (x[0][:, 2] == 0).all()  # measured in the target alone, so never seen in training
    assert (x[1][:, 2] == 0).all()  # constant
    alone, _ = windows.standardized(parts[1:])[index[1:]]
    assert torch.equal(alone[0], x[1])
    assert windows.scales is None


def test_augmentation_comes_after_standardization(incomplete):
    part = sources(incomplete, "A")
    windows = Windows(incomplete).standardized([part])
    augmentation = Augmentation([0], [part.names], functions=["scaling"], statistics="standard", scale=(3, 3))
    kwargs = {"iterations": 4, "batch_size": 8}
    plain = minibatches(windows, [part], [0], **kwargs)
    augmented = minibatches(windows, [part], [0], **kwargs, augmentation=augmentation)
    for (x, _), (y, _) in zip(plain, augmented, strict=True):
        assert not x.isnan().any()
        factor = (y / x)[x != 0]
        assert set(factor.round(decimals=3).tolist()) == {1.0, 3.0}
