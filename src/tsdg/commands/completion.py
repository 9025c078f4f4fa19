"""`tsdg --print-completion SHELL`: what has a shell complete commands, options, choices and files."""

import argparse
import sys
from pathlib import Path
from typing import Any

from tsdg.commands.arguments import path_or_name

SHELLS = ("bash", "zsh", "fish", "tcsh")


class PrintCompletion(argparse.Action):
    """Prints the script for a shell and ends, as ``--help`` does."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, flag: Any = None
    ) -> None:
        try:
            import shtab
        except ImportError:
            parser.error(f"{flag}: needs shtab: pip install 'tsdg[workflow]'")
        _complete_files(parser, shtab.FILE)
        # What has no answer of its own, as a file behind `records --to`, has bash's: files.
        script = shtab.complete(parser, value).replace("-o bashdefault -F", "-o bashdefault -o default -F")
        parser._print_message(script, sys.stdout)
        parser.exit()


def _complete_files(parser: argparse.ArgumentParser, how: dict[str, Any]) -> None:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                _complete_files(sub, how)
        elif action.type in (Path, path_or_name):
            action.complete = how  # type: ignore[attr-defined]
