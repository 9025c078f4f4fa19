"""What `--quiet rules` prints: a line of each job, how many are done and how long is left, and errors in full."""

import re
import time
from contextlib import suppress
from functools import cached_property

from snakemake.logging import DefaultFilter, DefaultFormatter
from snakemake.settings.enums import Quietness

from tsdg.runs.pace import Pace
from tsdg.study.run import target_of

# The rest of what Snakemake says stands in the log file that it names at the end.
HIDDEN = {
    LogEvent.WORKFLOW_STARTED,
    LogEvent.RESOURCES_INFO,
    LogEvent.JOB_INFO,
    LogEvent.JOB_STARTED,
    LogEvent.JOB_FINISHED,
    LogEvent.SHELLCMD,
}
HIDDEN_TEXT = re.compile(
    r"Building DAG|Using shell|Conda env|Select jobs|SLURM run ID|Job \d+ has been submitted"
)

MADE = 3  # files that the last line names


class Lines(DefaultFormatter):
    """Filter and formatter of what is printed."""

    def filter(self, record):
        event = getattr(record, "event", None)
        if event == LogEvent.JOB_INFO:
            self.pace.start(record.jobid, time.monotonic())
        elif event == LogEvent.JOB_FINISHED:
            took = self.pace.end(record.job_id, time.monotonic())
            self.last = f"{self.names[record.job_id]} ({duration(took)})"
        elif event == LogEvent.JOB_ERROR:
            self.pace.end(record.jobid, time.monotonic(), failed=True)
        return event not in HIDDEN and not (event is None and HIDDEN_TEXT.match(str(record.msg)))

    @cached_property
    def names(self):
        """The jobs' names by number: their logs' paths, or else of which rule they are."""
        return {workflow.dag.jobid(job): name_of(job) for job in workflow.dag.needrun_jobs()}

    @cached_property
    def pace(self):
        """How fast the jobs of this call go."""
        at_once = workflow.cores if workflow.local_exec else workflow.nodes
        return Pace(dict.fromkeys(self.names) | training_seconds(), at_once)

    def format_progress(self, msg):
        left = self.pace.left(time.monotonic())
        about = f", about {duration(left)} left" if left >= 1 else ""
        return f"{time.strftime('%H:%M:%S')} {msg['done']} of {msg['total']} done{about}: {self.last}"


def name_of(job):
    """A job's log without what all logs have in common, and with its target as one writes it."""
    if not job.log:
        return job.rule.name
    name = job.log[0].removeprefix("logs/").removesuffix(".log")
    with suppress(InputError):
        return Path(*map(target_of, Path(name).parts)).as_posix()
    return name


def made_of_asked():
    """The files asked for that this call made, the first of them by name."""
    made = {path for job in workflow.dag.needrun_jobs(exclude_finished=False) for path in job.output}
    names = sorted(map(str, made & workflow.dag.derived_targetfiles))
    more = [f"and {len(names) - MADE} more"] if len(names) > MADE else []
    return f"made {', '.join([*names[:MADE], *more])}" if names else ""


def in_lines():
    """Whether `--quiet rules` is what was asked for, and nothing that is quieter."""
    quiet = workflow.output_settings.quiet or set()
    return Quietness.RULES in quiet and quiet.isdisjoint({Quietness.PROGRESS, Quietness.ALL})


def print_lines():
    """Have `--quiet rules` print a line of each job and the errors, of which Snakemake would say nothing."""
    quiet = workflow.output_settings.quiet
    for handler in logger.handlers:
        for shows in handler.filters:
            if isinstance(shows, DefaultFilter):
                shows.quiet = quiet - {Quietness.RULES}
        if handler.name == "DefaultStreamHandler":
            lines = Lines(quiet, handler.formatter.show_failed_logs)
            handler.addFilter(lines)
            handler.setFormatter(lines)


if main and workflow.is_main_process and not workflow.dryrun and in_lines():
    print_lines()
