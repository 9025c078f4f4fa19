"""Minibatches: the right windows, of the right part, whatever else is trained beside."""

import numpy as np
import pandas as pd
import pytest
import torch

from tsdg.data.split import TRAIN, VALIDATION, split
from tsdg.data.windows import WindowedDataset, write
from tsdg.errors import InputError
from tsdg.learning.augment import Augmentation
from tsdg.learning.batches import minibatches
from tsdg.learning.inputs import Windows
from tsdg.learning.sources import Sources

DOMAINS = list("ABCD")
LENGTH = 6


@pytest.fixture(scope="module")
def counting(tmp_path_factory):
    """The first channel counts the time steps, so that every window tells its start."""
    starts = np.arange(0, 400 - LENGTH + 1, 2)
    table = pd.DataFrame({"start": starts, "length": LENGTH, "label": np.arange(len(starts)) % 3})
    table["domain"] = np.array(DOMAINS)[(starts // 20) % 4]
    table["recording"] = table["domain"] + "0"
    signal = np.stack([np.arange(400), -10.0 * np.arange(400)], 1).astype(np.float32)
    card = {
        "name": "counting",
        "classes": ["0", "1", "2"],
        "channels": ["x", "y"],
        "window": {"length": LENGTH, "stride": 2},
        "domains": {name: {} for name in DOMAINS},
    }
    folder = tmp_path_factory.mktemp("counting") / "set"
    write(folder, iter([signal]), windows=table, card=card)
    return WindowedDataset.load(folder)


def sources(dataset, target, seed=0, domains=DOMAINS, fraction=0.25, method="random"):
    return Sources(dataset, domains, target, seed=seed, fraction=fraction, method=method)


def batches(dataset, runs, iterations=130, batch_size=7, **kwargs):
    """Starts ``(I, R, D, B)`` and labels of the windows drawn for (target, seed) runs."""
    parts = [sources(dataset, target, seed) for target, seed in runs]
    seeds = [seed for _, seed in runs]
    drawn = list(
        minibatches(Windows(dataset), parts, seeds, iterations=iterations, batch_size=batch_size, **kwargs)
    )
    assert len(drawn) == iterations
    return torch.stack([x for x, _ in drawn])[..., 0, 0].long(), torch.stack([y for _, y in drawn])


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


def test_batches_hold_training_windows_of_each_source_and_nothing_else(counting):
    starts, labels = batches(counting, [("C", 3)])
    parts = split(counting.windows, fraction=0.25, seed=3, method="random")
    table = counting.windows.set_index("start").assign(part=parts)
    assert starts.shape == (130, 1, 3, 7)
    for d, name in enumerate("ABD"):
        drawn = table.loc[starts[:, 0, d].flatten().tolist()]
        assert set(drawn["domain"]) == {name}
        assert set(drawn["part"]) == {TRAIN}
        assert drawn["label"].tolist() == labels[:, 0, d].flatten().tolist()
        available = ((table["domain"] == name) & (table["part"] == TRAIN)).sum()
        assert drawn.index.nunique() == available  # 910 draws leave none of some 40 out


def test_windows_are_drawn_with_replacement_and_uniformly(counting):
    starts, _ = batches(counting, [("C", 0)], iterations=400, batch_size=16)
    for d in range(3):
        rows = starts[:, 0, d]
        assert any(len(set(batch.tolist())) < 16 for batch in rows)
        _, counts = rows.flatten().unique(return_counts=True)
        expected = rows.numel() / len(counts)
        assert (counts - expected).abs().max() < 6 * expected**0.5


def test_a_run_draws_alone_what_it_draws_in_a_pack(counting):
    runs = [("A", 0), ("D", 1), ("D", 0)]
    starts, labels = batches(counting, runs)
    for r, run in enumerate(runs):
        alone, own_labels = batches(counting, [run])
        assert torch.equal(alone[:, 0], starts[:, r])
        assert torch.equal(own_labels[:, 0], labels[:, r])
    assert not torch.equal(starts[:, 1], starts[:, 2])  # another seed


def test_a_domains_batches_do_not_depend_on_the_target(counting):
    with_d, with_b = (batches(counting, [(target, 4)])[0][:, 0] for target in "DB")
    assert torch.equal(with_d[:, 0], with_b[:, 0])  # A
    assert torch.equal(with_d[:, 2], with_b[:, 1])  # C


def test_a_longer_training_begins_alike(counting):
    long, short = (batches(counting, [("A", 0)], iterations=i)[0] for i in (130, 37))
    assert torch.equal(long[:37], short)


def test_augmentation_changes_signals_but_not_the_windows_drawn(counting):
    augmentation = Augmentation([0], [["B", "C", "D"]], functions=["mean_shift"], mean=0.0)
    windows, parts = Windows(counting), [sources(counting, "A")]
    kwargs = {"iterations": 3, "batch_size": 8}
    plain = list(minibatches(windows, parts, [0], **kwargs))
    augmented = list(minibatches(windows, parts, [0], **kwargs, augmentation=augmentation))
    for (x, y), (z, same) in zip(plain, augmented, strict=True):
        assert torch.equal(y, same)
        centred = x - x.mean(-1, keepdim=True)
        unchanged = (z == x).flatten(3).all(-1)
        shifted = ((z - centred).abs() < 1e-2).flatten(3).all(-1)
        assert (unchanged | shifted).all()
        assert unchanged.any()
        assert shifted.any()


@pytest.mark.parametrize("method", ["random", "blocked"])
def test_sources_share_no_window_between_training_validation_and_target(counting, method):
    part = sources(counting, "B", seed=1, method=method)
    assert part.names == ["A", "C", "D"]
    assert part.target == "B"
    domain = counting.windows["domain"].to_numpy()
    assert part.evaluation["B"].tolist() == np.flatnonzero(domain == "B").tolist()
    parts = split(counting.windows, fraction=0.25, seed=1, method=method)
    assert set(part.train) == {"A", "C", "D"}
    for name in part.names:
        assert (domain[part.train[name]] == name).all()
        assert (parts[part.train[name]] == TRAIN).all()
        assert (parts[part.evaluation[name]] == VALIDATION).all()
        assert len(part.evaluation[name]) == ((domain == name) & (parts == VALIDATION)).sum()


@pytest.mark.parametrize(
    ("domains", "target", "message"),
    [
        (["A", "B", "Z"], "A", "no domain 'Z'; it has A, B, C, D"),
        (["A", "B"], "Q", "no domain 'Q'"),
        (["A", "B"], "A", "leaves 1 source"),
    ],
)
def test_impossible_sources_are_refused(counting, domains, target, message):
    with pytest.raises(InputError, match=message):
        sources(counting, target, domains=domains)


def test_a_source_without_training_windows_is_refused(tmp_path):
    """One window cannot both train and validate."""
    table = pd.DataFrame({"start": [0, 6, 12, 18, 24], "length": 6, "label": 0, "recording": "r"})
    table["domain"] = list("AABBC")
    card = {"name": "few", "classes": ["0", "1"], "channels": ["x"], "window": {"length": 6, "stride": 6}}
    card["domains"] = {name: {} for name in "ABC"}
    write(tmp_path / "few", iter([np.zeros((30, 1), np.float32)]), windows=table, card=card)
    dataset = WindowedDataset.load(tmp_path / "few")
    with pytest.raises(InputError, match="'C' has 1 training and 0 validation"):
        sources(dataset, "A", domains=list("ABC"))


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
