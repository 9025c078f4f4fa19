"""What a training method is: an objective over a batch of every source domain, and how to step on it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tsdg.errors import InputError
from tsdg.learning.networks import Network
from tsdg.learning.optimizer import Adam
from tsdg.methods.declarations import Declaration
from tsdg.methods.pairs import put_domains, take_domains
from tsdg.streams import numpy_stream

Losses = dict[str, Tensor]


class LossesError(InputError):
    """What a method computes is not the objective of every run.

    Parameters
    ----------
    title : str
        The method's.
    what : str
        What is wrong with it, and what it should be.
    """

    def __init__(self, title: str, what: str):
        super().__init__(f"method {title!r}: {what}")
        self.what = what


class Method(nn.Module, Declaration):
    """A training method for R runs at once.

    A subclass states its `Declaration` and `losses`; most need nothing else. Axes: R run, D source
    domain, B sample of a domain, C channel, T time step, F feature, K class.

    Parameters
    ----------
    network : Network
        The networks of the R runs.
    domains : int
        D.
    classes : int
        K.
    hparams : mapping of str to float or sequence of R floats
        A value for each name in `search`.
    iterations : int
        Length of the training; the learning rate is multiplied by ``decay`` from iteration
        ``decay_at * iterations`` on.
    forward : {"joint", "per_domain"}, optional
        Whether batch normalization sees all source domains together or each alone; the method's own
        default follows its reference implementation.
    seeds : sequence of R int, optional
        Seeds of the method's own random choices.
    clusters : Tensor (R, D) of int, optional
        Cluster of each source domain, for methods that use metadata.
    learning_rate, weight_decay, decay_at, decay : float
    domains_per_batch : int, optional
        Source domains of a batch, where not all are in it.

    Attributes
    ----------
    stream : str
        Name of the streams of the method's own random choices: another name gives others.
    embeds_domain : bool
        Whether the classifier takes an embedding of the domain beside the features.
    """

    stream: ClassVar[str] = ""
    embeds_domain: ClassVar[bool] = False

    def __init__(
        self,
        network: Network,
        domains: int,
        classes: int,
        hparams: Mapping[str, float | Sequence[float] | Tensor],
        iterations: int,
        *,
        forward: str | None = None,
        seeds: Sequence[int] | None = None,
        clusters: Tensor | None = None,
        learning_rate: float = 1e-3,
        weight_decay: float = 5e-5,
        decay_at: float = 0.8,
        decay: float = 0.1,
        domains_per_batch: int | None = None,
    ):
        super().__init__()
        self.network = network
        self.domains, self.classes = domains, classes
        self.in_batch = min(domains, domains_per_batch or domains)
        first = next(network.parameters())
        self.runs, self.device, self.dtype = first.shape[0], first.device, first.dtype
        if missing := set(self.search) - set(hparams):
            raise InputError(f"{self.title} needs the hyperparameters {', '.join(sorted(missing))}")
        self.hparams = {
            name: torch.as_tensor(value, dtype=self.dtype, device=self.device).expand(self.runs)
            for name, value in hparams.items()
        }
        self.per_domain = (forward or self.forward_default) == "per_domain"
        self.clusters = clusters
        self.learning_rate, self.weight_decay = learning_rate, weight_decay
        self.iterations = iterations
        self.decay_from, self.decay = round(decay_at * iterations), decay
        self.iteration = 0
        self.clock = torch.zeros((), device=self.device)
        self.seeds = list(seeds) if seeds is not None else list(range(self.runs))
        self.streams = [numpy_stream(seed, "method", self.stream) for seed in self.seeds]
        self.perform = self.step
        self.setup()
        self.optimizer = Adam(
            self.network.parameters(), lr=learning_rate, weight_decay=weight_decay, **self.momenta()
        )

    def setup(self) -> None:
        """Make what the method needs beside the network."""

    def momenta(self) -> dict:
        """Adam's ``beta1`` and ``beta2`` for the network."""
        return {}

    def draws(self, batch: int) -> dict[str, Tensor]:
        """Random choices of one update on B samples a domain, from each run's own stream.

        `update` takes others in their place.
        """
        return {}

    def losses(self, x: Tensor, y: Tensor, draws: Mapping[str, Tensor]) -> Losses:
        """Objective under the name ``loss`` and its components, each ``(R,)``.

        The objective leads back to the network; what else is there may be detached.
        """
        raise NotImplementedError

    def update(
        self,
        x: Tensor,
        y: Tensor,
        draws: Mapping[str, Tensor] | None = None,
        present: Tensor | None = None,
    ) -> Losses:
        """One iteration on a batch.

        Parameters
        ----------
        x : (R, D, B, C, T)
        y : (R, D, B) of int64
        draws : mapping, optional
            Takes the place of the method's own `draws`.
        present : (R, d) of int64, optional
            Places of the domains of the batch among the D sources, where x and y have but d. The method finds
            them in ``draws["present"]``.

        Returns
        -------
        dict of str to Tensor (R,)
            The objective ``loss`` and its components, detached.

        Raises
        ------
        LossesError
            If that is not what `losses` or `step` returns; before the network moves, where `step` is that of
            this class.
        """
        self.train()
        drawn = self.draws(x.shape[2]) if draws is None else draws
        if present is not None:
            drawn = {**drawn, "present": present}
        losses = self.perform(x, y, drawn)
        self._check(losses)
        self.observe()
        self.iteration += 1
        self.clock += 1
        return {name: value.detach() for name, value in losses.items()}

    def phase(self) -> Hashable:
        """Name of the operations of the next step: equal phases do the same, whatever the iteration."""
        return 0

    def observe(self) -> None:
        """Take note after a step of what `kept` needs."""

    def kept(self, r: int, names: Sequence[str]) -> dict[str, Any]:
        """What a run's record keeps of the training beside its losses: contents for JSON, by name.

        Parameters
        ----------
        r : int
            The run, one of R.
        names : sequence of str
            Its D source domains, in the order of the axis.
        """
        return {}

    def step(self, x: Tensor, y: Tensor, draws: Mapping[str, Tensor]) -> Losses:
        """Forward, backward and the optimizer's step."""
        losses = self.losses(x, y, draws)
        self._check(losses)
        if not losses["loss"].requires_grad:
            raise LossesError(self.title, "'loss' of `losses` is detached: no gradient leads to the network")
        self.optimizer.zero_grad()
        losses["loss"].sum().backward()
        self.optimizer.step(scale=self.rate())
        return losses

    def _check(self, losses: object) -> None:
        """Raise `LossesError` unless there is ``loss`` and each value is one of every run."""
        wanted = f"a floating-point tensor of shape ({self.runs},), a value of each run"
        if not isinstance(losses, Mapping):
            raise LossesError(
                self.title,
                f"`losses` returns a {type(losses).__name__}, not a dictionary with 'loss', {wanted}",
            )
        if "loss" not in losses:
            raise LossesError(self.title, f"`losses` returns no 'loss', the objective: {wanted}")
        for name, value in losses.items():
            if not isinstance(name, str):
                raise LossesError(self.title, f"a name in `losses` is {name!r}; it should be text")
            if not isinstance(value, Tensor):
                found = f"is a {type(value).__name__}"
            elif value.shape != (self.runs,):
                found = f"has shape {tuple(value.shape)}"
            elif not value.is_floating_point():
                found = f"is of {value.dtype}"
            else:
                continue
            raise LossesError(self.title, f"{name!r} of `losses` {found}; it should be {wanted}")

    def rate(self) -> Tensor:
        """Factor of the learning rate at this iteration, of all runs or ``(R, 1)``."""
        return torch.where(self.clock < self.decay_from, 1.0, self.decay)

    def features(self, x: Tensor) -> Tensor:
        """Features of a batch by domain, ``(R, D, B, C, T) -> (R, D, B, F)``, in training."""
        groups = x.shape[1] if self.per_domain else 1
        return self.network.featurizer(x.flatten(1, 2), groups).unflatten(1, x.shape[1:3])

    @staticmethod
    def of_batch(values: Tensor, draws: Mapping[str, Tensor]) -> Tensor:
        """Of values by source domain, ``(R, D, ...)``, those of the domains in the batch."""
        return take_domains(values, draws["present"]) if "present" in draws else values

    @staticmethod
    def with_batch(values: Tensor, new: Tensor, draws: Mapping[str, Tensor]) -> Tensor:
        """Values by source domain, ``(R, D, ...)``, with others of the domains in the batch."""
        return put_domains(values, draws["present"], new) if "present" in draws else new

    def classify(self, z: Tensor) -> Tensor:
        """Logits of features, ``(R, D, B, F) -> (R, D, B, K)``."""
        return self.network.classifier(z.flatten(1, 2)).unflatten(1, z.shape[1:3])

    def predict(self, z: Tensor, valid: Tensor | None = None) -> Tensor:
        """Logits of one domain's features when the network is evaluated.

        Parameters
        ----------
        z : (R, N, F)
        valid : (R, N) of bool, optional
            False where a run has fewer than N samples.

        Returns
        -------
        (R, N, K)
        """
        return self.network.classifier(z)

    @torch.no_grad()
    def logits(self, x: Tensor) -> Tensor:
        """Logits of the trained network, ``(R, N, C, T) -> (R, N, K)``."""
        self.eval()
        return self.predict(self.network.featurizer(x))


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy over the samples of each domain: ``(..., B, K)``, ``(..., B)`` to ``(...)``."""
    return sample_cross_entropy(logits, labels).mean(-1)


def sample_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of each sample: ``(..., K)``, ``(...)`` to ``(...)``."""
    return F.cross_entropy(logits.flatten(0, -2), labels.flatten(), reduction="none").view(labels.shape)
