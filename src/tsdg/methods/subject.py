"""A method in small: what its laws are tried on, with random data, in double precision.

Axes as in `tsdg.methods.base.Method`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from tsdg import methods
from tsdg.errors import InputError
from tsdg.learning import networks
from tsdg.learning.networks import Network
from tsdg.methods.base import Method
from tsdg.methods.search import draw
from tsdg.streams import torch_stream

CHANNELS, LENGTH, CLASSES, DOMAINS, SAMPLES = 2, 9, 3, 3, 6
RUNS = (0, 1, 2)
CLUSTERS = ((0, 0, 0, 0), (1, 0, 1, 0), (0, 1, 0, 1))  # of each run's domains
ITERATIONS = 4
NUMBERS = (1, 1000)  # for an option that takes any

NetworkOf = Callable[[list[torch.Generator], bool], Network]
Batches = Callable[[int], tuple[Tensor, Tensor]]


def toy_network(generators: list[torch.Generator], embedding: bool = False) -> Network:
    """The toy study's network; `embedding` as in `tsdg.learning.networks.build`."""
    return networks.build(
        "toy", channels=CHANNELS, length=LENGTH, classes=CLASSES, generators=generators, embedding=embedding
    )


def build(
    name: str,
    *,
    hparams: Mapping[str, Sequence[float]],
    runs: Sequence[int] = RUNS,
    seeds: Sequence[int] | None = None,
    domains: int = DOMAINS,
    iterations: int = ITERATIONS,
    network: NetworkOf = toy_network,
    **settings: Any,
) -> Method:
    """A method for some runs; run r has initial weights of its own and, by default, the seed r."""
    cls = methods.get(name)
    generators = [torch_stream(run, "weights") for run in runs]
    if cls.uses_clusters:
        settings.setdefault("clusters", torch.tensor([CLUSTERS[run][:domains] for run in runs]))
    return methods.build(
        name,
        network=network(generators, cls.embeds_domain).double(),
        domains=domains,
        classes=CLASSES,
        hparams=hparams,
        iterations=iterations,
        seeds=runs if seeds is None else seeds,
        **settings,
    )


def batch(
    iteration: int, runs: Sequence[int] = RUNS, *, domains: int = DOMAINS, size: int = SAMPLES
) -> tuple[Tensor, Tensor]:
    """Inputs ``(R, D, B, C, T)`` that tell of domain and class, and labels; a run's own whatever its pack.

    At odd iterations domain 0 lacks the last class.
    """
    xs, ys = [], []
    for run in runs:
        stream = torch_stream(run, "batch", str(iteration))
        y = torch.randint(0, CLASSES, (domains, size), generator=stream)
        if iteration % 2 == 1:
            y[0].clamp_(max=CLASSES - 2)
        x = torch.randn((domains, size, CHANNELS, LENGTH), generator=stream, dtype=torch.double)
        domain = torch.arange(domains).view(-1, 1, 1, 1)
        xs.append(x * (1 + 0.3 * domain) + 0.2 * domain + 0.5 * y[..., None, None])
        ys.append(y)
    return torch.stack(xs), torch.stack(ys)


@dataclass(frozen=True)
class Trained:
    """Some runs after some updates.

    Attributes
    ----------
    method : Method
    runs : sequence of int
    losses : list of dict
        Of each update.
    state : dict
        Every parameter and running average by name, of the network and of what the method adds.
    """

    method: Method
    runs: Sequence[int]
    losses: list[dict[str, Tensor]]
    state: dict[str, Tensor]


@dataclass(frozen=True)
class Subject:
    """A method in settings that all its runs share.

    Attributes
    ----------
    name : str
        See `tsdg.methods.get`.
    hparams : mapping of str to sequence of float
        Values of the runs 0, 1 and 2.
    options : mapping
    forward : {"joint", "per_domain"} or None
        None is the method's own.
    network : callable
        From generators of the initial weights, and whether the classifier makes room for an embedding.
    domains : int
        Sources of a run.
    """

    name: str
    hparams: Mapping[str, Sequence[float]]
    options: Mapping[str, Any]
    forward: str | None = None
    network: NetworkOf = toy_network
    domains: int = DOMAINS

    @classmethod
    def drawn(cls, name: str) -> Subject:
        """With hyperparameters of three draws of the method's search."""
        search = methods.declaration(name).search
        drawn = [draw(search, number, seed=0, method=name) for number in RUNS]
        return cls(name, {key: [values[key] for values in drawn] for key in search}, {})

    def build(self, runs: Sequence[int] = RUNS, **settings: Any) -> Method:
        """The method for some of the runs, see `build`."""
        hparams = {name: [values[run] for run in runs] for name, values in self.hparams.items()}
        settings = {"forward": self.forward, "domains": self.domains, **self.options, **settings}
        return build(self.name, hparams=hparams, runs=runs, network=self.network, **settings)

    def train(
        self,
        runs: Sequence[int] = RUNS,
        *,
        seeds: Sequence[int] | None = None,
        batches: Batches | None = None,
        after: Callable[[Method], object] = lambda method: None,
    ) -> Trained:
        """Some of the runs after `ITERATIONS` updates, on other batches if given; `after` follows each."""
        method, losses = self.build(runs, seeds=seeds), []
        for iteration in range(ITERATIONS):
            x, y = batches(iteration) if batches else batch(iteration, runs, domains=self.domains)
            losses.append(method.update(x, y))
            after(method)
        state = {name: value.clone() for name, value in method.state_dict().items()}
        return Trained(method, runs, losses, state)

    def choosing(self, options: Mapping[str, Any]) -> Subject | None:
        """The same with these options beside or in place of its own; None if they contradict each other."""
        options = {**self.options, **options}
        try:
            methods.check_options(self.name, options)
        except InputError:
            return None
        return replace(self, options=options)

    def choices(self) -> list[Subject]:
        """The subject, and with each value of each option, beside another option where it needs one."""
        options = methods.declaration(self.name).options
        single = [
            {option: value}
            for option, values in options.items()
            for value in (NUMBERS if values is int else values)
        ]
        found = [self]
        for choice in single:
            made = (self.choosing({**other, **choice}) for other in [{}, *single])
            found += [subject for subject in [next(filter(None, made), None)] if subject]
        return found

    def __str__(self) -> str:
        told = ({"forward": self.forward} if self.forward else {}) | dict(self.options)
        return ", ".join(f"{key} {value}" for key, value in told.items())
