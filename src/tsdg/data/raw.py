"""Which raw files a data set of the study is prepared from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tsdg.data.bearings import prepare as bearings
from tsdg.data.hhar import prepare as hhar
from tsdg.data.mimic3 import prepare as mimic3
from tsdg.data.own import recordings
from tsdg.data.own import simulate as simulate_table


def raw_files(entry: Mapping[str, Any]) -> list[str]:
    """Names of the files in the raw folder of a data set, or in the folder of its one raw file, there or not.

    Where a table may be compressed, it is the one that is there.

    Parameters
    ----------
    entry : mapping
        The data set's entry in params.yaml.
    """
    if entry["kind"] == "bearings":
        options = entry.get("prepare", {})
        chosen = {key: options[key] for key in ("location", "clock") if key in options}
        views = bearings.choose(bearings.read_table(options.get("recordings")), **chosen)
        return [f"{number}.mat" for number in sorted({view.number for view in views})]
    if entry["kind"] == "table":
        if entry["source"] == "simulated":
            return [simulate_table.FILE]
        return recordings.source_files(entry["raw"], entry["prepare"].get("separator", ","))
    if entry["kind"] == "hhar":
        names = [[hhar.CSV, hhar.ZIP]]
    else:
        names = [[f"{table}.csv", f"{table}.csv.gz"] for table in mimic3.TABLES]
    if entry["source"] == "simulated":
        return [plain for plain, _ in names]
    return [next((n for n in either if Path(entry["raw"], n).exists()), either[-1]) for either in names]
