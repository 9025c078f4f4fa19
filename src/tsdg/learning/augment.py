"""Random augmentation of training batches: the paper's functions, and others of the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from tsdg.learning import augmentation_defaults as defaults
from tsdg.learning.distortions import (
    AmplitudeMix,
    ChannelDropout,
    Distortion,
    Filtering,
    PhaseShift,
    Rotation,
    TimeWarp,
)
from tsdg.learning.random_filter import RandomFilter
from tsdg.streams import numpy_stream, torch_stream

FUNCTIONS = ("mean_shift", "scaling", "masking")  # the paper's
SIMPLE = (*FUNCTIONS, "jitter")  # formulas of x, mu and sigma
CONSTANT = 1e-6  # deviation, relative to the mean, up to which a window counts as constant


class Augmentation:
    """Augments batches of R runs (paper, section III-C).

    At each iteration every source domain draws one order of its functions. A sample takes the first with
    probability 1/2 and, having taken it, each further one with probability 1/2. With mean mu and standard
    deviation sigma of a window's channel, mean shift is ``x - mu + mean``, scaling is
    ``(x - mu) / sigma * s + mu`` with s ~ U(scale), masking sets each time step to mu with probability
    ``masked``, and jitter adds to each value what is normal with deviation ``jitter * sigma``. The other
    functions are those of `tsdg.learning.distortions`.

    Parameters
    ----------
    seeds : sequence of R int
    sources : sequence of R sequences of D domain names
        Each domain has a stream of its own, whichever the other domains are.
    functions : sequence of str
        Of mean_shift, scaling, masking, random_filter, amplitude_mix, phase_shift, jitter, time_warp,
        channel_dropout and rotation.
    statistics : {"window", "standard"}
        mu and sigma of each window, or 0 and 1.
    mean : float
    scale : (float, float)
    masked : float
    coin : {"sample", "domain"}
        Whether each sample or each domain decides which functions to take.
    deviation, smoothness, rate
        Of the random filter.
    jitter : float
    warp : float
        Deviation of the speed of a warped time.
    dropped : float
        Probability of a channel's dropout.
    mixed : float
        Greatest weight of the other amplitudes.
    length, channels : int
        T and C.
    device : torch.device
    purpose : sequence of str
        What the names of the streams begin with, of another purpose than training.

    Raises
    ------
    InputError
        The windows have not the channels that a function needs.
    """

    def __init__(
        self,
        seeds: Sequence[int],
        sources: Sequence[Sequence[str]],
        *,
        functions: Sequence[str] = FUNCTIONS,
        statistics: str = defaults.STATISTICS,
        mean: float = defaults.MEAN,
        scale: Sequence[float] = defaults.SCALE,
        masked: float = defaults.MASKED,
        coin: str = "sample",
        deviation: float = 1.0,
        smoothness: float | None = None,
        jitter: float = 0.05,
        warp: float = 0.2,
        dropped: float = 0.2,
        mixed: float = 1.0,
        length: int = 0,
        channels: int = 0,
        rate: float | None = None,
        device: torch.device | str = "cpu",
        purpose: Sequence[str] = (),
    ):
        self.functions = list(functions)
        self.statistics, self.mean, self.scale, self.masked, self.coin = statistics, mean, scale, masked, coin
        self.jitter = jitter

        def streams(name: str) -> list[list[np.random.Generator]]:
            return [
                [numpy_stream(seed, *purpose, name, domain) for domain in domains]
                for seed, domains in zip(seeds, sources, strict=True)
            ]

        self.streams = streams("augmentation")
        self.masks, self.noise = (
            [torch_stream(seed, *purpose, name, device=device) for seed in seeds]
            for name in ("masking", "jitter")
        )
        known: dict[str, Callable[[], Distortion | AmplitudeMix]] = {
            "random_filter": lambda: Filtering(
                RandomFilter(length, deviation=deviation, smoothness=smoothness, rate=rate)
            ),
            "amplitude_mix": lambda: AmplitudeMix(mixed),
            "phase_shift": PhaseShift,
            "time_warp": lambda: TimeWarp(length, warp),
            "channel_dropout": lambda: ChannelDropout(channels, dropped),
            "rotation": lambda: Rotation(channels),
        }
        self.distortions = {name: known[name]() for name in self.functions if name not in SIMPLE}
        self.distorting = {name: streams(name) for name in self.distortions}

    def draws(self, iterations: int, batch: int) -> dict[str, Tensor]:
        """Random choices of a number of iterations (first axis I), on the host.

        Returns
        -------
        order : (I, R, D, P)
            Function at each of the P positions, an index into `functions`.
        taken : (I, R, D, B, P) of bool
        scale : (I, R, D)
        random_filter, ... : (I, R, D, B, k)
            Of each further function that is taken, see `tsdg.learning.distortions.Distortion.draw`.
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
        for name, distortion in self.distortions.items():
            own = [
                np.stack([distortion.draw(stream, (iterations, batch)) for stream in streams], 1)
                for streams in self.distorting[name]
            ]
            draws[name] = torch.from_numpy(np.stack(own, 1))
        return draws

    def __call__(self, x: Tensor, draws: Mapping[str, Tensor]) -> Tensor:
        """Augmented copy of a batch ``(R, D, B, C, T)``, by the draws of one iteration."""
        scale = draws["scale"].unsqueeze(-1).expand(x.shape[:3]).flatten().to(x)
        shape, given = x.shape, x.flatten(0, 2)
        x = given.clone()
        for position in range(len(self.functions)):
            chosen = torch.where(
                draws["taken"][..., position], draws["order"][..., position].unsqueeze(2), -1
            )
            for function, name in enumerate(self.functions):
                taken = chosen == function
                rows = taken.flatten().nonzero().squeeze(1).to(x.device)
                if not len(rows):
                    continue
                distortion = self.distortions.get(name)
                if name == "mean_shift":
                    x[rows] = self._shifted(x[rows])
                elif name == "scaling":
                    x[rows] = self._scaled(x[rows], scale[rows, None, None])
                elif name == "masking":
                    x[rows] = self._masked(x[rows], taken.sum((1, 2)).tolist())
                elif name == "jitter":
                    x[rows] = self._jittered(x[rows], taken.sum((1, 2)).tolist())
                elif isinstance(distortion, AmplitudeMix):
                    partners = distortion.partners(draws[name]).flatten().to(x.device)[rows]
                    x[rows] = distortion(
                        x[rows], draws[name].flatten(0, 2).to(x.device)[rows], given[partners]
                    )
                elif distortion:
                    x[rows] = distortion(x[rows], draws[name].flatten(0, 2).to(x.device)[rows])
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

    def _masked(self, x: Tensor, samples: Sequence[int]) -> Tensor:
        """Mask windows, so many of each run, by the run's own stream."""
        shape = (1, x.shape[-1])
        uniform = [
            torch.rand((count, *shape), generator=noise, device=x.device)
            for count, noise in zip(samples, self.masks, strict=True)
        ]
        return torch.where(torch.cat(uniform) < self.masked, self._mu(x), x)

    def _jittered(self, x: Tensor, samples: Sequence[int]) -> Tensor:
        """Add noise to windows, so many of each run, from the run's own stream."""
        normal = [
            torch.randn((count, *x.shape[1:]), generator=noise, device=x.device)
            for count, noise in zip(samples, self.noise, strict=True)
        ]
        sigma = 1.0 if self.statistics == "standard" else x.std(-1, correction=0, keepdim=True)
        return x + self.jitter * sigma * torch.cat(normal)
