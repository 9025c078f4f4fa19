"""Small packs of runs and batches for the tests of methods."""

import torch
from torch import nn

from tsdg import methods
from tsdg.learning import layers, networks
from tsdg.streams import torch_stream

CHANNELS, LENGTH, CLASSES = 2, 9, 3

# Three runs that differ in everything; turns and annealing come within five iterations.
HPARAMS = {
    "lambda": (0.3, 2.0, 0.7),
    "annealing": (1, 3, 9),
    "eta": (0.5, 0.1, 1.0),
    "alpha": (0.2, 1.0, 5.0),
    "beta": (0.5, 2.0, 0.1),
    "a": (0.5, 0.9, 1.0),
    "p": (0.0, 0.5, 0.3),
    "b": (0.4, 0.2, 0.0),
    "discriminator_lr": (1e-3, 3e-4, 1e-4),
    "discriminator_weight_decay": (1e-2, 0.0, 1e-3),
    "beta1": (0.5, 0.0, 0.5),
    "discriminator_steps": (1, 2, 3),
    "gradient_penalty": (0.5, 3.0, 0.1),
    "xi": (0.2, 1.0, 0.5),
}
CLUSTERS = ((0, 0, 0), (1, 0, 1), (0, 1, 0))


def hparams_of(name, runs):
    """The values of `HPARAMS` that a method needs, for some of the three runs."""
    return {key: [HPARAMS[key][r] for r in runs] for key in methods.get(name).search}


def small_network(generators, embedding=False):
    """A network of the HHAR kind with two narrow blocks."""
    featurizer = networks.HAR(CHANNELS, LENGTH, generators, blocks=1)
    shapes = [(CHANNELS, 8, 4), (8, 10, 3)]
    featurizer.convs = nn.ModuleList(layers.Conv1d(i, o, k, generators, padding=1) for i, o, k in shapes)
    featurizer.norms = nn.ModuleList(layers.BatchNormLeakyReLU(o, len(generators)) for _, o, _ in shapes)
    classifier = layers.MLP([20 if embedding else 10, CLASSES], generators)
    return networks.Network(featurizer, classifier, features=10)


def har_network(generators, embedding=False):
    shape = {"channels": CHANNELS, "length": LENGTH, "classes": CLASSES}
    return networks.build("har", **shape, generators=generators, embedding=embedding)


def build(name, *, runs=(0, 1, 2), domains=3, hparams=None, iterations=5, network=small_network, **settings):
    """A method in double precision; the seed of run r is r."""
    method = methods.get(name)
    generators = [torch_stream(run, "weights") for run in runs]
    if method.uses_clusters:
        settings.setdefault("clusters", torch.tensor([CLUSTERS[r][:domains] for r in runs]))
    return methods.build(
        name,
        network=network(generators, method.embeds_domain).double(),
        domains=domains,
        classes=CLASSES,
        hparams=hparams_of(name, runs) | (hparams or {}),
        iterations=iterations,
        seeds=runs,
        **settings,
    )


def batch(iteration, runs=(0, 1, 2), domains=3, size=6):
    """Inputs ``(R, D, B, C, T)`` that tell of domain and class, and labels; a run's own whatever its pack.

    From the second iteration on, domain 0 lacks class 2 every other time.
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


def state(method):
    """Every parameter and running average by name, network's and discriminator's alike."""
    return {name: value.clone() for name, value in method.state_dict().items()}
