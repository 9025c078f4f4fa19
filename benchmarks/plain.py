"""The references of the benchmarks: one run with PyTorch's own layers.

`training` is what people write: a `DataLoader` with replacement for each source domain, the windows cut on
access, one concatenated forward pass, `torch.optim.Adam`. `tuned` is the best of PyTorch on a CPU. Nothing
here is shared with the package but the data container.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

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


class Kind(NamedTuple):
    """PyTorch's layers for windows `(N, C, T)`."""

    convolution: Callable[[int, int, int, int], nn.Module]  # channels in and out, kernel, stride; padding 1
    normalization: type[nn.Module]
    average: nn.Module
    inplace: bool


USUAL = Kind(
    lambda i, o, kernel, stride: nn.Conv1d(i, o, kernel, stride, padding=1),
    nn.BatchNorm1d,
    nn.AdaptiveAvgPool1d(1),
    inplace=False,
)
FLAT = Kind(  # windows as images one pixel high, which may lie channels-last in memory
    lambda i, o, kernel, stride: nn.Conv2d(i, o, (1, kernel), (1, stride), padding=(0, 1)),
    nn.BatchNorm2d,
    nn.AdaptiveAvgPool2d(1),
    inplace=True,
)


def bearings(channels: int, classes: int, kind: Kind = USUAL) -> nn.Module:
    """The Bearings network."""
    layers: list[nn.Module] = []
    for i in range(5):
        layers.append(kind.convolution(8, 8, 3, 2) if i else kind.convolution(channels, 8, 64, 2))
        layers += [kind.normalization(8)] if i < 4 else []
        layers.append(nn.LeakyReLU(inplace=kind.inplace))
    layers += [kind.convolution(8, 8, 8, 1), nn.Flatten(), nn.LazyLinear(32)]
    layers += [nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, classes)]
    return nn.Sequential(*layers)


def har(channels: int, classes: int, kind: Kind = USUAL, width: int = 128, blocks: int = 3) -> nn.Module:
    """The HHAR and MIMIC-III network; of one block, that of the toy study."""
    layers: list[nn.Module] = []
    for inputs, outputs, kernel in [(channels, width, 8), (width, 2 * width, 5), (2 * width, width, 3)][
        :blocks
    ]:
        layers += [kind.convolution(inputs, outputs, kernel, 1), kind.normalization(outputs)]
        layers.append(nn.LeakyReLU(inplace=kind.inplace))
    return nn.Sequential(*layers, kind.average, nn.Flatten(), nn.Linear(width, classes))


def network(
    backbone: str, channels: int, classes: int, kind: Kind = USUAL, width: int | None = None
) -> nn.Module:
    """The plain twin of one of the package's backbones."""
    if backbone == "bearings":
        return bearings(channels, classes, kind)
    return har(channels, classes, kind, width or 128, blocks=1 if backbone == "toy" else 3)


def tuned(
    dataset: WindowedDataset, network: nn.Module, sources: list[str], batch: int = 32
) -> Iterator[torch.Tensor]:
    """Train by ERM for ever with what PyTorch has for a CPU: windows cut before, channels last, fused Adam.

    Parameters
    ----------
    network : nn.Module
        Of the kind `FLAT`.
    """
    domains = []
    for domain in sources:
        windows = PlainWindows(dataset, domain)
        x = torch.stack([windows[i][0] for i in range(len(windows))]).unsqueeze(2)
        domains.append((x.contiguous(memory_format=torch.channels_last), torch.from_numpy(windows.labels)))
    network(torch.cat([x[:2] for x, _ in domains]))  # gives lazy layers their shape
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, weight_decay=5e-5, fused=True)
    while True:
        chosen = [(x, y, torch.randint(len(y), (batch,))) for x, y in domains]
        x = torch.cat([x[rows] for x, _, rows in chosen])
        y = torch.cat([y[rows] for _, y, rows in chosen])
        loss = nn.functional.cross_entropy(network(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.detach()


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
