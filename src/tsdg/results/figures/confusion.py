"""Which classes are taken for which: windows of each target by true and by most probable class."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from tsdg.files import write_text
from tsdg.results.captions import legend, notes
from tsdg.results.figures.squares import squares
from tsdg.results.figures.style import FAINT, plain, save, style, text_width, unparsed, wrapped
from tsdg.results.numbers import over_seeds
from tsdg.results.reading import read_records
from tsdg.results.selected import shown_runs
from tsdg.study.layout import Layout, joined

NUMBERED = 6  # classes, up to which each share is written
SHADES = "Blues"


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
) -> list[Path]:
    """Draw `confusions` of some variants, and write them as ``{name}.csv``."""
    layout = joined([layout], rows=rows)
    table = confusions(selected, layout, runs)
    layout = unparsed(layout)
    text = wrapped(
        [
            "Down: the true class; across: the most probable one; shade and number: percent of the true "
            "class's windows, the mean over seeds, on the diagonal the class's accuracy.",
            *legend(layout),
            *notes(selected, layout),
        ]
    )
    cells = dict(list(table.groupby(["dataset", "variant", "target"], sort=False)))
    with style():
        names = [plain(_short(one)) for one in table["true"].unique()]
        room = max([text_width(one) for one in names], default=0.0)
        scale = [
            Patch(color="#08306b", label="100 %"),
            Patch(facecolor="white", edgecolor=FAINT, label="0 %"),
        ]
        figure, squared = squares(layout, text, legend=scale, left=0.42 + room, below=0.4 + room)
        for cell in squared:
            part = cells.get((cell.panel.dataset, cell.variant, cell.target))
            _diagram(cell.ax, part, left=cell.first, below=cell.last)
        made = save(figure, out_folder, name)
    path = Path(out_folder, f"{name}.csv")
    write_text(path, table.to_csv(index=False, lineterminator="\n"))
    return [*made, path]


def _short(name: str) -> str:
    return name if len(name) <= 12 else f"{name[:11]}."


def _diagram(ax: Axes, table: pd.DataFrame | None, *, left: bool, below: bool) -> None:
    ax.tick_params(length=0, pad=2)
    ax.spines[:].set_visible(True)
    ax.set_xticks([])
    ax.set_yticks([])
    if table is None:
        ax.text(0.5, 0.5, "missing", ha="center", va="center", color=FAINT, style="italic", fontsize=6)
        return
    classes = list(dict.fromkeys(table["true"]))
    shares = table["mean"].to_numpy().reshape(len(classes), len(classes))
    ax.imshow(shares, cmap=SHADES, vmin=0, vmax=100, aspect="auto")
    names = [plain(_short(one)) for one in classes]
    if left:
        ax.set_yticks(range(len(classes)), names)
    if below:
        ax.set_xticks(range(len(classes)), names, rotation=90)
    if len(classes) <= NUMBERED:
        for (i, j), share in np.ndenumerate(shares):
            if not math.isnan(share):
                color = "white" if share > 60 else "black"
                ax.text(j, i, f"{share:.0f}", ha="center", va="center", fontsize=5, color=color)
