"""The table of selected runs: its columns, its file, and what of it a layout shows."""

import math
from collections.abc import Collection, Mapping, Sequence
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Literal

import pandas as pd

from tsdg.errors import InputError
from tsdg.files import write_text
from tsdg.study.layout import Layout
from tsdg.study.metric import METRICS
from tsdg.study.reading import AVERAGED, LAST, WAYS

TYPES = {
    "rule": "str",
    "dataset": "str",
    "variant": "str",
    "target": "str",
    "seed": "int64",
    "draw": "str",
    "iteration": "Int64",
    "validation": "float64",
    **dict.fromkeys(METRICS, "float64"),
    "windows": "Int64",
    "status": "str",
    "draws_found": "int64",
    "draws_expected": "int64",
    "draws_diverged": "int64",
    "protocol": "str",
    "simulated": "boolean",
    "untaught": "str",
    "settings": "str",
    "selection": "str",
    "weights": "str",
    "record": "str",
}
COLUMNS = tuple(TYPES)
_RANGES = {
    **{name: (0, 1) for name, metric in METRICS.items() if metric.unit == "%"},
    "brier": (0, 2),
    **dict.fromkeys(("validation", "nll", "iteration", "windows", "seed"), (0, math.inf)),
    **dict.fromkeys(("draws_found", "draws_expected", "draws_diverged"), (0, math.inf)),
}
_ROUNDING = 1e-6
_WORDS = {
    "rule": ("per_seed", "shared"),
    "status": ("finished", "diverged", "missing"),
    "weights": (LAST, AVERAGED, *WAYS),
}


def in_order(selected: pd.DataFrame) -> pd.DataFrame:
    """Selected runs in the one order that they are kept in."""
    return selected.sort_values(["rule", "dataset", "variant", "target", "seed"], ignore_index=True)


def write_csv(selected: pd.DataFrame, path: str | Path) -> None:
    """Write selected runs, sorted so that equal results are equal bytes."""
    write_text(path, in_order(selected).to_csv(index=False, lineterminator="\n"))


def read_csv(path: str | Path) -> pd.DataFrame:
    """Read what `write_csv` wrote, with its types (a domain may be called "1" or "NA").

    Raises
    ------
    InputError
        The file is absent, or has other columns or values.
    """
    remedy = "Make it again with `tsdg select`."
    empty_is_missing = {name: [""] for name, kind in TYPES.items() if kind != "str"}
    try:
        text = Path(path).read_bytes()
        if not text.endswith(b"\n"):
            raise InputError(f"{path}: it is cut short, as its last line has no end. {remedy}")
        selected = pd.read_csv(BytesIO(text), dtype=TYPES, keep_default_na=False, na_values=empty_is_missing)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path}: not a file of selected runs ({error}). {remedy}") from error
    if tuple(selected.columns) != COLUMNS:
        raise InputError(f"{path}: columns {list(selected.columns)} where {list(COLUMNS)} belong. {remedy}")
    for column, known in _WORDS.items():
        strange = sorted(set(selected[column]) - set(known))
        if strange:
            raise InputError(
                f"{path}: {column} {strange[0]!r} is not one of {', '.join(map(repr, known))}. {remedy}"
            )
    for column, (low, high) in _RANGES.items():
        values = selected[column].dropna()
        wrong = values[(values < low - _ROUNDING) | (values > high + _ROUNDING) | (values == math.inf)]
        if len(wrong):
            limits = f"from {low}" if high == math.inf else f"from {low} to {high}"
            raise InputError(f"{path}: {column} {wrong.iloc[0]} is no number {limits}. {remedy}")
    if (selected["draws_found"] > selected["draws_expected"]).any():
        raise InputError(f"{path}: more draws are found than expected. {remedy}")
    if (selected["status"].eq("finished") & selected["accuracy"].isna()).any():
        raise InputError(f"{path}: a finished run has no accuracy. {remedy}")
    without = selected[selected["status"] != "finished"]
    measured = without[["iteration", "validation", *METRICS, "windows"]].notna().any(axis=1)
    if measured.any():
        status = without["status"][measured].iloc[0]
        raise InputError(f"{path}: a run has numbers, but its status is {status}. {remedy}")
    own = selected[selected["rule"] == "per_seed"]
    if (own["status"].eq("missing") != own["draws_found"].eq(0)).any():
        raise InputError(f"{path}: status and draws_found differ on whether a run is missing. {remedy}")
    return selected


def read_selected(
    path: str | Path, table: str, layout: Layout, settings: Mapping[tuple[str, str], str], select: str
) -> pd.DataFrame:
    """Read the selected runs of a table.

    Parameters
    ----------
    path
        What `write_csv` wrote.
    table
    layout
        The table as it is shown.
    settings
        What its runs must have been selected under, see `tsdg.study.settings.of_table`.
    select
        The command that selects them.

    Raises
    ------
    InputError
        The file is none of the table as the study has it now.
    """
    selected = read_csv(path)
    under = zip(selected["dataset"], selected["variant"], selected["settings"], strict=True)
    for dataset, variant, found in dict.fromkeys(under):
        if settings.get((dataset, variant), found) != found:
            raise InputError(
                f"{path}: the runs of variant {variant} on {dataset} were selected under other settings than "
                f"the study has now; `{select}` chooses among what is trained under these, and Snakemake "
                "trains the rest"
            )
    keys = ["rule", "dataset", "variant", "target"]
    seeds = {key: sorted(of_key) for key, of_key in selected.groupby(keys)["seed"]}
    rules = ("per_seed",) if layout.protocol.anew else ("per_seed", "shared")
    for panel, target in layout.places:
        for rule, variant in product(rules, layout.rows):
            found = seeds.get((rule, panel.dataset, variant, target), [])
            expected = list(layout.seeds(variant))
            if found != expected:
                place = f"data set {panel.dataset}, variant {variant}, target {target}, rule {rule}"
                fault = f"no row is of {place}"
                if found:
                    fault = f"rows of {place} have seeds {found}, where {expected} belong"
                raise InputError(
                    f"{path}: not of table {table} as params.yaml has it: {fault}; make it with `{select}`"
                )
    return selected


def gaps(selected: pd.DataFrame) -> int:
    """How many of the expected runs have no record; the diverged have one."""
    own = selected[selected["rule"] == "per_seed"]
    return int((own["draws_expected"] - own["draws_found"]).sum())


def gap(
    selected: pd.DataFrame, dataset: str, targets: Collection[str], variants: Collection[str]
) -> Literal["diverged", "missing"]:
    """Why some variants have no result on some targets: all that is not finished diverged, or not."""
    own = (
        (selected["rule"] == "per_seed")
        & (selected["dataset"] == dataset)
        & selected["target"].isin(targets)
        & selected["variant"].isin(variants)
    )
    found = set(selected.loc[own, "status"])
    return "diverged" if "diverged" in found and "missing" not in found else "missing"


def joined_runs(selected: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Selected runs of several tables; what two tables share is there once."""
    return pd.concat(selected, ignore_index=True).drop_duplicates(ignore_index=True)


def shown_runs(selected: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """The finished runs that a layout shows, each seed's own draw."""
    places = {(panel.dataset, target) for panel, target in layout.places}
    place = pd.Series(list(zip(selected["dataset"], selected["target"], strict=True)), index=selected.index)
    kept = (
        (selected["rule"] == "per_seed")
        & (selected["status"] == "finished")
        & selected["variant"].isin(layout.rows)
        & place.isin(places)
    )
    return selected[kept].reset_index(drop=True)
