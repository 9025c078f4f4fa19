"""The losses of a training, averaged over intervals, and where a run diverged."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

LOG_EVERY = 50


class LossLog:
    """Mean of each loss component over every `LOG_EVERY` iterations, and where a run diverged.

    Parameters
    ----------
    runs : int
    device : torch.device
    """

    def __init__(self, runs: int, device: torch.device):
        self.iterations: list[int] = []
        self.entries: list[dict[str, Tensor]] = []
        self.open: dict[str, tuple[Tensor, int]] = {}
        self.first_bad = torch.full((runs,), torch.inf, device=device)

    def add(self, iteration: int, losses: Mapping[str, Tensor]) -> None:
        """Take in the components ``(R,)`` of one iteration."""
        bad = torch.where(losses["loss"].isfinite(), torch.inf, float(iteration))
        self.first_bad = torch.minimum(self.first_bad, bad)
        for name, value in losses.items():
            total, count = self.open.get(name, (torch.zeros_like(value), 0))
            self.open[name] = (total + value, count + 1)

    @property
    def last(self) -> int:
        """Where the last interval ended."""
        return self.iterations[-1] if self.iterations else 0

    def close(self, iteration: int) -> None:
        """End an interval."""
        self.iterations.append(iteration)
        self.entries.append({name: total / count for name, (total, count) in self.open.items()})
        self.open = {}

    def all_diverged(self) -> bool:
        """Whether no run is left."""
        return bool(self.first_bad.isfinite().all())

    def diverged_at(self, r: int) -> int | None:
        """First iteration with a loss that is not finite."""
        first = float(self.first_bad[r])
        return int(first) if first < float("inf") else None

    def of_run(self, r: int) -> dict[str, list]:
        """Iterations and components up to a divergence; ``None`` where one is absent or not finite."""
        end = self.diverged_at(r) or self.last
        kept = [i for i, iteration in enumerate(self.iterations) if iteration < end + LOG_EVERY]

        def value(entry: dict[str, Tensor], name: str) -> float | None:
            number = float(entry[name][r]) if name in entry else float("nan")
            return number if np.isfinite(number) else None

        names = sorted({name for entry in self.entries for name in entry})
        columns = {name: [value(self.entries[i], name) for i in kept] for name in names}
        return {"iteration": [self.iterations[i] for i in kept]} | columns
