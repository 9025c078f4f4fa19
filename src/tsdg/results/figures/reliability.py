"""Are predictions as sure as they are right? Accuracy against confidence on each target."""

import math
from collections.abc import Iterable, Sequence
from itertools import chain, starmap
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tsdg.results.captions import notes, simulated
from tsdg.results.figures.facets import ALL
from tsdg.results.figures.squares import over_targets, say_gap, squares
from tsdg.results.figures.style import (
    FAINT,
    PAGE,
    Look,
    look,
    looks,
    save,
    stamp,
    style,
    unparsed,
)
from tsdg.results.reading import read_records
from tsdg.results.selected import shown_runs
from tsdg.runs.record import Bins, TargetScores
from tsdg.study.layout import Layout, joined

FEWEST = 10  # windows of a bin, below which its accuracy says nothing
SHARES = "#E3E3E3"


def pooled_bins(bins: Iterable[Bins]) -> pd.DataFrame:
    """Reliability bins of several runs as those of all their samples together.

    Parameters
    ----------
    bins : iterable of mapping
        As `tsdg.learning.metrics.reliability` returns them, all of equally many bins.

    Returns
    -------
    DataFrame
        ``count``, ``confidence``, ``accuracy`` by bin; the latter two NaN where a bin is empty.
    """
    parts = [pd.DataFrame(dict(part), dtype=float) for part in bins]
    count = sum(part["count"] for part in parts)
    sums = {
        key: sum((part["count"] * part[key]).fillna(0) for part in parts)
        for key in ("confidence", "accuracy")
    }
    return pd.DataFrame({"count": count, **{key: total / count for key, total in sums.items()}})


def draw(
    selected: pd.DataFrame,
    layout: Layout,
    runs: str | Path,
    out_folder: str | Path,
    name: str,
    *,
    rows: Sequence[str],
    width: float = PAGE,
) -> list[Path]:
    """Draw a reliability diagram of each of some variants on each target, the seeds' samples pooled.

    The ECE above each is that of the table, the mean over seeds of each seed's own. Bins of fewer than
    `FEWEST` windows are not drawn, and counted beneath; the ECE has them.
    """
    layout = unparsed(joined([layout], rows=rows, metrics=["ece"]))
    single: dict[tuple[str, str, str], dict[int, TargetScores]] = {}
    for row, _, chosen in read_records(shown_runs(selected, layout), runs):
        if chosen.target.reliability is not None:
            single.setdefault((row.dataset, row.variant, row.target), {})[row.seed] = chosen.target
    found = {place: list(by_seed.values()) for place, by_seed in single.items()}
    for place, by_seed in over_targets(single, layout).items():
        found[place] = list(chain(*by_seed.values()))
    bins = {place: pooled_bins(t.reliability for t in own if t.reliability) for place, own in found.items()}

    def remarks(together: bool) -> list[str]:
        shown = [table["count"] for place, table in bins.items() if (place[2] == ALL) == together]
        filled = [count for counts in shown for count in counts if count]
        thin = sum(count < FEWEST for count in filled)
        over = "seeds and targets" if together else "seeds"
        return [
            f"Windows of all seeds together; the ECE in % is the mean over {over}, as in the table.",
            *[f"Bins of fewer than {FEWEST} windows are not drawn: {thin} of {len(filled)}."] * bool(thin),
            *notes(selected, layout),
        ]

    with style():
        figure, cells = squares(layout, remarks, width=width, legend=_legend(layout))
        for cell in cells:
            at = (cell.panel.dataset, cell.variant, cell.target)
            _diagram(cell.ax, bins.get(at), found.get(at, []), look(cell.variant, layout))
            if at not in bins:
                say_gap(cell, selected, layout)
            if cell.first:
                cell.ax.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
                cell.ax.set_ylabel(f"{cell.label}\naccuracy", labelpad=1, linespacing=1.1)
            if cell.last:
                cell.ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
                cell.ax.set_xlabel("confidence", labelpad=1)
        return save(figure, out_folder, name, stamp=stamp(simulated(selected, layout), layout))


def _diagram(ax: Axes, table: pd.DataFrame | None, targets: Sequence[TargetScores], look: Look) -> None:
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.set_xticks([0, 0.5, 1], ["", "", ""])
    ax.set_yticks([0, 0.5, 1], ["", "", ""])
    ax.tick_params(length=2, pad=2)
    ax.spines[:].set_visible(True)
    if table is None:
        return
    edges = np.linspace(0, 1, len(table) + 1)
    width = edges[1]
    ax.bar(edges[:-1], table["count"] / table["count"].sum(), width, align="edge", color=SHARES)
    ax.plot([0, 1], [0, 1], color=FAINT, linewidth=0.6, linestyle=(0, (4, 3)))
    thick = table[table["count"] >= FEWEST]
    sure, right = thick["confidence"], thick["accuracy"]
    ax.bar(sure, right - sure, 0.5 * width, bottom=sure, color=look.color, alpha=0.3, linewidth=0)
    ax.plot(sure, right, look.marker, color=look.color, ls="-", lw=0.6, ms=2.2, clip_on=False, zorder=3)
    ece = math.fsum(target.ece for target in targets) / len(targets)
    ax.set_title(f"ECE {100 * ece:.1f}", pad=3.5)  # clear of markers at 1


def _legend(layout: Layout) -> list[Line2D | Patch]:
    def dots(color: str, marker: str, label: str) -> Line2D:
        return Line2D([], [], color=color, marker=marker, ms=2.2, lw=0.6, label=label)

    first, *others = looks(layout.rows, layout)
    handles = [dots(first.color, first.marker, "accuracy in a bin of confidence"), *starmap(dots, others)]
    return [
        *handles,
        Patch(color=first.color, alpha=0.3, linewidth=0, label="gap to confidence"),
        Line2D([], [], color=FAINT, lw=0.6, linestyle=(0, (4, 3)), label="as sure as right"),
        Patch(color=SHARES, label="share of the windows"),
    ]
