"""The command `tsdg init`, which makes a folder to work in without a clone of the repository."""

import argparse
import os
import shutil
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

from tsdg.commands.arguments import PARAMS, Commands, command
from tsdg.errors import InputError
from tsdg.files import write_text

TEMPLATE = files("tsdg") / "template"
SNAKEFILE = """\
# The workflow of the installed package `tsdg`; the study is params.yaml.
from importlib.resources import files


include: str(files("tsdg") / "template/workflow/Snakefile")


workflow.default_target = "all"  # an included file has none
"""
WRITTEN = (str(PARAMS), "Snakefile", "profiles", "slurm")


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    sub = command(
        commands,
        "init",
        _init,
        "write params.yaml and what Snakemake needs beside it into a folder, which so needs no clone",
    )
    sub.add_argument("folder", type=Path, help="where none of these is yet")


def _init(options: argparse.Namespace) -> None:
    folder = options.folder
    for name in WRITTEN:
        if os.path.lexists(folder / name):
            raise InputError(f"{folder / name}: is there already, and not overwritten; name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    with as_file(TEMPLATE) as template, TemporaryDirectory(prefix=".tsdg-", dir=folder) as temporary:
        made = Path(temporary)
        shutil.copyfile(template / PARAMS, made / PARAMS)
        shutil.copytree(template / "profiles", made / "profiles", copy_function=shutil.copyfile)
        (made / "slurm").symlink_to(Path("profiles/slurm"))  # for `--profile slurm`
        write_text(made / "Snakefile", SNAKEFILE)
        for name in WRITTEN:
            (made / name).rename(folder / name)
    print(*(folder / name for name in WRITTEN), sep="\n")
