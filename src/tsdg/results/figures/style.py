"""The one look of all figures, and how wide a text is in it."""

import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from matplotlib.transforms import Bbox

from tsdg.files import atomic
from tsdg.study.layout import Layout

WIDTHS = {"column": 3.45, "page": 7.16}  # of a two-column paper, inches
COLUMN, PAGE = WIDTHS.values()
HIGHEST = 9.2  # that a column of a page is, inches
BASELINE, OURS, PAPER, FAINT = "#0072B2", "#D55E00", "#333333", "#999999"  # Okabe and Ito's, and greys
QUIET = "#555555"  # words beside what is drawn
SERIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#333333")  # Okabe and Ito's
DASHES = (
    "-",
    (0, (4, 1.5)),
    (0, (1, 1)),
    (0, (5, 1.5, 1, 1.5)),
    (0, (2.5, 1)),
    (0, (7, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
)
FONT, SIZE = "DejaVu Sans", 7  # points, as printed; nothing is smaller
LINE = 0.118  # height of a line of text, inches
STAMP = 0.17  # height of what is said above a figure, inches


def style() -> AbstractContextManager:
    """The one look: sans serif at 7 points, readable at printed size; fonts embedded as text."""
    return mpl.rc_context(
        {
            "font.family": FONT,
            "font.size": SIZE,
            "axes.titlesize": SIZE,
            "axes.labelsize": SIZE,
            "axes.linewidth": 0.6,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.axisbelow": True,
            "grid.color": "#DDDDDD",
            "grid.linewidth": 0.5,
            "xtick.major.width": 0.6,
            "ytick.major.width": 0.6,
            "xtick.minor.width": 0.4,
            "ytick.minor.width": 0.4,
            "xtick.major.pad": 2.5,
            "ytick.major.pad": 2.5,
            "legend.frameon": False,
            "legend.fontsize": SIZE,
            "pdf.fonttype": 42,
        }
    )


def save(figure: Figure, out_folder: str | Path, name: str, *, stamp: str = "") -> list[Path]:
    """Write ``{name}.pdf`` and ``{name}.png`` without a date: an equal figure is equal bytes.

    What is stamped stands above the figure, which is taller by its line.
    """
    folder = Path(out_folder)
    paths = [folder / f"{name}.pdf", folder / f"{name}.png"]
    width, height = figure.get_size_inches()
    if stamp:
        figure.text(0.5, 1 + 0.04 / height, stamp, ha="center", color=OURS, weight="bold")
    whole = Bbox([[0, 0], [width, height + STAMP * bool(stamp)]])
    if whole.height > HIGHEST:
        print(
            f"{paths[0]}: {whole.height:.1f} inches high, where a page has {HIGHEST}; fewer rows or targets, "
            f"or width: page, make it lower",
            file=sys.stderr,
        )
    with atomic(paths[0]) as temporary:
        figure.savefig(temporary, format="pdf", metadata={"CreationDate": None}, bbox_inches=whole)
    with atomic(paths[1]) as temporary:
        figure.savefig(temporary, format="png", dpi=300, bbox_inches=whole)
    return paths


def stamp(simulated: Sequence[str], layout: Layout) -> str:
    """What stands above a figure that shows runs on simulated recordings of some data sets."""
    whole = len(simulated) == len(layout.panels)
    of = "" if whole else f" ({', '.join(layout.titles[dataset] for dataset in simulated)})"
    return f"Simulated recordings{of}: no result" if simulated else ""


class Look(NamedTuple):
    """How a variant is drawn, by its role; printed in grey, the marker tells roles apart."""

    color: str
    marker: str
    role: str


def look(variant: str, layout: Layout) -> Look:
    """Of a variant: one of ours, a baseline or another network."""
    if variant in layout.ours:
        return Look(OURS, "s", "ours")
    return Look(QUIET, "^", "no network") if variant in layout.baselines else Look(BASELINE, "o", "network")


def looks(rows: Sequence[str], layout: Layout) -> list[Look]:
    """Of some variants, each once."""
    return sorted({look(row, layout) for row in rows})


def plain(text: str) -> str:
    """A text whose dollars matplotlib draws, in place of taking them for mathematics."""
    return text.replace("$", r"\$")


def unparsed(layout: Layout) -> Layout:
    """A layout whose labels and titles are `plain`."""
    return replace(
        layout,
        labels={row: plain(label) for row, label in layout.labels.items()},
        panels=tuple(
            replace(panel, title=plain(panel.title), legend=tuple(map(plain, panel.legend)))
            for panel in layout.panels
        ),
    )


@lru_cache(maxsize=4096)
def text_width(text: str) -> float:
    """Width of a line of text, inches."""
    font = FontProperties(family=FONT, size=SIZE)
    return TextPath((0, 0), text, prop=font).get_extents().width / 72 if text.strip() else 0.0


SPACE = 3.2 / 72  # between words, inches
MOST = 3  # lines of a word of a name


def lines_of(text: str, width: float) -> list[str]:
    """A text in lines of at most a width in inches; a word that is wider is broken."""
    return _lines([piece for word in text.split() for piece in _pieces(word, width)], width)


def _lines(words: Sequence[str], width: float) -> list[str]:
    lines: list[str] = []
    used = 0.0
    for word in words:
        more = SPACE + text_width(word)
        if lines and used + more <= width:
            lines[-1] += f" {word}"
            used += more
        else:
            lines.append(word)
            used = more - SPACE
    return lines


def _pieces(word: str, width: float) -> list[str]:
    """A word in as few pieces as fit, parted after hyphens and the like; a part that is wider, anywhere."""
    if text_width(word) <= width:
        return [word]
    pieces = [""]
    for part in re.findall(r"[^-_./]*[-_./]?", word):
        for unit in [part] if text_width(part) <= width else _letters(part):
            if pieces[-1] and text_width(pieces[-1] + unit) > width:
                pieces.append("")
            pieces[-1] += unit
    return pieces


def _letters(text: str) -> list[str]:
    """Of a text that is `plain`."""
    return re.findall(r"\\\$|.", text)


def shortened(text: str, width: float) -> str:
    """A text that is `plain`, without so much of its middle that it fits into a width in inches."""
    if text_width(text) <= width:
        return text
    letters = _letters(text)
    for kept in range(len(letters) - 1, 1, -1):
        short = "".join([*letters[: kept - kept // 2], "…", *letters[len(letters) - kept // 2 :]])
        if text_width(short) <= width:
            return short
    return "…"


def within(text: str, width: float) -> str:
    """As much of a text as fits into a width in inches."""
    if text_width(plain(text)) <= width:
        return text
    while text and text_width(plain(f"{text}…")) > width:
        text = text[:-1]
    return f"{text}…" if text else ""


def fitted(names: Iterable[str], width: float) -> list[str]:
    """Names in as many lines as a width in inches takes, each name's about as wide.

    A word of more than `MOST` lines is `shortened`, if names still differ.
    """
    whole = list(names)
    short = [" ".join(shortened(word, (MOST - 0.3) * width) for word in name.split()) for name in whole]
    if len(set(short)) < len(set(whole)):
        short = whole
    return ["\n".join(_even(lines_of(name, width))) for name in short]


def _even(lines: list[str]) -> list[str]:
    """The same words in as many lines, the widest of which is narrowest."""
    width = max(map(text_width, lines), default=0.0)
    words = " ".join(lines).split()
    tried = [_lines(words, share / 20 * width) for share in range(10, 20)]
    fit = [one for one in tried if len(one) == len(lines)]
    return min([lines, *fit], key=lambda one: max(map(text_width, one), default=0.0))


def most_lines(texts: Sequence[str]) -> int:
    """Lines of that of some texts which has most."""
    return max((text.count("\n") + 1 for text in texts), default=1)


def apart(texts: Sequence[str]) -> float:
    """Lines from the middle of a text to that of the one beneath, so that none of them touch."""
    lines = [text.count("\n") + 1 for text in texts]
    return max(((above + below) / 2 for above, below in pairwise(lines)), default=lines[0])
