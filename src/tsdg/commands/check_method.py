"""The command `tsdg check-method`."""

import argparse
from pathlib import Path

from tsdg.commands.arguments import Commands, command
from tsdg.errors import InputError, nearest


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    sub = command(
        commands, "check-method", _check_method, "try the laws that every method keeps on those of a file"
    )
    sub.epilog = "Ends with 1 if a law is broken, with 0 otherwise."
    sub.add_argument("file", type=Path, help="Python file with METHODS, see docs/new-method.md")
    sub.add_argument("--method", help="its name there (default: each)")


def _check_method(options: argparse.Namespace) -> int:
    import torch

    from tsdg import methods
    from tsdg.methods.laws import verdicts

    torch.set_num_threads(1)  # for little data, the fastest
    methods.use_plugins([options.file])
    names = list(methods.PLUGINS)
    if options.method not in (None, *names):
        raise InputError(
            f"{options.file}: holds no method {options.method!r}{nearest(options.method, names)}; "
            f"there are {', '.join(names)}"
        )
    broken = False
    for name in names if options.method is None else [options.method]:
        print(f"{methods.declaration(name).title}, method {name!r} of {options.file}:", flush=True)
        for verdict in verdicts(name):
            broken = broken or verdict.problem is not None
            print(f"  {verdict}", flush=True)
    return int(broken)
