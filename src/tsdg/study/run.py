"""A run: one training of the study, and the path of its record."""

import re
import string
from dataclasses import dataclass
from functools import cache, total_ordering
from pathlib import PurePath

from tsdg.errors import InputError

RECORDS = "results/runs"  # folder
LOGS = "logs/train"  # of the jobs that train
_UNESCAPED = frozenset(string.ascii_letters + string.digits + "+-_")
RECORD = "{dataset}/{variant}/{target}/seed{seed}/{draw}.json"


@total_ordering
@dataclass(frozen=True)
class Run:
    """One training: a variant (row of a table) with one target held out, one seed, one hyperparameter draw.

    The target is called as `tsdg.study.targets` has it.

    Runs sort by field, the draw "fixed" before the numbered ones.

    Raises
    ------
    InputError
        A name that cannot be part of a path, a negative seed, or a draw that is neither "fixed" nor 0, 1, ...
    """

    dataset: str
    variant: str
    target: str
    seed: int
    draw: int | str

    def __post_init__(self) -> None:
        for field, name in (("dataset", self.dataset), ("variant", self.variant)):
            if not isinstance(name, str) or not _matches(r"[^\s/.][^\s/]*", name):
                raise InputError(
                    f"{field} {name!r} cannot name a folder: use text without spaces and slashes that "
                    "does not start with a dot."
                )
        if not is_target(self.target):
            raise InputError(
                f"target {self.target!r}: use one line of text that neither begins nor ends with a space."
            )
        if not _is_natural(self.seed):
            raise InputError(f"seed {self.seed!r}: use a whole number from 0 on.")
        if self.draw != "fixed" and not _is_natural(self.draw):
            raise InputError(f'draw {self.draw!r}: use "fixed" or a whole number from 0 on.')

    @property
    def order(self) -> tuple:
        """What runs are sorted by."""
        return self.dataset, self.variant, self.target, self.seed, draw_order(self.draw)

    @property
    def words(self) -> str:
        """What the run is called in a log."""
        return f"{self.variant} target {self.target} seed {self.seed} draw {self.draw}"

    def __lt__(self, other: "Run") -> bool:
        return self.order < other.order


def is_target(name: object) -> bool:
    """Whether a target can have a name: one line of text that neither begins nor ends with a space."""
    return isinstance(name, str) and _matches(r"\S(.*\S)?", name)


@cache
def _matches(pattern: str, name: str) -> bool:
    return re.fullmatch(pattern, name) is not None


def _is_natural(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def draw_order(draw: int | str) -> int:
    """Place of a draw among draws: "fixed" first, then by number."""
    return -1 if draw == "fixed" else int(draw)


def draw_name(draw: int | str) -> str:
    """A draw as it stands in paths: ``hp3``, or ``fixed``."""
    return "fixed" if draw == "fixed" else f"hp{draw}"


def run_path(run: Run) -> str:
    """Path of a run's record below the folder of records, such as ``bearings/erm/B/seed0/hp3.json``."""
    return filled(RECORD, run)


def filled(pattern: str, run: Run) -> str:
    """A path with what of a run stands in braces, as in `RECORD`."""
    return pattern.format(
        dataset=run.dataset,
        variant=run.variant,
        target=target_folder(run.target),
        seed=run.seed,
        draw=draw_name(run.draw),
    )


@cache
def target_folder(target: str) -> str:
    """The folder of a target: its name, of which all but letters, digits, ``+``, ``-`` and ``_`` is escaped.

    So ``location=fan end`` becomes ``location.3Dfan.20end``, which needs no quoting in a shell, in
    Snakemake's wildcards or in a batch script: a dot and two digits, hexadecimal, for each byte of UTF-8.
    """
    return "".join(
        chr(byte) if chr(byte) in _UNESCAPED else f".{byte:02X}"
        for byte in target.encode("utf-8", "surrogatepass")
    )


def target_of(folder: str) -> str:
    """The target of a folder: the inverse of `target_folder`.

    Raises
    ------
    InputError
        It is no target's folder.
    """
    try:
        target = re.sub(
            rb"\.([0-9A-F]{2})",
            lambda code: bytes([int(code[1], 16)]),
            folder.encode("utf-8", "surrogatepass"),
        ).decode("utf-8", "surrogatepass")
    except UnicodeError:
        target = ""
    if not target or target_folder(target) != folder:
        raise InputError(f"{folder!r} is not the folder of a target")
    return target


def parse_run_path(path: str | PurePath) -> Run:
    """The run whose record this path is; leading folders are ignored. The inverse of `run_path`."""
    parts = PurePath(path).as_posix().split("/")[-5:]
    match = re.fullmatch(r"seed(\d+)/(?:hp(\d+)|(fixed))\.json", "/".join(parts[3:]))
    if len(parts) != 5 or match is None:
        raise InputError(f"{path}: not a run record's path, which is {RECORD}")
    seed, number, fixed = match.groups()
    return Run(parts[0], parts[1], target_of(parts[2]), int(seed), fixed or int(number))
