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
