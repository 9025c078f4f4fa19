"""Records that no table of the study wants: of draws, seeds, targets or variants that it had once."""

from collections.abc import Iterable
from pathlib import Path

from tsdg.errors import InputError
from tsdg.runs.current import STAGING
from tsdg.study.run import parse_run_path
from tsdg.study.study import Study


def unwanted(study: Study, folder: Path) -> list[Path]:
    """Records, those of unfinished packs included, whose run is in no table and not in the toy study."""
    wanted = {run for runs in study.wanted.values() for run in runs}
    found = []
    for path in sorted([*folder.glob("*/*/*/seed*/*.json"), *folder.glob(f"{STAGING}/*/*/*/seed*/*.json")]):
        try:
            run = parse_run_path(path)
        except InputError:
            continue  # no record
        if run not in wanted:
            found.append(path)
    return found


def delete(paths: Iterable[Path], folder: Path) -> None:
    """Delete records, and the folders that they leave empty."""
    for path in paths:
        path.unlink()
        for parent in path.parents:
            if parent == folder or parent.is_symlink() or any(parent.iterdir()):
                break
            parent.rmdir()


def summary(paths: Iterable[Path], folder: Path) -> list[str]:
    """How many records of each data set and variant."""
    counts: dict[str, int] = {}
    for path in paths:
        name = path.relative_to(folder).parents[2].as_posix()
        counts[name] = counts.get(name, 0) + 1
    return [f"{count:6} {folder.as_posix()}/{name}" for name, count in counts.items()]
