"""The claims of params.yaml by the trainings that `checkpoints.py` wrote, and by records of the toy study.

Trainings of other data sets than those of the tables do not count; what only records hold is not run. ::

    python docs/experiments/claims.py docs/data/bearings_checkpoints.csv --toy results/runs --out claims
"""

import argparse
from pathlib import Path

import pandas as pd
from seeds import last

from tsdg.data import toy
from tsdg.results import claims
from tsdg.results.measures import COLUMNS
from tsdg.study.layout import AVERAGE, Panel
from tsdg.study.study import Study
from tsdg.toy.tables import evidence

METRICS = ("accuracy", "ece")


def values(runs: pd.DataFrame, panels: tuple[Panel, ...]) -> pd.DataFrame:
    """The trainings of a table's data sets as `tsdg.results.measures.measured` returns them, in percent."""
    parts = []
    for panel in panels:
        own = runs[(runs["dataset"] == panel.dataset) & runs["target"].isin(panel.targets)]
        long = own.melt(["dataset", "variant", "target", "seed"], METRICS, "metric")
        long["value"] *= 100
        groups = long.groupby(["dataset", "variant", "seed", "metric"])["value"].agg(["mean", "size"])
        whole = groups[groups["size"] == len(panel.targets)].reset_index().rename(columns={"mean": "value"})
        parts += [long, whole.assign(target=AVERAGE)]
    return pd.concat(parts)[list(COLUMNS)]


def main() -> None:
    """Write claims.csv, .tex and .md."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("csv", type=Path)
    options.add_argument("--toy", type=Path, required=True, help="folder of the toy study's records")
    options.add_argument("--params", type=Path, default=Path("params.yaml"))
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    study = Study.load(given.params, ["protocol=single"])
    runs = last(pd.read_csv(given.csv))
    found = {}
    for table in dict.fromkeys(claim.table for claim in study.claims):
        if table == toy.NAME:
            found[table] = evidence(study, given.toy)
        else:
            none = claims.evidence(study, table, None, given.toy)
            found[table] = none._replace(values=values(runs, study.layout(table).panels))
    print(*claims.render(*claims.check(study, found), given.out), sep="\n")


if __name__ == "__main__":
    main()
