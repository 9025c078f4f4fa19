"""What the commands share: how one is declared, kinds of arguments, and the progress bar."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tsdg.errors import InputError, nearest
from tsdg.study.run import LOGS, RECORDS

if TYPE_CHECKING:
    from tsdg.study.selection import Selection
    from tsdg.study.study import Study

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

PARAMS, RUNS, DATA = Path("params.yaml"), Path(RECORDS), Path("results/data")
STUDY_OPTIONS = """
The study is read from params.yaml; --set key=value overrides a value of it, e.g. --set iterations=100 or
--set datasets.bearings.split=blocked; mappings merge with what is there, as those of `snakemake --config` do.
"""


def command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], int | None],
    what: str,
    *,
    study: bool = False,
) -> argparse.ArgumentParser:
    """Declare a command: its function, one line of help, and the options of a study if it reads one."""
    description = what[0].upper() + what[1:] + "." + (STUDY_OPTIONS if study else "")
    sub = commands.add_parser(name, help=what, description=description)
    sub.set_defaults(command=run)
    if study:
        sub.add_argument("--params", type=Path, default=PARAMS, help="the study (default: params.yaml)")
        sub.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a value")
    return sub


def load_study(options: argparse.Namespace) -> Study:
    """The study that the options of a command name."""
    from tsdg.study.study import Study

    study = Study.load(options.params, options.set)
    for note in study.notes:
        print(f"note: {note}", file=sys.stderr)
    chosen: Selection | None = getattr(options, "selection", None)
    return study.under(chosen) if chosen else study


def preparing(options: argparse.Namespace, card: Path) -> str:
    """The command that prepares the data set of a card, which is not there."""
    file = "" if options.params == PARAMS else f"--configfile {options.params} "
    return f"snakemake {file}--cores 1 {card}"


def check_folders(options: argparse.Namespace) -> None:
    """A folder that is named must be there; before anything is made, the usual ones are not."""
    for name, usual, what in (
        ("runs", RUNS, "records"),
        ("data", DATA, "prepared data sets"),
        ("logs", Path(LOGS), "the trainings' logs"),
    ):
        folder = getattr(options, name, usual)
        if folder != usual and not folder.is_dir():
            raise InputError(f"--{name} {folder}: no such folder; give the folder of {what}")


def natural(text: str) -> int:
    """A whole number from 0."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def path_or_name(text: str) -> str:
    """A file or folder, which a shell completes, or a name: any text as it is."""
    return text


def number_or_name(text: str) -> float | str:
    """A number, or any other text as it is."""
    try:
        return float(text)
    except ValueError:
        return text


def numbers(text: str) -> list[int]:
    """Numbers and ranges: ``97-100,105``."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        block = range(natural(first), natural(last if dash else first) + 1)
        if not block:
            raise argparse.ArgumentTypeError(f"{part!r}: the first number is above the last")
        found += block
    return found


def draws(text: str) -> list[int | str]:
    """Draws of hyperparameters: numbers, ranges, or fixed."""
    return ["fixed"] if text == "fixed" else [*numbers(text.replace("hp", ""))]


def one_draw(text: str) -> int | str:
    """A draw of hyperparameters: a number, or fixed."""
    return "fixed" if text == "fixed" else natural(text.removeprefix("hp"))


def selection(text: str) -> Selection:
    """What runs are selected by: a policy, or a policy and a metric with a slash between them."""
    from tsdg.study.selection import JUDGES, NAMES, POLICIES, Selection

    if text not in NAMES:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no selection{nearest(text, NAMES)}; there are {', '.join(POLICIES)}, each by "
            f"accuracy or, with a slash, by {', '.join(JUDGES[1:])}, e.g. {NAMES[1]}"
        )
    return Selection.of(text)


class progress_bar:  # noqa: N801 - used as a function
    """A progress bar on a terminal; nothing in a log."""

    def __init__(self, what: str, unit: str):
        from tqdm import tqdm

        self.bar = tqdm(desc=what, unit=unit, disable=None, leave=False)

    def __enter__(self) -> Callable[[int, int], None]:
        return self._show

    def _show(self, done: int, total: int) -> None:
        self.bar.total = total
        self.bar.update(done - self.bar.n)

    def __exit__(self, *_: object) -> None:
        self.bar.close()
