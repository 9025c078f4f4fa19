"""The table of augmentations says what augmentation does, with the study's settings."""

from pathlib import Path

import pandas as pd

from tsdg.learning.augment import FUNCTIONS
from tsdg.results.about.augmentations import EXPRESSIONS, render
from tsdg.study.study import Study


def test_the_settings_are_the_studys(tmp_path):
    study = Study.load(
        Path(__file__).parents[3] / "params.yaml",
        [
            "datasets.bearings.augmentation.masked=0.3",
            "datasets.hhar-user1.augmentation={functions: [masking]}",
        ],
    )
    csv, tex = render(study, tmp_path)
    table = pd.read_csv(csv).set_index(["augmentation", "dataset"])["settings"]
    assert table.to_dict() == {
        ("Mean shift", "bearings"): "new mean 0",
        ("Mean shift", "bearings-size"): "new mean 0",
        ("Scaling", "bearings"): "new deviation 1",
        ("Scaling", "bearings-size"): "new deviation 1",
        ("Scaling", "hhar"): "new deviation from 0.8 to 1.2, μ = 0, σ = 1",
        ("Scaling", "hapt"): "new deviation from 0.8 to 1.2, μ = 0, σ = 1",
        ("Scaling", "mimic3"): "new deviation from 0.8 to 1.2, μ = 0, σ = 1",
        ("Masking", "bearings"): "p 0.3",
        ("Masking", "bearings-size"): "p 0.1",
        ("Masking", "hhar-user1"): "p 0.1",
    }
    assert (
        r"$(x - \mu) / \sigma \cdot \sigma_\mathrm{new} + \mu$ "
        "& Bearings, bearings-size (new deviation 1); HHAR, HAPT, MIMIC-III" in tex.read_text()
    )
    assert set(EXPRESSIONS) == set(FUNCTIONS)
