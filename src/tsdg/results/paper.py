"""A table beside the numbers that the paper prints of it."""

import math

import pandas as pd

from tsdg.data import paper
from tsdg.study.layout import WORST, Layout
from tsdg.study.metric import METRICS


def compare(summary: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """The paper's numbers beside a summary, for the panels that name a table of the paper.

    Left out are baselines, and the worst target, which it prints nowhere.

    Returns
    -------
    DataFrame
        The summary's ``dataset`` ... ``n``, ``paper``, ``difference`` (here minus paper, in the unit of the
        row) and ``note``, which says why a difference is empty.
    """
    named = {panel.dataset: panel.paper for panel in layout.panels if panel.paper}
    keys = ["dataset", "variant", "target", "metric"]
    columns = [*keys, "label", "unit", "mean", "std", "n"]
    if not named:
        return pd.DataFrame(columns=[*columns, "paper", "difference", "note"])
    printed = pd.concat(paper.numbers(table).assign(dataset=dataset) for dataset, table in named.items())
    printed = printed.rename(columns={"row": "variant", "value": "paper"})
    of_the_paper = summary["dataset"].isin(named) & ~summary["variant"].isin(layout.baselines)
    ours = summary.loc[of_the_paper & (summary["target"] != WORST), columns]
    compared = ours.merge(printed, how="left", on=keys, validate="many_to_one")
    compared["difference"] = compared["mean"] - compared["paper"]
    compared["note"] = ""
    compared.loc[compared["mean"].isna(), "note"] = "no result here"
    compared.loc[compared["paper"].isna(), "note"] = "the paper prints none"
    return compared


def markdown(compared: pd.DataFrame, caption: str) -> str:
    """A comparison to read: the numbers that the paper prints too."""
    known = compared[compared["paper"].notna()]
    lines = [
        "# Beside the paper's printed numbers",
        "",
        caption,
        "",
        f"Of {len(compared)} numbers of this table, the paper prints {len(known)}; the others are left out. "
        "Differences are here minus paper, in points.",
        "",
        "| Method | Target | Metric | Here | Paper | Difference |",
        "|---|---|---|---:|---:|---:|",
    ]
    for row in known.itertuples():
        metric = METRICS[row.metric]
        here = "no result" if math.isnan(row.mean) else metric.printed(row.mean)
        if not math.isnan(row.std):
            here += f" ± {metric.printed(row.std)}"
        difference = "" if math.isnan(row.mean) else f"{row.difference:+.{metric.decimals}f}"
        cells = [row.label, row.target, metric.heading, here, metric.printed(row.paper), difference]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
