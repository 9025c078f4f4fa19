"""Square heat maps of domains by domains: where they stand with their key, their names and numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure

from tsdg.results.figures.style import LINE, text_width

COLORS = "Blues"  # one hue: the same to the colour-blind
NARROWEST, WIDEST, CELL = 1.9, 2.9, 0.21  # a map; a cell of one of many domains, inches
KEY, APART = 0.55, 0.15  # room of the key, and between a map and it, inches


@dataclass(frozen=True)
class Maps:
    """Maps and their key on a page, as many abreast as fit.

    Attributes
    ----------
    count : int
        Of maps.
    domains : int
        Of the largest.
    width, left, head, below, foot : float
        Of the page; of what stands left of each map, above and below it, and beneath all, in inches.
    """

    count: int
    domains: int
    width: float
    left: float
    head: float
    below: float
    foot: float

    @property
    def abreast(self) -> int:
        """Maps side by side."""
        return max(1, min(self.count, int((self.width - KEY - APART) / (self.left + NARROWEST))))

    @property
    def side(self) -> float:
        """Of a map, inches."""
        room = (self.width - KEY - APART) / self.abreast - self.left
        return min(max(WIDEST, CELL * self.domains), room)

    @property
    def height(self) -> float:
        """Of the page, inches."""
        return math.ceil(self.count / self.abreast) * (self.head + self.side + self.below) + self.foot

    def place(self, k: int) -> tuple[float, float]:
        """Lower left corner of a map, inches."""
        taken = self.abreast * (self.left + self.side) + APART + KEY
        x = max(0.0, (self.width - taken) / 2) + self.left + k % self.abreast * (self.left + self.side)
        lines_above = k // self.abreast * (self.head + self.side + self.below)
        return x, self.height - lines_above - self.head - self.side

    def axes(self, figure: Figure, x: float, y: float, wide: float, high: float) -> Axes:
        """Axes at a place in inches."""
        return figure.add_axes((x / self.width, y / self.height, wide / self.width, high / self.height))

    def key(self, figure: Figure) -> Axes:
        """Axes of the key, beside the first line of maps."""
        x, y = self.place(self.abreast - 1)
        return self.axes(figure, x + self.side + APART, y, 0.1, self.side)


def colors() -> Colormap:
    """The one scale, with grey where there is no value."""
    return mpl.colormaps[COLORS].with_extremes(bad="#E3E3E3")


def number_cells(ax: Axes, shares: pd.DataFrame, side: float) -> None:
    """Write values between 0 and 1 as percent into their cells, if all fit; NaN is nothing."""
    words = shares.map(lambda value: "" if math.isnan(value) else f"{100 * value:.0f}")
    widest = max(map(text_width, words.to_numpy().ravel()), default=0)
    if max(widest + 0.01, 0.1) > side / len(shares):
        return
    for i, row in enumerate(words.to_numpy()):
        for j, word in enumerate(row):
            color = "white" if shares.iat[i, j] > 0.7 else "black"
            ax.text(j, i, word, ha="center", va="center", color=color)


def lines_that_fit(count: int, side: float) -> range:
    """Which of the lines of a map have room for a word: all, or every second or third."""
    return range(0, count, max(1, math.ceil(0.85 * LINE * count / side)))


def name_cells(ax: Axes, names: Sequence[str], side: float) -> None:
    """Name rows and columns; where lines of text do not fit, every second or third of them."""
    some = lines_that_fit(len(names), side)
    ax.set_xticks(some, [names[k] for k in some])
    ax.set_yticks(some, [names[k] for k in some])
    if max(map(text_width, names)) + 0.03 > some.step * side / len(names):
        ax.tick_params(axis="x", labelrotation=90)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def below_names(names: Sequence[str]) -> float:
    """Room beneath a map for names, upright if need be, and the axis label, in inches."""
    return max(map(text_width, names)) + LINE + 0.16
