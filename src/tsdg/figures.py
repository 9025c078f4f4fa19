"""Figures, from the same selected runs and layouts as the tables."""

import math
import textwrap
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tsdg.tables import AVERAGE, METRICS, compare, notes, panels, shown, summarise

COLUMN, PAGE = 3.45, 7.16  # widths of a column and of a page of a two-column paper, inches
BASELINE, OURS, PAPER, FAINT = "#0072B2", "#D55E00", "#333333", "#999999"  # Okabe and Ito's, and greys


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
            "legend.frameon": False,
            "pdf.fonttype": 42,
        }
    )


def save(figure: Figure, out_folder: str | Path, name: str) -> list[Path]:
    """Write ``{name}.pdf`` and ``{name}.png`` without a date: an equal figure is equal bytes."""
    folder = Path(out_folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.pdf", folder / f"{name}.png"]
    figure.savefig(paths[0], metadata={"CreationDate": None})
    figure.savefig(paths[1], dpi=300)
    return paths


def accuracy_by_target(
    selected: pd.DataFrame, layout: Mapping[str, Any], out_folder: str | Path, name: str
) -> list[Path]:
    """Accuracy on each target and on average, a dot a variant with the standard deviation over seeds.

    The paper's printed numbers are hollow diamonds; a variant without a result says why. What the table's
    caption must say of protocol, data and gaps stands below.

    Parameters
    ----------
    selected, layout
        As for `tsdg.tables.render`; of the metrics the accuracy is drawn, whether the table has it or not.

    Returns
    -------
    list of Path
        ``{name}.pdf``, ``{name}.png``.
    """
    layout = {key: value for key, value in layout.items() if key not in panels(layout)[0]} | {
        "panels": [{**panel, "metrics": ["accuracy"]} for panel in panels(layout)]
    }
    summary = summarise(selected, layout)
    paper = compare(summary, layout)
    facets = [(panel, target) for panel in panels(layout) for target in shown(panel)]
    columns = min(5, len(facets))
    lines = math.ceil(len(facets) / columns)
    remarks = textwrap.wrap(" ".join(notes(selected, layout)), 160)
    text = 0.1 * len(remarks)
    foot = text + 0.72  # axis label and legend
    panel_height, gap = 0.2 + 0.125 * len(layout["rows"]), 0.35
    height = lines * (panel_height + gap) + foot
    with style():
        figure = Figure(figsize=(PAGE, height))
        axes = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        for ax in axes.flat[len(facets) :]:
            ax.set_visible(False)
        for ax, (panel, target) in zip(axes.flat, facets, strict=False):
            here = (summary["dataset"] == panel["dataset"]) & (summary["target"] == target)
            there = (paper["dataset"] == panel["dataset"]) & (paper["target"] == target)
            _dots(ax, summary[here], paper[there], layout)
            title = "Average" if target == AVERAGE else f"Target {target}"
            ax.set_title(
                f"{panel['title']}, {title[0].lower()}{title[1:]}" if len(panels(layout)) > 1 else title
            )
        for column in range(columns):
            lowest = axes[(len(facets) - 1 - column) // columns, column]
            lowest.set_xlabel(METRICS["accuracy"].heading)
            lowest.tick_params(labelbottom=True)
        figure.subplots_adjust(left=0.19, right=0.98, wspace=0.1, hspace=gap / panel_height)
        figure.subplots_adjust(top=1 - 0.25 / height, bottom=foot / height)
        handles = _legend(layout, bool(paper["paper"].notna().any()))
        figure.legend(
            handles=handles, loc="lower center", ncols=4, bbox_to_anchor=(0.5, (text + 0.08) / height)
        )
        figure.text(0.015, 0.05 / height, "\n".join(remarks), fontsize=6, color="#444444", va="bottom")
        return save(figure, out_folder, name)


def _dots(ax: Axes, summary: pd.DataFrame, paper: pd.DataFrame, layout: Mapping[str, Any]) -> None:
    ours = layout.get("ours") or []
    labels = list(summary["label"])
    for y, row in enumerate(summary.itertuples()):
        color = OURS if row.variant in ours else BASELINE
        if math.isnan(row.mean):
            why = "diverged" if row.diverged and not row.missing else "missing"
            ax.text(
                0.02,
                y,
                why,
                transform=ax.get_yaxis_transform(),
                color=FAINT,
                va="center",
                style="italic",
                fontsize=6,
            )
            continue
        if not math.isnan(row.std):
            ax.plot([row.mean - row.std, row.mean + row.std], [y, y], color=color, linewidth=1.2, alpha=0.6)
        ax.plot(row.mean, y, "o", color=color, markersize=3.2)
    places = {variant: y for y, variant in enumerate(summary["variant"])}
    known = paper[paper["paper"].notna()]
    ax.plot(known["paper"], known["variant"].map(places), "D", mfc="none", mec=PAPER, mew=0.7, markersize=4)
    if ours and len(ours) < len(labels):
        ax.axhline(len(labels) - len(ours) - 0.5, color=FAINT, linewidth=0.6, linestyle=(0, (4, 3)))
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")


def _legend(layout: Mapping[str, Any], paper: bool) -> list[Line2D]:
    def dots(color: str, label: str) -> Line2D:
        return Line2D([], [], color=color, label=label, linewidth=1.2, marker="o", markersize=3.2)

    handles = [dots(BASELINE, "mean ± standard deviation over seeds")]
    if layout.get("ours"):
        handles.append(dots(OURS, "the same, ours"))
    if paper:
        diamond = Line2D([], [], color=PAPER, label="printed in the paper", linestyle="", marker="D")
        diamond.set(markersize=4, markerfacecolor="none", markeredgewidth=0.7)
        handles.append(diamond)
    return handles
