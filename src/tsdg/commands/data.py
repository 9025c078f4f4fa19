"""The commands `tsdg fetch`, `simulate` and `prepare`, with the options of each kind of data set."""

import argparse
import shutil
from pathlib import Path
from typing import Any

from tsdg.commands.arguments import Commands, progress_bar
from tsdg.commands.options import add_options, given
from tsdg.data.kinds import KINDS, Kind
from tsdg.errors import InputError
from tsdg.files import atomic


def add(commands: Commands) -> None:
    """Add the commands to the command line."""
    for name, run, what in (
        ("fetch", _fetch, "download the official recordings of a data set"),
        ("simulate", _simulate, "write simulated raw recordings in the official layout"),
        ("prepare", _prepare, "cut raw recordings into a windowed data set"),
    ):
        command = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
        kinds = command.add_subparsers(dest="kind", required=True, metavar="DATASET")
        for key, kind in KINDS.items():
            if name not in kind.options:
                continue
            sub = kinds.add_parser(key, help=kind.about, description=f"{kind.about}: {what}.")
            sub.set_defaults(command=run)
            _add_places(sub, name, key, kind)
            add_options(sub, kind.options[name])
            if name == "prepare" and kind.recordings:
                _add_table(sub, kind)


def _add_places(sub: argparse.ArgumentParser, name: str, key: str, kind: Kind) -> None:
    if name == "prepare":
        raw = "file, or folder of files and metadata.csv" if kind.own else "folder of the raw recordings"
        sub.add_argument("--raw", type=Path, required=True, help=raw)
        sub.add_argument("--out", type=Path, required=True, help="folder of the prepared data set")
        return
    place = Path("data", "raw" if name == "fetch" else "simulated", key)
    sub.add_argument("--out", type=Path, default=place, help=f"folder (default: {place})")
    if name == "fetch" and kind.credentials:
        sub.epilog = "The files need credentials: the command says how to get them, and fetches nothing."


def _add_table(sub: argparse.ArgumentParser, kind: Kind) -> None:
    class Write(argparse.Action):
        """Writes the packaged recordings table and ends, as ``--help`` does."""

        def __call__(
            self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, flag: Any = None
        ) -> None:
            assert kind.recordings is not None
            if value.exists():
                parser.error(f"{flag}: {value} is there already; choose another name or remove it")
            try:
                with atomic(value) as temporary:
                    shutil.copyfile(kind.recordings, temporary)
            except (InputError, OSError) as error:
                parser.error(f"{flag}: {error}")
            print(f"{value}: the packaged recordings table; edit it, and give it with --recordings")
            parser.exit()

    sub.add_argument(
        "--write-recordings",
        type=Path,
        metavar="FILE",
        action=Write,
        help="write the packaged recordings table, to be edited, and nothing else",
    )


def _fetch(arguments: argparse.Namespace) -> None:
    kind = KINDS[arguments.kind]
    files = kind.fetch(arguments.out, **given(arguments, kind.options["fetch"]))
    print(f"{len(files)} files in {arguments.out}")


def _simulate(arguments: argparse.Namespace) -> None:
    kind = KINDS[arguments.kind]
    options = given(arguments, kind.options["simulate"])
    with progress_bar("simulate", "part") as step:
        files = kind.simulate(arguments.out, **options, progress=step)
    print(f"{len(files)} simulated files in {arguments.out}")


def _prepare(arguments: argparse.Namespace) -> None:
    from tsdg.data.describe import untaught_somewhere

    kind = KINDS[arguments.kind]
    options = given(arguments, kind.options["prepare"])
    with progress_bar("prepare", kind.unit) as step:
        card = kind.prepare(arguments.raw, arguments.out, **options, progress=step)
    counts = {name: sum(of_class.values()) for name, of_class in card["counts"].items()}
    print(
        f"{sum(counts.values())} windows in {arguments.out}: "
        + ", ".join(f"{name} {count}" for name, count in counts.items())
    )
    for line in _counts(card):
        print(f"  {line}")
    for note in [*untaught_somewhere(card), *card.get("notes", [])]:
        print(f"  note: {note}")


def _counts(card: dict[str, Any]) -> list[str]:
    """Windows of each domain and class, the paper's number beside them where it is known."""
    import pandas as pd

    from tsdg.data import paper

    known = False
    cells: dict[str, dict[str, str]] = {}
    for domain, of_class in card["counts"].items():
        cells[domain] = {}
        for name, count in of_class.items():
            printed = paper.samples(card.get("kind", ""), domain, name)
            known |= printed is not None
            cells[domain][name] = f"{count}" if printed is None else f"{count} ({printed})"
    table = pd.DataFrame.from_dict(cells, orient="index")
    heading = "windows of each class" + (" (in the paper)" if known else "")
    return [f"{heading}:", *table.to_string().splitlines()]
