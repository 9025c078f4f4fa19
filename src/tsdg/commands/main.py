"""The `tsdg` command: its groups of commands, and how each of them ends."""

import argparse
import atexit
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from tsdg.commands import (
    about,
    adopt,
    bundle,
    check,
    check_method,
    data,
    init,
    progress,
    records,
    results,
    toy,
    train,
)
from tsdg.commands.completion import SHELLS, PrintCompletion
from tsdg.commands.version import Version
from tsdg.errors import InputError

GROUPS = (
    init,
    data,
    check,
    check_method,
    train,
    bundle,
    results,
    records,
    about,
    toy,
    progress,
    adopt,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code is 1 if it says so, 2 for bad input, 130 if interrupted.

    `status` and `check-method` end with 1 where something failed.
    """
    if arguments is None:
        _end(main(sys.argv[1:]))
    top = parser()
    options = top.parse_args(arguments)
    if options.name is None:
        top.print_help(sys.stderr)
        return 2
    try:
        return options.command(options) or 0
    except InputError as error:
        print(f"tsdg {options.name}: error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            sys.stderr.close()
            return 1
        where, why = error.filename or "output", error.strerror or error
        print(f"tsdg {options.name}: error: {where}: {why}; choose another place", file=sys.stderr)
        return 2
    except MemoryError as error:
        why = f" ({error})" if str(error) else ""
        print(
            f"tsdg {options.name}: error: more memory is needed than there is{why}; give smaller values, or "
            "fewer or shorter recordings",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print(f"tsdg {options.name}: interrupted; what was finished is kept", file=sys.stderr)
        return 130


def _end(code: int) -> NoReturn:
    """End the process as its exit would, but for libraries' threads.

    Arrow's, of a file that was not read to its end, may just be starting, and then abort an exit.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except ValueError:  # closed
            pass
        except OSError as error:
            print(f"tsdg: error: output: {error.strerror}", file=sys.stderr)
            code = code or 2
    os._exit(code)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="tsdg",
        description="Domain generalization for time series: from raw recordings to tables.",
        epilog="The whole way is one command: snakemake --cores 2 results/tables/bearings.tex",
    )
    top.add_argument("--version", action=Version, help="the version, its commit, and what it runs on")
    top.add_argument(
        "--print-completion", action=PrintCompletion, choices=SHELLS,
        help="print what has a shell complete commands: eval \"$(tsdg --print-completion bash)\"",
    )  # fmt: skip
    commands = top.add_subparsers(dest="name", metavar="COMMAND")
    for group in GROUPS:
        group.add(commands)
    return top
