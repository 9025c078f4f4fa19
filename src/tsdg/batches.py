"""Windows on the training device, and the minibatches that runs draw from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from tsdg.augment import Augmentation
from tsdg.data.windows import TRAIN, VALIDATION, WindowedDataset, split
from tsdg.errors import InputError
from tsdg.streams import numpy_stream

BLOCK = 100


class Windows:
    """All windows of a data set, gathered from the signals on a device.

    Parameters
    ----------
    dataset : WindowedDataset
    device : torch.device
    """

    def __init__(self, dataset: WindowedDataset, device: torch.device | str = "cpu"):
        length = dataset.card["window"]["length"]
        signals = torch.from_numpy(np.array(dataset.signals)).to(device)
        self.views = signals.unfold(0, length, 1)  # (samples - T + 1, C, T), no copy
        self.starts = torch.tensor(dataset.windows["start"].to_numpy()).to(device)
        self.labels = torch.tensor(dataset.windows["label"].to_numpy(np.int64)).to(device)
        self.device = device

    def __getitem__(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """Windows ``(..., C, T)`` and labels ``(...)`` of an index ``(...)``."""
        return self.views[self.starts[index]], self.labels[index]


class Sources:
    """Training and validation windows of the source domains of one run, and its target's windows.

    Parameters
    ----------
    dataset : WindowedDataset
    domains : sequence of str
        The domains of the study, target included.
    target : str
    seed, fraction, method
        See `tsdg.data.windows.split`.
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
