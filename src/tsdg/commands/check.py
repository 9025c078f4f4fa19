"""The command `tsdg check`."""

import argparse
import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsdg.commands.arguments import DATA, Commands, command, load_study, path_or_name, progress_bar
from tsdg.commands.options import add_options, given
from tsdg.data.kinds import KINDS
from tsdg.data.own.options import CHECK
from tsdg.errors import InputError
from tsdg.files import atomic

if TYPE_CHECKING:
    from tsdg.data.windows import WindowedDataset

HOW = """\
# This alone is no params file; --write study.yaml writes one that runs at once."""
NEXT = """{file} is a whole study; what is next, to see it work:
    tsdg plan --params {file} --set protocol=quick
    snakemake --configfile {file} --cores 2 results/tables/{name}.tex --config protocol=quick --quiet rules
    tsdg status --params {file} --set protocol=quick
    tsdg show results/tables/{name}.csv
Without protocol=quick, the same lines are those of the real study:
    snakemake --configfile {file} --cores 2 results/tables/{name}.tex --quiet rules"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    sub = command(commands, "check", _check, "say what is in recordings, or in a data set", study=True)
    sub.epilog = (
        "For recordings: the options that say what is what. The last lines are an entry for params.yaml."
    )
    sub.add_argument(
        "what",
        type=path_or_name,
        help="a file or folder of recordings, or a data set: in params.yaml, or its prepared folder",
    )
    sub.add_argument("--as", dest="as_name", metavar="NAME", help="the data set's name (default: the file's)")
    sub.add_argument(
        "--write", type=Path, metavar="FILE", help="write a params file, a study of the recordings"
    )
    sub.add_argument("--quick", action="store_true", help="leave out the baselines, which take seconds")
    sub.add_argument(
        "--transfer",
        action="store_true",
        help="what a linear model learns on each domain alone, tried on every other: which domains are alike",
    )
    sub.add_argument(
        "--out", type=Path, metavar="FOLDER", help="with --transfer: write its figure and numbers there"
    )
    add_options(sub, CHECK)


def _check(arguments: argparse.Namespace) -> None:
    from tsdg.data.describe import describe, is_unbalanced
    from tsdg.data.integrity import load_checked
    from tsdg.data.own.check import check_table, proposal
    from tsdg.data.own.study_file import name_of, study_text
    from tsdg.data.windows import FILES

    if arguments.out is not None and not arguments.transfer:
        raise InputError("--out: is for the matrix of --transfer; give both")

    title = arguments.as_name or Path(arguments.what).name.split(".")[0]

    def baselines(data: "WindowedDataset", split: str | None = None) -> list[str]:
        lines = [] if arguments.quick else _baselines(data, split)
        return [*lines, *(_transfer(data, title, arguments.out) if arguments.transfer else [])]

    options = given(arguments, CHECK)
    path = Path(arguments.what)
    if arguments.write is not None and arguments.write.exists():
        raise InputError(f"--write: {arguments.write} is there already; choose another name or remove it")
    if all((path / name).is_file() for name in FILES):
        if options or arguments.write is not None:
            raise InputError(f"{path}: is prepared already; name the recordings, or give no options")
        data = load_checked(path)
        print(*describe(data), *baselines(data), sep="\n")
        return
    if path.exists():
        cards: list[Mapping[str, Any]] = []

        def also(data: "WindowedDataset") -> list[str]:
            cards.append(data.card)
            return baselines(data)

        with progress_bar("check", "part") as step:
            lines, entry = check_table(path, **options, also=also, said_before=_print, progress=step)
        unbalanced = is_unbalanced(cards[0])
        name = name_of(arguments.as_name or path.name.split(".")[0]) or "mine"
        name = f"{name}-own" if name in KINDS else name
        if arguments.write is None:
            print(*lines, "", HOW, proposal(name, entry, unbalanced=unbalanced), sep="\n")
            return
        file = shlex.quote(str(arguments.write))
        with atomic(arguments.write) as temporary:
            text = study_text(name, entry, file, unbalanced=unbalanced)
            temporary.write_text(text, encoding="utf-8")
        print(*lines, "", NEXT.format(file=file, name=name), sep="\n")
        return
    if arguments.write is not None:
        raise InputError(f"--write: {arguments.what} is in a params file already; name a file of recordings")
    if path.suffix or "/" in arguments.what:
        raise InputError(f"{path}: no such file or folder")
    study = load_study(arguments)
    entry, prepared = study.dataset(arguments.what), study.prepared(arguments.what)
    kind = KINDS[entry["kind"]]
    if not kind.own:
        data = load_checked(DATA / prepared)
        print(*describe(data), *baselines(data, entry["split"]), sep="\n")
        return
    raw: Any = entry["raw"]
    if entry["source"] == "simulated":
        [raw] = (Path("data/simulated") / prepared / name for name in kind.raw_names(entry))
    with progress_bar("check", "part") as step:
        chosen = kind.arguments("prepare", entry) | options
        also = partial(baselines, split=entry["split"])
        lines, _ = check_table(raw, **chosen, also=also, said_before=_print, progress=step)
    print(*lines, sep="\n")


def _print(lines: list[str]) -> None:
    for line in lines:
        print(line, flush=True)


def _baselines(data: "WindowedDataset", split: str | None) -> list[str]:
    from tsdg.runs.baselines import describe  # which loads PyTorch

    with progress_bar("baselines", "fit") as step:
        return describe(data, split, step)


def _transfer(data: "WindowedDataset", title: str, out: Path | None) -> list[str]:
    from tsdg.files import write_text
    from tsdg.results.figures import transfer as figure
    from tsdg.results.figures.style import plain
    from tsdg.runs import transfer

    try:
        name, table = transfer.best_baseline(data)
    except InputError as error:
        return [f"transfer: none ({error})"]
    metadata = data.card["domains"]
    lines = transfer.describe(data, name, table)
    if out is None:
        return lines
    matrix = figure.Matrix(plain(title), table, metadata)
    paths = figure.render([matrix], [f"{name}. {figure.EXPLAINED}"], out, "transfer")
    paths.append(out / "transfer.csv")
    order = transfer.ordered(table).domains
    write_text(paths[-1], table.loc[order, order].to_csv(lineterminator="\n", index_label="source"))
    return [*lines, *map(str, paths)]
