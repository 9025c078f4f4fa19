"""Sources: which windows train, validate and test."""

import numpy as np
import pandas as pd
import pytest
from held_out import DOMAINS, sources

from tsdg.data.split import TRAIN, VALIDATION, split
from tsdg.data.windows import WindowedDataset, write
from tsdg.errors import InputError


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


def test_without_a_target_every_domain_is_a_source(counting):
    whole, held_out = sources(counting, None, seed=1), sources(counting, "B", seed=1)
    assert whole.names == DOMAINS
    assert set(whole.train) == set(whole.evaluation) == set(DOMAINS)
    for name in held_out.names:
        assert whole.train[name].tolist() == held_out.train[name].tolist()
        assert whole.evaluation[name].tolist() == held_out.evaluation[name].tolist()
    with pytest.raises(InputError, match="without a target there are 1 source"):
        sources(counting, None, domains=["A"])
