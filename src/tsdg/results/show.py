"""A csv that tsdg wrote as text, to look at."""

from pathlib import Path

import pandas as pd

from tsdg.errors import InputError
from tsdg.study.metric import METRICS

TEXTS = ("dataset", "variant", "label", "target", "source", "domain", "metric", "data", "code")
NUMBERS = ("mean", "n")
TABLE = {"dataset", "variant", "label", "target", "metric", "mean", "n"}  # a finished table's, among others
# What the first column of each other csv is called.
FIRST = ("augmentation", "claim", "clusters", "dataset", "method", "rule", "source", "table", "variant")


def lines(csv: str | Path) -> list[str]:
    """The means of a table's csv, or the rows of another one.

    For each data set and metric of a table a title, a row a variant, a column a target; of one by domain a
    column is a domain of a target. Titles begin with the file's name: tables may have these in common.

    Raises
    ------
    InputError
        The file is not there, or none that tsdg wrote.
    """
    try:
        types = dict.fromkeys(TEXTS, str) | dict.fromkeys(NUMBERS, float)
        empty = {column: [""] for column in NUMBERS}
        table = pd.read_csv(csv, keep_default_na=False, na_values=empty, dtype=types)
        if table.empty:
            raise ValueError("no rows")
        if set(table) >= TABLE and "paper" not in table:
            return _means(Path(csv).stem, table)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{csv}: not a table's csv ({error}); make it with `tsdg table`") from None
    if table.columns[0] not in FIRST:
        raise InputError(
            f"{csv}: not a table's csv nor another of tsdg's (its first column is {table.columns[0]!r}); "
            "name one below results/, such as results/tables/bearings.csv"
        )
    rows = pd.read_csv(csv, keep_default_na=False, na_values=[""], dtype=dict.fromkeys(TEXTS, str))
    return [rows.to_string(index=False, na_rep="", float_format=_number)]


def _means(name: str, table: pd.DataFrame) -> list[str]:
    found = []
    columns = ["target", "domain"] if "domain" in table else ["target"]
    for (dataset, metric), part in table.groupby(["dataset", "metric"], sort=False):
        wide = part.pivot(index="variant", columns=columns, values="mean")
        order = part[columns].drop_duplicates().itertuples(index=False, name=None)
        places = [place if len(columns) > 1 else place[0] for place in order]
        wide = wide.loc[part["variant"].unique(), places].rename_axis(columns=[None] * len(columns))
        wide.index = part.drop_duplicates("variant")["label"].to_list()
        over = ", mean over seeds" if (part["n"] > 1).any() else ""
        found.append(f"{name}: {dataset}, {METRICS[metric].heading}{over}")
        found.append(wide.to_string(na_rep="--", float_format=f"%.{METRICS[metric].decimals}f"))
    return found


def _number(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() else f"{value:.4g}"
