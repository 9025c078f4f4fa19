"""Random augmentation of training batches: mean shift, scaling, masking, random filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from tsdg.learning.random_filter import RandomFilter
from tsdg.streams import numpy_stream, torch_stream

FUNCTIONS = ("mean_shift", "scaling", "masking")  # the paper's
CONSTANT = 1e-6  # deviation, relative to the mean, up to which a window counts as constant


class Augmentation:
    """Augments batches of R runs (paper, section III-C; the random filter is no function of the paper's).

    At each iteration every source domain draws one order of its functions. A sample takes the first with
    probability 1/2 and, having taken it, each further one with probability 1/2. With mean mu and standard
    deviation sigma of a window's channel, mean shift is ``x - mu + mean``, scaling is
    ``(x - mu) / sigma * s + mu`` with s ~ U(scale), and masking sets each time step to mu with
    probability ``masked``. A random filter has a gain of its own for each sample, see
    `tsdg.learning.random_filter.RandomFilter`.

    Parameters
    ----------
    seeds : sequence of R int
    sources : sequence of R sequences of D domain names
        Each domain has a stream of its own, whichever the other domains are.
    functions : sequence of {"mean_shift", "scaling", "masking", "random_filter"}
    statistics : {"window", "standard"}
        mu and sigma of each window, or 0 and 1.
    mean : float
    scale : (float, float)
    masked : float
    coin : {"sample", "domain"}
        Whether each sample or each domain decides which functions to take.
    deviation, smoothness, length, rate
        Of the random filter; it needs the length of a window.
    device : torch.device
    purpose : sequence of str
        What the names of the streams begin with, of another purpose than training.
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
        deviation: float = 1.0,
        smoothness: float | None = None,
        length: int = 0,
        rate: float | None = None,
        device: torch.device | str = "cpu",
        purpose: Sequence[str] = (),
    ):
        self.functions = list(functions)
        self.statistics, self.mean, self.scale, self.masked, self.coin = statistics, mean, scale, masked, coin
        self.streams = [
            [numpy_stream(seed, *purpose, "augmentation", domain) for domain in domains]
            for seed, domains in zip(seeds, sources, strict=True)
        ]
        self.noise = [torch_stream(seed, *purpose, "masking", device=device) for seed in seeds]
        self.filter = None
        if "random_filter" in self.functions:
            self.filter = RandomFilter(length, deviation=deviation, smoothness=smoothness, rate=rate)
            self.courses = torch.from_numpy(self.filter.courses).to(device)
            self.weights = [
                [numpy_stream(seed, *purpose, "random_filter", domain) for domain in domains]
                for seed, domains in zip(seeds, sources, strict=True)
            ]

    def draws(self, iterations: int, batch: int) -> dict[str, Tensor]:
        """Random choices of a number of iterations (first axis I), on the host.

        Returns
        -------
        order : (I, R, D, P)
            Function at each of the P positions, an index into `functions`.
        taken : (I, R, D, B, P) of bool
        scale : (I, R, D)
        weights : (I, R, D, B, weights)
            Of the random filter, where it is among the functions.
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
        draws = {
            name: torch.from_numpy(np.stack([np.stack([d[i] for d in run], 1) for run in drawn], 1))
            for i, name in enumerate(("order", "taken", "scale"))
        }
        if self.filter:
            shape = (iterations, batch, self.filter.weights)
            weights = [
                np.stack([stream.standard_normal(shape, np.float32) for stream in streams], 1)
                for streams in self.weights
            ]
            draws["weights"] = torch.from_numpy(np.stack(weights, 1))
        return draws

    def __call__(self, x: Tensor, draws: Mapping[str, Tensor]) -> Tensor:
        """Augmented copy of a batch ``(R, D, B, C, T)``, by the draws of one iteration."""
        scale = draws["scale"].unsqueeze(-1).expand(x.shape[:3]).flatten().to(x)
        shape, x = x.shape, x.flatten(0, 2).clone()
        for position in range(len(self.functions)):
            chosen = torch.where(
                draws["taken"][..., position], draws["order"][..., position].unsqueeze(2), -1
            )
            for function, name in enumerate(self.functions):
                taken = chosen == function
                rows = taken.flatten().nonzero().squeeze(1).to(x.device)
                if name == "mean_shift":
                    x[rows] = self._shifted(x[rows])
                elif name == "scaling":
                    x[rows] = self._scaled(x[rows], scale[rows, None, None])
                elif name == "random_filter":
                    x[rows] = self._filtered(x[rows], draws["weights"].flatten(0, 2).to(x.device)[rows])
                else:
                    x[rows] = self._masked(x[rows], taken.sum((1, 2)).tolist())
        return x.view(shape)

    def _mu(self, x: Tensor) -> Tensor:
        return x.mean(-1, keepdim=True) if self.statistics == "window" else torch.zeros_like(x[..., :1])

    def _shifted(self, x: Tensor) -> Tensor:
        return x - self._mu(x) + self.mean

    def _scaled(self, x: Tensor, scale: Tensor) -> Tensor:
        mu = self._mu(x)
        centred = x - mu
        if self.statistics == "standard":
            return centred * scale + mu
        sigma = centred.square().mean(-1, keepdim=True).sqrt()
        return torch.where(sigma > CONSTANT * mu.abs(), centred * (scale / sigma) + mu, x)

    def _filtered(self, x: Tensor, weights: Tensor) -> Tensor:
        assert self.filter is not None
        gains = (self.filter.deviation * weights @ self.courses.to(weights)).exp()
        return torch.fft.irfft(torch.fft.rfft(x) * gains.unsqueeze(1).to(x), x.shape[-1])

    def _masked(self, x: Tensor, samples: Sequence[int]) -> Tensor:
        """Mask windows, so many of each run, by the run's own stream."""
        shape = (1, x.shape[-1])
        uniform = [
            torch.rand((count, *shape), generator=noise, device=x.device)
            for count, noise in zip(samples, self.noise, strict=True)
        ]
        return torch.where(torch.cat(uniform) < self.masked, self._mu(x), x)
