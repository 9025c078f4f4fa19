"""The baselines of `tsdg check`: what linear models reach on domains held out, beside chance and majority."""

import numpy as np
import pandas as pd
import pytest
import yaml

from tsdg.data.own.study_file import study_text
from tsdg.data.windows import WindowedDataset, write
from tsdg.runs import baselines
from tsdg.runs.baselines import BASELINES, accuracies, describe, in_words, sample
from tsdg.runs.job import train_job
from tsdg.runs.record import read
from tsdg.study.study import Study

LENGTH = 32
ROWS = list(BASELINES)


def toy(folder, *, told=True, counts=(30, 10), domains="ABC", missing=False):
    """Noise of three domains; classes of `counts` windows are told by a tone, or by nothing."""
    rng = np.random.default_rng(0)
    labels = np.tile(np.repeat([0, 1], counts), len(domains))
    frequency = np.where(labels == 0, 0.125, 0.25) if told else 0 * labels
    tone = np.sin(2 * np.pi * np.outer(frequency, np.arange(LENGTH)))
    signal = (3 * tone + rng.normal(size=tone.shape)).astype(np.float32).reshape(-1, 1)
    if missing:
        signal[:3] = np.nan
    windows = pd.DataFrame({
        "start": np.arange(len(labels)) * LENGTH, "length": LENGTH, "label": labels,
        "domain": np.repeat(list(domains), sum(counts)), "recording": "r",
    })  # fmt: skip
    card = {
        "name": "toy", "classes": ["low", "high"], "channels": ["x"],
        "domains": {name: {} for name in domains}, "window": {"length": LENGTH, "stride": LENGTH},
    }  # fmt: skip
    write(folder / "toy", [signal], windows=windows, card=card)
    return WindowedDataset.load(folder / "toy")


def contents(data):
    """Domain, label and signal of each window."""
    return {
        (row.domain, row.label, data.signals[row.start :][:LENGTH].tobytes())
        for row in data.windows.itertuples()
    }


@pytest.mark.parametrize("missing", [False, True])
def test_what_is_told_by_a_tone_is_found_on_every_domain(tmp_path, missing):
    table = accuracies(toy(tmp_path, missing=missing), "random")
    assert list(table.index) == list("ABC")
    assert (table[ROWS] == 1).all(axis=None)
    assert (table["majority"] == 0.75).all()
    assert (table["chance"] == 0.5).all()


def test_what_is_told_by_nothing_is_near_chance(tmp_path):
    data = toy(tmp_path, told=False, counts=(60, 60))
    table = accuracies(data, "random")
    assert (table[ROWS].mean() - 0.5).abs().max() < 0.1
    assert "little or nothing carries over" in describe(data)[-1]


def test_a_sample_has_each_class_by_its_share_and_the_same_windows(tmp_path):
    data = toy(tmp_path)
    some = sample(data, 20)
    assert some.windows.groupby(["domain", "label"]).size().to_list() == [15, 5] * 3
    whole, kept = contents(data), contents(some)
    assert len(kept) == 60
    assert kept < whole
    pd.testing.assert_frame_equal(accuracies(sample(data, 40), "random"), accuracies(data, "random"))


def test_baselines_learn_from_what_a_row_of_the_proposed_table_does(tmp_path):
    data = toy(tmp_path, told=False)
    entry = {
        "kind": "table", "raw": "t.csv", "source": "own", "prepare": {"window": LENGTH}, "backbone": "har",
        "split": "blocked", "standardize": "sources", "domains": {name: {"user": name} for name in "ABC"},
        "augmentation": {"functions": ["scaling"], "statistics": "standard", "scale": [0.8, 1.2]},
    }  # fmt: skip
    study = Study(yaml.safe_load(study_text("mine", entry, "study.yaml")))
    name, table = "statistics-logistic", accuracies(data, "blocked")
    job = {"dataset": "mine", "variant": name, "seeds": [0], "draws": ["fixed"], "out": tmp_path / "runs"}
    for target in "ABC":
        (path,) = train_job(study, tmp_path / "toy", targets=[target], **job)
        assert read(path).checkpoints[-1].target.accuracy == table.loc[target, name]
    shown = {cell for line in describe(data) for cell in line.split()}
    assert {f"{100 * share:.1f}" for share in table[name]} <= shown
    assert not accuracies(data, "random")[ROWS].equals(table[ROWS])


def test_what_is_too_large_is_drawn_from_or_left_and_said(tmp_path, monkeypatch):
    data = toy(tmp_path)
    assert "drawn" not in describe(data)[0]
    monkeypatch.setattr(baselines, "WINDOWS", 60)
    assert "at most 20 windows of each domain" in describe(data)[0]
    monkeypatch.setattr(baselines, "WINDOWS", 57)
    assert [line.partition(",")[0] for line in describe(data)] == ["baselines: none"]


def test_data_that_teach_nothing_are_one_line(tmp_path):
    (line,) = describe(toy(tmp_path, domains="A"))
    assert line.startswith("baselines: none (target 'A' leaves 0 source domain(s); one or more is needed")


def test_one_domain_teaches_another(tmp_path):
    assert (accuracies(toy(tmp_path, domains="AB"), "random")[ROWS] == 1).all(axis=None)


@pytest.mark.parametrize(
    ("score", "words"), [(0.97, "all but solves this"), (0.8, "has to beat"), (0.62, "little or nothing")]
)
def test_a_result_in_words(score, words):
    columns = {ROWS[0]: [score, score], ROWS[1]: 0.5, "majority": 0.6, "chance": 0.5}
    table = pd.DataFrame(columns, index=["A", "B"])
    assert words in in_words(table)
    assert f"{score:.1%} on average where the most frequent class has 60.0%" in in_words(table)
