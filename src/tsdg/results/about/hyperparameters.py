"""The table of hyperparameters, made from the registry of methods."""

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from tsdg import methods
from tsdg.results.latex import document, escape, ruled
from tsdg.results.tables import write

SYMBOLS = {"lambda": "λ", "xi": "ξ"}
CAPTION = (
    "Hyperparameters of every method: the value of the draw named fixed, and the distribution of a random "
    "search. U is the uniform distribution, braces a choice."
)


def hyperparameters(names: Iterable[str] | None = None) -> pd.DataFrame:
    """One row a hyperparameter: method, name, fixed value, search, batch normalization, citation.

    Of all methods, plug-ins in use included, unless `names` are given.
    """
    rows = []
    for name in names or [*methods.METHODS, *methods.PLUGINS]:
        method = methods.get(name)
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
    text = re.sub(r"floor\((.*)\)$", r"\\lfloor \1 \\rfloor", text)
    return f"${text}$" if text else ""


def render(folder: str | Path) -> list[Path]:
    """Write ``hyperparameter.csv`` and ``hyperparameter.tex``; return their paths."""
    table = hyperparameters()
    rows = []
    for i, line in enumerate(table.itertuples()):
        first = i == 0 or table["method"][i - 1] != line.method
        name = SYMBOLS.get(line.hyperparameter, line.hyperparameter.replace("_", " "))
        shown = [line.method, line.batch_normalization] if first else ["", ""]
        rows.append([*(escape(cell) for cell in (*shown, name, line.fixed)), _mathematics(line.search)])
    lines = ruled(["Method", "Batch norm.", "Hyperparameter", "Fixed", "Random search"], [rows])
    return write("hyperparameter", table, document("hyperparameter", CAPTION, "lllll", lines), folder)
