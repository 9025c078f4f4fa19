"""Random augmentation of training batches: mean shift, scaling, masking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from tsdg.streams import numpy_stream, torch_stream

FUNCTIONS = ("mean_shift", "scaling", "masking")
CONSTANT = 1e-6  # deviation, relative to the mean, up to which a window counts as constant


class Augmentation:
    """Augments batches of R runs (paper, section III-C).

    At each iteration every source domain draws one order of its functions. A sample takes the first with
    probability 1/2 and, having taken it, each further one with probability 1/2. With mean mu and standard
    deviation sigma of a window's channel, mean shift is ``x - mu + mean``, scaling is
    ``(x - mu) / sigma * s + mu`` with s ~ U(scale), and masking sets each time step to mu with
    probability ``masked``.

    Parameters
    ----------
    seeds : sequence of R int
    sources : sequence of R sequences of D domain names
        Each domain has a stream of its own, whichever the other domains are.
    functions : sequence of {"mean_shift", "scaling", "masking"}
    statistics : {"window", "standard"}
        mu and sigma of each window, or 0 and 1.
    mean : float
    scale : (float, float)
    masked : float
    coin : {"sample", "domain"}
        Whether each sample or each domain decides which functions to take.
    device : torch.device
    """

    def __init__(
        self,
        seeds: Sequence[int],
        sources: Sequence[Sequence[str]],
        *,
        functions: Sequence[str] = FUNCTIONS,
        statistics: str = "window",
        mean: float = 0.0,
        scale: Sequence[float] = (1.0, 1.0),
        masked: float = 0.1,
        coin: str = "sample",
        device: torch.device | str = "cpu",
    ):
        self.functions = list(functions)
        self.statistics, self.mean, self.scale, self.masked, self.coin = statistics, mean, scale, masked, coin
        self.device = device
        self.streams = [
            [numpy_stream(seed, "augmentation", domain) for domain in domains]
            for seed, domains in zip(seeds, sources, strict=True)
        ]
        self.noise = [torch_stream(seed, "masking", device=device) for seed in seeds]

    def draws(self, iterations: int, batch: int) -> dict[str, Tensor]:
        """Random choices of a number of iterations (first axis I).

        Returns
        -------
        order : (I, R, D, P)
            Function at each of the P positions, an index into `functions`.
        taken : (I, R, D, B, P) of bool
        scale : (I, R, D)
        """
        positions = len(self.functions)
        coins = batch if self.coin == "sample" else 1

        def of_domain(stream: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            order = stream.permuted(np.tile(np.arange(positions), (iterations, 1)), axis=1)
            taken = stream.random((iterations, coins, positions)) < 0.5
            taken[..., 1:] &= taken[..., :1]
            scale = stream.uniform(self.scale[0], self.scale[1], size=iterations)
            return order, np.broadcast_to(taken, (iterations, batch, positions)), scale

        drawn = [[of_domain(stream) for stream in streams] for streams in self.streams]
        return {
            name: torch.from_numpy(np.stack([np.stack([d[i] for d in run], 1) for run in drawn], 1)).to(
                self.device
            )
            for i, name in enumerate(("order", "taken", "scale"))
        }

    def __call__(self, x: Tensor, draws: Mapping[str, Tensor]) -> Tensor:
        """Augmented copy of a batch ``(R, D, B, C, T)``, by the draws of one iteration."""
        scale = draws["scale"].to(x.dtype)[..., None, None, None]
        hidden = self._hidden(x) if "masking" in self.functions else None
        for position in range(len(self.functions)):
            function = torch.where(
                draws["taken"][..., position], draws["order"][..., position].unsqueeze(2), -1
            )
            chosen = {name: (function == i)[..., None, None] for i, name in enumerate(self.functions)}
            x = self._apply(x, chosen, scale, hidden)
        return x

    def _apply(self, x: Tensor, chosen: Mapping[str, Tensor], scale: Tensor, hidden: Tensor | None) -> Tensor:
        """One function of each sample, ``chosen`` by name: an affine map, or a mask."""
        if self.statistics == "window":
            mu = x.mean(-1, keepdim=True)
            sigma = (x - mu).square_().mean(-1, keepdim=True).sqrt_() if "scaling" in chosen else None
        else:
            mu, sigma = torch.zeros_like(x[..., :1]), torch.ones_like(x[..., :1])
        factor, centre, moved = torch.ones_like(mu), mu, torch.zeros_like(mu, dtype=torch.bool)
        if "mean_shift" in chosen:
            centre = torch.where(chosen["mean_shift"], self.mean, centre)
            moved = moved | chosen["mean_shift"]
        if "scaling" in chosen and sigma is not None:
            varies = chosen["scaling"] & (sigma > CONSTANT * mu.abs())
            factor = torch.where(varies, scale / sigma, factor)
            moved = moved | varies
        augmented = torch.where(moved, torch.addcmul(centre, x - mu, factor), x)
        if hidden is not None:
            augmented = torch.where(hidden & chosen["masking"], mu, augmented)
        return augmented

    def _hidden(self, x: Tensor) -> Tensor:
        """Time steps to mask, ``(R, D, B, 1, T)``, from each run's own stream."""
        uniform = torch.empty((len(x), *x.shape[1:3], 1, x.shape[-1]), device=x.device)
        for of_run, noise in zip(uniform, self.noise, strict=True):
            of_run.uniform_(generator=noise)
        return uniform < self.masked
