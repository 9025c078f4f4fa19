"""Windows on the training device, as they go into a network: filled, and standardized by their sources."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from tsdg.data.windows import WindowedDataset
from tsdg.learning.sources import Sources

PART = 100  # windows that are summed at a time
CONSTANT = 1e-6  # deviation, relative to the mean, up to which a channel counts as constant


class Windows:
    """All windows of a data set, gathered from the signals on a device.

    A missing value (NaN) is the last one before it in the recording; at a recording's beginning it stays
    missing until the windows are `standardized`.

    Parameters
    ----------
    dataset : WindowedDataset
    device : torch.device
    """

    def __init__(self, dataset: WindowedDataset, device: torch.device | str = "cpu"):
        length = dataset.card["window"]["length"]
        signals = np.array(dataset.signals)
        self.incomplete = bool(np.isnan(signals).any())
        if self.incomplete:
            signals = _carried_forward(signals, dataset.windows, dataset.card.get("stretches", []))
        self.views = (
            torch.from_numpy(signals).to(device).unfold(0, length, 1)
        )  # (samples - T + 1, C, T), no copy
        self.starts = torch.tensor(dataset.windows["start"].to_numpy()).to(device)
        self.labels = torch.tensor(dataset.windows["label"].to_numpy(np.int64)).to(device)
        self.device = device
        self.scales: tuple[Tensor, Tensor] | None = None

    def __getitem__(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """Windows ``(..., C, T)`` and labels of an index ``(...)``, which begins with R if standardized."""
        x = self.views[self.starts[index]]
        if self.scales is not None:
            mean, deviation = (
                values.view(len(values), *[1] * (index.ndim - 1), -1, 1) for values in self.scales
            )
            x = ((x - mean) / deviation).nan_to_num_(nan=0.0)  # what is missing is the mean
        return x, self.labels[index]

    def labelled(self, dataset: WindowedDataset) -> Windows:
        """The same with the labels of a data set that differs in these alone."""
        windows = copy(self)
        windows.labels = torch.tensor(dataset.windows["label"].to_numpy(np.int64)).to(self.device)
        return windows

    def standardized(self, sources: Sequence[Sources]) -> Windows:
        """The same for R runs, less the mean and by the standard deviation of a run's training windows.

        What is still missing becomes that mean, and all of a channel that is never measured there.
        """
        scales = [self._scales(np.concatenate(list(run.train.values()))) for run in sources]
        windows = copy(self)
        windows.scales = tuple(torch.stack(values).float() for values in zip(*scales, strict=True))  # type: ignore
        return windows

    def _scales(self, index: np.ndarray) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation ``(C,)`` over what is not missing in some windows."""
        total = torch.zeros(3, self.views.shape[1], dtype=torch.float64, device=self.device)
        for part in torch.from_numpy(index).to(self.device).split(PART):
            x = self.views[self.starts[part]].double()
            known = ~x.isnan()
            x = x.nan_to_num(nan=0.0)
            total += torch.stack([values.sum((0, 2)) for values in (known, x, x**2)])
        count, mean, square = total[0], *(total[1:] / total[0])
        deviation = (square - mean**2).clamp(min=0).sqrt()
        deviation = torch.where(deviation > CONSTANT * mean.abs(), deviation, 1.0)
        measured = count > 0
        return torch.where(measured, mean, 0.0), torch.where(measured, deviation, torch.inf)


def _carried_forward(signals: np.ndarray, windows: pd.DataFrame, stretches: Sequence[int] = ()) -> np.ndarray:
    """Signals whose missing values are the last ones before them in the same recording, up to a gap in it."""
    steps = np.arange(len(signals))
    starts = windows.groupby(["domain", "recording"])["start"].min().to_numpy()
    firsts = np.union1d(starts, np.asarray(stretches, starts.dtype))
    first = firsts[np.maximum(np.searchsorted(firsts, steps, side="right") - 1, 0)]
    last = np.maximum.accumulate(np.where(np.isnan(signals), -1, steps[:, None]), axis=0)
    carried = np.take_along_axis(signals, np.maximum(last, 0), axis=0)
    return np.where(last >= first[:, None], carried, np.float32(np.nan))
