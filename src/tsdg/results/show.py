"""A finished table as text, to look at."""

from pathlib import Path

import pandas as pd

from tsdg.errors import InputError
from tsdg.study.metric import METRICS


def lines(csv: str | Path) -> list[str]:
    """The means of a table's csv: for each data set and metric a row a variant, a column a target.

    Of one by domain a column is a domain of a target.

    Raises
    ------
    InputError
        The file is not there, or is no table's.
    """
    found = []
    try:
        types = dict.fromkeys(("dataset", "variant", "label", "target", "domain", "metric"), str) | {
            "mean": float
        }
        table = pd.read_csv(csv, keep_default_na=False, na_values={"mean": [""]}, dtype=types)
        if table.empty:
            raise ValueError("no rows")
        columns = ["target", "domain"] if "domain" in table else ["target"]
        for (dataset, metric), part in table.groupby(["dataset", "metric"], sort=False):
            wide = part.pivot(index="variant", columns=columns, values="mean")
            order = part[columns].drop_duplicates().itertuples(index=False, name=None)
            places = [place if len(columns) > 1 else place[0] for place in order]
            wide = wide.loc[part["variant"].unique(), places].rename_axis(columns=[None] * len(columns))
            wide.index = part.drop_duplicates("variant")["label"].to_list()
            found.append(f"{dataset}: {METRICS[metric].heading}, mean over seeds")
            found.append(wide.to_string(na_rep="--", float_format=f"%.{METRICS[metric].decimals}f"))
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{csv}: not a table's csv ({error}); make it with `tsdg table`") from None
    return found
