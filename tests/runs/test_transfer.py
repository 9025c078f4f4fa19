"""Which domains are alike: on domains that are alike by construction."""

import numpy as np
import pandas as pd
import pytest

from tsdg.data.windows import WindowedDataset, write
from tsdg.runs.transfer import accuracies, best_baseline, by_field, describe, ordered, shared_fields

LENGTH, PER_CLASS = 32, 12
TOLD = {"A": (0.125, 0.25), "B": (0.25, 0.125), "C": (0.125, 0.25), "D": (0.25, 0.125)}  # Hz by class
METADATA = {name: {"site": "north" if name in "AC" else "south", "number": name} for name in TOLD}


@pytest.fixture
def data(tmp_path):
    """A and C tell their classes by the same tones; B and D by the same, exchanged; E has one class."""
    rng = np.random.default_rng(0)
    tones = [TOLD[name][label] for name in TOLD for label in (0, 1) for _ in range(PER_CLASS)]
    tones += [0.125] * PER_CLASS
    signal = 3 * np.sin(2 * np.pi * np.outer(tones, np.arange(LENGTH)))
    signal += rng.normal(scale=0.2, size=signal.shape)
    windows = pd.DataFrame({
        "start": np.arange(len(tones)) * LENGTH, "length": LENGTH,
        "label": [*np.tile(np.repeat([0, 1], PER_CLASS), len(TOLD)), *[0] * PER_CLASS],
        "domain": [*np.repeat(list(TOLD), 2 * PER_CLASS), *["E"] * PER_CLASS], "recording": "r",
    })  # fmt: skip
    card = {
        "name": "toy", "classes": ["low", "high"], "channels": ["x"],
        "domains": METADATA | {"E": {"site": "east", "number": "E"}},
        "window": {"length": LENGTH, "stride": LENGTH},
    }  # fmt: skip
    write(tmp_path / "toy", [signal.astype(np.float32).reshape(-1, 1)], windows=windows, card=card)
    return WindowedDataset.load(tmp_path / "toy")


def test_what_one_domain_teaches_is_true_of_its_like_and_false_of_the_others(data):
    name, table = best_baseline(data)
    alike = pd.DataFrame([[1, 0, 1, 0], [0, 1, 0, 1]] * 2, index=list(TOLD), columns=list(TOLD), dtype=float)
    pd.testing.assert_frame_equal(table.loc[list(TOLD), list(TOLD)], alike)
    assert table.loc["E"].isna().all()
    order = ordered(table).domains
    assert abs(order.index("A") - order.index("C")) == abs(order.index("B") - order.index("D")) == 1
    told = by_field(table, data.card["domains"])
    assert told.loc["site", "within"] == 1
    assert told.loc["site", "across"] < 0.5
    lines = describe(data, name, table)
    assert any(line.startswith("  of the same site 100.0%") for line in lines)
    assert lines[-1] == "  nothing can be learned from E alone, such as of one class"


def test_a_domain_is_tried_on_what_it_has_not_learned_and_another_in_whole(data):
    row = {"features": "statistics", "estimator": "sklearn.dummy.DummyClassifier", "arguments": {}}
    labels = data.windows.groupby("domain")["label"]
    table = accuracies(data, row)
    assert table.loc["A", "B"] == labels.agg(lambda of: (of == 0).mean())["B"]
    assert table.loc["A", "E"] in (0, 1)


def test_fields_that_no_domains_share_have_no_line():
    assert shared_fields(list(TOLD), METADATA) == ["site"]
    assert shared_fields(list("AC"), METADATA) == []


def test_an_order_is_that_of_both_ways_on_average():
    table = pd.DataFrame(
        [[1, 0.2, 0.9, 0.2], [0.2, 1, 0.2, np.nan], [0.7, 0.2, 1, 0.2], [0.2, 0.8, 0.2, 1]],
        index=list("abcd"), columns=list("abcd"),
    )  # fmt: skip
    found = ordered(table)
    np.testing.assert_allclose(found.tree[:, 2], [0.2, 0.2, 0.8])
    assert {frozenset(found.domains[:2]), frozenset(found.domains[2:])} == {frozenset("ac"), frozenset("bd")}
