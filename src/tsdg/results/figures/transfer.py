"""Who can learn from whom: what is learned on one domain alone, tried on every other."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.cluster import hierarchy

from tsdg.files import write_text
from tsdg.results.captions import notes
from tsdg.results.figures.style import (
    LINE,
    PAGE,
    plain,
    save,
    style,
    text_width,
    unparsed,
    wrapped,
    write_below,
)
from tsdg.results.numbers import over_seeds
from tsdg.results.reading import read_records
from tsdg.results.selected import shown_runs
from tsdg.runs.transfer import Metadata, ordered, shared_fields
from tsdg.study.layout import Layout, joined

COLORS = "Blues"  # one hue: the same to the colour-blind
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
    return [*render(parts, remarks, out_folder, name), path]


def render(parts: Sequence[Matrix], remarks: Sequence[str], out_folder: str | Path, name: str) -> list[Path]:
    """Draw matrices side by side: tree, a line for each metadata field that domains share, heat map."""
    text = wrapped(remarks)
    fields = [shared_fields(list(part.accuracies.index), part.metadata) for part in parts]
    with style():
        longest = max(text_width(plain(domain)) for part in parts for domain in part.accuracies)
    bar, left, gap = 0.75, 0.45 + longest, 0.58 + longest  # inches
    head = 0.3 + TREE + STRIP * max(map(len, fields))
    most = max(len(part.accuracies) for part in parts)
    side = min(max(2.9, 0.21 * most), (PAGE - left - bar - gap * (len(parts) - 1)) / len(parts))
    foot = LINE * len(text) + 0.5 + max(0.05, longest)
    height = head + side + foot
    with style():
        figure = Figure(figsize=(PAGE, height))
        start = (PAGE - bar - left - len(parts) * side - gap * (len(parts) - 1)) / 2 + left
        colors = mpl.colormaps[COLORS].with_extremes(bad="#E3E3E3")

        def axes(x: float, y: float, high: float) -> Axes:
            return figure.add_axes((x / PAGE, y / height, side / PAGE, high / height))

        for k, (part, names) in enumerate(zip(parts, fields, strict=True)):
            x, order = start + k * (side + gap), ordered(part.accuracies)
            ax = axes(x, foot, side)
            values = part.accuracies.loc[order.domains, order.domains]
            image = ax.imshow(100 * values, vmin=0, vmax=100, cmap=colors, aspect="auto")
            _label(ax, values)
            runs = {name: _runs(order.domains, part.metadata, name) for name in names}
            for j, name_ in enumerate(reversed(names)):
                _strip(axes(x, foot + side + j * STRIP, STRIP), name_, runs[name_], len(values), side)
            if runs:
                _separate(ax, min(runs.values(), key=len))
            tree = axes(x, foot + side + STRIP * len(names), TREE)
            _tree(tree, order.tree, len(values))
            tree.set_title(part.title, pad=3)
        scale = figure.add_axes(((x + side + 0.15) / PAGE, foot / height, 0.1 / PAGE, side / height))
        figure.colorbar(image, cax=scale, label="accuracy (%)").outline.set_linewidth(0.4)
        write_below(figure, text)
        return save(figure, out_folder, name)


def _label(ax: Axes, values: pd.DataFrame) -> None:
    domains = [plain(domain) for domain in values.columns]
    size = 6 if len(domains) <= 10 else 4.5 if len(domains) <= 20 else 3.5
    for i, row in enumerate(values.to_numpy()):
        for j, value in enumerate(row):
            if not math.isnan(value):
                color = "white" if value > 0.6 else "black"
                ax.text(j, i, f"{100 * value:.0f}", ha="center", va="center", fontsize=size, color=color)
    ax.set_xticks(range(len(domains)), domains, fontsize=max(size, 5))
    ax.set_yticks(range(len(domains)), domains, fontsize=max(size, 5))
    if max(map(len, domains)) > 3:
        ax.tick_params(axis="x", labelrotation=90)
    ax.tick_params(length=0)
    ax.set_xlabel("tried on")
    ax.set_ylabel("learned on")
    ax.spines[:].set_visible(False)


def _runs(domains: Sequence[str], metadata: Metadata, field: str) -> list[tuple[Any, int]]:
    """The values of a metadata field along the domains, each with how many domains in a row have it."""
    values = (metadata[domain].get(field, "") for domain in domains)
    return [(value, len(list(members))) for value, members in groupby(values)]


def _strip(ax: Axes, field: str, runs: Sequence[tuple[Any, int]], domains: int, side: float) -> None:
    """A line above the matrix: a metadata field's values, parted where they change."""
    ax.set_xlim(0, domains)
    ax.set_ylim(0, 1)
    ax.axis("off")
    ax.text(-0.1, 0.5, field, ha="right", va="center", fontsize=6, color="#444444", parse_math=False)
    start = 0
    for value, length in runs:
        room = max(1, int(length * side / domains / 0.055))  # letters
        words = str(value)
        shown = words if len(words) <= room else words[: room - 1] + "…" if room > 1 else words[:1]
        place = (start + length / 2, 0.5)
        ax.text(*place, shown, ha="center", va="center", fontsize=6, color="#444444", parse_math=False)
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
