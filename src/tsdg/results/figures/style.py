"""The one look of all figures, and what must be said beneath them."""

import re
import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from tsdg.files import atomic
from tsdg.study.layout import Layout

COLUMN, PAGE = 3.45, 7.16  # widths of a column and of a page of a two-column paper, inches
BASELINE, OURS, PAPER, FAINT = "#0072B2", "#D55E00", "#333333", "#999999"  # Okabe and Ito's, and greys
SERIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#333333")  # Okabe and Ito's
LINE = 0.1  # height of a line of remarks, inches


def style() -> AbstractContextManager:
    """The one look: sans serif at 7 points, readable at printed size; fonts embedded as text."""
    return mpl.rc_context(
        {
            "font.family": "DejaVu Sans",
            "font.size": 7,
            "axes.titlesize": 8,
            "axes.labelsize": 7,
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
            "legend.frameon": False,
            "pdf.fonttype": 42,
        }
    )


def save(figure: Figure, out_folder: str | Path, name: str) -> list[Path]:
    """Write ``{name}.pdf`` and ``{name}.png`` without a date: an equal figure is equal bytes."""
    folder = Path(out_folder)
    paths = [folder / f"{name}.pdf", folder / f"{name}.png"]
    with atomic(paths[0]) as temporary:
        figure.savefig(temporary, format="pdf", metadata={"CreationDate": None})
    with atomic(paths[1]) as temporary:
        figure.savefig(temporary, format="png", dpi=300)
    return paths


def plain(text: str) -> str:
    """A text whose dollars matplotlib draws, in place of taking them for mathematics."""
    return text.replace("$", r"\$")


def unparsed(layout: Layout) -> Layout:
    """A layout whose labels and titles are `plain`."""
    return replace(
        layout,
        labels={row: plain(label) for row, label in layout.labels.items()},
        panels=tuple(replace(panel, title=plain(panel.title)) for panel in layout.panels),
    )


def text_width(text: str) -> float:
    """Width of a line of text in the size of labels, inches; to be called within `style`."""
    font = FontProperties(family=mpl.rcParams["font.family"], size=mpl.rcParams["font.size"])
    return TextPath((0, 0), text, prop=font).get_extents().width / 72


def wrapped(sentences: Sequence[str]) -> list[str]:
    """Remarks as lines of a page's width; `LINE` inches each."""
    return textwrap.wrap(" ".join(sentences), 160)


def write_below(figure: Figure, lines: Sequence[str]) -> None:
    """Write remarks at the foot of a figure as wide as a page."""
    height = figure.get_size_inches()[1]
    text = re.sub(r"(?<!\\)\$", r"\$", "\n".join(lines))  # titles and labels are `plain` already
    figure.text(0.015, 0.05 / height, text, fontsize=6, color="#444444", va="bottom")
