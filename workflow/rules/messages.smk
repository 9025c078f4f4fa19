"""What Snakemake prints of a call, made shorter, clearer or longer."""

import re
from collections import Counter
from functools import cache

from snakemake.executors import dryrun
from snakemake.logging import logger
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent

from tsdg.runs.pace import duration

SHOWN = 6  # files of a job that are printed
JOBS = 100  # jobs of a rule that a dry run prints
GATHERING = "all", "data", "datasets", "figure", "ranking", "claims", "summary", "document"  # of data at hand

noted = set()  # lines on what a report lacks


def left_out():
    """What this call goes without."""
    return flow.without if any(job.rule.name in GATHERING for job in workflow.dag.jobs) else []


def shown(record):
    """Have of a job's files, which may be thousands, the first printed; say how long; help with a target."""
    for name in ("input", "output"):
        files = getattr(record, name, None)
        if isinstance(files, list):
            setattr(record, name, first_of(files))
    if isinstance(reason := getattr(record, "reason", None), str):
        record.reason = ", ".join(first_of(reason.split(", ")))
    if getattr(record, "event", None) == LogEvent.RUN_INFO:
        record.msg += how_long()
    unknown = re.match(r"Missing metadata for file (\S+)\. ", str(record.msg))
    if unknown and not Path(unknown[1]).exists():
        notes = [] if noted else made_otherwise()
        noted.update(notes)
        record.msg = "\n".join(notes) or record.msg
        return bool(notes) or not noted
    unmade = re.search(r"No rule to produce (\S+)", str(record.msg))
    if unmade:
        meant = flow.nearest_target(unmade[1], [rule.name for rule in workflow.rules])
        record.msg = record.msg.replace(unmade[0], unmade[0] + meant)
    return True


def made_otherwise():
    """What of a report was made of other records than those of this call's settings, and by which settings."""
    made = []
    for job in workflow.dag.jobs:
        records = [path for path in job.input if path.startswith(f"{RECORDS}/")]
        if absent := sum(not Path(path).exists() for path in records):
            shell = noted_of(job.output[0]).get("shellcmd") or ""
            file = re.search(r"--params (\S+)", shell)
            settings = f" (--configfile {file[1]})" if file and file[1] != STUDY else ""
            made.append(
                f"    {job.output[0]}: {absent} of its {len(records)} records are not there{settings}"
            )
    if made:
        made[:0] = [
            "The report shows all that was made, but not all trainings, as this call's settings name others:",
            "give the --config that they had, or the --configfile that is named.",
        ]
    return made


@cache
def training_seconds():
    """What each training job of this call is expected to take on one core, by number of the job."""
    made = {workflow.dag.jobid(job): list(map(str, job.output)) for job in workflow.dag.needrun_jobs()}
    trainings = {job: paths for job, paths in made.items() if paths and paths[0].startswith(f"{RECORDS}/")}
    return dict(zip(trainings, flow.training_seconds(trainings.values())))


def first_jobs(print_job):
    """Have a dry run print of a rule's jobs the first: of thousands, that takes as long as all the rest."""
    printed, settings = Counter(), workflow.output_settings
    most = 0 if Quietness.RULES in (settings.quiet or ()) else JOBS

    def print_first(executor, job):
        printed[job.name] += 1
        if printed[job.name] <= most or settings.verbose:
            print_job(executor, job)
        elif printed[job.name] == most + 1 and most:
            logger.info(f"... and further jobs of rule {job.name}, which --verbose prints")

    return print_first


def how_long():
    """The time that the trainings of this call take."""
    seconds = training_seconds().values()
    if not seconds:
        return ""
    return f"\nTraining takes some {duration(sum(seconds))} of one core (`tsdg plan` says of what).\n"


def first_of(names):
    """A few names, and how many more there are."""
    return [*names[:SHOWN], f"... and {len(names) - SHOWN} more"] if len(names) > SHOWN else names
