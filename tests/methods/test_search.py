"""Draws of hyperparameters: within their ranges, and the same whatever else is drawn."""

import math

import numpy as np
import pytest

from tsdg import methods
from tsdg.errors import InputError
from tsdg.methods import METHODS
from tsdg.methods.search import Distribution, draw

ANNEALED = {"lambda": "10^U(-1, 5)", "annealing": "floor(10^U(0, 4))"}
ADVERSARIAL = {
    "discriminator_lr": "10^U(-5, -3.5)",
    "discriminator_weight_decay": "10^U(-6, -2)",
    "beta1": "{0, 0.5}",
    "discriminator_steps": "floor(2^U(0, 3))",
    "gradient_penalty": "10^U(-2, 1)",
    "lambda": "10^U(-2, 2)",
}
RSC = {"p": "U(0, 0.5)", "b": "U(0, 0.5)"}
LAMBDA = {"lambda": "10^U(-3, -1)"}
LEARNED = LAMBDA | {"xi": "10^U(-2, 2)"}
TABLE = {
    "erm": {},
    "irm": ANNEALED,
    "vrex": ANNEALED,
    "groupdro": {"eta": "10^U(-3, -1)"},
    "mixup": {"alpha": "10^U(-1, 1)"},
    "mldg": {"beta": "10^U(-1, 1)"},
    "mtl": {"a": "{0.5, 0.9, 0.99, 1}"},
    "correlation": {"lambda": "{1e-05}"},
    "rsc": RSC,
    "dann": ADVERSARIAL,
    "cdann": ADVERSARIAL,
    "coral": LAMBDA,
    "mmd": LAMBDA,
    "ours-metadata": LAMBDA,
    "ours-learned": LEARNED,
    "rsc-ours-metadata": RSC | LAMBDA,
    "rsc-ours-learned": RSC | LEARNED,
    "fishr": {"lambda": "10^U(1, 4)", "average": "U(0.9, 0.99)", "burn_in": "U(0, 1)"},
    "eqrm": {"quantile": "U(0.5, 0.99)", "quantile_lr": "10^U(-7, -5)", "burn_in": "U(0, 1)"},
    "ib-erm": ANNEALED,
    "sd": {"lambda": "10^U(-5, -1)"},
    "rdm": {
        "lambda": "U(0.1, 10)",
        "variance": "U(0.001, 0.007)",
        "matching_lr": "U(8e-06, 2e-05)",
        "burn_in": "U(0.16, 0.54)",
    },
    "fish": {"epsilon": "{0.05, 0.1, 0.5}"},
    "and-mask": {"tau": "U(0.5, 1)"},
    "lisa": {"alpha": "{2}", "intra_label": "{0.5, 1}"},
    "mixstyle": {"alpha": "{0.1, 0.2, 0.3}"},
}
PUBLISHED = {
    "ib-erm": {"lambda": 100, "annealing": 500},
    "sd": {"lambda": 0.1},
    "rdm": {"lambda": 5, "variance": 0.004, "matching_lr": 1.5e-5, "burn_in": 0.3},
    "fish": {"epsilon": 0.5},
    "and-mask": {"tau": 1},
    "lisa": {"alpha": 2, "intra_label": 0.5},
    "mixstyle": {"alpha": 0.1},
    "irm": {"lambda": 100, "annealing": 500},
    "vrex": {"lambda": 10, "annealing": 500},
    "groupdro": {"eta": 0.01},
    "mixup": {"alpha": 0.2},
    "mldg": {"beta": 1},
    "mtl": {"a": 0.99},
    "correlation": {"lambda": 1e-5},
    "rsc": {"p": 1 / 3, "b": 1 / 3},
    "dann": {
        "lambda": 1,
        "discriminator_lr": 5e-5,
        "discriminator_weight_decay": 0,
        "beta1": 0.5,
        "discriminator_steps": 1,
        "gradient_penalty": 0,
    },
}

# What a draw's text allows: bounds, and a function that makes of a value what is uniform.
SHAPES = {
    "10^U(-1, 5)": (-1, 5, math.log10),
    "10^U(-5, -3.5)": (-5, -3.5, math.log10),
    "10^U(-6, -2)": (-6, -2, math.log10),
    "10^U(-2, 1)": (-2, 1, math.log10),
    "10^U(-2, 2)": (-2, 2, math.log10),
    "10^U(-3, -1)": (-3, -1, math.log10),
    "10^U(-1, 1)": (-1, 1, math.log10),
    "U(0, 0.5)": (0, 0.5, float),
    "U(0, 1)": (0, 1, float),
    "U(0.5, 0.99)": (0.5, 0.99, float),
    "U(0.9, 0.99)": (0.9, 0.99, float),
    "10^U(1, 4)": (1, 4, math.log10),
    "10^U(-7, -5)": (-7, -5, math.log10),
    "10^U(-5, -1)": (-5, -1, math.log10),
    "U(0.1, 10)": (0.1, 10, float),
    "U(0.001, 0.007)": (0.001, 0.007, float),
    "U(8e-06, 2e-05)": (8e-6, 2e-5, float),
    "U(0.16, 0.54)": (0.16, 0.54, float),
    "U(0.5, 1)": (0.5, 1, float),
}


def test_every_method_has_the_distributions_of_the_table():
    found = {name: {key: str(value) for key, value in m.search.items()} for name, m in METHODS.items()}
    assert found == TABLE


def values_of(name, count=300):
    draws = [draw(methods.get(name).search, number, seed=0, method=name) for number in range(count)]
    return {key: np.array([values[key] for values in draws]) for key in draws[0]}


@pytest.mark.parametrize("name", [name for name in METHODS if name != "erm"])
def test_draws_fill_their_range(name):
    for key, values in values_of(name).items():
        text = TABLE[name][key]
        if text in SHAPES:
            low, high, uniform = SHAPES[text]
            quantity = np.array([uniform(value) for value in values])
            assert quantity.min() >= low
            assert quantity.max() <= high
            assert abs(quantity.mean() - (low + high) / 2) < 0.1 * (high - low)
            assert np.ptp(quantity) > 0.95 * (high - low)
        elif text.startswith("{"):
            assert set(values) == {float(value) for value in text.strip("{}").split(", ")}
        else:
            assert (values == np.floor(values)).all()
            if key == "discriminator_steps":  # 8 comes with probability 0
                for k in (1, 2, 4):
                    assert abs(np.mean(values == k) - math.log2((k + 1) / k) / 3) < 0.08
                assert set(values) == set(range(1, 8))
            else:
                assert values.min() >= 1
                assert 5000 < values.max() < 10000
                assert abs(np.median(np.log10(values)) - 2) < 0.4


def test_adding_draws_parameters_or_methods_changes_nothing():
    small = {"lambda": Distribution(1, "power", (-1, 1)), "p": Distribution(0, "uniform", (0, 1))}
    large = {"new": Distribution(1, "choice", (1, 2, 3)), **dict(reversed(small.items()))}
    for number in range(20):
        before = draw(small, number, seed=0, method="rsc")
        after = draw(large, number, seed=0, method="rsc")
        assert before == {key: after[key] for key in before}
        assert before == draw(small, number, seed=0, method="rsc")


def test_draws_are_pinned():
    """Records of earlier studies rest on these values."""
    rsc = draw(METHODS["rsc"].search, 0, seed=0, method="rsc")
    assert rsc == pytest.approx({"p": 0.3582058394947768, "b": 0.25077602197727444}, rel=1e-12)
    irm = draw(METHODS["irm"].search, 3, seed=0, method="irm")
    assert irm == pytest.approx({"lambda": 702.5009134402884, "annealing": 73}, rel=1e-12)


def test_methods_draws_and_studies_do_not_share_values():
    search = {"lambda": Distribution(1, "uniform", (0, 1)), "xi": Distribution(1, "uniform", (0, 1))}
    values = [
        draw(search, number, seed=seed, method=method)[name]
        for number in (0, 1, 10)
        for seed in (0, 1)
        for method in ("ours-learned", "ours-metadata")
        for name in search
    ]
    assert len(set(values)) == len(values)


def test_the_fixed_draw_has_the_published_values():
    for name, expected in PUBLISHED.items():
        assert draw(METHODS[name].search, "fixed", seed=0, method=name) == pytest.approx(expected)
    assert draw(METHODS["ours-learned"].search, "fixed", seed=3, method="x")["xi"] == 0.1
    assert draw({}, "fixed", seed=0, method="erm") == {}


@pytest.mark.parametrize(
    ("distribution", "text"),
    [
        (Distribution(1, "uniform", (0, 0.5)), "U(0, 0.5)"),
        (Distribution(1, "power", (-5, -3.5)), "10^U(-5, -3.5)"),
        (Distribution(1, "power", (0, 3), base=2), "2^U(0, 3)"),
        (Distribution(1, "floor_power", (0, 3), base=2), "floor(2^U(0, 3))"),
        (Distribution(1, "choice", (0.5, 0.99, 1.0)), "{0.5, 0.99, 1}"),
    ],
)
def test_distributions_as_text(distribution, text):
    assert str(distribution) == text


@pytest.mark.parametrize(
    ("distribution", "ends"),
    [
        (Distribution(1, "uniform", (0, 0.5)), (0, 0.5)),
        (Distribution(1, "power", (-1, 2)), (0.1, 100)),
        (Distribution(1, "power", (-1, 2), base=0.5), (0.25, 2)),
        (Distribution(1, "floor_power", (0.5, 3), base=2), (1, 8)),
        (Distribution(1, "choice", (1.0, 0.5, 0.99)), (0.5, 1)),
    ],
)
def test_ends_are_the_least_and_the_greatest_value(distribution, ends):
    assert distribution.ends == pytest.approx(ends)
    stream = np.random.default_rng(0)
    values = [distribution.sample(stream) for _ in range(200)]
    assert ends[0] * (1 - 1e-12) <= min(values) <= max(values) <= ends[1] * (1 + 1e-12)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1, "unifrom", (0, 1)), "no distribution 'unifrom', did you mean 'uniform'"),
        ((1, "uniform", (1, 0)), r"two values, the lower one first, not \(1, 0\)"),
        ((1, "power", (1,)), "two values"),
        ((1, "choice", ()), "one value or more"),
        ((1, "uniform", (0, math.inf)), "finite numbers"),
        (("1", "uniform", (0, 1)), "finite numbers"),
        ((1, "power", (0, 1), 0), "base of a distribution is above 0"),
    ],
)
def test_what_is_no_distribution_is_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        Distribution(*arguments)


@pytest.mark.parametrize("name", METHODS)
def test_what_trains_is_as_declared(name):
    assert issubclass(methods.get(name), METHODS[name])
