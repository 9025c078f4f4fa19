"""What the rules share: the study of this call, and how they ask `tsdg.workflow` about it."""

import os
import sys
from inspect import signature
from pathlib import Path

from snakemake.io import IOFile
from snakemake.resources import Resource

from tsdg.errors import InputError
from tsdg.runs.current import CurrentRecords
from tsdg.runs.kept import protect
from tsdg.study.run import LOGS, RECORDS, parse_run_path
from tsdg.workflow import (
    FIGURES,
    RESULTS,
    TOY,
    WENT_IN,
    Workflow,
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


def protect_records():
    """Have no record get lost that Snakemake deletes before it starts a job."""
    made = (path for job in workflow.dag.needrun_jobs() for path in job.output)
    protect(
        (parse_run_path(path) for path in made if path.startswith(f"{RECORDS}/")),
        CurrentRecords(study),
    )
