"""The command `tsdg check`."""

import argparse
from pathlib import Path
from typing import Any

from tsdg.commands.arguments import DATA, Commands, command, load_study, positive, progress_bar
from tsdg.commands.data import table_options, table_values
from tsdg.errors import InputError

HOW = """\
# This alone is no params file: copy examples/hapt.yaml, put this in place of its `datasets` and `tables`, and
# leave out its `figures`."""
_OWN = {"name", "command", "what", "params", "set", "as_name"}


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    sub = command(commands, "check", _check, "say what is in recordings, or in a data set", study=True)
    sub.epilog = (
        "For recordings: the options that say what is what. The last lines are an entry for params.yaml."
    )
    sub.add_argument("what", help="a file or folder of recordings, or a data set in params.yaml")
    sub.add_argument("--as", dest="as_name", metavar="NAME", help="the data set's name (default: the file's)")
    sub.add_argument("--window", type=positive, default=argparse.SUPPRESS, help="time steps (default: 128)")
    table_options(sub)


def _check(options: argparse.Namespace) -> None:
    from tsdg.data.own.check import WINDOW, check_table, describe, proposal
    from tsdg.data.own.simulate import FILE
    from tsdg.data.windows import WindowedDataset

    given = table_values({key: value for key, value in vars(options).items() if key not in _OWN})
    path = Path(options.what)
    if path.exists():
        with progress_bar("check", "part") as step:
            lines, entry = check_table(path, **{"window": WINDOW} | given, progress=step)
        name = options.as_name or path.stem
        print(*lines, "", HOW, proposal(name, entry), sep="\n")
        return
    if path.suffix or "/" in options.what:
        raise InputError(f"{path}: no such file or folder")
    study = load_study(options)
    entry = study.dataset(options.what)
    if entry["kind"] != "table":
        print(*describe(WindowedDataset.load(DATA / study.prepared(options.what))), sep="\n")
        return
    raw: Any = entry["raw"]
    if entry["source"] == "simulated":
        raw = Path("data/simulated") / study.prepared(options.what) / FILE
    with progress_bar("check", "part") as step:
        lines, _ = check_table(raw, domains=entry["domains"], **entry["prepare"] | given, progress=step)
    print(*lines, sep="\n")
