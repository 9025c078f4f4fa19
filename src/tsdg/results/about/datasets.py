"""Tables of the data sets, from their cards: what they are, and how many windows of each class they have."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from tsdg.data import paper
from tsdg.data.kinds import KINDS
from tsdg.data.windows import card_of
from tsdg.results.latex import document, escape, row, ruled
from tsdg.results.tables import write

FIELDS = ("domains", "classes", "channels", "window", "counts")  # of a card
MOST = 12  # domains that have a row each

Cards = dict[str, dict[str, Any]]  # by data set

CAPTION = "Data sets as prepared here."
SAMPLES_CAPTION = "Windows of each class in each domain; in brackets the paper's number."


def read_cards(folders: Iterable[str | Path]) -> Cards:
    """Cards of prepared data sets, by the name of their folder."""
    return {Path(folder).name: card_of(Path(folder), FIELDS) for folder in folders}


def datasets(cards: Cards) -> pd.DataFrame:
    """One row a data set: domains, classes, channels, window, recordings, windows, simulated."""
    rows = [
        {
            "dataset": name,
            "domains": len(card["domains"]),
            "classes": len(card["classes"]),
            "channels": len(card["channels"]),
            "window": card["window"]["length"],
            "stride": card["window"]["stride"],
            "windows": sum(sum(of_class.values()) for of_class in card["counts"].values()),
            "simulated": card.get("simulated", False),
        }
        for name, card in cards.items()
    ]
    return pd.DataFrame(rows)


def samples(cards: Cards) -> pd.DataFrame:
    """One row a data set, domain and class: windows here, and in the paper (empty where it says none)."""
    rows = [
        (name, domain, label, count, paper.samples(card.get("kind", ""), domain, label))
        for name, card in cards.items()
        for domain, of_class in card["counts"].items()
        for label, count in of_class.items()
    ]
    return pd.DataFrame(rows, columns=["dataset", "domain", "class", "windows", "paper"]).astype(
        {"paper": "Int64"}
    )


def render(folders: Iterable[str | Path], out: str | Path) -> list[Path]:
    """Write ``datasets`` and ``datasets_samplesize``, each as csv and tex; return their paths."""
    cards = read_cards(folders)
    about, counts = datasets(cards), samples(cards)
    simulated = [title(name) for name, card in cards.items() if card.get("simulated")]
    note = f" Simulated raw files: {', '.join(simulated)}." if simulated else ""

    heads = ["Data set", "Domains", "Classes", "Channels", "Window", "Stride", "Windows"]
    rows = []
    for line in about.itertuples():
        cells = (line.domains, line.classes, line.channels, line.window, line.stride, line.windows)
        rows.append([escape(title(line.dataset)), *(f"{cell:,}" for cell in cells)])
    text = document("datasets", CAPTION + note, "lrrrrrr", ruled(heads, [rows]))
    paths = write("datasets", about, text, out)
    text = _samples_latex(counts, SAMPLES_CAPTION + note)
    return paths + write("datasets_samplesize", counts, text, out)


def _samples_latex(counts: pd.DataFrame, text: str) -> str:
    """Of each data set a row a domain and a column a class, as the paper has HHAR's.

    Of many domains, one row says the least and the most; the csv has all.
    """
    width = counts.groupby("dataset")["class"].nunique().max()
    lines = [r"\toprule"]
    for dataset, part in counts.groupby("dataset", sort=False):
        labels = list(dict.fromkeys(part["class"]))
        rest = [""] * (width - len(labels))
        lines += [r"\midrule"] if len(lines) > 1 else []
        lines.append(row([escape(cell) for cell in (title(str(dataset)), *map(str, labels), *rest)]))
        lines.append(rf"\cmidrule(r){{1-{1 + len(labels)}}}")
        if (number := part["domain"].nunique()) > MOST:
            ends = part.groupby("class")["windows"].agg(["min", "max"]).loc[labels].itertuples(index=False)
            lines.append(row([f"each of {number}", *(f"{low} to {high}" for low, high in ends), *rest]))
            continue
        for domain, of_domain in part.groupby("domain", sort=False):
            cells = dict(zip(of_domain["class"], map(_cell, of_domain.itertuples()), strict=True))
            lines.append(row([escape(str(domain)), *(cells.get(label, "") for label in labels), *rest]))
    lines.append(r"\bottomrule")
    return document("datasets_samplesize", text, "l" + "r" * width, lines)


def _cell(line: Any) -> str:
    return f"{line.windows}" if pd.isna(line.paper) else f"{line.windows} ({line.paper})"


def title(name: str) -> str:
    """How a data set is printed: one called by its kind has that one's title."""
    return (name in KINDS and KINDS[name].title) or name
