"""DANN-DG and CDANN-DG: features from which a discriminator cannot tell the domain."""

import torch
from torch import Tensor, nn

from tsdg.learning.layers import MLP
from tsdg.learning.optimizer import Adam
from tsdg.methods import declarations
from tsdg.methods.base import Losses, Method, cross_entropy, sample_cross_entropy
from tsdg.streams import torch_stream

WIDTH = 256
BETA2 = 0.9


class DANN(declarations.DANN, Method):
    r"""Features from which a discriminator cannot tell the domain: k steps of it, then one of the network.

    The discriminator minimizes its cross-entropy on domains plus a penalty on that loss's gradient with
    respect to its input; the network minimizes its risk minus lambda times that. Adam's beta2 is 0.9 in
    both, as in the reference implementation.

    Formula
    -------
    L - \lambda A, \quad A = \ell(a(z), d) + \gamma \Vert \nabla_z \ell(a(z), d) \Vert^2 \text{ is what the
    discriminator } a \text{ minimizes}
    """

    def setup(self) -> None:
        generators = [torch_stream(seed, "discriminator") for seed in self.seeds]
        widths = [self.network.features, WIDTH, WIDTH, self.domains]
        self.discriminator = MLP(widths, generators).to(self.device, self.dtype)
        self.class_embedding = self._class_embedding(generators)
        parameters = [*self.discriminator.parameters(), *self.class_embedding]
        self.discriminator_optimizer = Adam(
            parameters,
            lr=self.hparams["discriminator_lr"],
            weight_decay=self.hparams["discriminator_weight_decay"],
            beta1=self.hparams["beta1"],
            beta2=BETA2,
        )

    def _class_embedding(self, generators: list[torch.Generator]) -> nn.ParameterList:
        return nn.ParameterList()

    def momenta(self) -> dict:
        return {"beta1": self.hparams["beta1"], "beta2": BETA2}

    def discriminator_input(self, z: Tensor, y: Tensor) -> Tensor:
        """What the discriminator sees, ``(R, N, F)``."""
        return z

    def discriminator_risk(self, losses: Tensor, y: Tensor) -> Tensor:
        """Risk ``(R,)`` from each sample's cross-entropy on domains, ``(R, N)``."""
        return losses.mean(-1)

    def losses(self, x, y, draws) -> Losses:
        z = self.features(x)
        risk = cross_entropy(self.classify(z), y).mean(-1)
        labels = y.flatten(1)
        seen = self.discriminator_input(z.flatten(1, 2), labels)
        every = torch.arange(self.domains, device=y.device).expand(self.runs, -1)
        domains = self.of_batch(every, draws).unsqueeze(-1).expand_as(y).flatten(1)
        each = sample_cross_entropy(self.discriminator(seen), domains)
        (gradient,) = torch.autograd.grad(each.sum(), seen, create_graph=True)
        roughness = gradient.square().sum(-1).mean(-1)
        adversary = self.discriminator_risk(each, labels) + self.hparams["gradient_penalty"] * roughness
        loss = risk - self.hparams["lambda"] * adversary
        return {"loss": loss, "cross_entropy": risk, "discriminator": adversary}

    def step(self, x, y, draws) -> Losses:
        losses = self.losses(x, y, draws)
        own = list(self.discriminator_optimizer.parameters)
        network = self.optimizer.parameters
        for parameters, objective in ((own, losses["discriminator"]), (network, losses["loss"])):
            gradients = torch.autograd.grad(objective.sum(), parameters, retain_graph=parameters is own)
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = gradient
        steps = self.hparams["discriminator_steps"]
        network_turn = torch.remainder(self.clock, 1 + steps) >= steps
        rate = self.rate()
        self.discriminator_optimizer.step(scale=rate, active=~network_turn)
        self.optimizer.step(scale=rate, active=network_turn)
        return losses


class CDANN(declarations.CDANN, DANN):
    r"""DANN-DG conditional on the class: its embedding joins the features, classes weigh the same.

    Formula
    -------
    L - \lambda A, \quad \text{with } a(z + v_y) \text{ in place of } a(z)
    """

    def _class_embedding(self, generators):
        shape = (self.classes, self.network.features)
        vectors = torch.stack([torch.randn(shape, generator=generator) for generator in generators])
        return nn.ParameterList([nn.Parameter(vectors.to(self.device, self.dtype))])

    def discriminator_input(self, z, y):
        return z + torch.nn.functional.one_hot(y, self.classes).to(z.dtype) @ self.class_embedding[0]

    def discriminator_risk(self, losses, y):
        members = torch.nn.functional.one_hot(y, self.classes).to(losses.dtype)
        counts = (members @ members.sum(1).unsqueeze(-1)).squeeze(-1)
        return (losses / (counts * self.classes)).sum(-1)
