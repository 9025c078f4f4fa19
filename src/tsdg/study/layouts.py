"""One layout from several, for what is drawn or ranked over more than one table."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from tsdg.errors import InputError
from tsdg.results.selection import read_csv
from tsdg.results.tables import panels


def read_selected(path: str | Path, table: str, layout: Mapping[str, Any]) -> pd.DataFrame:
    """Selected runs of a table, from the file that `tsdg select` made of it.

    Raises
    ------
    InputError
        The file is absent or damaged, or lacks what the layout shows: even runs without a record have a row.
    """
    selected = read_csv(path)
    found = set(zip(selected["dataset"], selected["variant"], selected["target"], strict=True))
    for panel in panels(layout):
        for place in product([panel["dataset"]], layout["rows"], panel["targets"]):
            if place not in found:
                raise InputError(
                    f"{path}: not of table {table} as params.yaml has it: no row is of data set {place[0]}, "
                    f"variant {place[1]}, target {place[2]}; make it with `tsdg select {table}`"
                )
    return selected


def common_rows(layouts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Variants that are rows of every table, in the first one's order."""
    return [row for row in layouts[0]["rows"] if all(row in layout["rows"] for layout in layouts)]


def joined(
    layouts: Sequence[Mapping[str, Any]],
    rows: Iterable[str] | None = None,
    metrics: Sequence[str] | None = None,
) -> dict[str, Any]:
    """The panels of several tables of different data sets side by side, as one layout, ours last.

    Parameters
    ----------
    layouts
        The tables' layouts.
    rows
        The variants it is about. Default: `common_rows`.
    metrics
        The metrics it is about. Default: the tables' own.
    """
    chosen = common_rows(layouts) if rows is None else list(rows)
    ours = {row for layout in layouts for row in layout.get("ours") or []}
    chosen.sort(key=ours.__contains__)
    labels = {name: label for layout in layouts for name, label in (layout.get("labels") or {}).items()}
    parts = [panel for layout in layouts for panel in panels(layout)]
    return {
        "rows": chosen,
        "labels": {row: labels.get(row, row) for row in chosen},
        "ours": [row for row in chosen if row in ours],
        "panels": [{**panel, "metrics": list(metrics or panel["metrics"])} for panel in parts],
        "caption": ", ".join(panel["title"] for panel in parts),
        "protocol": layouts[0]["protocol"],
    }


def joined_runs(selected: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Selected runs of several tables; what two tables share is there once."""
    return pd.concat(selected, ignore_index=True).drop_duplicates(ignore_index=True)


def shown_runs(selected: pd.DataFrame, layout: Mapping[str, Any]) -> pd.DataFrame:
    """The finished runs that a layout shows, each seed's own draw."""
    targets = {(panel["dataset"], target) for panel in panels(layout) for target in panel["targets"]}
    place = pd.Series(list(zip(selected["dataset"], selected["target"], strict=True)), index=selected.index)
    kept = (
        (selected["rule"] == "per_seed")
        & (selected["status"] == "finished")
        & selected["variant"].isin(layout["rows"])
        & place.isin(targets)
    )
    return selected[kept].reset_index(drop=True)
