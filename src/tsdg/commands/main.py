"""The `tsdg` command: its groups of commands, and how each of them ends."""

import argparse
import atexit
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

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
from tsdg.errors import InputError, nearest

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
        try:
            code = main(sys.argv[1:])
        except SystemExit as end:  # of --help, --version and errors of the command line
            code = int(end.code or 0)
        _end(code)
    top, called = parser(), "tsdg"
    try:
        options = top.parse_args(arguments)
        if options.name is None:
            top.print_help(sys.stderr)
            return 2
        called = f"tsdg {options.name}"
        return options.command(options) or 0
    except InputError as error:
        print(f"{called}: error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            sys.stderr.close()
            return 1
        where, why = error.filename or "output", error.strerror or error
        print(f"{called}: error: {where}: {why}; choose another place", file=sys.stderr)
        return 2
    except MemoryError as error:
        why = f" ({error})" if str(error) else ""
        print(
            f"{called}: error: more memory is needed than there is{why}; give smaller values, or "
            "fewer or shorter recordings",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print(f"{called}: interrupted; what was finished is kept", file=sys.stderr)
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
        except BrokenPipeError:  # nobody reads on
            code = code or 1
        except OSError as error:
            print(f"tsdg: error: output: {error.strerror}", file=sys.stderr)
            code = code or 2
    os._exit(code)


class _Parser(argparse.ArgumentParser):
    """One that tells which command was meant, and why output could not be written, which argparse hides."""

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            meant = nearest(value, action.choices)
            raise argparse.ArgumentError(
                action, f"{value!r} is none of those that `{self.prog} --help` lists{meant}"
            )
        super()._check_value(action, value)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top: argparse.ArgumentParser = _Parser(
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
