"""MIMIC-III: death in hospital from the vital signs of the first 24 hours in intensive care, by age group.

The raw files, see `raw`. The prepared data set keeps missing hours as NaN and holds no identifier: its
recordings are numbered in a random order.
"""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from tsdg.data.mimic3.cohort import AGES, HOURS, cohort
from tsdg.data.mimic3.items import ITEMS, read_items
from tsdg.data.mimic3.raw import REMEDY, batches, raw_files
from tsdg.data.simulated import is_simulated
from tsdg.data.windows import write
from tsdg.errors import InputError
from tsdg.files import sha256

CLASSES = ("survived", "died")
PAPER_COUNTS = {"A": 164, "B": 625, "C": 1179, "D": 495}  # of each class


def prepare(
    raw: str | Path,
    out: str | Path,
    *,
    balance: str = "survivors",
    items: str | Path | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Make the windowed data set from the raw tables.

    CHARTEVENTS is streamed: memory holds a sum and a count for each stay, variable and hour, however many
    rows there are.

    Parameters
    ----------
    raw : path
        Folder of the four tables.
    out : path
        Folder of the prepared data set.
    balance : {"survivors", "none"}
        Whether survivors are drawn, in every domain, down to the number of those who died.
    items : path, optional
        Table of items (csv) in place of the packaged one, see :func:`tsdg.data.mimic3.items.read_items`.
    seed : int
        Of drawing and numbering.
    progress : callable, optional
        Called with the megabytes of CHARTEVENTS read and the megabytes in all.

    Returns
    -------
    dict
        The card, see :func:`tsdg.data.windows.write`; ``cohort`` counts the stays after each step.

    Raises
    ------
    InputError
        If an option or the table of items is bad, a file is missing, damaged or lacks a column, or no stay
        is left.
    """
    if balance not in ("survivors", "none"):
        raise InputError(f"balance: {balance!r} is unknown; choose survivors or none")
    if seed < 0:
        raise InputError(f"seed: {seed} is negative; give 0 or more")
    table = read_items(items)
    paths = raw_files(raw)
    stays, flow = cohort(paths)
    if stays.empty:
        raise InputError(f"{raw}: no stay is left of the cohort ({_flow_text(flow)}); {REMEDY}")
    values, dropped = _hourly(paths["CHARTEVENTS"], stays, table, progress or (lambda done, total: None))
    measured = ~np.isnan(values).all((1, 2))
    stays, values = stays[measured], values[measured]
    flow["at least one measurement in these hours"] = len(stays)
    if stays.empty:
        raise InputError(
            f"{paths['CHARTEVENTS']}: no plausible measurement of the table's items in the first "
            f"{HOURS} hours of any of {len(measured)} stays; {REMEDY}"
        )
    chosen = _draw(stays, balance, seed)
    flow["drawn"] = len(chosen)
    if not len(chosen):
        raise InputError(f"{raw}: nobody of the cohort died, so that balance: survivors leaves no stay")
    chosen = np.random.default_rng([seed, len(chosen)]).permutation(chosen)
    stays, values = stays.iloc[chosen], values[chosen]
    windows = pd.DataFrame(
        {
            "start": np.arange(len(stays)) * HOURS,
            "length": HOURS,
            "label": stays["HOSPITAL_EXPIRE_FLAG"].to_numpy(),
            "domain": stays["domain"].to_numpy(),
            "recording": np.arange(len(stays)).astype(str),
        }
    )
    items_file = Path(items or ITEMS)
    card = {
        "name": "mimic3",
        "kind": "mimic3",
        "simulated": any(is_simulated(path) for path in paths.values()),
        "classes": list(CLASSES),
        "channels": list(dict.fromkeys(table["variable"])),
        "window": {"length": HOURS, "stride": HOURS},
        "domains": {
            name: {"age": f"{low}-{high}" if high else f"over {low - 1}"}
            for name, (low, high) in AGES.items()
        },
        "options": {"balance": balance, "seed": seed},
        "expected_counts": {name: dict.fromkeys(CLASSES, count) for name, count in PAPER_COUNTS.items()},
        "cohort": flow,
        "notes": _notes(flow, dropped, values, windows),
        "sources": [{"file": path.name, "sha256": sha256(path)} for path in (*paths.values(), items_file)],
    }
    return write(out, values.transpose(0, 2, 1), windows=windows, card=card)


def _hourly(
    path: Path, stays: pd.DataFrame, items: pd.DataFrame, progress: Callable[[int, int], None]
) -> tuple[np.ndarray, dict[str, int]]:
    """Hourly means ``(stays, variables, 24)``, NaN where nothing was measured, and what was dropped."""
    variables = list(dict.fromkeys(items["variable"]))
    ids, intime = stays["ICUSTAY_ID"].to_numpy(), stays["INTIME"].to_numpy().astype(np.int64)
    items = items.sort_values("itemid")
    itemid, unit = items["itemid"].to_numpy(), items["unit"].to_numpy()
    low, high = items["low"].to_numpy(), items["high"].to_numpy()
    variable = np.array([variables.index(name) for name in items["variable"]])
    sums = np.zeros(len(stays) * len(variables) * HOURS)
    counts = np.zeros(len(sums), np.int32)
    dropped = {"error flag": 0, "implausible value": 0, "Fahrenheit under a Celsius item": 0}
    types = {
        "ICUSTAY_ID": pa.int64(), "ITEMID": pa.int64(), "CHARTTIME": pa.timestamp("s"),
        "VALUENUM": pa.float64(), "ERROR": pa.int64(),
    }  # fmt: skip
    wanted = pa.array(itemid)
    for batch in batches(path, types, progress):
        rows = batch.filter(pc.is_in(batch.column("ITEMID"), wanted))
        rows = rows.drop_columns("ERROR").append_column(
            "ERROR", pc.fill_null(rows.column("ERROR"), 0)
        ).drop_null()  # fmt: skip
        if not len(rows):
            continue
        stay = _position(ids, rows.column("ICUSTAY_ID").to_numpy())
        item = _position(itemid, rows.column("ITEMID").to_numpy())
        seconds = rows.column("CHARTTIME").to_numpy().astype(np.int64) - intime[stay]
        value, error = rows.column("VALUENUM").to_numpy().copy(), rows.column("ERROR").to_numpy() != 0
        here = (stay >= 0) & (seconds >= 0) & (seconds < HOURS * 3600)
        celsius = (unit[item] == "C") & (value >= 70) & (value <= 120)
        fahrenheit = (unit[item] == "F") | celsius
        value[fahrenheit] = (value[fahrenheit] - 32) * 5 / 9
        implausible = ~((value >= low[item]) & (value <= high[item]))
        dropped["error flag"] += int((here & error).sum())
        dropped["implausible value"] += int((here & ~error & implausible).sum())
        dropped["Fahrenheit under a Celsius item"] += int((here & ~error & ~implausible & celsius).sum())
        kept = here & ~error & ~implausible
        cell = (stay[kept] * len(variables) + variable[item[kept]]) * HOURS + seconds[kept] // 3600
        np.add.at(sums, cell, value[kept])
        np.add.at(counts, cell, 1)
    with np.errstate(invalid="ignore"):
        means = (sums / counts).astype(np.float32)
    return means.reshape(len(stays), len(variables), HOURS), dropped


def _position(known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Places of values in a sorted array, -1 where they are not."""
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[place] == values, place, -1)


def _draw(stays: pd.DataFrame, balance: str, seed: int) -> np.ndarray:
    """Positions of the stays to keep."""
    died = stays["HOSPITAL_EXPIRE_FLAG"].to_numpy() == 1
    if balance == "none":
        return np.arange(len(stays))
    chosen = [np.flatnonzero(died)]
    for domain in AGES:
        here = (stays["domain"] == domain).to_numpy()
        survivors = np.flatnonzero(here & ~died)
        rng = np.random.default_rng([seed, zlib.crc32(domain.encode())])
        chosen.append(rng.permutation(survivors)[: (here & died).sum()])
    return np.concatenate(chosen)


def _notes(
    flow: dict[str, int], dropped: dict[str, int], values: np.ndarray, windows: pd.DataFrame
) -> list[str]:
    notes = [f"Cohort: {_flow_text(flow)}."]
    notes.append(
        f"Of the measurements in these hours {dropped['error flag']:,} were flagged as errors and "
        f"{dropped['implausible value']:,} implausible, and dropped; "
        f"{dropped['Fahrenheit under a Celsius item']:,} of a Celsius item were in Fahrenheit."
    )
    notes.append(f"{np.isnan(values).mean():.0%} of all hours are missing, and filled in training.")
    counts = windows.groupby(["domain", "label"]).size()
    for label, name in enumerate(CLASSES):
        empty = [domain for domain in AGES if (domain, label) not in counts]
        if empty:
            notes.append(f"Nobody {name}: domains {', '.join(empty)}.")
    return notes


def _flow_text(flow: dict[str, int]) -> str:
    return ", ".join(f"{step} {count:,}" for step, count in flow.items())
