"""The reference of the benchmarks: one run as people write it, with PyTorch's own layers and loaders.

A `DataLoader` with replacement for each source domain, the windows cut on access, one concatenated forward
pass, `torch.optim.Adam`. Nothing here is shared with the package but the data container.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

from tsdg.data.split import TRAIN, split
from tsdg.data.windows import WindowedDataset


class PlainWindows(Dataset):
    """The training windows of one domain."""

    def __init__(self, dataset: WindowedDataset, domain: str):
        windows = dataset.windows
        chosen = (windows["domain"] == domain).to_numpy() & (split(windows, seed=0) == TRAIN)
        self.signals = np.array(dataset.signals)
        self.starts = windows["start"].to_numpy()[chosen]
        self.labels = windows["label"].to_numpy()[chosen].astype(np.int64)
        self.length = dataset.card["window"]["length"]

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        start = self.starts[i]
        return torch.from_numpy(self.signals[start : start + self.length].T.copy()), self.labels[i]


def bearings(channels: int, classes: int) -> nn.Module:
    """The Bearings network."""
    layers: list[nn.Module] = []
    for i in range(5):
        layers.append(nn.Conv1d(8, 8, 3, 2, padding=1) if i else nn.Conv1d(channels, 8, 64, 2, padding=1))
        layers += [nn.BatchNorm1d(8), nn.LeakyReLU()] if i < 4 else [nn.LeakyReLU()]
    layers += [nn.Conv1d(8, 8, 8, padding=1), nn.Flatten(), nn.LazyLinear(32)]
    layers += [nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, classes)]
    return nn.Sequential(*layers)


def har(channels: int, classes: int) -> nn.Module:
    """The HHAR and MIMIC-III network."""
    layers: list[nn.Module] = []
    for inputs, outputs, kernel in ((channels, 128, 8), (128, 256, 5), (256, 128, 3)):
        layers += [nn.Conv1d(inputs, outputs, kernel, padding=1), nn.BatchNorm1d(outputs), nn.LeakyReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(128, classes))


def training(
    dataset: WindowedDataset, network: nn.Module, sources: list[str], device: str = "cpu", batch: int = 32
) -> Iterator[torch.Tensor]:
    """Train by ERM for ever, a loss an iteration."""
    network.to(device)
    loaders = []
    for domain in sources:
        windows = PlainWindows(dataset, domain)
        sampler = RandomSampler(windows, replacement=True, num_samples=10**9)
        loaders.append(iter(DataLoader(windows, batch_size=batch, sampler=sampler)))
    first = torch.cat([next(loader)[0] for loader in loaders]).to(device)
    network(first)  # gives lazy layers their shape
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, weight_decay=5e-5)
    while True:
        batches = [next(loader) for loader in loaders]
        x = torch.cat([x for x, _ in batches]).to(device)
        y = torch.cat([y for _, y in batches]).to(device)
        loss = nn.functional.cross_entropy(network(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.detach()
