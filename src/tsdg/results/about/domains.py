"""Table of the domains, from the data sets' cards: which attributes each letter stands for."""

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from tsdg.results.about.datasets import read_cards, title
from tsdg.results.latex import document, escape, row
from tsdg.results.tables import write

NAME = "domain_attributes"
CAPTION = "What the domains of each data set are."
Domains = Mapping[str, Mapping[str, Any]]  # each with its metadata


def attributes(domains: Mapping[str, Domains]) -> pd.DataFrame:
    """One row a data set, domain and field of its metadata."""
    rows = [
        (dataset, name, field, value)
        for dataset, of in domains.items()
        for name, metadata in of.items()
        for field, value in metadata.items()
    ]
    return pd.DataFrame(rows, columns=["dataset", "domain", "field", "value"])


def render(folders: Iterable[str | Path], out: str | Path) -> list[Path]:
    """Write ``domain_attributes`` as csv and tex; return their paths."""
    domains = {name: card["domains"] for name, card in read_cards(folders).items()}
    grids = [_grid(title(name), of) for name, of in domains.items()]
    width = max(len(line) for line in chain.from_iterable(grids))
    lines = [r"\toprule"]
    for number, (first, *others) in enumerate(grids):
        lines += [r"\midrule"] if number else []
        for line in (first, None, *others):
            lines.append(
                rf"\cmidrule(r){{1-{len(first)}}}"
                if line is None
                else row([*map(escape, line), *[""] * (width - len(line))])
            )
    text = document(NAME, CAPTION, "l" * width, [*lines, r"\bottomrule"])
    return write(NAME, attributes(domains), text, out)


def _grid(name: str, domains: Domains) -> list[list[str]]:
    """Cells, the heading first: domains by both of two fields, as in the paper, in groups, or a line each."""
    fields = list(dict.fromkeys(field for metadata in domains.values() for field in metadata))
    if len(fields) == 2 and all(len(metadata) == 2 for metadata in domains.values()):
        down, across = ([*dict.fromkeys(of[field] for of in domains.values())] for field in fields)
        if len(domains) == len(down) > len(across):  # each its own one of the first, and groups of the second
            lines = [[str(other), _at(domains, {fields[1]: other})] for other in across]
            return [[f"{name}, {fields[1]}", "domains"], *lines]
        return [
            [f"{name}, {fields[0]}", *(f"{fields[1]} {value}" for value in across)],
            *(
                [str(one), *(_at(domains, {fields[0]: one, fields[1]: other}) for other in across)]
                for one in down
            ),
        ]
    lines = [[domain, *(str(of.get(field, "")) for field in fields)] for domain, of in domains.items()]
    return [[name, *fields], *lines]


def _at(domains: Domains, place: Mapping[str, Any]) -> str:
    return ", ".join(name for name, metadata in domains.items() if place.items() <= metadata.items())
