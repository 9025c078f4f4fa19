"""Who can learn from whom: what is learned on one domain alone, tried on every other."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.cluster import hierarchy

from tsdg.files import write_text
from tsdg.results.captions import notes, simulated
from tsdg.results.figures.foot import Foot
from tsdg.results.figures.heat import Maps, below_names, colors, name_cells, number_cells
from tsdg.results.figures.style import PAGE, QUIET, plain, save, style, text_width, unparsed, within
from tsdg.results.figures.style import stamp as said
from tsdg.results.numbers import over_seeds
from tsdg.results.reading import read_records
from tsdg.results.selected import shown_runs
from tsdg.runs.transfer import Metadata, ordered, shared_fields
from tsdg.study.layout import Layout, joined

STRIP, TREE = 0.16, 0.45  # heights of the line of a metadata field and of the tree, inches
EXPLAINED = (
    "Accuracy in %: learned on the domain of the row alone, tried on that of the column; on the diagonal, on "
    "the domain's own validation windows. The tree joins domains that learn well from each other."
)


class Matrix(NamedTuple):
    """A data set's part of the figure: accuracies between 0 and 1 of sources by domains."""

    title: str
    accuracies: pd.DataFrame
    metadata: Metadata


def transfers(selected: pd.DataFrame, layout: Layout, variant: str, runs: str | Path) -> pd.DataFrame:
    """Accuracies of a variant that learned on one domain alone, from the records of the selected runs.

    Returns
    -------
    DataFrame
        A row for each data set, ``source`` and ``domain``: ``mean``, ``std`` and ``n`` over seeds, between 0
        and 1. Where the two are one, that of its validation windows.
    """
    found: dict[tuple[str, str, str], dict[int, float]] = {}
    shown = shown_runs(selected, layout)
    for row, record, checkpoint in read_records(shown[shown["variant"] == variant], runs):
        [source] = record.sources
        scores = {**checkpoint.validation, **checkpoint.target.domains}
        for domain, of_domain in scores.items():
            found.setdefault((row.dataset, source, domain), {})[row.seed] = of_domain.accuracy
    rows = [
        dict(zip(("dataset", "source", "domain"), place, strict=True)) | over_seeds(values)._asdict()
        for place, values in found.items()
    ]
    return pd.DataFrame(rows, columns=["dataset", "source", "domain", "mean", "std", "n"])


def draw(
    selected: pd.DataFrame,
    layout: Layout,
    runs: str | Path,
    out_folder: str | Path,
    name: str,
    *,
    variant: str,
    metadata: Mapping[str, Metadata],
    width: float = PAGE,
) -> list[Path]:
    """Draw the matrix of each data set in hierarchical order, and write `transfers` beside it as csv.

    Parameters
    ----------
    metadata : mapping
        Of each domain of each data set.
    """
    layout = unparsed(joined([layout], rows=[variant], metrics=["accuracy"]))
    table = transfers(selected, layout, variant, runs)
    parts = []
    for panel in layout.panels:
        domains = list(metadata[panel.dataset])
        own = table[table["dataset"] == panel.dataset].pivot(index="source", columns="domain", values="mean")
        own = own.reindex(index=domains, columns=domains)
        parts.append(Matrix(panel.title, own.astype(float), metadata[panel.dataset]))
    remarks = [f"{layout.labels[variant]}. {EXPLAINED}", *notes(selected, layout)]
    path = Path(out_folder, f"{name}.csv")
    write_text(path, table.assign(variant=variant).to_csv(index=False, lineterminator="\n"))
    unreal = said(simulated(selected, layout), layout)
    return [*render(parts, remarks, out_folder, name, width=width, stamp=unreal), path]


def render(
    parts: Sequence[Matrix],
    remarks: Sequence[str],
    out_folder: str | Path,
    name: str,
    *,
    width: float = PAGE,
    stamp: str = "",
) -> list[Path]:
    """Draw matrices: tree, a line for each metadata field that domains share, heat map; their key beside."""
    fields = [shared_fields(list(part.accuracies.index), part.metadata) for part in parts]
    foot = Foot(width, remarks)
    every = [plain(domain) for part in parts for domain in part.accuracies]
    outside = [plain(field) for of_part in fields for field in of_part]
    longest = max(map(text_width, every))
    maps = Maps(
        len(parts),
        max(len(part.accuracies) for part in parts),
        width,
        left=max([0.3 + longest, *(0.12 + text_width(field) for field in outside)]),
        head=0.3 + TREE + STRIP * max(map(len, fields)),
        below=below_names(every),
        foot=foot.height,
    )
    side = maps.side
    with style():
        figure = Figure(figsize=(width, maps.height))
        for k, (part, names) in enumerate(zip(parts, fields, strict=True)):
            (x, y), order = maps.place(k), ordered(part.accuracies)
            ax = maps.axes(figure, x, y, side, side)
            values = part.accuracies.loc[order.domains, order.domains]
            image = ax.imshow(100 * values, vmin=0, vmax=100, cmap=colors(), aspect="auto")
            number_cells(ax, values, side)
            name_cells(ax, [plain(domain) for domain in order.domains], side)
            ax.set(xlabel="tried on", ylabel="learned on")
            runs = {field: _runs(order.domains, part.metadata, field) for field in names}
            for j, field in enumerate(reversed(names)):
                strip = maps.axes(figure, x, y + side + j * STRIP, side, STRIP)
                _strip(strip, field, runs[field], len(values), side)
            whole = [own for own in runs.values() if len(own) == len({value for value, _ in own})]
            if whole:  # not of what the order scatters
                _separate(ax, min(whole, key=len))
            tree = maps.axes(figure, x, y + side + STRIP * len(names), side, TREE)
            _tree(tree, order.tree, len(values))
            tree.set_title(part.title, pad=3)
        key = figure.colorbar(image, cax=maps.key(figure), label="accuracy (%)")
        key.outline.set_linewidth(0.4)
        foot.write(figure)
        return save(figure, out_folder, name, stamp=stamp)


def _runs(domains: Sequence[str], metadata: Metadata, field: str) -> list[tuple[Any, int]]:
    """The values of a metadata field along the domains, each with how many domains in a row have it."""
    values = (metadata[domain].get(field, "") for domain in domains)
    return [(value, len(list(members))) for value, members in groupby(values)]


def _strip(ax: Axes, field: str, runs: Sequence[tuple[Any, int]], domains: int, side: float) -> None:
    """A line above the matrix: a metadata field's values, parted where they change."""
    ax.set_xlim(0, domains)
    ax.set_ylim(0, 1)
    ax.axis("off")
    ax.text(-0.05 * domains / side, 0.5, field, ha="right", va="center", color=QUIET, parse_math=False)
    start = 0
    for value, length in runs:
        words = within(str(value), length * side / domains)
        ax.text(start + length / 2, 0.5, words, ha="center", va="center", color=QUIET, parse_math=False)
        if start:
            ax.axvline(start, color="#999999", linewidth=0.5)
        start += length


def _separate(ax: Axes, runs: Sequence[tuple[Any, int]]) -> None:
    """Lines through the matrix where a metadata field changes."""
    start = 0
    for _, length in runs[:-1]:
        start += length
        ax.axhline(start - 0.5, color="#333333", linewidth=0.8)
        ax.axvline(start - 0.5, color="#333333", linewidth=0.8)


def _tree(ax: Axes, tree: Any, domains: int) -> None:
    drawn = hierarchy.dendrogram(tree, no_plot=True)
    for x, y in zip(drawn["icoord"], drawn["dcoord"], strict=True):
        ax.plot([(place - 5) / 10 for place in x], y, color="#666666", linewidth=0.7, clip_on=False)
    ax.set_xlim(-0.5, domains - 0.5)
    ax.set_ylim(0, 1.05 * max(float(tree[:, 2].max()), 1e-9))
    ax.axis("off")
