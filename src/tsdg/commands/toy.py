"""The commands of the toy study: `tsdg toy train`, `table` and `figure`."""

import argparse
from pathlib import Path

from tsdg.commands.arguments import RUNS, Commands, command, load_study, natural
from tsdg.study.names import TOY_FIGURES, TOY_TABLES


def add(commands: Commands) -> None:
    """Add the commands to the command line."""
    toy = commands.add_parser("toy", help="the toy study: trainings, tables, figures")
    parts = toy.add_subparsers(dest="part", required=True, metavar="COMMAND")
    train = command(parts, "train", _train, "train seeds of one variant and record them", study=True)
    train.add_argument("--variant", required=True, help="variant of the toy study in params.yaml")
    train.add_argument("--seed", nargs="+", type=natural, default=[0], help="seeds")
    train.add_argument("--out", type=Path, default=RUNS, help="folder of records")
    train.add_argument("--keep", action="store_true", help="as of `tsdg train`")
    for kind, run, names in (
        ("table", _table, TOY_TABLES),
        ("figure", _figure, TOY_FIGURES),
    ):
        sub = command(parts, kind, run, f"write a {kind} of the toy study", study=True)
        sub.add_argument("result", choices=names)
        sub.add_argument("--runs", type=Path, default=RUNS, help="folder of records")
        sub.add_argument("--out", type=Path, default=Path(f"results/{kind}s"), help="folder")
    sub.add_argument(
        "--width",
        choices=["column", "page"],
        help="of a two-column paper (default: as params.yaml has it, or page)",
    )


def _train(options: argparse.Namespace) -> None:
    from tsdg.runs.log import job_log
    from tsdg.runs.recipe import Recipes
    from tsdg.toy.job import toy_runs, train_job

    study = load_study(options)
    with job_log(Recipes(study).identity(toy_runs(options.variant, options.seed))):
        train_job(study, options.variant, options.seed, options.out, keep=options.keep)


def _table(options: argparse.Namespace) -> None:
    from tsdg.toy import tables

    write = getattr(tables, options.result)
    print(*write(load_study(options), options.runs, options.out), sep="\n")


def _figure(options: argparse.Namespace) -> None:
    from tsdg.results.figures import WIDTHS
    from tsdg.study.figure_kinds import PAGE
    from tsdg.toy import figures

    study, draw = load_study(options), getattr(figures, options.result)
    width = WIDTHS[options.width or study.toy.get("width", PAGE)]
    print(*draw(study, options.runs, options.out, width=width), sep="\n")
