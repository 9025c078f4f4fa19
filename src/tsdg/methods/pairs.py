"""Some source domains, and pairs along a random cycle, as Interdomain Mixup and MLDG take them."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


def random_cycle(streams: Sequence[np.random.Generator], domains: int) -> Tensor:
    """D ordered pairs of domains for each run: a random order, each with the next, the last with the first.

    Returns
    -------
    (R, D, 2) of int64
    """
    order = torch.from_numpy(np.stack([stream.permutation(domains) for stream in streams]))
    return torch.stack([order, order.roll(-1, dims=1)], dim=-1)


def take_domains(values: Tensor, index: Tensor) -> Tensor:
    """Domains of ``(R, D, ...)`` by an index ``(R, P)`` of each run: ``(R, P, ...)``."""
    runs = torch.arange(len(values), device=values.device).unsqueeze(1)
    return values[runs, index]


def put_domains(values: Tensor, index: Tensor, new: Tensor) -> Tensor:
    """A copy of ``(R, D, ...)`` with others ``(R, P, ...)`` at an index ``(R, P)`` of each run."""
    runs = torch.arange(len(values), device=values.device).unsqueeze(1)
    return values.index_put((runs, index), new)
