"""The command `tsdg adopt`."""

import argparse
from pathlib import Path

from tsdg.commands.arguments import DATA, RUNS, Commands, check_folders, command, load_study, positive


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    sub = command(
        commands,
        "adopt",
        _adopt,
        "keep the records that edited code would train again, if some of their runs give the same numbers",
        study=True,
    )
    sub.add_argument("--sample", type=positive, default=2, help="runs of each variant to train (default: 2)")
    sub.add_argument(
        "--whole", action="store_true", help="train them to the end (default: to their first evaluation)"
    )
    sub.add_argument("--dry-run", action="store_true", help="train and compare, but change nothing")
    sub.add_argument("--runs", type=Path, default=RUNS, help="folder of records")
    sub.add_argument("--data", type=Path, default=DATA, help="folder of prepared data sets")
    sub.epilog = (
        "Numbers are compared to the bit where the machine is of the kind that trained; else losses may "
        "differ by 1 % at first, and accuracies by 5 points."
    )


def _adopt(options: argparse.Namespace) -> None:
    from tsdg.runs.adopt import adopt
    from tsdg.runs.current import CurrentRecords
    from tsdg.runs.plan import chosen_tables
    from tsdg.toy.train import train

    study = load_study(options)
    check_folders(options)
    runs = [run for table in chosen_tables(study, []).values() for run in table]
    done = adopt(
        runs,
        CurrentRecords(study, options.runs, options.data),
        train,
        size=options.sample,
        whole=options.whole,
        dry_run=options.dry_run,
    )
    print(done)
    if Path(".dvc").is_dir() and not options.dry_run:
        print("DVC is told by `dvc commit`")
