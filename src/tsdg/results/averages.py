"""Averages over targets of every table, in the table's units: what one version of a study is compared by."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from tsdg.files import write_text
from tsdg.results.tables import summarise
from tsdg.study.layout import AVERAGE, Layout
from tsdg.study.metric import METRICS


def averages(selected: pd.DataFrame, layout: Layout) -> list[dict[str, Any]]:
    """Mean over seeds of the average over targets, a row for each data set and variant.

    Its keys are ``dataset``, ``variant`` and the metrics, which are None where a target has no value.
    """
    table = summarise(selected, layout)
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in table[table["target"] == AVERAGE].itertuples():
        found = rows.setdefault((row.dataset, row.variant), {"dataset": row.dataset, "variant": row.variant})
        metric = METRICS[row.metric]
        found[row.metric] = None if math.isnan(row.mean) else round(row.mean, metric.decimals + 1)
    return list(rows.values())


def write(tables: Mapping[str, list[dict[str, Any]]], folder: Path) -> list[Path]:
    """Write ``metrics.csv``, a row for each table, data set and variant, and the same as ``metrics.json``."""
    tree: dict[str, Any] = {}
    for table, rows in tables.items():
        for row in rows:
            metrics = {key: value for key, value in row.items() if key not in ("dataset", "variant")}
            tree.setdefault(table, {}).setdefault(row["dataset"], {})[row["variant"]] = metrics
    paths = [folder / "metrics.json", folder / "metrics.csv"]
    write_text(paths[0], json.dumps(tree, indent=1) + "\n")
    flat = pd.DataFrame([{"table": table, **row} for table, rows in tables.items() for row in rows])
    write_text(paths[1], flat.to_csv(index=False, lineterminator="\n"))
    return paths
