"""A data set whose every window tells its start."""

import numpy as np
import pandas as pd
import pytest
from held_out import DOMAINS

from tsdg.data.windows import WindowedDataset, write

LENGTH = 6


@pytest.fixture(scope="session")
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
