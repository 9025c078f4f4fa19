"""Packed updates against plain loops, packs against single runs, and what may go wrong in a batch."""

import pytest
import torch
from packs import HPARAMS, build, har_network, hparams_of, small_network, state
from plain import PLAIN, Twin
from torch import nn

from tsdg import methods
from tsdg.errors import InputError
from tsdg.methods import METHODS, laws
from tsdg.methods.subject import CLASSES, CLUSTERS, DOMAINS, RUNS, Subject, batch

BOTH = ("joint", "per_domain")
CONSISTENCY = [
    ("ours-metadata", "joint", {"kernel": "gaussian"}),
    ("ours-learned", "joint", {"kernel": "gaussian", "regularize": "features"}),
    ("ours-metadata", "joint", {"level": "sample"}),
    ("ours-metadata", "joint", {"distance": "cosine", "regularize": "features"}),
    ("ours-metadata", "joint", {"distance": "cosine", "level": "sample"}),
    ("ours-metadata", "joint", {"distance": "kl", "regularize": "soft_labels"}),
    ("rsc-ours-metadata", "joint", {"distance": "kl", "level": "sample", "regularize": "soft_labels"}),
]
CASES = [
    *((name, forward, {}) for name in METHODS if name != "mtl" for forward in BOTH),
    *(("mtl", forward, {"embedding": kind}) for forward in BOTH for kind in ("noise", "average")),
    ("ours-metadata", "joint", {"regularize": "features"}),
    ("ours-learned", "joint", {"regularize": "soft_labels", "neighbour": "random"}),
    ("ours-learned", "joint", {"rbf": "gamma"}),
    ("rsc-ours-learned", "joint", {"rbf": "one", "regularize": "features"}),
    *CONSISTENCY,
]


def close(a, b, tolerance=1e-8):
    """A hundred-thousandth of one step of Adam, unless stricter."""
    torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


def of_run(module, r):
    return {name: value[r].clone() for name, value in module.state_dict().items()}


def without_counters(module):
    return {name: v for name, v in module.state_dict().items() if not name.endswith("num_batches_tracked")}


def plain_run(name, method, r, forward, options):
    """The plain loop of run r, with the weights of the pack."""
    run = PLAIN[name](
        Twin(method.network, r),
        {key: values[0] for key, values in hparams_of(name, [r]).items()},
        per_domain=forward == "per_domain",
        adam=(3e-3, 1e-2),
        decay_from=3,
        decay=0.1,
        cluster=list(CLUSTERS[r][:DOMAINS]),
        **options,
    )
    if name in ("dann", "cdann"):
        first, last = nn.Linear(method.network.features, 256), nn.Linear(256, method.domains)
        run.discriminator = nn.Sequential(first, nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), last).double()
        run.discriminator.load_state_dict(of_run(method.discriminator, r))
        run.embedding = [nn.Parameter(p.detach()[r].clone()) for p in method.class_embedding]
    if name == "mtl":
        run.embeddings = method.embeddings[r].clone()
    return run


@pytest.mark.parametrize(("name", "forward", "options"), CASES, ids=str)
def test_packed_updates_equal_a_plain_loop(name, forward, options):
    """Five updates, the last two at a tenth of the learning rate."""
    if "learned" in name:
        options = {"every": 2, **options}
    method = build(
        name,
        network=har_network if name == "erm" else small_network,
        forward=forward,
        decay_at=0.6,
        learning_rate=3e-3,
        weight_decay=1e-2,
        **options,
    )
    runs = [plain_run(name, method, r, forward, options) for r in range(3)]
    for iteration in range(5):
        x, y = batch(iteration)
        draws = method.draws(x.shape[2])
        method.update(x, y, draws)
        for r, run in enumerate(runs):
            run.update(x[r], y[r], {key: value[r] for key, value in draws.items()})
    for r, run in enumerate(runs):
        close(of_run(method.network, r), without_counters(run.network))
        if name in ("dann", "cdann"):
            close(of_run(method.discriminator, r), dict(run.discriminator.state_dict()))
            close([p[r] for p in method.class_embedding], run.embedding)
        if name == "mtl":
            close(method.embeddings[r], run.embeddings)
        if name == "groupdro":
            close(method.q[r], torch.tensor(run.q, dtype=torch.double))


def test_every_method_has_a_plain_loop():
    assert set(PLAIN) == set(METHODS)


WITH_OPTIONS = [*((name, {}) for name in METHODS), *((name, options) for name, _, options in CONSISTENCY)]


@pytest.mark.parametrize("law", laws.OF_SETTINGS)
@pytest.mark.parametrize(("name", "options"), WITH_OPTIONS, ids=str)
def test_every_method_keeps_the_laws(name, options, law):
    for forward in BOTH if law == "poor batches stay finite" else [None]:
        laws.OF_SETTINGS[law](Subject(name, hparams_of(name, RUNS), options, forward, small_network))


@pytest.mark.slow
@pytest.mark.parametrize("law", laws.OF_METHODS)
@pytest.mark.parametrize("name", METHODS)
def test_every_method_keeps_the_laws_of_its_settings(name, law):
    laws.OF_METHODS[law](Subject(name, hparams_of(name, RUNS), {}, network=small_network))


@pytest.mark.parametrize("name", ["irm", "vrex"])
def test_the_largest_lambda_disturbs_no_other_run(name):
    def train(values):
        method = build(name, hparams={"lambda": values, "annealing": 1})
        for iteration in range(3):
            method.update(*batch(iteration))
        return state(method)

    one, other = train((0.3, 1e5, 0.7)), train((0.3, 2.0, 0.7))
    for key in one:
        assert torch.equal(one[key][[0, 2]], other[key][[0, 2]])
    key = "network.classifier.0.weight"
    assert not torch.equal(one[key][1], other[key][1])


def gradients(name, hparams, **settings):
    """Gradients of two runs alike in weights, batch and draws, that differ in one hyperparameter."""
    hparams = {key: [values[0]] * 2 for key, values in HPARAMS.items()} | hparams
    method = build(name, runs=(0, 0), hparams=hparams, **settings)
    x, y = batch(0, (0, 0))
    method.update(x, y, method.draws(x.shape[2]))
    return [torch.cat([p.grad[r].flatten() for p in method.network.parameters()]) for r in range(2)]


@pytest.mark.parametrize(
    ("name", "hparams", "settings"),
    [
        ("irm", {"lambda": (0, 1), "annealing": 0}, {}),
        ("vrex", {"lambda": (0, 1), "annealing": 0}, {}),
        ("irm", {"lambda": 9, "annealing": (0, 1)}, {}),
        ("groupdro", {"eta": (0, 1)}, {}),
        ("mldg", {"beta": (0, 1)}, {}),
        ("mtl", {"a": (0.5, 1)}, {"embedding": "average"}),
        ("correlation", {"lambda": (0, 1e-5)}, {}),
        ("rsc", {"p": (0, 0.3), "b": 0.5}, {}),
        ("rsc", {"p": 0.5, "b": (0, 0.3)}, {}),
        ("dann", {"lambda": (0, 1), "discriminator_steps": 0}, {}),
        ("cdann", {"lambda": (0, 1), "discriminator_steps": 0}, {}),
        ("dann", {"gradient_penalty": (0, 1), "discriminator_steps": 0}, {}),
        ("cdann", {"gradient_penalty": (0, 1), "discriminator_steps": 0}, {}),
        ("coral", {"lambda": (0, 0.01)}, {}),
        ("mmd", {"lambda": (0, 0.01)}, {}),
        *(
            (name, {"lambda": (0, 0.01), "xi": 1.0}, {"regularize": what})
            for name in ("ours-metadata", "ours-learned")
            for what in ("logits", "features", "soft_labels")
        ),
        *((name, {"lambda": (0, 0.01), "xi": 1.0}, options) for name, _, options in CONSISTENCY[:-1]),
        ("ours-learned", {"lambda": 1, "xi": (0.1, 1.0)}, {}),
        ("ours-learned", {"lambda": 1, "xi": (0.1, 1.0)}, {"rbf": "gamma"}),
    ],
)
def test_every_penalty_changes_the_gradient(name, hparams, settings):
    first, second = gradients(name, hparams, **settings)
    assert (first - second).norm() > 1e-6 * first.norm()


@pytest.mark.parametrize("name", ["rsc-ours-metadata", "rsc-ours-learned"])
def test_turns_of_rsc_and_ours(name):
    """Even iterations depend on p and not on lambda, odd ones on lambda and not on p."""
    for key, values, turn in (("p", (0.1, 0.5), 0), ("lambda", (0.0, 1.0), 1)):
        shared = {"p": 0.3, "b": 0.5, "lambda": 0.1, "xi": 1.0}
        method = build(name, runs=(0, 0), hparams=shared | {key: values})
        for iteration in range(2):
            start = state(method)
            x, y = batch(iteration, (0, 0))
            method.update(x, y)
            differs = not torch.equal(*method.network.classifier[0].weight.grad)
            assert differs == (iteration == turn)
            if turn == 0:
                break
            assert torch.equal(*start["network.classifier.0.weight"])


@pytest.mark.parametrize("name", ["ours-learned", "rsc-ours-learned"])
def test_history_holds_the_neighbours_of_every_refresh(name):
    method = build(name, every=2)
    for iteration in range(5):
        method.update(*batch(iteration))
    assert [iteration for iteration, _ in method.history] == ([0, 2, 4] if name == "ours-learned" else [1, 3])
    for _, neighbours in method.history:
        assert (neighbours != torch.arange(3)).all()


def test_turns_of_network_and_discriminator():
    """k discriminator steps, then one of the network; every iteration moves the running averages."""
    method = build("dann")
    watched = {
        "network": method.network.classifier[0].weight,
        "discriminator": method.discriminator[0].weight,
        "averages": method.network.featurizer.norms[0].running_mean,
    }
    turns = {name: [] for name in watched}
    for iteration in range(8):
        before = {name: value.detach().clone() for name, value in watched.items()}
        method.update(*batch(iteration))
        for name, value in watched.items():
            turns[name].append([not torch.equal(a, b) for a, b in zip(value, before[name], strict=True)])
    for r, k in enumerate((1, 2, 3)):
        network = [iteration % (1 + k) == k for iteration in range(8)]
        assert [turn[r] for turn in turns["network"]] == network
        assert [turn[r] for turn in turns["discriminator"]] == [not turn for turn in network]
        assert all(turn[r] for turn in turns["averages"])


def test_averages_move_once_a_domain_in_domain_order():
    x, y = batch(0, (0,))
    for forward in ("joint", "per_domain"):
        method = build("erm", runs=(0,), forward=forward)
        layer = method.network.featurizer.convs[0]
        signal = nn.functional.conv1d(x[0].flatten(0, 1), layer.weight[0], layer.bias[0], padding=1).detach()
        expected = torch.zeros(signal.shape[1], dtype=torch.double)
        for part in signal.chunk(3 if forward == "per_domain" else 1):
            expected = 0.9 * expected + 0.1 * part.mean((0, 2))
        method.update(x, y)
        close(method.network.featurizer.norms[0].running_mean[0], expected)


def test_mldg_moves_the_averages_in_joint_mode_only():
    for forward, moves in (("joint", True), ("per_domain", False)):
        method = build("mldg", forward=forward)
        method.update(*batch(0))
        assert method.network.featurizer.norms[0].running_mean.any() == moves


def test_what_is_missing_is_said():
    with pytest.raises(InputError, match="clusters"):
        build("ours-metadata", clusters=None)
    with pytest.raises(InputError, match="lambda"):
        methods.get("irm")(build("erm").network, 3, CLASSES, {"annealing": 1}, 5)
