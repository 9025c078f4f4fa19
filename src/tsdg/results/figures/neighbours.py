"""Which domains a learned similarity finds related: how often each is the nearest neighbour of another."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from tsdg.results.captions import legend, notes
from tsdg.results.figures.style import LINE, PAGE, save, style, unparsed, wrapped, write_below
from tsdg.results.reading import read_records
from tsdg.results.selected import shown_runs
from tsdg.study.layout import Layout, joined

COLORS = "Blues"  # one hue: the same to the colour-blind


def neighbour_fractions(neighbours: Iterable[Mapping[str, str]], domains: Sequence[str]) -> pd.DataFrame:
    """How often domain j was the nearest neighbour of domain i, of the runs in which both were sources.

    Parameters
    ----------
    neighbours : iterable of {domain: its neighbour}
        One mapping a run, of that run's sources.
    domains : sequence of str

    Returns
    -------
    DataFrame
        Domains i by domains j. 1 on the diagonal, as in the paper: a domain is nearest to itself; NaN where i
        and j were never sources together.
    """
    chosen = pd.DataFrame(0.0, index=domains, columns=domains)
    together = chosen.copy()
    for run in neighbours:
        sources = list(run)
        together.loc[sources, sources] += 1
        for domain, neighbour in run.items():
            chosen.loc[domain, neighbour] += 1
    fractions = chosen / together.where(together > 0)
    return fractions.mask([[i == j for j in domains] for i in domains], 1.0)


def draw(
    selected: pd.DataFrame,
    layout: Layout,
    runs: str | Path,
    out_folder: str | Path,
    name: str,
    *,
    variant: str,
    clusters: Mapping[str, Mapping[str, str]],
) -> list[Path]:
    """Draw `neighbour_fractions` at the end of training, a heat map a data set.

    Parameters
    ----------
    clusters : {data set: {domain: its cluster in words}}
        Lines separate the clusters that metadata make; a data set without them has none.
    """
    layout = unparsed(joined([layout], rows=[variant], metrics=["accuracy"]))
    shown = shown_runs(selected, layout)
    parts = []
    for panel in layout.panels:
        own = shown[shown["dataset"] == panel.dataset]
        ends = [r.neighbours[-1].of for _, r, _ in read_records(own, runs) if r.neighbours]
        domains = list(clusters[panel.dataset])
        parts.append((panel, neighbour_fractions(ends, domains), len(ends)))
    text = wrapped(
        [
            f"{layout.labels[variant]}: at the last update of the similarity in each run.",
            *legend(layout),
            *notes(selected, layout),
        ]
    )
    bar, left, gap, top = 0.75, 0.62, 0.75, 0.62  # inches
    side = min(2.9, (PAGE - left - bar - gap * (len(parts) - 1)) / len(parts))
    foot = LINE * len(text) + 0.55
    height = top + side + foot
    with style():
        figure = Figure(figsize=(PAGE, height))
        start = (PAGE - bar - left - len(parts) * side - gap * (len(parts) - 1)) / 2 + left
        colors = mpl.colormaps[COLORS].with_extremes(bad="#E3E3E3")
        for k, (panel, fractions, n) in enumerate(parts):
            x = start + k * (side + gap)
            ax = figure.add_axes((x / PAGE, foot / height, side / PAGE, side / height))
            image = ax.imshow(fractions, vmin=0, vmax=1, cmap=colors)
            ax.set_title(f"{panel.title}, {n} run{'' if n == 1 else 's'}", pad=18)
            _label(ax, fractions, clusters[panel.dataset])
        x += side + 0.15
        scale = figure.add_axes((x / PAGE, foot / height, 0.1 / PAGE, side / height))
        figure.colorbar(
            image, cax=scale, label="% of runs", format=PercentFormatter(1, symbol="")
        ).outline.set_linewidth(0.4)
        write_below(figure, text)
        return save(figure, out_folder, name)


def _label(ax: Axes, fractions: pd.DataFrame, clusters: Mapping[str, str]) -> None:
    domains = list(fractions.columns)
    size = 6 if len(domains) <= 8 else 5
    for i, row in enumerate(fractions.to_numpy()):
        for j, value in enumerate(row):
            if i != j and not math.isnan(value) and value > 0:
                color = "white" if value > 0.6 else "black"
                ax.text(j, i, f"{100 * value:.0f}", ha="center", va="center", fontsize=size, color=color)
    ax.set_xticks(range(len(domains)), domains)
    ax.set_yticks(range(len(domains)), domains)
    ax.tick_params(length=0)
    ax.set_xlabel("nearest neighbour j")
    ax.set_ylabel("domain i")
    ax.spines[:].set_visible(False)
    start = 0
    for cluster, members in groupby(domains, key=clusters.__getitem__):
        end = start + len(list(members))
        place = ((start + end - 1) / 2, -0.75)
        ax.text(*place, cluster, ha="center", va="bottom", color="#444444", fontsize=6, parse_math=False)
        if start:
            ax.axhline(start - 0.5, color="#333333", linewidth=0.8)
            ax.axvline(start - 0.5, color="#333333", linewidth=0.8)
        start = end
