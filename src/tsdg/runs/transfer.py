"""Which domains are alike: what is learned on one domain alone, tried on every other."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from tsdg.data.split import proposed
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.learning.inputs import Windows
from tsdg.runs.baselines import BASELINES, SETTINGS, per_domain, sample
from tsdg.runs.estimation import Fitting
from tsdg.study.targets import REST

Metadata = Mapping[str, Mapping[str, Any]]  # of each domain


class Hierarchy(NamedTuple):
    """Domains in an order in which neighbours are alike, and the tree that it follows.

    Attributes
    ----------
    domains : list of str
    tree : numpy.ndarray
        See `scipy.cluster.hierarchy.linkage`; its leaves are the domains of the matrix in their own order.
    """

    domains: list[str]
    tree: np.ndarray


def accuracies(data: WindowedDataset, row: Mapping[str, Any]) -> pd.DataFrame:
    """Accuracy on each domain (column) of an estimator learned on another one alone (index).

    A domain's own is that on a fifth of its windows, which are not learned from. A domain that cannot be
    learned from, such as one of a single class, has no values.

    Parameters
    ----------
    data : WindowedDataset
    row : mapping
        ``features``, ``estimator`` and ``arguments``, as of a variant in `params.yaml`.
    """
    windows, there = Windows(data), set(data.windows["domain"])
    domains = [domain for domain in data.domains if domain in there]
    table = pd.DataFrame(np.nan, index=pd.Index(domains), columns=pd.Index(domains))
    config = SETTINGS | {key: row[key] for key in ("features", "estimator", "arguments")}
    config |= {"domains": domains, "split": proposed(data.cut)}
    with tempfile.TemporaryDirectory(prefix="tsdg-transfer-") as folder:  # of features, computed once
        for source in domains:
            target = REST + source
            groups = {target: [domain for domain in domains if domain != source]}
            try:
                fitting = Fitting(
                    data, windows, config,
                    target=target, seed=0, hparams={}, folder=Path(folder), groups=groups,
                )  # fmt: skip
                [checkpoint] = fitting.train().checkpoints
            except InputError:
                continue
            found = checkpoint["validation"] | checkpoint["target"]["domains"]
            table.loc[source] = pd.Series({domain: scores["accuracy"] for domain, scores in found.items()})
    return table


def ordered(table: pd.DataFrame) -> Hierarchy:
    """The hierarchical order of domains, by average linkage, neighbours as alike as it allows.

    Parameters
    ----------
    table : pandas.DataFrame
        Accuracies between 0 and 1, of sources by domains. Two domains are the more alike, the better each
        does on the other, on average over the two ways; unlike where neither is known.
    """
    values = table.to_numpy(float)
    both = np.stack([values, values.T])
    known = ~np.isnan(both)
    alike = np.where(known, both, 0).sum(0) / np.maximum(known.sum(0), 1)
    distances = squareform(1 - alike, checks=False)
    tree = hierarchy.linkage(distances, "average", optimal_ordering=True)
    return Hierarchy([str(table.index[k]) for k in hierarchy.leaves_list(tree)], tree)


def shared_fields(domains: Sequence[str], metadata: Metadata) -> list[str]:
    """Metadata fields with a value that some domains share and others do not have."""
    names = dict.fromkeys(name for domain in domains for name in metadata[domain])
    values = {name: [metadata[domain].get(name) for domain in domains] for name in names}
    return [name for name, found in values.items() if 1 < len(set(found)) < len(found)]


def by_field(table: pd.DataFrame, metadata: Metadata) -> pd.DataFrame:
    """Mean accuracy from one domain to another ``within`` a value of each metadata field, and ``across``."""
    rows = {}
    for name in shared_fields(list(table.index), metadata):
        parts: dict[bool, list[float]] = {True: [], False: []}
        for source, row in table.iterrows():
            for domain, value in row.items():
                if source != domain and not np.isnan(value):
                    same = metadata[str(source)].get(name) == metadata[str(domain)].get(name)
                    parts[same].append(value)
        if all(parts.values()):
            rows[name] = {"within": fmean(parts[True]), "across": fmean(parts[False])}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["within", "across"])


def best_baseline(data: WindowedDataset) -> tuple[str, pd.DataFrame]:
    """Of the linear models of `tsdg.runs.baselines` the one that carries over best, and its `accuracies`.

    Of large data a sample is learned from and tried.
    """
    count, most = per_domain(data), int(data.windows["domain"].value_counts().max())
    if count < min(2, most):
        raise InputError("the domains are too many, or their windows too large, to fit in seconds")
    some = sample(data, count) if most > count else data
    tables = {name: accuracies(some, row) for name, row in BASELINES.items()}
    best = max(tables, key=lambda name: np.nan_to_num(_others(tables[name]).mean(axis=None)))
    return best, tables[best]


def describe(data: WindowedDataset, name: str, table: pd.DataFrame) -> list[str]:
    """The matrix of `best_baseline` as lines of text, in hierarchical order, and what it says."""
    metadata, count = data.card["domains"], per_domain(data)
    drawn = f", of at most {count:,} windows of each domain"
    drawn = drawn if data.windows["domain"].value_counts().max() > count else ""
    order = ordered(table).domains
    shown = 100 * table.loc[order, order]
    fields = list(dict.fromkeys(field for domain in order for field in metadata[domain]))
    fields = [f for f in fields if not all(str(metadata[d].get(f, "")).lower() in d.lower() for d in order)]
    about = [" ".join(str(metadata[domain].get(field, "")) for field in fields) for domain in order]
    shown.index = pd.Index([f"{domain}  {words}".strip() for domain, words in zip(order, about, strict=True)])
    lines = [
        f"transfer: accuracy in % of {name} learned on the domain of the row alone, tried on that of the "
        f"column (its own: on a fifth set apart){drawn}; domains that are alike stand together, and of "
        f"{' and '.join(BASELINES)} it is the one that is right more often on other domains",
        *(f"  {line}" for line in shown.to_string(float_format="{:.1f}".format, na_rep="--").splitlines()),
    ]
    others = _others(table)
    if others.notna().any(axis=None):
        pairs = others.stack()
        least, most = pairs.idxmin(), pairs.idxmax()
        lines.append(
            f"from one domain to another: {pairs.mean():.1%} on average, from {most[0]} to {most[1]} "
            f"{pairs.max():.1%}, from {least[0]} to {least[1]} {pairs.min():.1%}"
        )
    for field, means in by_field(table, metadata).iterrows():
        lines.append(f"  of the same {field} {means['within']:.1%}, of another {means['across']:.1%}")
    if lost := [str(domain) for domain in table.index if table.loc[domain].isna().all()]:
        lines.append(f"  nothing can be learned from {', '.join(lost)} alone, such as of one class")
    return lines


def _others(table: pd.DataFrame) -> pd.DataFrame:
    """The same without what a domain has on itself."""
    return table.mask(np.eye(len(table), dtype=bool))
