"""The `tsdg` command: parse, call, print."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tsdg import __version__
from tsdg.errors import InputError

STUDY_OPTIONS = """
The study is read from params.yaml; --set key=value overrides a value of it, e.g. --set iterations=100 or
--set datasets.bearings.split=blocked.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 2 for bad input, 130 when interrupted."""
    options = parser().parse_args(arguments)
    try:
        options.command(options)
    except InputError as error:
        print(f"tsdg {options.name}: error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            sys.stderr.close()
            return 1
        print(
            f"tsdg {options.name}: error: {error.filename}: {error.strerror}; choose another place",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print(f"tsdg {options.name}: interrupted; what was finished is kept", file=sys.stderr)
        return 130
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="tsdg",
        description="Domain generalization for time series: from raw recordings to tables.",
        epilog="The whole way is one command: snakemake --cores 2 results/tables/bearings.tex",
    )
    top.add_argument("--version", action="version", version=f"tsdg {__version__}")
    commands = top.add_subparsers(dest="name", required=True, metavar="COMMAND")

    fetch = _command(commands, "fetch", _fetch, "download the official recordings of a data set")
    fetch.add_argument("kind", choices=["bearings"], help="data set")
    fetch.add_argument("--out", type=Path, default=None, help="folder (default: data/raw/{data set})")
    fetch.add_argument("--base-url", help="where {number}.mat lie, if not on the official site")
    fetch.add_argument("--numbers", type=_numbers, help="only these files, e.g. 97-100,105")

    simulate = _command(
        commands, "simulate", _simulate, "write simulated raw recordings in the official layout"
    )
    simulate.add_argument("kind", choices=["bearings"], help="data set")
    simulate.add_argument(
        "--out", type=Path, default=None, help="folder (default: data/simulated/{data set})"
    )
    simulate.add_argument("--seed", type=_natural, default=0)
    simulate.add_argument(
        "--seconds", type=float, help="length of a recording (default: as the official ones)"
    )
    simulate.add_argument("--location", choices=["sensor", "both"], default="sensor", help="which recordings")

    _prepare_arguments(_command(commands, "prepare", _prepare, "cut raw recordings into a windowed data set"))
    _train_arguments(
        _command(commands, "train", _train, "train runs of one variant and record them", study=True)
    )

    select = _command(
        commands, "select", _select, "choose the runs that a table shows, from records", study=True
    )
    select.add_argument("table", help="table in params.yaml")
    select.add_argument("--runs", type=Path, default=Path("results/runs"), help="folder of records")
    select.add_argument("--out", type=Path, default=None, help="csv (default: results/selected/{table}.csv)")

    for name, command, what in (
        ("table", _table, "csv, LaTeX and comparison"),
        ("figure", _figure, "pdf and png"),
    ):
        sub = _command(commands, name, command, f"{what} of a table's selected runs", study=True)
        sub.add_argument("table", help="table in params.yaml")
        sub.add_argument("--selected", type=Path, default=None, help="default: results/selected/{table}.csv")
        sub.add_argument("--out", type=Path, default=Path(f"results/{name}s"), help="folder")

    show = _command(commands, "show", _show, "print a finished table")
    show.add_argument("csv", type=Path, help="the table's csv, e.g. results/tables/bearings.csv")

    hparams = _command(commands, "hparams", _hparams, "list the hyperparameters of every draw", study=True)
    hparams.add_argument("--out", type=Path, default=Path("results/hparams.csv"))
    hparams.add_argument(
        "--tables", type=Path, help="also write hyperparameter.tex and .csv into this folder"
    )
    return top


def _command(
    commands: Any, name: str, command: Callable[[argparse.Namespace], None], what: str, *, study: bool = False
) -> argparse.ArgumentParser:
    sub = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + "." + (STUDY_OPTIONS if study else ""),
        formatter_class=argparse.ArgumentDefaultsHelpFormatter
        if name == "prepare"
        else argparse.HelpFormatter,
    )
    sub.set_defaults(command=command)
    if study:
        sub.add_argument(
            "--params", type=Path, default=Path("params.yaml"), help="the study (default: params.yaml)"
        )
        sub.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a value")
    return sub


def _prepare_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("kind", choices=["bearings"], help="data set")
    sub.add_argument("--raw", type=Path, required=True, help="folder of the raw recordings")
    sub.add_argument("--out", type=Path, required=True, help="folder of the prepared data set")
    sub.add_argument(
        "--preset", choices=["default", "published"], default="default", help="values of what follows"
    )
    given: dict[str, Any] = {"default": argparse.SUPPRESS}
    sub.add_argument("--location", choices=["sensor", "fault"], help="what a domain's location is", **given)
    sub.add_argument("--clock", choices=["prefer6", "prefer3"], help="position of outer race faults", **given)
    sub.add_argument(
        "--per-class", type=_per_class, help="windows of a class: all, paper, or a number", **given
    )
    sub.add_argument("--normal-rate", type=_rate, help="12000, or as_is (48 kHz where official)", **given)
    sub.add_argument(
        "--samples", type=_samples, help="only the first so many samples of a recording", **given
    )
    sub.add_argument("--window", type=_natural, help="window length in samples", **given)
    sub.add_argument("--stride", type=_natural, help="distance of two windows in samples", **given)
    sub.add_argument("--seed", type=_natural, help="seed of drawing windows", **given)
    sub.add_argument(
        "--recordings", type=Path, help="recordings table (csv) in place of the packaged one", **given
    )


def _train_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--data", type=Path, required=True, help="folder of the prepared data set")
    sub.add_argument(
        "--dataset", help="data set in params.yaml (default: the name on the prepared one's card)"
    )
    sub.add_argument("--variant", required=True, help="variant in params.yaml")
    sub.add_argument("--target", nargs="+", required=True, help="domain held out; several make a pack")
    sub.add_argument("--seed", nargs="+", type=_natural, default=[0], help="seeds")
    sub.add_argument("--draw", nargs="+", type=_draws, default=[["fixed"]], help="draws: 3, 0-19, or fixed")
    sub.add_argument("--out", type=Path, default=Path("results/runs"), help="folder of records")
    sub.add_argument("--device", choices=["auto", "cpu", "cuda"], help="default: as in params.yaml")
    sub.add_argument(
        "--threads", type=_positive, default=1, help="CPU threads (default: 1, the fastest a core)"
    )
    sub.add_argument("--force", action="store_true", help="train again what has a record already")


def _natural(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def _numbers(text: str) -> list[int]:
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        block = range(_natural(first), _natural(last if dash else first) + 1)
        if not block:
            raise argparse.ArgumentTypeError(f"{part!r}: the first number is above the last")
        numbers += block
    return numbers


def _draws(text: str) -> list[int | str]:
    return ["fixed"] if text == "fixed" else [*_numbers(text.replace("hp", ""))]


def _per_class(text: str) -> int | str:
    return text if text in ("all", "paper") else _natural(text)


def _rate(text: str) -> int | str:
    return text if text == "as_is" else _natural(text)


def _samples(text: str) -> int | None:
    return None if text in ("all", "None") else _natural(text)


def _fetch(options: argparse.Namespace) -> None:
    from tsdg.data.fetch import fetch_bearings

    out = options.out or Path("data/raw") / options.kind
    base = {"base_url": options.base_url} if options.base_url else {}
    files = fetch_bearings(out, numbers=options.numbers, **base)
    print(f"{len(files)} recordings in {out}")


def _simulate(options: argparse.Namespace) -> None:
    from tsdg.data.simulate import simulate_bearings

    out = options.out or Path("data/simulated") / options.kind
    length = {} if options.seconds is None else {"seconds": options.seconds}
    with _bar("simulate", "recording") as step:
        files = simulate_bearings(out, seed=options.seed, location=options.location, progress=step, **length)
    print(f"{len(files)} simulated recordings in {out}")


def _prepare(options: argparse.Namespace) -> None:
    from tsdg.data.bearings import PRESETS, prepare

    own = {"name", "command", "kind", "raw", "out", "preset"}
    given = {key: value for key, value in vars(options).items() if key not in own}
    with _bar("prepare", "recording") as step:
        card = prepare(options.raw, options.out, **(PRESETS[options.preset] | given), progress=step)
    counts = {name: sum(of_class.values()) for name, of_class in card["counts"].items()}
    print(
        f"{sum(counts.values())} windows in {options.out}: "
        + ", ".join(f"{k} {v}" for k, v in counts.items())
    )
    for note in card.get("notes", []):
        print(f"  note: {note}")


def _train(options: argparse.Namespace) -> None:
    from tsdg.job import train_job
    from tsdg.study import Study

    train_job(
        Study.load(options.params, options.set),
        options.data,
        variant=options.variant,
        targets=options.target,
        seeds=options.seed,
        draws=[number for numbers in options.draw for number in numbers],
        out=options.out,
        dataset=options.dataset,
        device=options.device,
        threads=options.threads,
        force=options.force,
    )


def _select(options: argparse.Namespace) -> None:
    from tsdg.select import select, write_csv
    from tsdg.study import Study

    study = Study.load(options.params, options.set)
    out = options.out or Path("results/selected") / f"{options.table}.csv"
    selected = select(study.table_runs(options.table), options.runs, checkpoint=study.params["checkpoint"])
    write_csv(selected, out)
    print(out)


def _table(options: argparse.Namespace) -> None:
    from tsdg.select import read_csv
    from tsdg.study import Study
    from tsdg.tables import render

    study = Study.load(options.params, options.set)
    layout = study.layout(options.table)
    selected = read_csv(options.selected or Path("results/selected") / f"{options.table}.csv")
    for path in render(options.table, selected, layout, options.out):
        print(path)


def _figure(options: argparse.Namespace) -> None:
    from tsdg.figures import accuracy_by_target
    from tsdg.select import read_csv
    from tsdg.study import Study

    study = Study.load(options.params, options.set)
    layout = study.layout(options.table)
    selected = read_csv(options.selected or Path("results/selected") / f"{options.table}.csv")
    for path in accuracy_by_target(selected, layout, options.out, options.table):
        print(path)


def _show(options: argparse.Namespace) -> None:
    import pandas as pd

    from tsdg.tables import METRICS

    try:
        table = pd.read_csv(
            options.csv, keep_default_na=False, na_values={"mean": [""]}, dtype={"target": str}
        )
        groups = table.groupby(["dataset", "metric"], sort=False)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{options.csv}: not a table's csv ({error}); make it with `tsdg table`") from None
    for (dataset, metric), part in groups:
        wide = part.pivot(index="label", columns="target", values="mean")
        wide = wide.loc[part["label"].unique(), part["target"].unique()].rename_axis(index=None, columns=None)
        print(f"{dataset}: {METRICS[metric].heading}, mean over seeds")
        print(wide.to_string(na_rep="--", float_format=f"%.{METRICS[metric].decimals}f"))


def _hparams(options: argparse.Namespace) -> None:
    from tsdg.study import Study

    table = Study.load(options.params, options.set).hparams_table()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(options.out, index=False, lineterminator="\n")
    print(options.out)
    if options.tables:
        from tsdg.hyperparameters import render

        print(*render(options.tables), sep="\n")


class _bar:  # noqa: N801 - used as a function
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


if __name__ == "__main__":
    sys.exit(main())
