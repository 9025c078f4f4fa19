"""What the rules share: the study, and what each job takes from it.

Rules get from the study only what they use, as plain text in `params`: when that text changes, and only
then, Snakemake makes their output again. The study itself goes to the jobs as a file that no rule declares.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from tsdg.data.kinds import KINDS
from tsdg.errors import InputError
from tsdg.runs.fingerprint import modules_fingerprint
from tsdg.runs.recipe import Recipes
from tsdg.study.jobs import LOGS, RECORDS, training_rules
from tsdg.study.layout import text
from tsdg.study.names import TOY_FIGURES, TOY_TABLES
from tsdg.study.run import parse_run_path, run_path
from tsdg.study.study import Study

# `tsdg` is found beside the Python that runs Snakemake, activated or not.
os.environ.update(PATH=os.pathsep.join([str(Path(sys.executable).parent), os.getenv("PATH", "")]))


def load_study():
    """The study that the configuration asks for, validated as a whole; if it is not valid, say so and end."""
    given = workflow.config_settings.config
    retype(given, config)
    overrides = given.get("set") or []
    params = {key: value for key, value in config.items() if key != "set" or key not in given}
    try:
        return Study(params, map(str, overrides if isinstance(overrides, list) else [overrides]))
    except InputError as error:
        sys.exit(f"The study (params.yaml and --config) is not valid: {error}")


def retype(given, tree):
    """Make numbers again of what Snakemake leaves as text, which is all inside of braces in --config."""
    for key, value in given.items() if isinstance(given, dict) else enumerate(given):
        if key == "set":
            continue
        if isinstance(value, dict | list):
            retype(value, tree[key])
        else:
            tree[key] = yaml.safe_load(value) if isinstance(value, str) else value


def write_study(study):
    """Write the study under its hash, once, for the jobs to read; return the path.

    An edit of params.yaml cannot reach jobs that run or wait already.
    """
    text = study.dump()
    path = Path("results/study") / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.yaml"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    return path.as_posix()


study = load_study()
STUDY = write_study(study)
RUNS = {table: study.table_runs(table) for table in study.tables}


def recorded():
    """Data sets with recordings of their own, which are prepared: the others are derived of them."""
    return [name for name in study.datasets if study.prepared(name) == name]


wildcard_constraints:
    figure="|".join(study.figures) or "(?!)",
    dataset="|".join(recorded()),
    table="|".join(study.tables) or "(?!)",
    seed=r"\d+",
    number=r"\d+",


def study_file(wildcards, output):
    """The study's file. As a function of the output, Snakemake does not compare it with the last time."""
    return STUDY


# ---------------------------------------------------------------------------------------------- data


def raw_folder(dataset):
    """Where a data set's raw files lie."""
    entry = study.dataset(dataset)
    if entry["source"] == "simulated":
        return f"data/simulated/{dataset}"
    return Path(entry["raw"]).parent.as_posix() if in_one_file(entry) else entry["raw"]


def in_one_file(entry):
    """Whether a data set's recordings are one file of the user's, not a folder."""
    return KINDS[entry["kind"]].in_one_file(entry)


@cache
def raw_paths(dataset):
    """The raw files of a data set; if what lists them is not valid, say so and end."""
    entry = study.dataset(dataset)
    try:
        return [f"{raw_folder(dataset)}/{name}" for name in KINDS[entry["kind"]].raw_names(entry)]
    except InputError as error:
        sys.exit(f"datasets.{dataset} is not valid: {error}")


def raw_argument(wildcards, input):
    """What `tsdg prepare` takes the raw recordings from: a folder, or one file."""
    return input[0] if in_one_file(study.dataset(wildcards.dataset)) else input_folder(wildcards, input)


def raw_inputs(wildcards):
    """The raw files that a data set is prepared from."""
    return raw_paths(wildcards.dataset)


class Fetch(NamedTuple):
    """What a fetching rule has to get."""

    kind: str
    folder: str
    paths: list


@cache
def fetches():
    """Official files that are not there, by kind and folder.

    Only these are a rule's output: whatever lies in the folder already is the user's, and nothing here
    deletes or replaces it.
    """
    missing = {}
    for dataset in recorded():
        entry = study.dataset(dataset)
        if entry["source"] == "official":
            absent = {path for path in raw_paths(dataset) if not Path(path).exists()}
            key = (entry["kind"], entry["raw"])
            missing[key] = missing.get(key, set()) | absent
    return [Fetch(kind, folder, sorted(paths)) for (kind, folder), paths in missing.items() if paths]


def fetch_options(fetch):
    """Options of `tsdg fetch`: of many files, only the missing ones are wanted."""
    return flags(KINDS[fetch.kind].fetch_only(Path(path).name for path in fetch.paths))


@cache
def withheld():
    """Data sets that cannot be fetched and are not there: `all` goes without them, and says so."""
    folders = {fetch.folder for fetch in fetches() if KINDS[fetch.kind].credentials}
    absent = []
    for name in study.datasets:
        entry = study.dataset(name)
        unfetched = entry["source"] == "official" and entry["raw"] in folders
        own = raw_paths(study.prepared(name)) if entry["source"] == "own" else []
        if unfetched or not all(Path(path).exists() for path in own):
            absent.append(name)
    return absent


def at_hand():
    """The other data sets with recordings of their own."""
    return [name for name in recorded() if name not in withheld()]


def tabled_datasets():
    """Data sets whose prepared data the tables at hand are about."""
    panels = (panel for table in tables_at_hand() for panel in study.panels(table))
    return list(dict.fromkeys(study.prepared(panel.dataset) for panel in panels))


@cache
def tables_at_hand():
    """Tables of which every data set can be had."""
    without = set(withheld())
    return [
        table
        for table in study.tables
        if without.isdisjoint(panel.dataset for panel in study.panels(table))
    ]


def slug(folder):
    """A folder's path as a name."""
    return re.sub(r"[^0-9A-Za-z]+", "_", folder).strip("_")


def simulated_datasets():
    """Data sets with simulated recordings."""
    return [name for name in recorded() if study.dataset(name)["source"] == "simulated"]


def simulate_options(dataset):
    """Options of `tsdg simulate`."""
    entry = study.dataset(dataset)
    return flags(KINDS[entry["kind"]].arguments("simulate", entry))


def simulate_code(dataset):
    """Fingerprint of the code that simulates a data set's raw files."""
    return modules_fingerprint(KINDS[study.dataset(dataset)["kind"]].code("simulate"))


def prepare_options(wildcards):
    """Options of `tsdg prepare`."""
    entry = study.dataset(wildcards.dataset)
    return flags(KINDS[entry["kind"]].arguments("prepare", entry))


def kind_of(wildcards):
    """The kind of a data set."""
    return study.dataset(wildcards.dataset)["kind"]


def prepare_code(wildcards):
    """Fingerprint of the code that prepares a data set."""
    return modules_fingerprint(KINDS[kind_of(wildcards)].code("prepare"))


def prepare_memory(wildcards):
    """Memory limit of a preparation in MB: the largest tables are streamed."""
    return KINDS[kind_of(wildcards)].memory


def prepare_minutes(wildcards):
    """Time limit of a preparation."""
    return KINDS[kind_of(wildcards)].minutes


def input_folder(wildcards, input):
    """The folder that a job reads."""
    return Path(input[0]).parent.as_posix()


def output_folder(wildcards, output):
    """The folder that a job fills."""
    return Path(output[0]).parent.as_posix()


def flags(options):
    """Options as command line flags; a value may begin with a dash."""

    def word(value):
        return shlex.quote(
            "all" if value is None else json.dumps(value) if isinstance(value, dict) else str(value)
        )

    items = sorted((key, value if isinstance(value, list) else [value]) for key, value in options.items())
    return " ".join(f"--{key.replace('_', '-')}={word(value)}" for key, values in items for value in values)


# ---------------------------------------------------------------------------------------------- training


def prepared_card(wildcards):
    """The card of the prepared data that a training reads."""
    return f"results/data/{study.prepared(wildcards.dataset)}/card.json"


RECIPES = Recipes(study)


@cache
def recipe(dataset, variant):
    """What decides a variant's results on a data set, its data aside."""
    return RECIPES.of_variant(dataset, variant)


def training_identity(wildcards):
    """What of the study decides a variant's results on a data set."""
    return recipe(wildcards.dataset, wildcards.variant).text


def training_code(wildcards):
    """Fingerprint of the code behind a variant's method: comments do not count."""
    return recipe(wildcards.dataset, wildcards.variant).code


def training_runs(wildcards, output):
    """The runs of a job, as options. They follow from the output, so that packs and single runs are alike."""
    runs = [parse_run_path(path) for path in output]
    targets = dict.fromkeys(run.target for run in runs)
    draws = dict.fromkeys(str(run.draw) for run in runs)
    return f"--target {' '.join(targets)} --seed {runs[0].seed} --draw {' '.join(draws)}"


def training_minutes(wildcards, attempt):
    """Time limit of a job, generous for one core: 15 minutes and a tenth of a second an iteration."""
    return (15 + study.params["runs_per_job"] * study.training["iterations"] // 600) * attempt


def training_memory(wildcards, attempt):
    """Memory limit of a job in MB, more after a failure."""
    return 2000 * attempt


GPUS = 1 if study.params["device"] == "cuda" else 0


# ---------------------------------------------------------------------------------------------- results


def table_records(wildcards):
    """The records of the runs that a table needs."""
    return [f"{RECORDS}/{run_path(run)}" for run in RUNS[wildcards.table]]


def table_layout(wildcards):
    """All that decides how a table looks."""
    return text(study.layout(wildcards.table))


def summary_layouts():
    """All that decides the averages of the tables at hand: labels and captions are not in it."""
    layouts = {table: study.layout(table) for table in tables_at_hand()}
    return text(
        {table: [layout.rows, layout.panels, layout.protocol] for table, layout in layouts.items()}
    )


def accuracy_layout(wildcards):
    """All that decides how a table's figure looks: a caption is not in it."""
    return text(replace(study.layout(wildcards.table), caption=""))


def after_failure():
    """What to do when something failed: look, go on, and see the tables with their gaps."""
    lines = ["", "What is finished is kept. What failed, and why:", f"    tsdg status --params {STUDY}"]
    lines += ["Once that is put right, the same command again trains what is missing."]
    tables = unfinished_tables()
    if tables:
        lines += ["The tables asked for, from what there is, with their gaps named:"]
        for table in tables:
            commands = [f"tsdg {part} {table} --params {STUDY}" for part in ("select", "table", "figure")]
            lines.append("    " + " && ".join(commands))
    return "\n".join(lines)


def unfinished_tables():
    """Tables that this call was to make and that training held up."""
    dag = workflow.dag
    return [
        job.wildcards.table
        for job in dag.needrun_jobs()
        if job.rule.name == "select" and not dag.finished(job)
    ]


def at_hand_of(tables):
    """Those of some tables that can be had."""
    return [table for table in tables if table in tables_at_hand()]


def figures_at_hand():
    """Figures of tables that can be had; one of several tables is drawn of those that can."""
    several = [name for name, entry in study.figures.items() if at_hand_of(entry["tables"])]
    return list(dict.fromkeys([*several, *tables_at_hand()]))


def ranked_tables():
    """Tables at hand that are ranked together."""
    return at_hand_of(study.params.get("ranking", {}).get("tables", []))


def figure_tables(wildcards):
    """Selected runs that a figure is drawn of."""
    tables = at_hand_of(study.figures[wildcards.figure]["tables"])
    return [f"results/selected/{table}.csv" for table in tables]


def figure_layout(wildcards):
    """All that decides how a figure looks: a caption is not in it."""
    tables = at_hand_of(study.figures[wildcards.figure]["tables"])
    return text(study.figure(wildcards.figure, tables))


def figure_code(wildcards):
    """Fingerprint of the code that draws a figure."""
    kind = study.figures[wildcards.figure]["kind"]
    return modules_fingerprint(f"results.figures.{kind}")


def documented():
    """Names of the tables of the document, in its order."""
    absent = {table for table in study.tables if table not in tables_at_hand()}
    absent |= set() if ranked_tables() else {"ranking"}
    absent |= set() if tabled_datasets() else {"datasets", "datasets_samplesize"}
    return [name for name in study.document() if name not in absent]


PDF = shutil.which("pdflatex") is not None
DOCUMENT = ["results/tables/all.tex", *(["results/tables/all.pdf"] if PDF else [])]


def all_results(wildcards):
    """What `all` makes; if that is no table of the study, say so and end."""
    if not tables_at_hand() and not toy_results():
        absent = [f"{dataset}'s raw files are not in {raw_folder(dataset)}" for dataset in withheld()]
        why = "; ".join(absent) if study.tables else "params.yaml has none in `tables`"
        raise WorkflowError(f"no table can be made: {why}")
    return [
        *expand("results/tables/{name}.tex", name=documented()),
        *expand("results/figures/{name}.png", name=figures_at_hand()),
        *toy_results(),
        *(["results/metrics.json"] if tables_at_hand() else []),
        *DOCUMENT,
    ]


# The report sorts what it shows by its labels, so that the first of them is a number.


def table_labels(name, form):
    """How the report lists a table."""
    return {"no.": f"{study.document().index(name) + 1:02}", "table": name, "format": form}


def tex_labels(wildcards):
    """How the report lists a table as LaTeX."""
    return table_labels(wildcards.table, "LaTeX")


def csv_labels(wildcards):
    """How the report lists a table's numbers."""
    return table_labels(wildcards.table, "all numbers")


def figure_number(name):
    """Place of a figure in the report: those of params.yaml, the ranking's, those of the tables."""
    order = list(dict.fromkeys([*study.figures, "critical_difference", *study.tables]))
    return f"{order.index(name) + 1:02}"


def figure_labels(wildcards):
    """How the report lists a figure."""
    return {"no.": figure_number(wildcards.figure), "figure": wildcards.figure}


def accuracy_labels(wildcards):
    """How the report lists a table's figure."""
    return {"no.": figure_number(wildcards.table), "figure": f"accuracy by target: {wildcards.table}"}
