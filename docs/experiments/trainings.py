"""What the scripts share that train on their own: options, the data, and a csv of what is trained already."""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
import torch

from tsdg.data.windows import WindowedDataset
from tsdg.runs.machine import keep_freed_memory
from tsdg.study.study import Study


def parser(description: str | None, out: str) -> argparse.ArgumentParser:
    """Options for the study, the prepared data set and the csv."""
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--params", type=Path, default=Path("params.yaml"))
    options.add_argument("--data", type=Path, required=True, help="folder of the prepared data set")
    options.add_argument("--dataset", help="data set of the study, if not the one that was prepared")
    options.add_argument("--set", action="append", default=[], help="as for tsdg train")
    options.add_argument("--out", type=Path, default=Path(out), help="csv that is added to")
    return options


def opened(options: argparse.Namespace) -> tuple[Study, str, WindowedDataset]:
    """The study, the data set's name and its windows, in a process that is set as `tsdg train` on a CPU."""
    torch.set_num_threads(1)
    keep_freed_memory()
    windows = WindowedDataset.load(options.data)
    return Study.load(options.params, options.set), options.dataset or windows.card["name"], windows


def missing(out: Path, keys: Sequence[str], wanted: Iterable[tuple]) -> list[tuple]:
    """Those of the wanted keys that the csv has no row of."""
    if not out.exists():
        return list(wanted)
    done = set(pd.read_csv(out)[list(keys)].itertuples(index=False, name=None))
    return [row for row in wanted if row not in done]


def add(table: pd.DataFrame, out: Path) -> None:
    """Put rows at the end of the csv."""
    table.to_csv(out, mode="a", header=not out.exists(), index=False)
