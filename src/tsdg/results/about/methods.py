"""The page of all methods and augmentations, made from the docstrings and attributes of their classes."""

import inspect
import re
from pathlib import Path

import pandas as pd

from tsdg.data.kinds import KINDS
from tsdg.errors import InputError
from tsdg.learning.distortions import DISTORTIONS, UM
from tsdg.methods import METHODS, get
from tsdg.methods.base import Method

HEAD = """\
# Methods

Made by `make methods` of the classes in `src/tsdg/methods` and of what `benchmarks/costs.py` measured: edit
those.

$L_d$ is the mean cross-entropy $\\ell$ of the batch's samples of domain $d$, $L$ its mean over the $D$ source
domains. A window $x$ has features $z$, logits $g = h(z)$ and a label $y$; $c$ is a class's mean logits,
$\\theta$ all weights, a bar a mean, and what stands in [ ] is 1 where it holds, else 0. Other letters are
hyperparameters, or explained by the class. A search draws these from what is given, U being the uniform
distribution and braces a choice. The cost is the CPU time of an iteration over one of ERM, for the shape of a
data set.
"""
AUGMENTATIONS = """\
# Augmentations

A variant names them (`augment: [jitter, time_warp]`); a data set's `augmentation` has their settings, see
`tsdg.learning.augment.Augmentation`. Each has random streams of its own.

| name | what becomes of a window | source |
|---|---|---|
"""
PAPER = "Zhang, Ragab & Foo, ICPR 2022"
SIMPLE = {
    "mean_shift": ("Each channel less its mean, plus another.", PAPER),
    "scaling": ("Each channel with another standard deviation, drawn at random.", PAPER),
    "masking": ("Time steps at the channel's mean, each with a probability.", PAPER),
    "jitter": ("Noise added to each value.", UM),
}


def page(costs: pd.DataFrame) -> str:
    """The page, in Markdown.

    Parameters
    ----------
    costs : DataFrame
        ``shape``, ``method`` and ``ratio``: what an iteration costs over one of ERM.
    """
    methods = [_section(name, get(name), _cost(name, costs)) for name in METHODS]
    rows = [*SIMPLE.items()]
    rows += [(name, (_idea(kind), kind.citation)) for name, kind in DISTORTIONS.items()]
    lines = [f"| `{name}` | {what} | {source} |\n" for name, (what, source) in rows]
    return "\n".join([HEAD, *methods, AUGMENTATIONS]) + "".join(lines)


def read_costs(path: Path) -> pd.DataFrame:
    """Measured costs, as `benchmarks/costs.py` writes them.

    Raises
    ------
    InputError
        The file cannot be read, or is no such table.
    """
    try:
        costs = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: cannot be read ({error}); `python benchmarks/costs.py` writes it"
        ) from None
    missing = {"shape", "method", "ratio"} - set(costs)
    if missing:
        raise InputError(f"{path}: has no column {min(missing)}; `python benchmarks/costs.py` writes it")
    return costs


def _section(name: str, method: type[Method], cost: str) -> str:
    search = ", ".join(f"{key} {distribution}" for key, distribution in method.search.items())
    facts = [f"Source: {method.citation}.", f"Search: {search}." if search else "", cost]
    return (
        f"## {method.title}\n\n`{name}`: {_idea(method)}\n\n```math\n{_formula(method)}\n```\n\n"
        f"{' '.join(filter(None, facts))}\n"
    )


def _idea(cls: type) -> str:
    """First sentence of a class's docstring."""
    return " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())


def _formula(method: type[Method]) -> str:
    """Section ``Formula`` of a method's docstring, in LaTeX."""
    found = re.search(r"^Formula\n-+\n(.+?)(?:\n\n|\Z)", inspect.cleandoc(method.__doc__ or ""), re.M | re.S)
    assert found, f"{method.__name__} has no section Formula in its docstring"
    return " ".join(found[1].split())


def _cost(name: str, costs: pd.DataFrame) -> str:
    """What was measured of a method, in words; empty where nothing was."""
    rows = costs[costs["method"] == name]
    told = (
        f"{ratio:.2f} ({_title(shape)})" for shape, ratio in zip(rows["shape"], rows["ratio"], strict=True)
    )
    return f"Cost: {', '.join(told)}." if len(rows) else ""


def _title(shape: str) -> str:
    return next((kind.title for name, kind in KINDS.items() if name.startswith(shape) and kind.title), shape)
