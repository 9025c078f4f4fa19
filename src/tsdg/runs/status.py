"""How far a study is: the state of every run, from its record and from its job's log.

done
    A current record, in its place or kept until the rest of its pack is done.
diverged
    The same, of a run that diverged: selection ranks it last, nothing is to be done.
running
    No current record, and the job's log is locked by a living process (or its Slurm job runs): all that
    the job has still to train, of which some may wait in it.
failed
    No current record, and the log is of a job that broke off: by an error, a kill, a time limit. Or the
    record is damaged.
waiting
    The rest: never started, stopped by Ctrl-C, or outdated by a change of settings, data or code.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from tsdg.errors import InputError
from tsdg.runs import log as joblog
from tsdg.runs.current import CurrentRecords
from tsdg.runs.plan import TOTAL
from tsdg.study.jobs import command, training_jobs
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study

STATES = ("done", "diverged", "running", "failed", "waiting")
SHOWN = 5  # failures that are shown in full, and reasons


class Failure(NamedTuple):
    """A job that broke off, or a damaged record: what happened, and the command that repeats it."""

    what: str
    lines: list[str]
    again: str


class Status(NamedTuple):
    """States of runs, what failed, which records are unusable, and how many are outdated in what way."""

    states: dict[Run, str]
    failures: list[Failure]
    unusable: list[Path]
    outdated: Counter[str]

    def table(self, tables: dict[str, list[Run]]) -> pd.DataFrame:
        """Runs in each state: a row a table, the last for all."""
        rows = []
        for name, runs in [*tables.items(), (TOTAL, list(self.states))]:
            counted = [self.states[run] for run in dict.fromkeys(runs)]
            rows.append([name, len(counted), *(counted.count(state) for state in STATES)])
        return pd.DataFrame(rows, columns=["table", "runs", *STATES])


def status(
    study: Study,
    tables: dict[str, list[Run]],
    found: CurrentRecords,
    logs: Path,
    options: Sequence[str] = (),
) -> Status:
    """Look at every run of some tables.

    Parameters
    ----------
    study : Study
    tables : mapping
        Runs by table.
    found : CurrentRecords
    logs : Path
        Folder of the training jobs' logs.
    options : sequence of str
        What commands of this study are given, beside what they do.
    """
    wanted = {run for runs in tables.values() for run in runs}
    states: dict[Run, str] = {}
    failures, unusable, outdated = [], [], Counter[str]()
    for job in training_jobs(study):
        log = logs / f"{job.log}.log"
        open_ = []
        for run in (run for run in job.runs if run in wanted):
            try:
                record, placed = found.look(run)
            except InputError as error:
                states[run] = "failed"
                again = _command(study, found, [run], options)
                failures.append(Failure(str(error), [], again))
                unusable.append(found.runs / run_path(run))
                continue
            if record is None:
                open_.append(run)
                if placed and (why := found.recipes.of(run).difference(placed.recipe)):
                    outdated[why] += 1
            else:
                states[run] = "done" if record.finished else "diverged"
        if open_:
            of_log = joblog.state(log, found.recipes.identity(job.runs))
            states |= {run: _state(of_log, found.runs / run_path(run)) for run in open_}
            if any(states[run] == "failed" for run in open_):
                failures.append(
                    Failure(str(log), joblog.tail(log), _command(study, found, job.runs, options))
                )
    return Status(states, failures, unusable, outdated)


def _state(log: str, record: Path) -> str:
    """State of a run without a current record."""
    if log == "running":
        return "running"
    # Snakemake deletes records before it starts a job: one that is there, outdated, was made before the log.
    return "failed" if log == "broken" and not record.exists() else "waiting"


def _command(study: Study, found: CurrentRecords, runs: Sequence[Run], options: Sequence[str]) -> str:
    """The command that trains what some runs lack of records."""
    data = found.data / study.prepared(runs[0].dataset)
    return shlex.join([*command(runs, str(data)), *options])


def text(seen: Status, tables: dict[str, list[Run]]) -> str:
    """The status for people."""
    shown = seen.table(tables).rename(columns={"running": "in running jobs"})
    lines = [shown.to_string(index=False)]
    if seen.outdated:
        lines += ["", f"{seen.outdated.total()} records are outdated and will be trained again:"]
        lines += [f"{count:6} {why}" for why, count in seen.outdated.most_common(SHOWN)]
    for failure in seen.failures[:SHOWN]:
        lines += ["", f"Failed: {failure.what}", *(f"    {line}" for line in failure.lines)]
        lines += [f"  again: {failure.again}"]
    if len(seen.failures) > SHOWN:
        lines += ["", f"... and {len(seen.failures) - SHOWN} more"]
    if seen.failures:
        lines += ["", *deleting(seen.unusable)]
        lines += ["The next snakemake trains what failed again, and nothing that is done."]
    return "\n".join(lines)


def deleting(unusable: Sequence[Path]) -> list[str]:
    """What to do about unusable records before anything else, in lines."""
    if not unusable:
        return []
    return [
        "Unusable records count as there until they are deleted, so that first:",
        "    " + shlex.join(["rm", *map(str, unusable)]),
    ]
