"""The minibatches that runs draw from the windows of their sources."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from tsdg.learning.augment import Augmentation
from tsdg.learning.inputs import Windows
from tsdg.learning.sources import Sources
from tsdg.streams import numpy_stream

BLOCK = 100  # iterations whose windows are drawn at once


def minibatches(
    windows: Windows,
    sources: Sequence[Sources],
    seeds: Sequence[int],
    *,
    iterations: int,
    batch_size: int,
    augmentation: Augmentation | None = None,
    domains: int | None = None,
    purpose: Sequence[str] = (),
) -> Iterator[tuple[Tensor, ...]]:
    """Batches ``x (R, D, B, C, T)``, ``y (R, D, B)`` for R runs, drawn with replacement.

    Each run draws each domain's windows from a stream of its own, so that neither the other runs nor the
    other domains change them.

    Of more than ``domains`` sources so many are drawn for each iteration, by a stream that is each run's own:
    D are then these alone, and their places ``(R, D)`` among the sources, in order, are a batch's third part.
    A domain's windows are those that it would have if all were drawn.

    Streams of another ``purpose`` than training have names that begin with it.
    """
    count = len(sources[0].names)
    choosing = []
    if domains is not None and domains < count:
        choosing = [numpy_stream(seed, *purpose, "domains of a batch") for seed in seeds]
    streams = [
        [numpy_stream(seed, *purpose, "batches", name) for name in run.names]
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
        places: Sequence[tuple[Tensor, ...]] = [()] * BLOCK
        if choosing:
            chosen = np.stack([_some(stream, count, domains) for stream in choosing], axis=1)
            present = torch.from_numpy(chosen)  # (I, R, D)
            draws = {name: _taken(values, present) for name, values in draws.items()}
            present = present.to(windows.device)
            index = _taken(index, present)
            places = [(place,) for place in present]
        for i in range(min(BLOCK, iterations - start)):
            x, y = windows[index[i]]
            if augmentation:
                x = augmentation(x, {name: values[i] for name, values in draws.items()})
            yield x, y, *places[i]


def _some(stream: np.random.Generator, count: int, domains: int | None) -> np.ndarray:
    """Places of the domains of each iteration of a block, in order."""
    orders = stream.permuted(np.tile(np.arange(count), (BLOCK, 1)), axis=1)
    return np.sort(orders[:, :domains], axis=1)


def _taken(values: Tensor, places: Tensor) -> Tensor:
    """Of values ``(I, R, D, ...)`` those at places ``(I, R, d)``: ``(I, R, d, ...)``."""
    iterations, runs = (torch.arange(n, device=values.device) for n in values.shape[:2])
    return values[iterations.view(-1, 1, 1), runs.view(1, -1, 1), places]
