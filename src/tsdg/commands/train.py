"""The command `tsdg train`."""

import argparse
from itertools import product
from pathlib import Path

from tsdg.commands.arguments import RUNS, Commands, command, draws, load_study, natural, positive


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    train = command(commands, "train", _train, "train runs of one variant and record them", study=True)
    train.add_argument("--data", type=Path, required=True, help="folder of the prepared data set")
    train.add_argument(
        "--dataset", help="data set in params.yaml (default: the name on the prepared one's card)"
    )
    train.add_argument("--variant", required=True, help="variant in params.yaml")
    train.add_argument("--target", nargs="+", required=True, help="domain held out; several make a pack")
    train.add_argument("--seed", nargs="+", type=natural, default=[0], help="seeds")
    train.add_argument("--draw", nargs="+", type=draws, default=[["fixed"]], help="draws: 3, 0-19, or fixed")
    train.add_argument("--out", type=Path, default=RUNS, help="folder of records")
    train.add_argument("--device", choices=["auto", "cpu", "cuda"], help="default: as in params.yaml")
    train.add_argument(
        "--threads", type=positive, default=1, help="CPU threads (default: 1, the fastest a core)"
    )
    train.add_argument("--force", action="store_true", help="train again what has a record already")
    train.add_argument(
        "--keep",
        action="store_true",
        help="leave each record a second name (a link) in OUT/.finished, as the workflow does: what runs "
        "`tsdg` may delete what it takes for unfinished",
    )


def _train(options: argparse.Namespace) -> None:
    from tsdg.runs.job import train_job
    from tsdg.runs.log import job_log
    from tsdg.runs.recipe import Recipes
    from tsdg.study.run import Run

    study = load_study(options)
    draws = [number for numbers in options.draw for number in numbers]
    identity = None
    if name := options.dataset:
        runs = (Run(name, options.variant, *rest) for rest in product(options.target, options.seed, draws))
        identity = Recipes(study).identity(runs)
    with job_log(identity):
        train_job(
            study,
            options.data,
            variant=options.variant,
            targets=options.target,
            seeds=options.seed,
            draws=draws,
            out=options.out,
            dataset=options.dataset,
            device=options.device,
            threads=options.threads,
            force=options.force,
            keep=options.keep,
        )
