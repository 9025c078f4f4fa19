"""Jobs that failed, and what is known before they would."""

from logging import Handler

import yaml
from snakemake_interface_logger_plugins.common import LogEvent

from tsdg.runs.failure import lasting, unknown_partitions
from tsdg.runs.kept import release
from tsdg.workflow import after_failure

INTERRUPTS = "Terminating processes on user request", "Will exit after finishing currently running jobs"

failed = set()  # names of rules


class Failures(Handler):
    """Has no job be tried again that would fail in the same way, which Snakemake's `retries` do not ask.

    Jobs that end after an interrupt have not failed.
    """

    interrupted = False

    def emit(self, record):
        if str(record.msg).startswith(INTERRUPTS):
            self.interrupted = True
        if self.interrupted or getattr(record, "event", None) != LogEvent.JOB_ERROR:
            return
        job = next((job for job in workflow.dag.jobs if workflow.dag.jobid(job) == record.jobid), None)
        if job is None:
            return
        failed.add(job.rule.name)
        if job.attempt > job.restart_times:
            return
        if error := lasting(Path(job.log[0]) if job.log else None, record.rule_msg or ""):
            job._attempt = job.restart_times + 1  # the last
            where = f"; names of partitions stand in {partition_file()}" if "partition" in error else ""
            print(f"Not tried again, as it would fail in the same way: {error}{where}", file=sys.stderr)


failures = Failures()


def partition_file():
    """Where the names of Slurm's partitions stand, if jobs go to Slurm."""
    return getattr(workflow.executor_settings, "partition_config", None)


def check_partitions():
    """Before anything is submitted: that the partitions are Slurm's."""
    if path := partition_file():
        listed = yaml.safe_load(Path(path).read_text())["partitions"]
        if fault := unknown_partitions(name for name, of in listed.items() if "cluster" not in of):
            raise WorkflowError(f"{path}: {fault}")


def unfinished_tables():
    """Tables that this call was to make and that training held up."""
    dag = workflow.dag
    return [
        job.wildcards.table
        for job in dag.needrun_jobs()
        if job.rule.name == "select" and not dag.finished(job)
    ]
