"""Independent random streams, each named by a seed and a purpose.

Every use of chance (split, batches, augmentation, initial weights, a method's own draws) owns a stream, so
that drawing more in one never shifts another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    import torch


def _sequence(seed: int, purpose: tuple[str, ...]) -> np.random.SeedSequence:
    return np.random.SeedSequence([seed, *(crc32(word.encode()) for word in purpose)])


def numpy_stream(seed: int, *purpose: str) -> np.random.Generator:
    """NumPy generator for one seed and purpose, e.g. ``numpy_stream(0, "batches", "A")``."""
    return np.random.default_rng(_sequence(seed, purpose))


def torch_stream(seed: int, *purpose: str, device: torch.device | str = "cpu") -> torch.Generator:
    """PyTorch generator on a device for one seed and purpose."""
    import torch

    state = int(_sequence(seed, purpose).generate_state(1, np.uint64)[0] >> 1)
    return torch.Generator(device=device).manual_seed(state)
