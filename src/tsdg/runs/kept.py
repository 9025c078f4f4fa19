"""Second names of records, where nobody but `tsdg` deletes.

Snakemake deletes what a job makes, before the job starts and where it fails, and it takes for unfinished what
ended well while it was dead. So every record that it could delete has, until it is known to be safe, another
name below `STAGING`, a link that takes no room. A job that starts again finds its records there.
"""

import filecmp
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tsdg.errors import InputError
from tsdg.files import link
from tsdg.runs.current import STAGING, CurrentRecords
from tsdg.study.run import Run, parse_run_path, run_path


def protect(runs: Iterable[Run], found: CurrentRecords) -> None:
    """Give the records of some runs their second names; of two that differ, the one that is current stays."""
    for run in runs:
        record, kept = found.runs / run_path(run), found.runs / STAGING / run_path(run)
        if not record.is_file() or (kept.exists() and (_same(record, kept) or not _current(found, run))):
            continue
        with suppress(FileNotFoundError):  # another job, left over from a killed Snakemake, is at work
            link(record, kept)


def release(folder: Path) -> None:
    """Take the second names away from records that have their first, which Snakemake has let alone."""
    kept = folder / STAGING
    runs = []
    for path in kept.glob("*/*/*/seed*/*.json"):
        with suppress(InputError, FileNotFoundError):
            runs.append(parse_run_path(path))
            if _same(folder / run_path(runs[-1]), path):
                path.unlink()
    remove_empty(kept, runs)


def remove_empty(kept: Path, runs: Iterable[Run]) -> None:
    """Remove the folders of some kept records where nothing is left; other jobs may be doing the same."""
    for run in runs:
        for folder in (kept / run_path(run)).parents:
            try:
                folder.rmdir()
            except FileNotFoundError:
                pass
            except OSError:  # not empty
                break
            if folder == kept:
                break


def _same(path: Path, other: Path) -> bool:
    return path.exists() and (path.samefile(other) or filecmp.cmp(path, other, shallow=False))


def _current(found: CurrentRecords, run: Run) -> bool:
    with suppress(InputError):
        return found.outdated(run) is None
    return False
