"""Small packs of runs for the tests of methods: the laws' own, with hyperparameters that tell."""

from torch import nn

from tsdg import methods
from tsdg.learning import layers, networks
from tsdg.methods import subject
from tsdg.methods.subject import CHANNELS, CLASSES, LENGTH, RUNS

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
    "average": (0.9, 0.5, 0.99),
    "burn_in": (0.0, 0.3, 0.7),
    "quantile": (0.75, 0.5, 0.99),
    "quantile_lr": (1e-3, 1e-2, 1e-4),
    "variance": (0.3, 0.1, 2.0),
    "matching_lr": (1e-3, 1e-2, 1e-4),
    "epsilon": (0.5, 0.1, 0.9),
    "tau": (1.0, 0.3, 0.5),
    "intra_label": (0.5, 1.0, 0.0),
    "xi": (0.2, 1.0, 0.5),
}


def hparams_of(name, runs):
    """The values of `HPARAMS` that a method needs, for some of the three runs."""
    return {key: [HPARAMS[key][r] for r in runs] for key in methods.get(name).search}


def small_network(generators, embedding=False):
    """A network of the HHAR kind with two narrow blocks."""
    featurizer = networks.HAR(CHANNELS, LENGTH, generators, blocks=1)
    shapes = [(CHANNELS, 8, 4), (8, 10, 3)]
    featurizer.convs = nn.ModuleList(layers.Conv1d(i, o, k, generators, padding=1) for i, o, k in shapes)
    featurizer.norms = nn.ModuleList(layers.BatchNorm(o, len(generators)) for _, o, _ in shapes)
    featurizer.blocks = list(featurizer.norms)
    classifier = layers.MLP([20 if embedding else 10, CLASSES], generators)
    return networks.Network(featurizer, classifier, features=10)


def har_network(generators, embedding=False):
    shape = {"channels": CHANNELS, "length": LENGTH, "classes": CLASSES}
    return networks.build("har", **shape, generators=generators, embedding=embedding)


def build(name, *, runs=RUNS, hparams=None, iterations=5, network=small_network, **settings):
    """A method with the values of `HPARAMS`, but for those given."""
    hparams = hparams_of(name, runs) | (hparams or {})
    return subject.build(name, hparams=hparams, runs=runs, iterations=iterations, network=network, **settings)


def state(method):
    """Every parameter and running average by name, network's and discriminator's alike."""
    return {name: value.clone() for name, value in method.state_dict().items()}
