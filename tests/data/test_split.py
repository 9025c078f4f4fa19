"""The division into training and validation: by share, by seed, without leaks."""

import numpy as np
import pandas as pd
import pytest

from tsdg.data.split import TRAIN, UNUSED, VALIDATION, split
from tsdg.data.windows import window_starts


def test_random_split_draws_the_share_of_each_domain_by_its_own_seed():
    rows = [
        (100 * index + start, 8, index % 2, "AB"[index // 2], f"r{index}")
        for index, samples in enumerate((40, 30, 50, 20))
        for start in window_starts(8, 2, samples)
    ]
    windows = pd.DataFrame(rows, columns=["start", "length", "label", "domain", "recording"])
    parts = split(windows, fraction=0.2, seed=3)
    assert parts.dtype == np.int8
    for domain in "AB":
        here = parts[windows.domain == domain]
        assert (here == VALIDATION).sum() == round(0.2 * len(here))
    assert set(parts) == {TRAIN, VALIDATION}
    assert (split(windows, seed=4) != parts).any()
    assert (split(windows[windows.domain == "B"], seed=3) == parts[windows.domain == "B"]).all()


def test_blocked_split_leaves_no_overlap_and_keeps_every_class():
    rng = np.random.default_rng(0)
    rows, offset = [], 0
    for domain in "AB":
        for recording in range(6):
            samples = int(rng.integers(2000, 4000))
            for start in window_starts(61, 10, samples):  # both classes in a recording, meeting in the middle
                label = int(start > samples / 2) if recording else 2
                rows.append((offset + start, 61, label, domain, f"{domain}{recording}"))
            offset += samples
    windows = pd.DataFrame(rows, columns=["start", "length", "label", "domain", "recording"])
    windows = windows.sample(frac=1, random_state=0).reset_index(drop=True)
    for seed in range(5):
        parts = split(windows, seed=seed, method="blocked")
        for domain, group in windows.assign(part=parts).groupby("domain"):
            train, validation = (group.start[group.part == part].to_numpy() for part in (TRAIN, VALIDATION))
            assert np.abs(train[:, None] - validation).min() >= 61
            assert len(validation) == pytest.approx(0.2 * len(group), abs=2)
            assert (group.part == UNUSED).mean() < 0.12
            assert group[group.part == VALIDATION].label.nunique() == 3
            assert group[group.part == TRAIN].label.nunique() == 3
            alone = split(windows[windows.domain == domain], seed=seed, method="blocked")
            assert (alone == group.part).all()
    assert (split(windows, seed=9, method="blocked") != parts).any()


def test_blocked_split_of_one_window_recordings_and_of_a_class_too_short_to_give_any():
    alone = pd.DataFrame({"start": np.arange(50) * 48, "length": 48, "label": 0, "domain": "A"})
    alone["recording"] = [f"stay {index}" for index in range(50)]
    parts = split(alone, seed=0, method="blocked")
    assert ((parts == VALIDATION).sum(), (parts == UNUSED).sum()) == (10, 0)
    assert np.ptp(np.flatnonzero(parts == VALIDATION)) > 10  # whole recordings, drawn
    short = alone[:5].assign(start=np.arange(5), recording="one")
    assert (split(short, seed=0, method="blocked") == TRAIN).all()
