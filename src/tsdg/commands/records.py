"""The command `tsdg records`, which hands records over to other tools."""

import argparse
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tsdg.commands.arguments import DATA, RUNS, Commands, check_folders, command, load_study
from tsdg.errors import InputError, check_known
from tsdg.files import write_text

if TYPE_CHECKING:
    from tsdg.runs.record import Record

OUT = Path("results/records.csv")
TRACKERS = ("mlflow", "tensorboard")  # of `tsdg.results.exchange`


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    sub = command(
        commands,
        "records",
        _records,
        "write the records of tables as one csv, a row for each checkpoint, or to MLflow or TensorBoard",
        study=True,
    )
    sub.add_argument(
        "tables", nargs="*", metavar="TABLE", help="tables in params.yaml, or `toy` (default: all)"
    )
    sub.add_argument(
        "--to",
        nargs=2,
        metavar=("TOOL", "FOLDER"),
        help=f"{' or '.join(TRACKERS)}, and a new folder, instead of a csv",
    )
    sub.add_argument("--out", type=Path, default=OUT, help=f"csv (default: {OUT})")
    sub.add_argument("--runs", type=Path, default=RUNS, help="folder of records")
    sub.add_argument("--data", type=Path, default=DATA, help="folder of prepared data sets")


def _records(options: argparse.Namespace) -> None:
    from tsdg.results import exchange
    from tsdg.runs.current import CurrentRecords
    from tsdg.runs.plan import chosen_tables

    tool, folder = options.to or (None, "")
    if tool:
        check_known(tool, TRACKERS, "tool that records can be written to", "--to")
        if Path(folder).exists() and (not Path(folder).is_dir() or any(Path(folder).iterdir())):
            raise InputError(f"--to {tool} {folder}: that is not empty; name a new folder, or delete it")
    study = load_study(options)
    check_folders(options)
    wanted = dict.fromkeys(run for runs in chosen_tables(study, options.tables).values() for run in runs)
    current = CurrentRecords(study, options.runs, options.data)
    missing = 0

    def found() -> Iterator["Record"]:
        nonlocal missing
        for run in sorted(wanted):
            record = current.find(run)
            if record is None:
                missing += 1
            else:
                yield record

    records = found()
    first = next(records, None)
    if first is None:
        raise InputError(f"{options.runs}: no run has a current record (`tsdg status` says more)")
    records = chain([first], records)
    if tool:
        print(exchange.TRACKERS[tool](records, Path(folder)))
    else:
        write_text(options.out, exchange.table(records).to_csv(index=False, lineterminator="\n"))
        print(options.out)
    if missing:
        print(f"{missing} of {len(wanted)} runs have no current record, and are left out", file=sys.stderr)
