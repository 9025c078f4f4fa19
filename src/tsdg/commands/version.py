"""`tsdg --version`: the version, the commit of a checkout, and of Python and PyTorch those that train."""

import argparse
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tsdg import __version__


class Version(argparse.Action):
    """Prints the version and ends, as ``--help`` does."""

    def __init__(self, option_strings: Any, dest: str, **options: Any):
        super().__init__(option_strings, dest, nargs=0, **options)

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, flag: Any = None
    ) -> None:
        try:
            torch = version("torch")
        except PackageNotFoundError:
            torch = "absent"
        print(f"tsdg {__version__}{_commit()}, Python {platform.python_version()}, PyTorch {torch}")
        parser.exit()


def _commit() -> str:
    """The commit of the checkout that the package runs from, and whether it has been edited since."""
    root = Path(__file__).parents[3]
    if not (root / ".git").exists() or not shutil.which("git"):
        return ""

    def git(*words: str) -> str:
        asked = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
        return asked.stdout.strip()

    edited = ", edited" if git("status", "--porcelain", "--", "src") else ""
    return f" (commit {commit}{edited})" if (commit := git("rev-parse", "--short", "HEAD")) else ""
