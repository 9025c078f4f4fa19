"""What stands beneath a figure: its legend, and what must be said of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.figure import Figure

from tsdg.results.figures.style import QUIET, lines_of, text_width

LINE, ENTRY = 0.112, 0.143  # heights of a line of the remarks and of the legend, inches
MARGIN, HANDLE = 0.06, 0.42  # at the edges; of a legend's line and the gap after its words, inches


@dataclass(frozen=True)
class Foot:
    """Legend and remarks of a figure.

    Attributes
    ----------
    width : float
        The figure's, in inches.
    remarks : sequence of str
        Sentences.
    handles : sequence of Artist
        Of the legend.
    """

    width: float
    remarks: Sequence[str]
    handles: Sequence[Artist] = ()

    @property
    def lines(self) -> list[str]:
        """The remarks in lines; titles and labels in them are plain already."""
        text = re.sub(r"(?<!\\)\$", r"\$", " ".join(self.remarks))
        return lines_of(text, self.width - 2 * MARGIN)

    @property
    def columns(self) -> int:
        """How many entries of the legend stand side by side."""
        widest = max((text_width(str(handle.get_label())) for handle in self.handles), default=0)
        most = max(1, int((self.width - MARGIN) / (widest + HANDLE)))
        return -(-len(self.handles) // max(1, -(-len(self.handles) // most))) or 1

    @property
    def height(self) -> float:
        """Of both, in inches."""
        return MARGIN + LINE * len(self.lines) + self._legend

    @property
    def _legend(self) -> float:
        return 0.06 + ENTRY * -(-len(self.handles) // self.columns) if self.handles else 0.0

    def write(self, figure: Figure) -> None:
        """Draw both at the foot of a figure."""
        height = figure.get_size_inches()[1]
        text = "\n".join(self.lines)
        figure.text(
            MARGIN / self.width, 0.5 * MARGIN / height, text, color=QUIET, va="bottom", linespacing=1.15
        )
        if self.handles:
            figure.legend(
                handles=list(self.handles),
                loc="lower center",
                ncols=self.columns,
                bbox_to_anchor=(0.5, (MARGIN + LINE * len(self.lines)) / height),
                borderpad=0.1,
                labelspacing=0.3,
                handlelength=2,
                columnspacing=1.2,
                borderaxespad=0,
            )
