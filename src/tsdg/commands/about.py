"""The commands that tell what results rest on: `tsdg datasets`, `networks`, `methods` and `hparams`."""

import argparse
from pathlib import Path

from tsdg.commands.arguments import Commands, command, load_study
from tsdg.files import write_text


def add(commands: Commands) -> None:
    """Add the commands to the command line."""
    datasets = command(commands, "datasets", _datasets, "write the tables of prepared data sets")
    datasets.add_argument("data", nargs="+", type=Path, help="folders of prepared data sets")
    networks = command(commands, "networks", _networks, "write the table of the networks")
    for sub in (datasets, networks):
        sub.add_argument("--out", type=Path, default=Path("results/tables"), help="folder")
    methods = command(commands, "methods", _methods, "print the page of all methods")
    methods.add_argument("costs", type=Path, help="what benchmarks/costs.py measured")
    hparams = command(commands, "hparams", _hparams, "list the hyperparameters of every draw", study=True)
    hparams.add_argument("--out", type=Path, default=Path("results/hparams.csv"))
    hparams.add_argument(
        "--tables",
        type=Path,
        help="also write hyperparameter and augmentations, .tex and .csv, into this folder",
    )


def _datasets(options: argparse.Namespace) -> None:
    from tsdg.results.about import datasets, domains

    print(*datasets.render(options.data, options.out), *domains.render(options.data, options.out), sep="\n")


def _networks(options: argparse.Namespace) -> None:
    from tsdg.results.about.networks import render

    print(*render(options.out), sep="\n")


def _methods(options: argparse.Namespace) -> None:
    from tsdg.results.about.methods import page, read_costs

    print(page(read_costs(options.costs)), end="")


def _hparams(options: argparse.Namespace) -> None:
    study = load_study(options)
    write_text(options.out, study.hparams_table().to_csv(index=False, lineterminator="\n"))
    print(options.out)
    if options.tables:
        from tsdg.results.about import augmentations, hyperparameters

        written = hyperparameters.render(options.tables) + augmentations.render(study, options.tables)
        print(*written, sep="\n")
