"""Table of the augmentations: what each does to a window, and with which settings a study has it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from tsdg.learning import augmentation_defaults as defaults
from tsdg.results.about.datasets import title
from tsdg.results.latex import document, escape, ruled
from tsdg.results.tables import write
from tsdg.study.study import Study

NAME = "augmentations"
EXPRESSIONS = {  # name, in words and LaTeX
    "mean_shift": ("Mean shift", "x - mu + mu_new", r"$x - \mu + \mu_\mathrm{new}$"),
    "scaling": ("Scaling", "(x - mu) / sigma * sigma_new + mu",
                r"$(x - \mu) / \sigma \cdot \sigma_\mathrm{new} + \mu$"),
    "masking": ("Masking", "mu with probability p, else x", r"$\mu$ with probability $p$, else $x$"),
}  # fmt: skip
SETTINGS = {  # option of a data set's `augmentation`, in words
    "mean_shift": ("mean", "new mean"),
    "scaling": ("scale", "new deviation"),
    "masking": ("masked", "p"),
}
CAPTION = (
    "Augmentations: what becomes of a channel x of a window at each time step, where μ is its mean and σ its "
    "standard deviation; and the data sets that have it, with their settings."
)
DEFAULTS = {
    "statistics": defaults.STATISTICS,
    "mean": defaults.MEAN,
    "scale": defaults.SCALE,
    "masked": defaults.MASKED,
}


def augmentations(study: Study) -> pd.DataFrame:
    """One row an augmentation of the paper and data set that has it: name, expression, data set, settings."""
    rows = []
    own = [of for of, entry in study.datasets.items() if "of" not in entry or "augmentation" in entry]
    for function, (name, expression, _) in EXPRESSIONS.items():
        used = {of: _settings(function, study.dataset(of).get("augmentation", {})) for of in own}
        there = [(name, expression, of, settings) for of, settings in used.items() if settings]
        rows += there or [(name, expression, "", "")]
    return pd.DataFrame(rows, columns=["augmentation", "expression", "dataset", "settings"])


def _settings(function: str, augmentation: Mapping[str, Any]) -> str:
    """In words; empty where a data set has not this one."""
    if function not in augmentation.get("functions", ()):
        return ""
    given = {**DEFAULTS, **augmentation}
    option, words = SETTINGS[function]
    low, high = given[option] if function == "scaling" else (given[option], given[option])
    own = f"{words} {low:g}" if low == high else f"{words} from {low:g} to {high:g}"
    return own if given["statistics"] == "window" else f"{own}, μ = 0, σ = 1"


def render(study: Study, out: str | Path) -> list[Path]:
    """Write ``augmentations`` as csv and tex; return their paths."""
    table = augmentations(study)
    rows = []
    for name, _, expression in EXPRESSIONS.values():
        own = table[(table["augmentation"] == name) & (table["dataset"] != "")]
        alike = own.groupby("settings", sort=False)["dataset"].agg(lambda names: ", ".join(map(title, names)))
        rows.append(
            [
                name,
                expression,
                escape("; ".join(f"{names} ({settings})" for settings, names in alike.items())),
            ]
        )
    lines = ruled(["Augmentation", "Expression", "Here"], [rows])
    return write(NAME, table, document(NAME, CAPTION, "lll", lines), out)
