"""Which domains a learned similarity finds related: how often each is the nearest neighbour of another."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from tsdg.results.captions import legend, notes, simulated
from tsdg.results.figures.foot import Foot
from tsdg.results.figures.heat import Maps, below_names, colors, name_cells, number_cells
from tsdg.results.figures.style import PAGE, QUIET, plain, save, stamp, style, text_width, unparsed, within
from tsdg.results.reading import read_records
from tsdg.results.selected import shown_runs
from tsdg.study.layout import Layout, joined


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
    width: float = PAGE,
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
    unknown = any(fractions.isna().any(axis=None) for _, fractions, _ in parts)
    foot = Foot(
        width,
        [
            f"{layout.labels[variant]}: at the last update of the similarity in each run.",
            *["Grey: never sources together."] * unknown,
            *legend(layout),
            *notes(selected, layout),
        ],
    )
    names = {panel.dataset: [plain(domain) for domain in fractions] for panel, fractions, _ in parts}
    every = [name for own in names.values() for name in own]
    maps = Maps(
        len(parts),
        max(map(len, names.values())),
        width,
        left=0.3 + max(map(text_width, every)),
        head=0.46,
        below=below_names(every),
        foot=foot.height,
    )
    with style():
        figure = Figure(figsize=(width, maps.height))
        for k, (panel, fractions, n) in enumerate(parts):
            ax = maps.axes(figure, *maps.place(k), maps.side, maps.side)
            image = ax.imshow(fractions, vmin=0, vmax=1, cmap=colors())
            ax.set_title(f"{panel.title}, {n} run{'' if n == 1 else 's'}", pad=16)
            off_diagonal = fractions.where(fractions > 0).mask(
                [[i == j for j in fractions] for i in fractions.index]
            )
            number_cells(ax, off_diagonal, maps.side)
            name_cells(ax, names[panel.dataset], maps.side)
            ax.set(xlabel="nearest neighbour j", ylabel="domain i")
            _part(ax, fractions, clusters[panel.dataset], maps.side)
        key = figure.colorbar(
            image, cax=maps.key(figure), label="% of runs", format=PercentFormatter(1, symbol="")
        )
        key.outline.set_linewidth(0.4)
        foot.write(figure)
        return save(figure, out_folder, name, stamp=stamp(simulated(selected, layout), layout))


def _part(ax: Axes, fractions: pd.DataFrame, clusters: Mapping[str, str], side: float) -> None:
    """Lines between the clusters of domains, and what each is, as far as its room goes."""
    domains = list(fractions.columns)
    start = 0
    for cluster, members in groupby(domains, key=clusters.__getitem__):
        end = start + len(list(members))
        place = ((start + end - 1) / 2, -0.62)
        words = within(cluster, (end - start) * side / len(domains))
        ax.text(*place, words, ha="center", va="bottom", color=QUIET, parse_math=False)
        if start:
            ax.axhline(start - 0.5, color="#333333", linewidth=0.8)
            ax.axvline(start - 0.5, color="#333333", linewidth=0.8)
        start = end
