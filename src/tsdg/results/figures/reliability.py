"""Are predictions as sure as they are right? Accuracy against confidence on each target."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tsdg.results.captions import legend, notes
from tsdg.results.figures.squares import squares
from tsdg.results.figures.style import (
    BASELINE,
    FAINT,
    OURS,
    save,
    style,
    unparsed,
    wrapped,
)
from tsdg.results.reading import read_records
from tsdg.results.selected import shown_runs
from tsdg.runs.record import Bins, TargetScores
from tsdg.study.layout import Layout, joined


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
) -> list[Path]:
    """Draw a reliability diagram of each of some variants on each target, the seeds' samples pooled.

    The ECE printed is that of the table, the mean over seeds of each seed's own.
    """
    layout = unparsed(joined([layout], rows=rows, metrics=["ece"]))
    shown = shown_runs(selected, layout)
    found: dict[tuple, list] = {}
    for row, _, chosen in read_records(shown, runs):
        if chosen.target.reliability is not None:
            found.setdefault((row.dataset, row.target, row.variant), []).append(chosen.target)
    text = wrapped(
        [
            "Across: confidence; up: accuracy; a dot is a bin of all seeds' windows, the larger the more.",
            "The number is the ECE in %, the mean over seeds as in the table.",
            *legend(layout),
            *notes(selected, layout),
        ]
    )
    with style():
        figure, cells = squares(layout, text, legend=_legend(layout))
        for cell in cells:
            color = OURS if cell.variant in layout.ours else BASELINE
            _diagram(cell.ax, found.get((cell.panel.dataset, cell.target, cell.variant), []), color)
        for cell in cells:
            cell.ax.tick_params(labelleft=cell.first, labelbottom=cell.last)
        return save(figure, out_folder, name)


def _diagram(ax: Axes, targets: Sequence[TargetScores], color: str) -> None:
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.set_xticks([0, 0.5, 1], ["", "0.5", ""])
    ax.set_yticks([0, 0.5, 1], ["", "0.5", ""])
    ax.tick_params(length=2, pad=2, labelbottom=False, labelleft=False)
    ax.spines[:].set_visible(True)
    if not targets:
        ax.text(0.5, 0.5, "missing", ha="center", va="center", color=FAINT, style="italic", fontsize=6)
        return
    table = pooled_bins(target.reliability for target in targets if target.reliability)
    edges = np.linspace(0, 1, len(table) + 1)
    ax.bar(
        edges[:-1], table["count"] / table["count"].sum(), width=np.diff(edges), align="edge", color="#E3E3E3"
    )
    ax.plot([0, 1], [0, 1], color=FAINT, linewidth=0.6, linestyle=(0, (4, 3)))
    filled = table[table["count"] > 0]
    ax.plot(filled["confidence"], filled["accuracy"], color=color, linewidth=0.6, alpha=0.5)
    area = 1 + 30 * filled["count"] / table["count"].sum()
    ax.scatter(filled["confidence"], filled["accuracy"], s=area, color=color, linewidth=0, zorder=3)
    ece = math.fsum(target.ece for target in targets) / len(targets)
    ax.text(0.05, 0.94, f"{100 * ece:.1f}", ha="left", va="top", fontsize=6.5)


def _legend(layout: Layout) -> list[Line2D | Patch]:
    ours = bool(layout.ours)
    handles: list[Line2D | Patch] = []
    if len(layout.ours) < len(layout.rows):
        handles.append(
            Line2D([], [], color=BASELINE, marker="o", ms=2, lw=0.9, label="accuracy of a confidence bin")
        )
    if ours:
        label = "the same, ours" if handles else "accuracy of a confidence bin"
        handles.append(Line2D([], [], color=OURS, marker="o", ms=2, lw=0.9, label=label))
    diagonal = Line2D([], [], color=FAINT, lw=0.6, linestyle=(0, (4, 3)), label="as sure as right")
    return [*handles, diagonal, Patch(color="#E3E3E3", label="share of the windows")]
