"""Averages over targets of every table, in the table's units: what one version of a study is compared by."""

import json
import math
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from tsdg.files import write_text
from tsdg.results.numbers import summarise
from tsdg.study.layout import AVERAGE, Layout
from tsdg.study.metric import METRICS

Averages = dict[str, dict[str, dict[str, float | None]]]  # by data set, variant and metric


def averages(selected: pd.DataFrame, layout: Layout) -> Averages:
    """Mean over seeds of the average over targets; None where a target has no value."""
    table = summarise(selected, layout)
    found: Averages = {}
    for row in table[table["target"] == AVERAGE].itertuples():
        value = None if math.isnan(row.mean) else round(row.mean, METRICS[row.metric].decimals + 1)
        found.setdefault(row.dataset, {}).setdefault(row.variant, {})[row.metric] = value
    return found


def write(tables: Mapping[str, Averages], folder: Path) -> list[Path]:
    """Write ``metrics.csv``, a row for each table, data set and variant, and the same as ``metrics.json``."""
    flat = pd.DataFrame(
        {"table": table, "dataset": dataset, "variant": variant, **metrics}
        for table, datasets in tables.items()
        for dataset, variants in datasets.items()
        for variant, metrics in variants.items()
    )
    paths = [folder / "metrics.json", folder / "metrics.csv"]
    write_text(paths[0], json.dumps(tables, indent=1) + "\n")
    write_text(paths[1], flat.to_csv(index=False, lineterminator="\n"))
    return paths
