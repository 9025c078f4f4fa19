"""Windows on the training device, and the minibatches that runs draw from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from tsdg.data.split import TRAIN, VALIDATION, split
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning.augment import Augmentation
from tsdg.streams import numpy_stream

BLOCK = 100
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
            signals = _carried_forward(signals, dataset.windows)
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
        for part in torch.from_numpy(index).to(self.device).split(BLOCK):
            x = self.views[self.starts[part]].double()
            known = ~x.isnan()
            x = x.nan_to_num(nan=0.0)
            total += torch.stack([values.sum((0, 2)) for values in (known, x, x**2)])
        count, mean, square = total[0], *(total[1:] / total[0])
        deviation = (square - mean**2).clamp(min=0).sqrt()
        deviation = torch.where(deviation > CONSTANT * mean.abs(), deviation, 1.0)
        measured = count > 0
        return torch.where(measured, mean, 0.0), torch.where(measured, deviation, torch.inf)


def _carried_forward(signals: np.ndarray, windows: pd.DataFrame) -> np.ndarray:
    """Signals whose missing values are the last ones before them in the same recording."""
    steps = np.arange(len(signals))
    firsts = np.sort(windows.groupby(["domain", "recording"])["start"].min().to_numpy())
    first = firsts[np.maximum(np.searchsorted(firsts, steps, side="right") - 1, 0)]
    last = np.maximum.accumulate(np.where(np.isnan(signals), -1, steps[:, None]), axis=0)
    carried = np.take_along_axis(signals, np.maximum(last, 0), axis=0)
    return np.where(last >= first[:, None], carried, np.float32(np.nan))


class Sources:
    """Training and validation windows of the source domains of one run, and its target's windows.

    Parameters
    ----------
    dataset : WindowedDataset
    domains : sequence of str
        The domains of the study, target included.
    target : str
    seed, fraction, method
        See `tsdg.data.split.split`.
    """

    def __init__(
        self,
        dataset: WindowedDataset,
        domains: Sequence[str],
        target: str,
        *,
        seed: int,
        fraction: float,
        method: str,
    ):
        for domain in (target, *domains):
            if domain not in dataset.domains:
                raise InputError(
                    f"the prepared data set {dataset.card['name']!r} has no domain {domain!r}; "
                    f"it has {', '.join(dataset.domains)}"
                )
        self.target = target
        self.names = [domain for domain in domains if domain != target]
        if len(self.names) < 2:
            raise InputError(
                f"target {target!r} leaves {len(self.names)} source domain(s); two or more are needed"
            )
        parts = split(dataset.windows, fraction=fraction, seed=seed, method=method)
        domain = dataset.windows["domain"].to_numpy()
        self.train = {name: np.flatnonzero((domain == name) & (parts == TRAIN)) for name in self.names}
        self.evaluation = {
            name: np.flatnonzero((domain == name) & (parts == VALIDATION)) for name in self.names
        }
        self.evaluation[target] = np.flatnonzero(domain == target)
        for name in self.names:
            if not len(self.train[name]) or not len(self.evaluation[name]):
                raise InputError(
                    f"source domain {name!r} has {len(self.train[name])} training and "
                    f"{len(self.evaluation[name])} validation windows; both are needed: "
                    "leave the domain out or change the split"
                )


def minibatches(
    windows: Windows,
    sources: Sequence[Sources],
    seeds: Sequence[int],
    *,
    iterations: int,
    batch_size: int,
    augmentation: Augmentation | None = None,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches ``x (R, D, B, C, T)``, ``y (R, D, B)`` for R runs, drawn with replacement.

    Each run draws each domain's windows from a stream of its own, so that neither the other runs nor the
    other domains change them.
    """
    streams = [
        [numpy_stream(seed, "batches", name) for name in run.names]
        for seed, run in zip(seeds, sources, strict=True)
    ]
    for start in range(0, iterations, BLOCK):
        drawn = [
            [run.train[name][stream.integers(0, len(run.train[name]), (BLOCK, batch_size))]
             for name, stream in zip(run.names, of_run, strict=True)]
            for run, of_run in zip(sources, streams, strict=True)
        ]  # fmt: skip
        index = torch.from_numpy(np.array(drawn)).movedim(2, 0).to(windows.device)
        draws = augmentation.draws(BLOCK, batch_size) if augmentation else {}
        for i in range(min(BLOCK, iterations - start)):
            x, y = windows[index[i]]
            if augmentation:
                x = augmentation(x, {name: values[i] for name, values in draws.items()})
            yield x, y
