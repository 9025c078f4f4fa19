"""What the workflow asks of a study: which files it makes, of what, how, and at what cost.

The rules hold patterns of paths and commands; all that follows from the study stands here, without Snakemake.
Rules get of the study only what they use, as plain text: when that text changes, and only then, Snakemake
makes their output again. The study itself goes to the jobs as a file that no rule declares.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tsdg.data import toy
from tsdg.data.contents import Contents
from tsdg.data.kinds import KINDS, Kind
from tsdg.data.windows import card_of
from tsdg.errors import InputError, nearest
from tsdg.files import write_text
from tsdg.methods import estimators
from tsdg.results.about.augmentations import augmentations
from tsdg.results.about.hyperparameters import hyperparameters
from tsdg.results.document import LATEX
from tsdg.runs.current import CurrentRecords
from tsdg.runs.expected import Expected
from tsdg.runs.fingerprint import functions_fingerprint
from tsdg.runs.plan import START
from tsdg.runs.recipe import Recipes
from tsdg.runs.record import read_end
from tsdg.runs.status import deleting
from tsdg.study import settings
from tsdg.study.jobs import TrainingRule, training_rules
from tsdg.study.layout import text
from tsdg.study.names import DATA_TABLES, DATASET_TABLES, RANKINGS, TOY_FIGURES, TOY_TABLES
from tsdg.study.params import Tree, give, read, schema, update, value_of
from tsdg.study.run import RECORDS, Run, parse_run_path, run_path, target_of
from tsdg.study.study import Study

READ = "results.selected:read_selected"
RESULTS, FIGURES, WENT_IN, TOY = "Results", "Figures", "What went in", "Toy study"  # of the report
# What each result is made by, as `tsdg.runs.fingerprint.functions_fingerprint` takes it.
CODE = {
    "select": ("results.selection:select", "results.selected:write_csv"),
    "table": (READ, "results.tables:render"),
    "accuracy": (READ, "results.figures.accuracy:draw"),
    "ranking": (
        READ,
        "results.selected:joined_runs",
        *(f"results.ranking:{function}" for function in ("block_values", "rank", "describe", "render")),
        "results.figures.critical_difference:critical_difference",
        *(f"results.next_domain:{function}" for function in ("compare", "describe", "render")),
        "study.metric:METRICS",
    ),
    "summary": (READ, "results.averages:averages", "results.averages:write"),
    "claims": (
        READ,
        *(f"results.claims:{function}" for function in ("evidence", "check", "render")),
        "toy.tables:evidence",
    ),
    "document": ("results.document:write",),
    "pdf": ("results.document:compiled",),
    "datasets": ("results.about.datasets:render", "results.about.domains:render"),
    "networks": ("results.about.networks:render",),
    "hyperparameter": ("results.about.hyperparameters:render", "results.about.augmentations:render"),
    "toy": (
        *(f"toy.tables:{name}" for name in TOY_TABLES),
        *(f"toy.figures:{name}" for name in TOY_FIGURES),
    ),
}


class Fetch(NamedTuple):
    """Official files that are not in their folder: what a fetching rule makes."""

    kind: str
    folder: str
    paths: list[str]
    given: dict[str, Any]

    @property
    def name(self) -> str:
        """The folder's path as a name."""
        return re.sub(r"[^0-9A-Za-z]+", "_", self.folder).strip("_")

    @property
    def into(self) -> str:
        """Where the files wait until all are there; empty for a kind that cannot be fetched."""
        return "" if KINDS[self.kind].credentials else f"{self.folder}/.partial"

    @property
    def options(self) -> str:
        """Of `tsdg fetch`: those of params.yaml, and of many files, only the missing ones are wanted."""
        return flags(self.given | KINDS[self.kind].fetch_only(Path(path).name for path in self.paths))


class ToyResult(NamedTuple):
    """A table or figure of the toy study, and what it is made of; the report shows the first path."""

    kind: str
    name: str
    paths: tuple[str, ...]
    records: list[str]


def merged(files: Iterable[str | Path]) -> Tree:
    """What files of parameters hold, later ones over earlier ones.

    Raises
    ------
    InputError
        A file cannot be read.
    """
    config: Tree = {}
    for tree in map(read, map(Path, files)):
        update(config, tree)
    return config


def configured(
    config: Mapping[str, Any],
    given: Mapping[str, Any],
    own: bool = True,
    files: Iterable[str | Path] = ("params.yaml",),
) -> Study:
    """The study that Snakemake's configuration asks for.

    Parameters
    ----------
    config : mapping
        Parameters, with or without what the command line gives.
    given : mapping
        What the command line gives (``--config``), which overrides them. Its ``set`` is no part of a study,
        but one override ``key=value`` or a list of them, as `tsdg --set` takes them.
    own : bool
        Whether all that is given is meant for this study. What is not is another workflow's, of which this
        one is a module.
    files : iterable of path
        Where the parameters stand, for errors.

    Raises
    ------
    InputError
        The study is not valid.
    """
    params, given = deepcopy(dict(config)), dict(given)
    if "set" in given:
        params.pop("set", None)
    overrides = _overrides(given.pop("set", None) or [])
    known = {*config, *schema()["properties"]}
    typed = {key: _typed(value) for key, value in given.items() if own or key in known}
    try:
        give(params, typed)
        return Study(params, overrides)
    except InputError as error:
        here = Path.cwd()
        paths = [path.relative_to(here) if path.is_relative_to(here) else path for path in map(Path, files)]
        where = " and ".join([*map(str, paths), *(["--config"] if given or overrides else [])])
        raise InputError(f"The study ({where}) is not valid: {error}") from None


def _overrides(given: Any) -> list[str]:
    """The overrides of ``set``; YAML parts a list at the commas of values in quotes, which is refused."""
    if isinstance(given, str):
        return _listed(given)
    overrides = list(map(str, given if isinstance(given, list) else [given]))
    for override in overrides:
        value = override.partition("=")[2]
        if value[:1] in ("'", '"') and (len(value) == 1 or value[-1] != value[0]):
            raise InputError(
                f"--config set: {override!r} ends within quotes; where a value has a comma, quote the whole"
                ' override: set=["KEY=ONE, TWO"]'
            )
    return overrides


def _listed(text: str) -> list[str]:
    """Overrides of a list in brackets that YAML does not read as one, ``[a=[b, c], d=1]``; or the one."""
    text = text.strip()
    if not text.startswith("["):
        return [text]
    tokens = re.findall(r"""(?<=[=\[{,:])\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|.""", text, re.DOTALL)
    overrides, depth = [""], 0
    for token in tokens[1:-1]:
        depth += (token in "[{") - (token in "]}")
        if depth < 0:
            break
        if token == "," and depth == 0:
            overrides.append("")
        else:
            overrides[-1] += token
    if depth or tokens[-1] != "]":
        raise InputError(
            f"--config set: the brackets of {text!r} do not match; quote a value that has some:"
            " set=[KEY='a] b', KEY=VALUE]"
        )
    overrides = [override.strip() for override in overrides]
    if not overrides[-1]:  # after a last comma
        overrides.pop()
    return [str(_typed(each)) if each.startswith(("'", '"')) else each for each in overrides]


def _typed(given: Any) -> Any:
    """With numbers again of what Snakemake leaves as text, which is all inside of braces in --config."""
    if isinstance(given, Mapping):
        return {key: _typed(value) for key, value in given.items()}
    if isinstance(given, list):
        return [_typed(value) for value in given]
    if not isinstance(given, str):
        return given
    try:
        return value_of(given)
    except ValueError as error:
        raise InputError(f"--config: {given!r}: {error}") from None


def written(study: Study, folder: str | Path = "results/study") -> str:
    """Path of the study's file, whose name is its hash, for jobs to read; it is written if it is not there.

    An edit of params.yaml cannot reach jobs that run or wait already.
    """
    contents = study.dump()
    path = Path(folder) / f"{hashlib.sha256(contents.encode()).hexdigest()[:12]}.yaml"
    if not path.exists():
        write_text(path, contents)
    return path.as_posix()


def training_runs(records: Iterable[str]) -> str:
    """The runs of a job as options of `tsdg train`, from the paths of the records that it makes.

    Snakemake does not compare what follows from the output, so that packs and single runs are alike.
    """
    runs = [parse_run_path(path) for path in records]
    targets = dict.fromkeys(run.target for run in runs)
    draws = dict.fromkeys(str(run.draw) for run in runs)
    return f"--target {shlex.join(targets)} --seed {runs[0].seed} --draw {' '.join(draws)}"


def toy_seeds(records: Iterable[str]) -> list[int]:
    """The seeds of a job of the toy study, from the paths of the records that it makes."""
    return [parse_run_path(path).seed for path in records]


def code(result: str) -> str:
    """Fingerprint of the code behind one of the results in `CODE`."""
    return functions_fingerprint(*CODE[result])


def in_rst(words: str) -> str:
    """A text as reStructuredText that means nothing but its letters: no markup, directive or link."""
    line = "".join(letter for letter in " ".join(words.split()) if letter.isprintable())
    return "".join(letter if letter.isalnum() or letter == " " else f"\\{letter}" for letter in line)


def flags(options: Mapping[str, Any]) -> str:
    """Options as command line flags; a value may begin with a dash."""

    def word(value: object) -> str:
        return shlex.quote(
            "all" if value is None else json.dumps(value) if isinstance(value, dict) else str(value)
        )

    items = sorted((key, value if isinstance(value, list) else [value]) for key, value in options.items())
    return " ".join(f"--{key.replace('_', '-')}={word(value)}" for key, values in items for value in values)


class Workflow:
    """What the rules ask of a study.

    What files there are is looked up once.

    Parameters
    ----------
    study : Study

    Raises
    ------
    InputError
        What lists a data set's raw files is not valid.
    """

    def __init__(self, study: Study):
        self.study = study
        self.recorded = [name for name in study.datasets if study.prepared(name) == name]
        self._raw_paths = {name: self._raw_files(name) for name in self.recorded}
        self._recipes = Recipes(study)
        self._contents = Contents("results/study/raw.json")

    # ------------------------------------------------------------------------------------------ data

    def raw_folder(self, dataset: str) -> str:
        """Where a data set's raw files lie."""
        entry = self.study.dataset(dataset)
        if entry["source"] == "simulated":
            return f"data/simulated/{dataset}"
        if self._kind(dataset).in_one_file(entry):
            return Path(entry["raw"]).parent.as_posix()
        return entry["raw"]

    def raw_paths(self, dataset: str) -> list[str]:
        """The raw files that a data set with recordings of its own is prepared from."""
        return self._raw_paths[dataset]

    def _raw_files(self, dataset: str) -> list[str]:
        try:
            kind, entry = self._kind(dataset), self.study.dataset(dataset)
            folder = self.raw_folder(dataset)
            paths = [*(f"{folder}/{name}" for name in kind.raw_names(entry)), *kind.other_files(entry)]
            return [Path(path).as_posix() for path in paths]
        except InputError as error:
            raise InputError(f"datasets.{dataset} is not valid: {error}") from None

    def raw_argument(self, dataset: str) -> str:
        """What `tsdg prepare` takes the raw recordings from: a folder, or one file."""
        one = self._kind(dataset).in_one_file(self.study.dataset(dataset))
        return self.raw_paths(dataset)[0] if one else Path(self.raw_folder(dataset)).as_posix()

    def raw_content(self, dataset: str) -> str:
        """What a data set's raw files hold, whatever their times: a hash.

        Files that are gone since the data set was prepared count as they stand on its card. Files that
        options name, such as a table of recordings, count too, and how files are simulated, so that they are
        prepared again in the same call.
        """
        options = self.study.dataset(dataset).get("prepare", {}).values()
        named = [value for value in options if isinstance(value, str) and Path(value).is_file()]
        paths, prepared = [*self.raw_paths(dataset), *named], self._prepared_of(dataset)
        hashes = self._contents.hashes(paths)
        held = [[path, hashes.get(path) or " ".join(prepared.get(Path(path).name, ()))] for path in paths]
        if dataset in self.simulated:
            held += [[self.simulate_options(dataset), self.simulate_code(dataset)]]
        return hashlib.sha256(json.dumps(held).encode()).hexdigest()[:16]

    def raw_changed(self, dataset: str) -> set[str]:
        """Raw files that hold something else than what the data set was prepared from."""
        prepared = self._prepared_of(dataset)
        hashes = self._contents.hashes(self.raw_paths(dataset))
        return {path for path, digest in hashes.items() if digest not in prepared.get(Path(path).name, ())}

    def _prepared_of(self, dataset: str) -> dict[str, list[str]]:
        """Hashes of the raw files on a data set's card, by name; in several folders several can have one."""
        hashes: dict[str, list[str]] = {}
        with suppress(InputError, LookupError, TypeError):
            for source in card_of(Path(self.card(dataset)).parent, ())["sources"]:
                hashes.setdefault(source["file"], []).append(source["sha256"])
        return hashes

    @cached_property
    def fetches(self) -> list[Fetch]:
        """Official files that are not there, by kind and folder.

        Only these are a rule's output: whatever lies in the folder already is the user's, and no rule deletes
        or replaces it.
        """
        missing: dict[tuple[str, str], set[str]] = {}
        given: dict[tuple[str, str], dict[str, Any]] = {}
        for dataset in self.recorded:
            entry = self.study.dataset(dataset)
            if entry["source"] == "official":
                absent = {path for path in self.raw_paths(dataset) if not Path(path).exists()}
                place = entry["kind"], entry["raw"]
                missing.setdefault(place, set()).update(absent)
                given.setdefault(place, {}).update(entry.get("fetch", {}))
        return [Fetch(*place, sorted(paths), given[place]) for place, paths in missing.items() if paths]

    @cached_property
    def withheld(self) -> list[str]:
        """Data sets that cannot be fetched and are not there: `all` goes without them, and says so."""
        folders = {fetch.folder for fetch in self.fetches if KINDS[fetch.kind].credentials}
        absent = []
        for name in self.study.datasets:
            entry = self.study.dataset(name)
            unfetched = entry["source"] == "official" and entry["raw"] in folders
            own = self.raw_paths(self.study.prepared(name)) if entry["source"] == "own" else []
            if unfetched or not all(Path(path).exists() for path in own):
                absent.append(name)
        return absent

    @property
    def without(self) -> list[str]:
        """What is to be said of the data sets that are withheld."""
        return [
            f"Without {name}: its raw files are not in {self.raw_folder(name)} and cannot be fetched"
            for name in self.withheld
        ]

    @property
    def at_hand(self) -> list[str]:
        """The other data sets with recordings of their own."""
        return [name for name in self.recorded if name not in self.withheld]

    @property
    def simulated(self) -> list[str]:
        """Data sets with simulated recordings."""
        return [name for name in self.recorded if self.study.dataset(name)["source"] == "simulated"]

    def kind(self, dataset: str) -> str:
        """The kind of a data set, by name."""
        return self.study.dataset(dataset)["kind"]

    def _kind(self, dataset: str) -> Kind:
        return KINDS[self.kind(dataset)]

    def simulate_options(self, dataset: str) -> str:
        """Options of `tsdg simulate`."""
        return flags(self._kind(dataset).arguments("simulate", self.study.dataset(dataset)))

    def simulate_code(self, dataset: str) -> str:
        """Fingerprint of the code that simulates a data set's raw files."""
        return functions_fingerprint(*self._kind(dataset).code("simulate"))

    def prepare_options(self, dataset: str) -> str:
        """Options of `tsdg prepare`."""
        return flags(self._kind(dataset).arguments("prepare", self.study.dataset(dataset)))

    def prepare_code(self, dataset: str) -> str:
        """Fingerprint of the code that prepares a data set."""
        return functions_fingerprint(*self._kind(dataset).code("prepare"))

    def prepare_memory(self, dataset: str) -> int:
        """Memory limit of a preparation in MB: the largest tables are streamed."""
        return self._kind(dataset).memory

    def prepare_minutes(self, dataset: str) -> int:
        """Time limit of a preparation."""
        return self._kind(dataset).minutes

    # -------------------------------------------------------------------------------------- training

    @property
    def training_rules(self) -> list[TrainingRule]:
        """Rules of the trainings on prepared data."""
        return [rule for rule in self._rules if toy.NAME not in rule.datasets]

    @property
    def toy_rules(self) -> list[TrainingRule]:
        """Rules of the trainings of the toy study."""
        return [rule for rule in self._rules if toy.NAME in rule.datasets]

    @cached_property
    def _rules(self) -> list[TrainingRule]:
        return training_rules(self.study)

    def card(self, dataset: str) -> str:
        """The card of the prepared data that a training reads."""
        return f"results/data/{self.study.prepared(dataset)}/card.json"

    def training_identity(self, dataset: str, variant: str, targets: Iterable[str] = ()) -> str:
        """What of the study decides a variant's results on a data set, with some targets."""
        return self._recipes.text(dataset, variant, targets)

    def identity_of(self, rule: TrainingRule) -> Callable[[Any], str]:
        """`training_identity` of a rule's jobs, from wildcards: a pack's rule has its targets fixed."""
        packed = {run.target for runs in rule.groups for run in runs}

        def identity(wildcards: Any) -> str:
            folder = getattr(wildcards, "target", None)
            own = packed if folder is None else [target_of(folder)]
            return self.training_identity(wildcards.dataset, wildcards.variant, own)

        return identity

    def training_code(self, dataset: str, variant: str) -> str:
        """Fingerprint of the code behind a variant's trainings on a data set."""
        return self._recipes.of_variant(dataset, variant).code

    def training_minutes(self, attempt: int) -> int:
        """Time limit of a job, generous for one core: 15 minutes and a tenth of a second an iteration."""
        iterations = self.study.params["runs_per_job"] * self.study.training["iterations"]
        return (15 + iterations // 600) * attempt

    def training_memory(self, attempt: int) -> int:
        """Memory limit of a job in MB, more after a failure."""
        return 2000 * attempt

    def training_seconds(self, jobs: Iterable[Sequence[str]]) -> list[float]:
        """Seconds of one core that training jobs are expected to take, of each the records that it makes."""
        seconds, iterations = [], dict[tuple[str, str], int]()
        for records in jobs:
            run = parse_run_path(records[0])
            kind = run.dataset, run.variant
            if kind not in iterations:
                iterations[kind] = self.study.config(*kind)["iterations"]
            seconds.append(START + len(records) * iterations[kind] * self._expected(run))
        return seconds

    @cached_property
    def _expected(self) -> Expected:
        return Expected(self.study, CurrentRecords(self.study))

    def gpus(self, dataset: str, variant: str) -> int:
        """Of a training job; an estimator needs none."""
        method = self.study.row(dataset, variant)["method"]
        return 1 if self.study.params["device"] == "cuda" and method != estimators.METHOD else 0

    # --------------------------------------------------------------------------------------- results

    @cached_property
    def tables_at_hand(self) -> list[str]:
        """Tables of which every data set can be had."""
        without = set(self.withheld)
        return [
            table
            for table in self.study.tables
            if without.isdisjoint(panel.dataset for panel in self.study.panels(table))
        ]

    def table_records(self, table: str) -> list[str]:
        """The records of the runs that a table needs."""
        return _records(self.study.table_runs(table))

    def unusable(self, tables: Iterable[str]) -> list[Path]:
        """Records of some tables that are there and that nothing reads."""
        wanted = dict.fromkeys(run for table in tables for run in self.study.table_runs(table))
        found = []
        for run in wanted:
            path = Path(RECORDS, run_path(run))
            try:
                if path.exists():
                    read_end(path, run)
            except InputError:
                found.append(path)
        return found

    def table_settings(self, table: str) -> str:
        """What a table's runs are selected under, which the commands that read them compare."""
        hashes = settings.of_table(self.study, table)
        return json.dumps({"/".join(pair): value for pair, value in hashes.items()}, sort_keys=True)

    def table_layout(self, table: str) -> str:
        """All that decides how a table looks."""
        return text(self.study.layout(table))

    @property
    def accuracy_tables(self) -> list[str]:
        """Tables with a figure of their name, as none under `figures` takes its place."""
        return [table for table in self.study.tables if table not in self.study.figures]

    def accuracy_layout(self, table: str) -> str:
        """All that decides how a table's figure looks: a caption is not in it."""
        return text(replace(self.study.layout(table), caption=""))

    def summary_layouts(self) -> str:
        """All that decides the averages of the tables at hand: labels and captions are not in it."""
        layouts = {table: self.study.layout(table) for table in self.tables_at_hand}
        return text({name: [layout.rows, layout.panels, layout.protocol] for name, layout in layouts.items()})

    @property
    def figures_at_hand(self) -> list[str]:
        """Figures of tables that can be had; one of several tables is drawn of those that can."""
        several = [name for name in self.study.figures if self.figure_tables(name)]
        return list(dict.fromkeys([*several, *self.tables_at_hand]))

    def figure_tables(self, figure: str) -> list[str]:
        """Tables at hand that a figure is drawn of."""
        return self._at_hand_of(self.study.figures[figure]["tables"])

    def figure_layout(self, figure: str) -> str:
        """All that decides how a figure looks: a caption is not in it."""
        return text(self.study.figure(figure, self.figure_tables(figure)))

    def figure_caption(self, figure: str) -> str:
        """A figure's caption in the report."""
        return in_rst(self.study.figures[figure]["caption"])

    def figure_code(self, figure: str) -> str:
        """Fingerprint of the code that draws a figure."""
        draw = f"results.figures.{self.study.figures[figure]['kind']}:draw"
        return functions_fingerprint(READ, "results.selected:joined_runs", draw)

    @property
    def ranked_tables(self) -> list[str]:
        """Tables at hand that are ranked together."""
        return self._at_hand_of(self.study.params.get("ranking", {}).get("tables", []))

    def ranking_layout(self) -> str:
        """All that decides how the ranking looks."""
        return text(self.study.ranking(self.ranked_tables))

    @property
    def claimed_tables(self) -> list[str]:
        """Tables at hand that claims are about."""
        return self._at_hand_of(dict.fromkeys(claim.table for claim in self.study.claims))

    @property
    def claimed_toy_records(self) -> list[str]:
        """Records of the toy study, if a claim is about it."""
        of_toy = any(claim.table == toy.NAME for claim in self.study.claims)
        return _records(self.study.table_runs(toy.NAME)) if of_toy else []

    def claims_layout(self) -> str:
        """All that decides the table of claims: captions are not in it."""
        layouts = [replace(self.study.layout(table), caption="") for table in self.claimed_tables]
        return text([self.study.claims, layouts])

    def hparams(self) -> str:
        """The hyperparameters of every variant and draw, and of every method; the augmentations."""
        tables = self.study.hparams_table(), hyperparameters(), augmentations(self.study)
        return "".join(table.to_csv(index=False) for table in tables)

    @property
    def tabled_datasets(self) -> list[str]:
        """Data sets whose prepared data the tables at hand are about."""
        panels = (panel for table in self.tables_at_hand for panel in self.study.panels(table))
        return list(dict.fromkeys(self.study.prepared(panel.dataset) for panel in panels))

    @property
    def documented(self) -> list[str]:
        """Names of the tables of the document, in its order."""
        absent = {table for table in self.study.tables if table not in self.tables_at_hand}
        absent |= set() if self.ranked_tables else set(RANKINGS)
        absent |= set() if self.claimed_tables or self.claimed_toy_records else {"claims"}
        absent |= set() if self.tabled_datasets else set(DATASET_TABLES)
        return [name for name in self.study.document() if name not in absent]

    @cached_property
    def reported(self) -> dict[str, dict[str, str]]:
        """What of tables and figures is made: by section of the report and by name, its path."""
        toy_results = {result.name: result.paths[0] for result in self.toy_results}
        figures = [*self.figures_at_hand, *(["critical_difference"] if self.ranked_tables else [])]
        tables = {name: f"results/tables/{name}.html" for name in self.documented if name not in toy_results}
        whole = all(Path(path).exists() for path in tables.values())
        sections = {
            RESULTS: {name: path for name, path in tables.items() if name not in DATA_TABLES}
            | ({"all": "results/tables/all.pdf"} if whole else {}),
            FIGURES: {name: f"results/figures/{name}.png" for name in figures},
            WENT_IN: {name: path for name, path in tables.items() if name in DATA_TABLES},
            TOY: toy_results,
        }
        made = {
            section: {name: path for name, path in paths.items() if Path(path).exists()}
            for section, paths in sections.items()
        }
        return {section: paths for section, paths in made.items() if paths}

    def section(self, name: str) -> str:
        """A section of the report with its number, counted over those of which something is made."""
        return f"{[*self.reported, name].index(name) + 1} {name}"

    def number(self, name: str, section: str) -> str:
        """Place of a table or figure in its section of the report, in digits that sort."""
        names = list(self.reported.get(section, ()))
        return f"{[*names, name].index(name) + 1:0{len(str(len(names)))}}"

    @cached_property
    def latex(self) -> bool:
        """Whether the document can be compiled here."""
        return shutil.which(LATEX) is not None

    def made(self) -> list[str]:
        """What the report shows.

        Raises
        ------
        InputError
            That is nothing.
        """
        paths = [path for section in self.reported.values() for path in section.values()]
        if not paths:
            raise InputError("no table or figure is made yet that a report could show; first make one")
        return paths

    def results(self) -> list[str]:
        """What `all` makes.

        Raises
        ------
        InputError
            That is no table of the study.
        """
        if not self.tables_at_hand and not self.toy_results:
            absent = [f"{name}'s raw files are not in {self.raw_folder(name)}" for name in self.withheld]
            why = "; ".join(absent) if self.study.tables else "params.yaml has none in `tables`"
            raise InputError(f"no table can be made: {why}")
        return [
            *(f"results/tables/{name}.tex" for name in self.documented),
            *(f"results/figures/{name}.png" for name in self.figures_at_hand),
            *(result.paths[0] for result in self.toy_results),
            *(["results/metrics.json"] if self.tables_at_hand else []),
            "results/tables/all.tex",
            *(["results/tables/all.pdf"] if self.latex else []),
        ]

    def nearest_target(self, target: str, rules: Iterable[str]) -> str:
        """``", did you mean 'x'?"`` for what no rule makes, or nothing; a name alone means its table."""
        made = self._made()
        if places := [path for path in made if Path(path).name.partition(".")[0] == target]:
            return f", did you mean {places[0]!r}?"
        return nearest(target, [*rules, *made])

    def _made(self) -> list[str]:
        """What rules make of prepared data and records."""
        study = self.study
        tables = dict.fromkeys([*self.documented, *study.tables])
        figures = dict.fromkeys([*study.figures, *study.tables, "critical_difference"])
        return [
            *(f"results/tables/{name}.{form}" for name in tables for form in ("tex", "csv", "body.tex")),
            *(f"results/figures/{name}.{form}" for name in figures for form in ("png", "pdf")),
            *(f"results/selected/{name}.csv" for name in study.tables),
            *(path for result in self.toy_results for path in result.paths),
            *(f"results/data/{name}/card.json" for name in self.recorded),
            *("results/tables/all.tex", "results/tables/all.pdf", "results/metrics.json"),
        ]

    def _at_hand_of(self, tables: Iterable[str]) -> list[str]:
        return [table for table in tables if table in self.tables_at_hand]

    # ------------------------------------------------------------------------------------- toy study

    @cached_property
    def toy_results(self) -> list[ToyResult]:
        """Tables and figures of the toy study; those of the data alone need no records."""
        if toy.NAME not in self.study.params:
            return []
        records = _records(self.study.table_runs(toy.NAME))
        return [
            ToyResult(
                kind,
                name,
                tuple(f"results/{kind}s/{name}.{form}" for form in forms),
                [] if name in ("toy_attributes", "toy_dataset") else records,
            )
            for kind, names, forms in (
                ("table", TOY_TABLES, ("html", "tex", "csv", "body.tex")),
                ("figure", TOY_FIGURES, ("png", "pdf")),
            )
            for name in names
        ]

    def toy_layout(self) -> str:
        """All that decides how the toy tables and figures look, but the records."""
        labels = {name: row["label"] for name, row in self.study.toy["variants"].items()}
        return json.dumps({**self.study.toy, "variants": labels}, sort_keys=True)


def missing(paths: Iterable[str]) -> str:
    """What a job lacks of its input, in words; empty where it lacks nothing."""
    absent = [path for path in paths if not os.path.exists(path)]
    return f"{len(absent)} files are missing, the first {absent[0]}" if absent else ""


def after_failure(
    study_file: str,
    unfinished: Sequence[str],
    failed: Collection[str] = (),
    unusable: Sequence[Path] = (),
) -> str:
    """What to do when something failed: look, go on, and see the tables with their gaps.

    Parameters
    ----------
    study_file : str
        See `written`.
    unfinished : sequence of str
        Tables that were to be made and that training held up.
    failed : collection of str
        Names of the rules that failed. Where only recordings did, nothing was trained that could be shown.
    unusable : sequence of Path
        See `Workflow.unusable`.
    """
    of_data = [rule for rule in failed if rule.startswith(("fetch_", "simulate_", "prepare"))]
    lines = ["", "What is finished is kept."]
    if any(rule.startswith("fetch_") for rule in of_data):
        lines += ["Recordings could not be had: the message above says from where, and where they belong."]
        lines += ["To try without: --config 'datasets={NAME: {source: simulated}}'"]
    if len(of_data) < len(failed) or not failed:
        lines += ["What failed, and why:", f"    tsdg status --params {study_file}"]
    lines += deleting(unusable)
    lines += ["Once that is put right, the same command again trains what is missing."]
    if of_data and len(of_data) == len(failed):
        unfinished = []
    if unfinished:
        lines += ["The tables asked for, from what there is, with their gaps named, in results/partial:"]
    for table in unfinished:
        parts = [f"tsdg {part} {table} --params {study_file}" for part in ("select", "table", "figure")]
        lines.append("    " + " && ".join(parts))
    return "\n".join(lines)


def _records(runs: Iterable[Run]) -> list[str]:
    return [f"{RECORDS}/{run_path(run)}" for run in runs]
