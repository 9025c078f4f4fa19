"""Which classes are taken for which: windows of each target by true and by most probable class."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.patches import Patch

from tsdg.files import write_text
from tsdg.results.captions import notes, simulated
from tsdg.results.figures.heat import colors, number_cells
from tsdg.results.figures.squares import WIDEST, Cell, say_missing, squares
from tsdg.results.figures.style import FAINT, PAGE, plain, save, stamp, style, text_width, unparsed
from tsdg.results.numbers import over_seeds
from tsdg.results.reading import read_records
from tsdg.results.selected import shown_runs
from tsdg.study.layout import Layout, joined


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
    """
    found: dict[tuple[str, str, str], dict[int, np.ndarray]] = {}
    classes: dict[str, list[str]] = {}
    for row, record, checkpoint in read_records(shown_runs(selected, layout), runs):
        if checkpoint.target.confusion is not None:
            classes[row.dataset] = [str(name) for name in record.classes]
            counts = found.setdefault((row.dataset, row.variant, row.target), {})
            counts[row.seed] = np.array(checkpoint.target.confusion)
    rows = []
    for (dataset, variant, target), counts in found.items():
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
    remarks = [
        "Down: the true class; across: the predicted, that is the most probable one; shade and number: "
        "percent of the true class's windows, the mean over seeds, on the diagonal the class's accuracy.",
        *notes(selected, layout),
    ]
    cells = dict(list(table.groupby(["dataset", "variant", "target"], sort=False)))
    with style():
        names = [plain(_short(one)) for one in table["true"].unique()]
        room = max([text_width(one) for one in names], default=0.0)
        scale = [Patch(fc=colors()(k / 4), ec=FAINT, lw=0.4, label=f"{25 * k}") for k in range(5)]
        figure, squared = squares(
            layout,
            remarks,
            width=width,
            legend=scale,
            widest=max(WIDEST, len(names) * (text_width("100") + 0.02)),
            left=0.5 + room,
            above=0.08,
            below=0.24 + room,
        )
        for cell in squared:
            part = cells.get((cell.panel.dataset, cell.variant, cell.target))
            _diagram(cell, part)
        made = save(figure, out_folder, name, stamp=stamp(simulated(selected, layout), layout))
    path = Path(out_folder, f"{name}.csv")
    write_text(path, table.to_csv(index=False, lineterminator="\n"))
    return [*made, path]


def _short(name: str) -> str:
    return name if len(name) <= 12 else f"{name[:11]}."


def _diagram(cell: Cell, table: pd.DataFrame | None) -> None:
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
        say_missing(ax)
        return
    classes = list(dict.fromkeys(table["true"]))
    shares = table["mean"].to_numpy().reshape(len(classes), len(classes)) / 100
    ax.imshow(shares, cmap=colors(), vmin=0, vmax=1, aspect="auto")
    figure = ax.get_figure(root=True)
    assert figure
    side = ax.get_position().width * figure.get_size_inches()[0]
    if side >= len(classes) * (text_width("100") + 0.01):  # in all diagrams or in none
        number_cells(ax, pd.DataFrame(shares).where(shares >= 0.005), side)
    names = [plain(_short(one)) for one in classes]
    if cell.first:
        ax.set_yticks(range(len(classes)), names)
    if cell.last:
        ax.set_xticks(range(len(classes)), names, rotation=90)
