"""What linear models of features reach on each domain held out in turn: an answer before any training."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from tsdg.data.own.study_file import VARIANTS
from tsdg.data.split import proposed
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning.inputs import Windows
from tsdg.runs.estimation import Fitting

WINDOWS = 4_000  # of all domains, at most
FITTED = 60_000  # the same, times the domains, each of which is held out once
VALUES = 10_000_000  # the same as windows, times time steps, times channels
FEW = 20  # windows of a domain below which a sample of them says little
SOLVED = 0.95  # accuracy
ABOVE = 0.05  # accuracy beyond the most frequent class's share that is taken for something learned
BASELINES: dict[str, dict[str, Any]] = {
    name: yaml.safe_load(VARIANTS)["variants"][name] for name in ("spectrum-logistic", "statistics-logistic")
}
SETTINGS: dict[str, Any] = {
    "validation_fraction": 0.2, "standardize": "sources", "random_filter": None,
}  # fmt: skip


def accuracies(
    data: WindowedDataset, split: str, progress: Callable[[int, int], None] | None = None
) -> pd.DataFrame:
    """Accuracy on each domain, of each baseline learned on the others; the majority's share; chance.

    Parameters
    ----------
    data : WindowedDataset
    split : {"random", "blocked"}
        What of the others' windows is learned from, see `tsdg.data.split.split`: as in a table, those that
        do not validate.
    progress : callable, optional
        Called with the fits done and their number.

    Returns
    -------
    pandas.DataFrame
        A row a domain, between 0 and 1. ``majority`` is the share of the domain's own most frequent class,
        ``chance`` one by the number of classes.

    Raises
    ------
    InputError
        There are too few domains, windows or classes to learn from.
    """
    windows = Windows(data)
    labels = data.windows.groupby("domain")["label"]
    domains = [domain for domain in data.domains if domain in labels.groups]
    table, fits = pd.DataFrame(index=pd.Index(domains)), 0
    with tempfile.TemporaryDirectory(prefix="tsdg-baselines-") as folder:  # of features, computed once
        for name, row in BASELINES.items():
            config = SETTINGS | {key: row[key] for key in ("features", "estimator", "arguments")}
            config |= {"domains": domains, "split": split}
            for target in domains:
                fitting = Fitting(
                    data, windows, config, target=target, seed=0, hparams={}, folder=Path(folder)
                )
                table.loc[target, name] = fitting.train().checkpoints[-1]["target"]["accuracy"]
                fits += 1
                if progress:
                    progress(fits, len(BASELINES) * len(domains))
    table["majority"] = labels.agg(lambda of_domain: of_domain.value_counts(normalize=True).max())
    return table.assign(chance=1 / len(data.classes))


def sample(data: WindowedDataset, count: int, seed: int = 0) -> WindowedDataset:
    """At most so many windows of each domain, each of its classes by its share, in memory.

    Of a domain with more, each class keeps one window or more.
    """
    kept = [
        of_class.sample(int(np.ceil(min(1.0, count / len(of_domain)) * len(of_class))), random_state=seed)
        for _, of_domain in data.windows.groupby("domain")
        for _, of_class in of_domain.groupby("label")
    ]
    windows = pd.concat(kept).sort_index()
    length = data.card["window"]["length"]
    signals = np.concatenate([data.signals[start : start + length] for start in windows["start"]])
    starts = np.arange(len(windows)) * length
    card = data.card | {"stretches": starts.tolist()}  # nothing missing is filled from another window
    return WindowedDataset(signals, windows.assign(start=starts).reset_index(drop=True), card)


def per_domain(data: WindowedDataset) -> int:
    """Windows of a domain that are fitted in seconds and held in few megabytes."""
    domains, size = len(data.domains), data.card["window"]["length"] * len(data.card["channels"])
    return min(WINDOWS, FITTED // domains, VALUES // size) // domains


def describe(
    data: WindowedDataset, split: str | None = None, progress: Callable[[int, int], None] | None = None
) -> list[str]:
    """The accuracies as lines of text, and one line that reads them; or why there are none.

    `split` is the data set's in its study; by default what is proposed where there is none. `progress` as of
    `accuracies`.
    """
    count, most = per_domain(data), int(data.windows["domain"].value_counts().max())
    if count < min(FEW, most):
        return [
            f"baselines: none, since {len(data.domains)} domains of windows of "
            f"{data.card['window']['length']} time steps and {len(data.card['channels'])} channels are too "
            "large to fit in seconds; the rows "
            f"{' and '.join(BASELINES)} of a study are the same"
        ]
    try:
        some = sample(data, count) if most > count else data
        table = accuracies(some, split or proposed(data.cut), progress)
    except InputError as error:
        return [f"baselines: none ({error})"]
    drawn = f", of at most {count:,} windows of each domain, drawn by share of the classes"
    shown = pd.concat([table, table.mean().to_frame("average").T]) * 100
    return [
        "baselines: accuracy in % of linear models of features, each domain held out in turn"
        + (drawn if most > count else ""),
        *(f"  {line}" for line in shown.to_string(float_format="{:.1f}".format).splitlines()),
        in_words(table),
    ]


def in_words(table: pd.DataFrame) -> str:
    """One line that reads a table of `accuracies`."""
    average = table.mean()
    best = str(average[list(BASELINES)].idxmax())
    score, majority, worst = average[best], average["majority"], table[best].idxmin()
    against = f"{score:.1%} on average where the most frequent class has {majority:.1%}"
    if score <= max(majority, average["chance"]) + ABOVE:
        return (
            f"in words: {best} has {against}: little or nothing carries over to a domain held out; "
            "look at labels, channels and window before you train"
        )
    least = f"; its least is {table.loc[worst, best]:.1%}, on {worst}"
    verdict = (
        "a linear model all but solves this" if score >= SOLVED else "this is what a network has to beat"
    )
    return f"in words: {best} has {against}{least}: {verdict}"
