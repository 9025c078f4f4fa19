"""The table of hyperparameters, made from the registry of methods."""

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from tsdg import methods
from tsdg.results.latex import document, escape, ruled
from tsdg.results.tables import write

WORDS = {  # a plug-in's hyperparameters have their own names
    "lambda": "weight of the term beside cross-entropy, λ",
    "annealing": "iterations before the penalty has this weight",
    "eta": "step size of the domains' weights",
    "alpha": "both parameters of the beta distribution",
    "beta": "weight of the meta-test loss",
    "a": "weight of the old in the moving average of embeddings",
    "p": "share of features that are dropped",
    "b": "share of samples whose features are dropped",
    "discriminator_lr": "learning rate of the discriminator",
    "discriminator_weight_decay": "weight decay of the discriminator",
    "beta1": "first-moment decay of Adam",
    "discriminator_steps": "steps of the discriminator for one of the features",
    "gradient_penalty": "weight of the gradient penalty",
    "average": "weight of the past in the moving average",
    "quantile": "quantile of the risks",
    "quantile_lr": "learning rate on the quantile",
    "burn_in": "share of the iterations without it",
    "variance": "weight of the losses' variances",
    "matching_lr": "learning rate on the matched distributions",
    "epsilon": "share of the steps that the network goes",
    "tau": "mean sign over domains from which they agree",
    "intra_label": "probability that pairs have the label in common",
    "xi": "ξ of the radial basis function",
}
CAPTION = (
    "Hyperparameters of every method, and the distribution that a random search draws from. U is the uniform "
    "distribution, braces a choice. The values of the draw named fixed are in the csv file."
)


def hyperparameters(names: Iterable[str] | None = None) -> pd.DataFrame:
    """One row a hyperparameter: method, name, fixed value, search, batch normalization, citation.

    Of all methods, plug-ins in use included, unless `names` are given.
    """
    rows = []
    for name in names or [*methods.METHODS, *methods.PLUGINS]:
        method = methods.declaration(name)
        about = (method.forward_default.replace("_", " "), method.citation)
        search = method.search.items() or [("", None)]
        rows += [
            (method.title, key, f"{d.default:.3g}" if d else "", str(d) if d else "", *about)
            for key, d in search
        ]
    columns = ["method", "hyperparameter", "fixed", "search", "batch_normalization", "citation"]
    return pd.DataFrame(rows, columns=columns)


def _mathematics(search: str) -> str:
    """A distribution's text as LaTeX: ``floor(10^U(0, 4))`` becomes a floor of a power."""
    text = re.sub(r"\^(U\([^)]*\))", r"^{\1}", search.replace("{", r"\{").replace("}", r"\}"))
    text = re.sub(r"\b1e-0?(\d+)", r"10^{-\1}", text)
    text = re.sub(r"floor\((.*)\)$", r"\\lfloor \1 \\rfloor", text)
    return f"${text}$" if text else ""


def render(folder: str | Path) -> list[Path]:
    """Write ``hyperparameter.csv`` and ``hyperparameter.tex``; return their paths."""
    table = hyperparameters()
    rows = []
    for i, line in enumerate(table.itertuples()):
        first = i == 0 or table["method"][i - 1] != line.method
        name = WORDS.get(line.hyperparameter, line.hyperparameter.replace("_", " "))
        rows.append([escape(line.method) if first else "", escape(name or "none"), _mathematics(line.search)])
    lines = ruled(["Method", "Hyperparameter", "Distribution"], [rows])
    return write("hyperparameter", table, document("hyperparameter", CAPTION, "lll", lines), folder)
