"""The commands that look at a whole study, before, during and after: `tsdg plan`, `status` and `prune`."""

import argparse
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tsdg.commands.arguments import (
    DATA,
    PARAMS,
    RUNS,
    Commands,
    check_folders,
    command,
    load_study,
    path_or_name,
    positive,
)
from tsdg.study.run import LOGS

CLEAR = "\x1b[H\x1b[2J"  # a terminal
LONGEST = 86400  # seconds to wait, a day


def add(commands: Commands) -> None:
    """Add the commands to the command line."""
    plan = command(commands, "plan", _plan, "count runs, jobs and time that tables need", study=True)
    plan.add_argument(
        "--probe",
        action="store_true",
        help="measure the times: some iterations of every variant on this machine",
    )
    plan.add_argument("--device", choices=["auto", "cpu", "cuda"], help="of the probe; as in params.yaml")
    plan.add_argument("--jobs", type=positive, default=os.cpu_count() or 1, help="at a time (default: cores)")
    status = command(
        commands, "status", _status, "say what is done, running, failed, diverged and waiting", study=True
    )
    status.epilog = "Ends with 1 if anything failed, with 0 otherwise."
    status.add_argument("--logs", type=Path, default=Path(LOGS), help="folder of the trainings' logs")
    status.add_argument(
        "--watch", type=_seconds, nargs="?", const=10, metavar="SECONDS",
        help="look again every so many seconds (default: 10), until Ctrl-C",
    )  # fmt: skip
    for sub in (plan, status):
        sub.add_argument(
            "tables", nargs="*", metavar="TABLE", type=path_or_name,
            help="tables in params.yaml, `toy`, or paths such as results/tables/bearings.tex (default: all)",
        )  # fmt: skip
    prune = command(
        commands, "prune", _prune, "list the records and features that no table wants", study=True
    )
    prune.add_argument("--yes", action="store_true", help="delete them")
    for sub in (plan, status, prune):
        sub.add_argument("--runs", type=Path, default=RUNS, help="folder of records")
        sub.add_argument("--data", type=Path, default=DATA, help="folder of prepared data sets")


def _seconds(text: str) -> int:
    """A time to wait."""
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= LONGEST):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number of seconds from 1 to {LONGEST}; tables stand before --watch"
        )
    return int(text)


def _plan(options: argparse.Namespace) -> None:
    from tsdg.runs import plan
    from tsdg.runs.current import CurrentRecords
    from tsdg.runs.record import read_end

    study = load_study(options)
    check_folders(options)
    tables = plan.chosen_tables(study, options.tables)
    found = CurrentRecords(study, options.runs, options.data, read_end)
    probed = None
    if options.probe:
        device = options.device or study.params["device"]
        probed = plan.probed_rates(study, tables, options.data, device, _say, options.params)
    print(plan.text(plan.plan(study, tables, found, probed), options.jobs))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _status(options: argparse.Namespace) -> int:
    from tsdg.runs import status
    from tsdg.runs.current import CurrentRecords
    from tsdg.runs.plan import chosen_tables
    from tsdg.runs.record import read_end

    study = load_study(options)
    check_folders(options)
    tables = chosen_tables(study, options.tables)
    again = [] if options.params == PARAMS else ["--params", str(options.params)]
    again += [word for override in options.set for word in ("--set", override)]
    again += [] if options.runs == RUNS else ["--out", str(options.runs)]

    def look() -> int:
        found = CurrentRecords(study, options.runs, options.data, read_end)
        seen = status.status(study, tables, found, options.logs, again)
        print(status.text(seen, tables), flush=True)
        return 1 if seen.failures else 0

    return _watch(look, options.watch) if options.watch else look()


def _watch(look: Callable[[], int], seconds: int) -> int:
    """Look again and again, on a terminal each time in the place of the last, until Ctrl-C."""
    code = 0
    with suppress(KeyboardInterrupt):
        while True:
            print(CLEAR if sys.stdout.isatty() else "", end="")
            code = look()
            print(f"\n{time.strftime('%H:%M:%S')}, again in {seconds} s; Ctrl-C ends", flush=True)
            time.sleep(seconds)
    print()
    return code


def _prune(options: argparse.Namespace) -> None:
    from tsdg.runs import prune

    study = load_study(options)
    check_folders(options)
    paths, features = prune.unwanted(study, options.runs), prune.stale_features(study, options.data)
    protocol = study.params["protocol"]
    for line in prune.summary(paths, options.runs):
        print(line)
    if not paths:
        print(f"every record in {options.runs} is wanted by a table (protocol {protocol})")
    if options.yes:
        prune.delete(paths, options.runs)
        prune.delete(features, options.data)
    after = "deleted" if options.yes else "--yes deletes them"
    if paths:
        print(f"{len(paths)} records that no table wants under protocol {protocol}; {after}")
    if features:
        print(f"{len(features)} files of features in {options.data} that no row of a table reads; {after}")
