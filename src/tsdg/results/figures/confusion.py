"""Which classes are taken for which: windows of each target by true and by most probable class."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from tsdg.files import write_text
from tsdg.results.captions import notes, simulated
from tsdg.results.figures.heat import colors, lines_that_fit, number_cells
from tsdg.results.figures.squares import WIDEST, Cell, over_targets, say_gap, squares
from tsdg.results.figures.style import FAINT, PAGE, plain, save, stamp, style, text_width, unparsed
from tsdg.results.numbers import over_seeds
from tsdg.results.reading import read_records
from tsdg.results.selected import shown_runs
from tsdg.study.layout import Layout, joined

WHAT = (
    "Down: the true class; across: the predicted, that is the most probable one; shade and number: "
    "percent of the true class's windows, the mean over seeds, on the diagonal the class's accuracy."
)


def confusions(selected: pd.DataFrame, layout: Layout, runs: str | Path) -> pd.DataFrame:
    """How often each class is taken for each.

    Parameters
    ----------
    selected, layout
        As for `tsdg.results.numbers.summarise`.
    runs : path
        Folder of the records, of which those from before the confusion was kept say nothing.

    Returns
    -------
    DataFrame
        A row for each data set, variant, target, ``true`` and ``predicted`` class: ``windows``, of all seeds;
        ``mean``, ``std`` and ``n`` over seeds of the percent of the true class's windows, so that where both
        are the same class it is the accuracy (recall) of that class. Empty where the target lacks the class.
        Where there are several, `ALL` targets follow: their windows together, of the seeds with each target.
    """
    found: dict[tuple[str, str, str], dict[int, np.ndarray]] = {}
    classes: dict[str, list[str]] = {}
    for row, record, checkpoint in read_records(shown_runs(selected, layout), runs):
        if checkpoint.target.confusion is not None:
            classes[row.dataset] = [str(name) for name in record.classes]
            counts = found.setdefault((row.dataset, row.variant, row.target), {})
            counts[row.seed] = np.array(checkpoint.target.confusion)
    sums = {
        place: {seed: np.sum(parts, axis=0) for seed, parts in by_seed.items()}
        for place, by_seed in over_targets(found, layout).items()
    }
    rows = []
    for (dataset, variant, target), counts in (found | sums).items():
        names = classes[dataset]
        for (i, true), (j, predicted) in ((a, b) for a in enumerate(names) for b in enumerate(names)):
            shares = {s: 100 * one[i, j] / one[i].sum() for s, one in counts.items() if one[i].sum()}
            rows.append(
                {
                    "dataset": dataset,
                    "variant": variant,
                    "label": layout.labels[variant],
                    "target": target,
                    "true": true,
                    "predicted": predicted,
                    "windows": sum(int(one[i, j]) for one in counts.values()),
                    **over_seeds(shares)._asdict(),
                }
            )
    columns = ["dataset", "variant", "label", "target", "true", "predicted", "windows", "mean", "std", "n"]
    return pd.DataFrame(rows, columns=columns)


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
    """Draw `confusions` of some variants, and write them as ``{name}.csv``."""
    layout = joined([layout], rows=rows)
    table = confusions(selected, layout, runs)
    layout = unparsed(layout)
    classes = {str(dataset): list(own.unique()) for dataset, own in table.groupby("dataset")["true"]}
    most = max(map(len, classes.values()), default=1)
    cells = dict(list(table.groupby(["dataset", "variant", "target"], sort=False)))
    scale = [Patch(fc=colors()(k / 4), ec=FAINT, lw=0.4, label=f"{25 * k}") for k in range(5)]

    def laid_out(names: Mapping[str, Sequence[str]], listing: Sequence[str]) -> tuple[Figure, list[Cell]]:
        room = max((text_width(one) for own in names.values() for one in own), default=0.0)
        remarks = [WHAT, *listing, *notes(selected, layout)]
        return squares(
            layout,
            lambda together: remarks,
            width=width,
            legend=scale,
            widest=max(WIDEST, most * (text_width("100") + 0.02)),
            left=0.5 + room,
            above=0.08,
            below=0.24 + room,
        )

    with style():
        names = {dataset: [plain(_short(one)) for one in own] for dataset, own in classes.items()}
        figure, squared = laid_out(names, [])
        distinct = all(len(set(own)) == len(own) for own in names.values())
        if not distinct or lines_that_fit(most, _side(squared[0])).step > 1:
            names = {dataset: [str(k) for k in range(len(own))] for dataset, own in classes.items()}
            figure, squared = laid_out(names, _listing(classes, layout))
        for cell in squared:
            part = cells.get((cell.panel.dataset, cell.variant, cell.target))
            _diagram(cell, part, names.get(cell.panel.dataset, []))
            if part is None:
                say_gap(cell, selected, layout)
        made = save(figure, out_folder, name, stamp=stamp(simulated(selected, layout), layout))
    path = Path(out_folder, f"{name}.csv")
    write_text(path, table.to_csv(index=False, lineterminator="\n"))
    return [*made, path]


def _short(name: str) -> str:
    return name if len(name) <= 12 else f"{name[:11]}."


def _listing(classes: Mapping[str, Sequence[str]], layout: Layout) -> list[str]:
    """A sentence a data set on what the numbers of its classes are, unless they are called by them."""
    return [
        f"Classes{f' of {layout.titles[dataset]}' * (len(classes) > 1)}: "
        f"{', '.join(f'{k} is {name}' for k, name in enumerate(own))}."
        for dataset, own in classes.items()
        if own != [str(k) for k in range(len(own))]
    ]


def _side(cell: Cell) -> float:
    """Of a diagram, inches."""
    figure = cell.ax.get_figure(root=True)
    assert figure
    return cell.ax.get_position().width * figure.get_size_inches()[0]


def _diagram(cell: Cell, table: pd.DataFrame | None, names: Sequence[str]) -> None:
    ax = cell.ax
    ax.tick_params(length=0, pad=2)
    ax.spines[:].set_visible(True)
    ax.set_xticks([])
    ax.set_yticks([])
    if cell.first:
        ax.set_ylabel(f"{cell.label}\ntrue", labelpad=1, linespacing=1.1)
    if cell.last:
        ax.set_xlabel("predicted", labelpad=1)
    if table is None:
        return
    shares = table["mean"].to_numpy().reshape(len(names), len(names)) / 100
    ax.imshow(shares, cmap=colors(), vmin=0, vmax=1, aspect="auto")
    side = _side(cell)
    if side >= len(names) * (text_width("100") + 0.01):  # in all diagrams or in none
        number_cells(ax, pd.DataFrame(shares).where(shares >= 0.005), side)
    some = lines_that_fit(len(names), side)
    if cell.first:
        ax.set_yticks(some, [names[k] for k in some])
    if cell.last:
        ax.set_xticks(some, [names[k] for k in some], rotation=90)
