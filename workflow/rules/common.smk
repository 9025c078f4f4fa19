"""What the rules share: the study of this call, and how they ask `tsdg.workflow` about it."""

import os
import re
import sys
from collections import Counter
from inspect import signature
from logging import Handler
from pathlib import Path

import yaml
from snakemake.executors import dryrun
from snakemake.io import IOFile
from snakemake.logging import logger
from snakemake.resources import Resource
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent

from tsdg.errors import InputError
from tsdg.runs.current import CurrentRecords
from tsdg.runs.failure import lasting, unknown_partitions
from tsdg.runs.kept import protect, release
from tsdg.runs.pace import duration
from tsdg.study.run import LOGS, RECORDS, parse_run_path
from tsdg.workflow import (
    FIGURES,
    RESULTS,
    TOY,
    WENT_IN,
    Workflow,
    after_failure,
    code,
    configured,
    merged,
    missing,
    toy_seeds,
    training_runs,
    written,
)

# `tsdg` is found beside the Python that runs Snakemake, activated or not.
os.environ.update(PATH=os.pathsep.join([str(Path(sys.executable).parent), os.getenv("PATH", "")]))


def elsewhere(modifier):
    """Whether a module's paths, or those of a module around it, are moved."""
    return bool(modifier) and bool(
        modifier.prefix or modifier.modifies_prefixes or elsewhere(modifier.inner_modifier)
    )


try:
    if elsewhere(workflow.modifier.path_modifier):
        raise InputError(
            "The module takes no `prefix` or `replace_prefix`, as its commands write to results/: take it out, and"
            " for another folder call `snakemake --directory FOLDER`"
        )
    given = workflow.config_settings
    main = workflow.modifier.is_main_snakefile()
    if main:  # the study is read as `tsdg --params` reads it, by one reader; of a module, it is its `config`
        config.clear()
        files = given.configfiles or ["params.yaml"]
        config.update(merged(files))
    else:
        files = ["`config` of the module"]
    flow = Workflow(configured(config, given.config, own=main, files=files))
except InputError as error:
    sys.exit(str(error))
study = flow.study
if workflow.is_main_process:
    for note in study.notes:
        print(f"note: {note}", file=sys.stderr)
STUDY = written(study)
SHOWN = 6  # files of a job that are printed
JOBS = 100  # jobs of a rule that a dry run prints
GATHERING = "all", "data", "datasets", "figure", "ranking", "claims", "summary", "document"  # of data at hand
INTERRUPTS = "Terminating processes on user request", "Will exit after finishing currently running jobs"
failed = set()  # names of rules
noted = set()  # lines on what a report lacks


def either(names):
    """Regular expression of some names, or of nothing."""
    return "|".join(names) or "(?!)"


wildcard_constraints:
    figure=either(study.figures),
    dataset=either(flow.recorded),
    table=either(study.tables),
    seed=r"\d+",


def told(function):
    """A function that says its signature, for which Snakemake asks dozens of times a job."""
    function.__signature__ = signature(function)
    return function


told(Resource.evaluate)


def ask(question):
    """A question to the workflow as Snakemake puts it: its parameters are wildcards of the rule."""
    names = signature(question).parameters

    @told
    def answer(wildcards):
        return question(*(getattr(wildcards, name) for name in names))

    return answer


def gaps(inputs):
    """A parameter that says what a job lacks of its input, which are paths or a function of the wildcards.

    Snakemake alone misses no input where the output is there: not a record that was deleted, and not what a job
    had deleted when it failed, whose new parameters are noted all the same.
    """

    @told
    def answer(wildcards):
        found = inputs(wildcards) if callable(inputs) else expand(inputs, **dict(wildcards.items()))
        return missing([found] if isinstance(found, str) else found)

    return answer


# What follows from a job's input or output, Snakemake does not compare with the last time.


@told
def study_file(wildcards, output):
    """The study's file."""
    return STUDY


@told
def input_folder(wildcards, input):
    """The folder that a job reads."""
    return Path(input[0]).parent.as_posix()


@told
def output_folder(wildcards, output):
    """The folder that a job fills."""
    return Path(output[0]).parent.as_posix()


def raw_argument(wildcards, input):
    """What a data set is prepared from."""
    return flow.raw_argument(wildcards.dataset)


@told
def runs_of(wildcards, output):
    """The runs of a training job, as options."""
    return training_runs(output)


@told
def seeds_of(wildcards, output):
    """The seeds of a job of the toy study."""
    return toy_seeds(output)


@told
def training_minutes(wildcards, attempt):
    """Time limit of a training job."""
    return flow.training_minutes(attempt)


@told
def training_memory(wildcards, attempt):
    """Memory limit of a training job."""
    return flow.training_memory(attempt)


def selected(tables):
    """Files of the selected runs of tables."""
    return expand("results/selected/{table}.csv", table=tables)


def figure_inputs(wildcards):
    """Selected runs that a figure is drawn of."""
    return selected(flow.figure_tables(wildcards.figure))


def figure_caption(wildcards, output):
    """What the report says of a figure."""
    return flow.figure_caption(wildcards.figure)


def noted_of(file):
    """What Snakemake has noted of how a file was made."""
    return workflow.persistence.metadata(file) or {}


def raw_files(wildcards):
    """What a data set is prepared from: a new time alone is no reason to prepare it again."""
    paths = flow.raw_paths(wildcards.dataset)
    if simulated_anew(wildcards.dataset):
        return paths
    changed = flow.raw_changed(wildcards.dataset)
    return [path if path in changed else ancient(path) for path in paths]


def simulated_anew(dataset):
    """Whether this call simulates a data set again, as Snakemake has noted other options or code.

    Of what follows from files that it makes and that are `ancient`, it would make nothing, wanted or not.
    """
    if dataset not in flow.simulated:
        return False
    noted = noted_of(IOFile(flow.raw_paths(dataset)[0])).get("params") or []
    now = flow.simulate_options(dataset), flow.simulate_code(dataset)
    return bool(noted) and not {repr(param) for param in now} <= set(noted)


def all_results(wildcards):
    """What `all` makes; of a report, what of it is made."""
    reporting = any(word.startswith("--report") for word in sys.argv)
    try:
        return flow.made() if reporting else flow.results()
    except InputError as error:
        raise WorkflowError(str(error))


def left_out():
    """What this call goes without."""
    return flow.without if any(job.rule.name in GATHERING for job in workflow.dag.jobs) else []


def protect_records():
    """Have no record get lost that Snakemake deletes before it starts a job."""
    made = (path for job in workflow.dag.needrun_jobs() for path in job.output)
    protect(
        (parse_run_path(path) for path in made if path.startswith(f"{RECORDS}/")),
        CurrentRecords(study),
    )


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


# The report sorts what it shows by its labels, so that the first of them is a number.


def table_labels(name, section=RESULTS):
    """How the report lists a table."""
    return {"no": flow.number(name, section), "table": name}


def labels_of_table(wildcards):
    """How the report lists a table of params.yaml."""
    return table_labels(wildcards.table)


def figure_labels(name):
    """How the report lists a figure."""
    return {"no": flow.number(name, FIGURES), "figure": name}


def toy_labels(name):
    """How the report lists a table or figure of the toy study."""
    return {"no": flow.number(name, TOY), "result": name.replace("_", " ")}


def labels_of_figure(wildcards):
    """How the report lists a figure of params.yaml."""
    return figure_labels(wildcards.figure)


def labels_of_accuracy(wildcards):
    """How the report lists a table's figure."""
    return figure_labels(wildcards.table) | {"figure": f"{wildcards.table}, by target"}
