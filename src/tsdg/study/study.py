"""The study: what `params.yaml` asks for, checked and resolved into runs.

`params.yaml` is the one source for Snakemake, DVC and the command line. Nothing runs before all of it is
valid: an unknown key or value is an error that names its place and the nearest valid spelling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import yaml

from tsdg import methods
from tsdg.data import toy
from tsdg.data.kinds import KINDS
from tsdg.errors import InputError, check_known
from tsdg.learning.centring import NONE, REFERENCE
from tsdg.methods import estimators
from tsdg.methods.search import Distribution, draw
from tsdg.study import clusters, config, folds, levels, references, targets
from tsdg.study.claims import Claim
from tsdg.study.figure_kinds import ACCURACY, FIGURE_KINDS, PAGE
from tsdg.study.follow import follow
from tsdg.study.layout import PAPER_PROTOCOL, Layout, Panel, Protocol, common_rows, joined
from tsdg.study.names import DATA_TABLES, RANKINGS, TOY_TABLES
from tsdg.study.paper_style import PaperStyle
from tsdg.study.params import Tree, read, resolved
from tsdg.study.reading import AVERAGED, LAST, Reading
from tsdg.study.run import Run
from tsdg.study.selection import VALIDATED, Selection
from tsdg.study.targets import Target


@dataclass(frozen=True)
class Figure:
    """A figure: its kind, the layout of its tables together, the options of its kind, and its width."""

    kind: str
    layout: Layout
    options: Mapping[str, Any]
    width: str = PAGE


@dataclass(frozen=True)
class RankedTables:
    """The tables that are ranked together.

    Attributes
    ----------
    layout : Layout
        All of them as one.
    without : tuple of str
        Titles of the data sets that are not at hand.
    others : tuple of str
        Titles of the data sets of tables that share too few rows, see `Study.most_alike`.
    dropped : tuple of str
        Labels of the rows that only some tables have.
    apart : tuple of str
        Labels of the rows to which the new domain gives something else than the ranking says.
    twice : tuple of str
        Labels of the rows that show what another row shows.
    baseline : str, optional
        What all are compared with on the next domain, see `tsdg.results.next_domain.pairs`.
    rope : float, optional
        What is no difference there.
    """

    layout: Layout
    without: tuple[str, ...]
    others: tuple[str, ...]
    dropped: tuple[str, ...]
    apart: tuple[str, ...]
    twice: tuple[str, ...]
    baseline: str | None = None
    rope: float | None = None


NO_SETTINGS = ("seeds", "draws", "toy_seeds", "search", "checkpoint")  # of a protocol: what no training reads


class Study:
    """A validated study.

    Parameters
    ----------
    params : mapping
        Contents of `params.yaml`. A section, or an entry of one, that is null is left out.
    overrides : iterable of str
        Assignments ``key=value``; keys with dots reach into the tree (``datasets.bearings.split=blocked``),
        a training setting alone (``iterations=100``) goes to the chosen protocol. Mappings merge with what
        is there, all else replaces it.

    Attributes
    ----------
    notes : list of str
        What was left out, since it names rows that a table has no more.

    Raises
    ------
    InputError
        If anything is unknown, misspelt, of the wrong kind, or refers to what is not there.
    """

    def __init__(self, params: Mapping[str, Any], overrides: Iterable[str] = ()):
        self.params = resolved(params, overrides)
        self.one_selection: Selection | None = None  # of all tables, see `under`
        methods.use_plugins(self.params.get("plugins", []))
        self.notes = follow(self, params)
        references.check(self)

    @classmethod
    def load(cls, path: str | Path = "params.yaml", overrides: Iterable[str] = ()) -> Study:
        """Read and validate a file."""
        params = read(Path(path))
        try:
            return cls(params, overrides)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    def dump(self) -> str:
        """The study with its overrides, as YAML that `load` reads."""
        return yaml.safe_dump(self.params, sort_keys=False, allow_unicode=True)

    # Sections of params.yaml, and what an entry of one says with all that it leaves to others.

    @property
    def datasets(self) -> dict[str, Tree]:
        """Data sets by name, as they are written: see `dataset`."""
        return self.params["datasets"]

    @property
    def variants(self) -> dict[str, Tree]:
        """Variants by name."""
        return self.params["variants"]

    @property
    def tables(self) -> dict[str, Tree]:
        """Tables by name."""
        return self.params["tables"]

    @property
    def figures(self) -> dict[str, Tree]:
        """Figures by name, beside the one that each table has, or in the place of its table's."""
        return self.params.get("figures", {})

    @cached_property
    def toy(self) -> Tree:
        """The toy study's entry, with as many seeds as the chosen protocol has."""
        if "toy" not in self.params:
            raise InputError("there is no toy study: params.yaml has no key `toy`")
        protocol = self.params["protocols"][self.params["protocol"]]
        return self.params["toy"] | {"seeds": protocol.get("toy_seeds", self.params["toy"]["seeds"])}

    @cached_property
    def training(self) -> Tree:
        """Training settings, with what the chosen protocol sets."""
        protocol = self.params["protocols"][self.params["protocol"]]
        own = {key: value for key, value in protocol.items() if key not in NO_SETTINGS}
        return self.params["training"] | own

    @property
    def anew(self) -> bool:
        """Whether each seed is a trial of DomainBed's, with draws of its own.

        The first has the published values, and each trains with a seed that follows from both, so that
        networks with nothing to search have as many runs.
        """
        return self.params["protocols"][self.params["protocol"]].get("search") == "anew"

    @property
    def checkpoint(self) -> Literal["last", "best"]:
        """The checkpoint that selection takes: the chosen protocol's, or the study's."""
        return self.params["protocols"][self.params["protocol"]].get("checkpoint", self.params["checkpoint"])

    @property
    def protocol(self) -> Protocol:
        """The chosen protocol."""
        chosen = self.params["protocols"][self.params["protocol"]]
        asked = Protocol(
            self.params["protocol"], chosen["seeds"], chosen["draws"], self.training["iterations"],
            anew=self.anew, checkpoint=self.checkpoint,
        )  # fmt: skip
        return replace(asked, reduced=asked.is_less_than(PAPER_PROTOCOL))

    def dataset(self, name: str) -> Tree:
        """A data set's entry; a derived one's with what it takes over from the other."""
        entry = _entry(self.datasets, name, "data set")
        if "of" not in entry:
            return entry
        other = self.datasets[entry["of"]]
        domains = {name: other["domains"][name] for name in entry.get("domains") or other["domains"]}
        return {key: value for key, value in (other | entry).items() if key != "of"} | {"domains": domains}

    def prepared(self, name: str) -> str:
        """The data set whose prepared data a data set uses: itself, or the one that it is derived of."""
        if name == toy.NAME:
            return name
        return _entry(self.datasets, name, "data set").get("of", name)

    def variant(self, name: str) -> Tree:
        """A variant's entry; a derived one's with what it takes over from the other."""
        entry = _entry(self.variants, name, "variant")
        if "of" not in entry:
            return entry
        return {key: value for key, value in (self.variants[entry["of"]] | entry).items() if key != "of"}

    def reading(self, variant: str) -> Reading:
        """What a row shows of which variant's trainings."""
        entry, row = _entry(self.variants, variant, "variant"), self.variant(variant)
        weights = entry.get("weights", LAST)
        average = row.get("average", self.training.get("average")) if weights == AVERAGED else None
        since = average["from"] if average else None
        return Reading(entry.get("of", variant), weights, entry.get("ensemble", False), since)

    def readings(self, table: str) -> dict[str, Reading]:
        """Those of a table's rows that are derived of others."""
        return {row: self.reading(row) for row in self.table(table)["rows"] if "of" in self.variants[row]}

    def trained(self, run: Run) -> Run:
        """The training that a run of a row is."""
        of = _entry(self.variants, run.variant, "variant").get("of")
        return replace(run, variant=of) if of else run

    def row(self, dataset: str, variant: str) -> Tree:
        """A variant's entry; the toy study has variants of its own."""
        if dataset == toy.NAME:
            return _entry(self.toy["variants"], variant, "variant of the toy study")
        return self.variant(variant)

    def table(self, name: str) -> Tree:
        """A table's entry."""
        return _entry(self.tables, name, "table")

    # What is trained.

    def loop(self, dataset: str) -> str:
        """Module of the training loop, named without ``tsdg.``."""
        return "toy.train" if dataset == toy.NAME else "runs.training"

    def config(self, dataset: str, variant: str) -> Tree:
        """Everything that decides a variant's trainings on a data set, but target, seed and draw."""
        row = self.row(dataset, variant)
        if dataset == toy.NAME:  # what a protocol changes of the settings is not meant for toy data
            own = config.of_toy(row, self.toy, self.params["training"])
        elif row["method"] == estimators.METHOD:
            own = config.of_estimator(variant, row, dataset, self.dataset(dataset), self.training)
        else:
            own = config.of_network(variant, row, dataset, self.dataset(dataset), self.training)
        if self.anew and dataset != toy.NAME:
            own["seeds"] = "by draw"
        return {**own, "protocol": self.params["protocol"]}

    def search(self, variant: str) -> dict[str, Distribution]:
        """Hyperparameters of a variant that are searched: those without a value of their own."""
        row = self.variant(variant)
        own = row.get("hparams", {})
        search = methods.search(row)
        return {name: d for name, d in search.items() if name not in own and not d.constant}

    def draws(self, variant: str) -> list[int | str]:
        """Draws of a variant: one where there is nothing to search, but of networks drawn `anew`."""
        draws = self.protocol.draws
        if draws == "fixed":
            return ["fixed"]
        alike = not self.search(variant) and not (
            self.anew and self.variant(variant)["method"] != estimators.METHOD
        )
        return [0] if alike else list(range(draws))

    def hparams(self, run: Run) -> dict[str, float]:
        """Hyperparameters of a run."""
        return self.hparams_of(run.dataset, run.variant, run.draw, run.seed)

    def hparams_of(self, dataset: str, variant: str, number: int | str, seed: int) -> dict[str, float]:
        """Hyperparameters of a variant's draw; the `seed` counts where each draws `anew`."""
        return self._drawn(self.row(dataset, variant), number, seed)

    def _drawn(self, row: Tree, number: int | str, seed: int) -> dict[str, float]:
        trial = seed if self.anew else None
        number = "fixed" if self.anew and number == 0 else number
        drawn = draw(methods.search(row), number, seed=self.params["seed"], method=row["method"], trial=trial)
        return drawn | row.get("hparams", {})

    def hparams_rule(self, dataset: str, variant: str) -> Tree:
        """What the hyperparameters of all draws follow from: a variant's own, and the seed of those drawn."""
        drawn = dataset != toy.NAME and self.protocol.draws != "fixed" and self.search(variant)
        row = self.row(dataset, variant)
        rule = {"own": row.get("hparams", {}), "seed": self.params["seed"] if drawn else None}
        rule |= {"anew": True} if self.anew and dataset != toy.NAME else {}
        return rule | ({"search": row["search"]} if "search" in row else {})

    def hparams_table(self) -> pd.DataFrame:
        """Hyperparameters of every variant and draw of the protocol, and of every seed that draws `anew`.

        Columns are variant, perhaps seed, draw, hparam, value.
        """
        seeds = range(self.protocol.seeds if self.anew else 1)
        rows = [
            (variant, seed, number, name, value)
            for variant, entry in self.variants.items()
            if "of" not in entry
            for seed, number in product(seeds, self.draws(variant))
            for name, value in self._drawn(self.variant(variant), number, seed).items()
        ]
        table = pd.DataFrame(rows, columns=["variant", "seed", "draw", "hparam", "value"])
        return table if self.anew else table.drop(columns="seed")

    def target(self, dataset: str, name: str) -> Target:
        """What is held out under a target's name, and its usual spelling.

        Raises
        ------
        InputError
            The data set has no such domain, metadata field or value.
        """
        try:
            return targets.named(self.dataset(dataset)["domains"], name, dataset)
        except InputError as error:
            named = "" if str(error).startswith(repr(name)) else f"{name!r}: "
            raise InputError(f"target {named}{error}") from None

    def groups(self, dataset: str, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The domains of each of some targets that is a group."""
        held_out = [self.target(dataset, name) for name in names]
        return {target.name: target.domains for target in held_out if not target.is_domain}

    def runs(self, dataset: str, variants: Iterable[str], targets: Iterable[str] | None = None) -> list[Run]:
        """Runs of some variants on a data set."""
        names = list(targets or self.dataset(dataset)["domains"])
        return [
            Run(dataset, variant, target, seed, number)
            for variant in variants
            for target, seed, number in product(names, range(self.protocol.seeds), self.draws(variant))
        ]

    def table_runs(self, table: str) -> list[Run]:
        """Runs that a table needs; under its name, those of the toy study."""
        if table == toy.NAME:
            wanted = product(self.toy["variants"], [toy.TARGET], range(self.toy["seeds"]), ["fixed"])
            return [Run(toy.NAME, *run) for run in wanted]
        judging = (fold.run for of_run in folds.of_table(self, table).values() for fold in of_run)
        return list(dict.fromkeys(map(self.trained, [*self.shown_runs(table), *judging])))

    def shown_runs(self, table: str) -> list[Run]:
        """Runs of a table that it may show: all but those that only judge hyperparameters."""
        rows = self.table(table)["rows"]
        return [run for panel in self.panels(table) for run in self.runs(panel.dataset, rows, panel.targets)]

    def selection(self, table: str) -> Selection:
        """What a table's runs are selected by."""
        return self.one_selection or Selection.of(self.table(table).get("selection", VALIDATED))

    def under(self, selection: Selection) -> Study:
        """The study with all tables selected by one policy."""
        other = copy(self)
        vars(other).pop("wanted", None)  # which hangs on the policy
        other.one_selection = selection
        return other

    @cached_property
    def wanted(self) -> dict[str, list[Run]]:
        """Runs that the study needs: those of each table, and those of the toy study under its name."""
        names = [*self.tables, *([toy.NAME] if "toy" in self.params else [])]
        return {name: self.table_runs(name) for name in names}

    # What is shown.

    def panels(self, table: str) -> list[Panel]:
        """A table's data sets, side by side; the only one may stand in the table itself."""
        entry = self.table(table)
        return [
            Panel(
                dataset=panel["dataset"],
                title=panel.get("title", panel["dataset"]),
                targets=tuple(names),
                metrics=tuple(panel["metrics"]),
                average_only=panel.get("average_only", False),
                paper=panel.get("paper"),
                groups=self.groups(panel["dataset"], names),
                legend=tuple(targets.legend(self.dataset(panel["dataset"])["domains"], names)),
                selection=self.selection(table),
            )
            for panel in entry.get("panels", [entry])
            for names in [self.targets(panel)]
        ]

    def targets(self, panel: Tree) -> list[str]:
        """Names of a panel's targets: those that it lists, or all that its `holdout` makes."""
        listed = panel.get("targets")
        if listed is not None:
            return [self.target(panel["dataset"], name).name for name in listed]
        domains = self.dataset(panel["dataset"])["domains"]
        return [target.name for target in targets.held_out(domains, panel.get("holdout"))]

    def layout(self, table: str) -> Layout:
        """A table as it is shown."""
        entry = self.table(table)
        labels = {row: self.variants[row]["label"] for row in entry["rows"]}
        return Layout(
            rows=tuple(entry["rows"]),
            labels=labels | entry.get("labels", {}),
            panels=tuple(self.panels(table)),
            protocol=self.protocol,
            caption=self._caption(table),
            baselines=tuple(entry.get("baselines", ())),
            ours=tuple(entry.get("ours", ())),
            arrange=entry.get("arrange", "beneath"),
            settled=tuple(row for row in entry["rows"] if not self.search(row)),
            style=PaperStyle.of(entry) if entry.get("layout") == "paper" else None,
            readings=self.readings(table),
            levels=self._levels(entry["rows"]),
        )

    def _levels(self, rows: Iterable[str]) -> dict[str, levels.Level]:
        """What the new domain gives to each row, where that is not nothing."""
        found = {row: levels.of(self.variant(row)) for row in rows}
        return {row: level for row, level in found.items() if level != levels.Level()}

    def _caption(self, table: str) -> str:
        """A table's caption, and what of its data differs from the paper's where it is compared."""
        compared = [self.dataset(panel.dataset) for panel in self.panels(table) if panel.paper]
        notes = dict.fromkeys(KINDS[data["kind"]].unlike_paper(data.get("prepare", {})) for data in compared)
        return " ".join([self.table(table)["caption"], *filter(None, notes)])

    def figure(self, name: str, tables: Sequence[str] | None = None) -> Figure:
        """A figure.

        Parameters
        ----------
        name : str
            Of an entry under `figures`, or else of a table, which has one of its accuracy by target.
        tables : sequence of str, optional
            Those of its tables that are at hand. Default: all.
        """
        entry = self.figure_entry(name)
        for given in tables or []:
            check_known(given, entry["tables"], "table of the figure", f"figures.{name}")
        kind = FIGURE_KINDS[entry["kind"]]
        metrics = None if kind.own_metrics else ["accuracy"]
        layout = joined([self.layout(of) for of in tables or entry["tables"]], metrics=metrics)
        options = {option: entry[option] for option in [*kind.options, *kind.optional] if option in entry}
        if kind.clusters:
            options["clusters"] = {panel.dataset: self._clusters(panel.dataset) for panel in layout.panels}
        if kind.single_source:
            options["metadata"] = {
                panel.dataset: self.dataset(panel.dataset)["domains"] for panel in layout.panels
            }
        return Figure(entry["kind"], layout, options, entry.get("width", PAGE))

    def figure_entry(self, name: str) -> Tree:
        """What params.yaml says of a figure, or would of the one that a table has if it says nothing."""
        if name in self.tables and name not in self.figures:
            return {"kind": ACCURACY, "tables": [name]}
        return _entry(self.figures, name, "figure")

    def _clusters(self, dataset: str) -> dict[str, str]:
        entry = self.dataset(dataset)
        return clusters.named(dataset, entry["domains"], entry.get("clusters"))

    def ranking(self, tables: Sequence[str] | None = None) -> RankedTables:
        """The tables that are ranked together.

        Parameters
        ----------
        tables : sequence of str, optional
            Those that are at hand. Default: all.

        Raises
        ------
        InputError
            params.yaml has no ranking.
        """
        if "ranking" not in self.params:
            raise InputError("there is nothing to rank: params.yaml has no key `ranking`")
        entry = self.params["ranking"]
        for given in tables or []:
            check_known(given, entry["tables"], "table of the ranking", "ranking")
        ranked_together = [name for name in self.tables if name in entry["tables"]]
        at_hand = [name for name in ranked_together if name in (tables or ranked_together)]
        layouts = {name: self._by_metric(name, entry["metric"]) for name in self.most_alike(at_hand)}
        rows, ranked = common_rows(list(layouts.values())), self.ranked_rows(list(layouts))
        alike = self._of_ranked_level(rows)
        layout = joined(list(layouts.values()), ranked)
        labels = {row: label for one in layouts.values() for row, label in one.labels.items()}

        def titles(names: Iterable[str]) -> tuple[str, ...]:
            return tuple(panel.title for name in names for panel in self.panels(name))

        return RankedTables(
            layout,
            without=titles(name for name in ranked_together if name not in at_hand),
            others=titles(name for name in at_hand if name not in layouts),
            dropped=tuple(label for row, label in labels.items() if row not in rows),
            apart=tuple(label for row, label in labels.items() if row in rows and row not in alike),
            twice=tuple(labels[row] for row in alike if row not in ranked),
            baseline=entry.get("baseline"),
            rope=entry.get("rope"),
        )

    def most_alike(self, tables: Sequence[str]) -> list[str]:
        """Those of some tables that are ranked together, for they share most rows.

        Every table has all rows that are ranked. So those are left out without which most can be compared:
        rows times targets, and nothing where there is one row. Where that ties, most tables are kept, then
        the first by name. The order of those given does not matter: they are returned in params.yaml's.
        """
        given = [name for name in self.tables if name in tables]
        rows = {name: frozenset(self.table(name)["rows"]) for name in given}
        targets = {name: sum(len(panel.targets) for panel in self.panels(name)) for name in given}
        shared = set[frozenset[str]]()  # by some tables: all rows that there can be in common
        for own in rows.values():
            shared |= {own, *(own & others for others in shared)}
        ways = [[name for name in given if common <= rows[name]] for common in shared]

        def worth(names: list[str]) -> tuple[int, int]:
            count = len(self.ranked_rows(names))
            return count * sum(targets[name] for name in names) if count > 1 else 0, len(names)

        several = [names for names in ways if len(names) > 1]
        return max(sorted(several), key=worth, default=given)

    def ranked_rows(self, tables: Sequence[str]) -> list[str]:
        """The rows of all of some tables to which the new domain gives what the ranking says, each once.

        Rows that show the same of the same trainings are one.
        """
        rows = [self.table(name)["rows"] for name in tables]
        common = [row for row in rows[0] if all(row in others for others in rows)]
        first: dict[Reading, str] = {}
        for row in self._of_ranked_level(common):
            first.setdefault(self.reading(row), row)
        return list(first.values())

    def _of_ranked_level(self, rows: Iterable[str]) -> list[str]:
        given = self.params["ranking"].get("given", NONE)
        wanted = levels.Level(given, omits=given == REFERENCE)
        return [row for row in rows if levels.of(self.variant(row)) == wanted]

    @property
    def claims(self) -> list[Claim]:
        """What the study states, to be checked by its tables and toy study."""
        return [self.claim(name) for name in self.params.get("claims", {})]

    def claim(self, name: str) -> Claim:
        """One of them."""
        entry = self.params["claims"][name]
        of_toy = entry["table"] == toy.NAME
        about = {"rows": list(self.toy["variants"])} if of_toy else self.table(entry["table"])
        baselines = about.get("baselines", [])
        return Claim.of(name, entry, [row for row in about["rows"] if row not in baselines])

    def _by_metric(self, table: str, metric: str | dict[str, str]) -> Layout:
        """A table of one metric: the given one, or its own of those given."""
        one = metric if isinstance(metric, str) else metric[table]
        layout = self.layout(table)
        return replace(layout, panels=tuple(replace(panel, metrics=(one,)) for panel in layout.panels))

    def document(self) -> list[str]:
        """Names of all tables, in the order of the document that holds them."""
        toy_tables = TOY_TABLES if "toy" in self.params else ()
        last = [*RANKINGS] if "ranking" in self.params else []
        last += ["claims"] if "claims" in self.params else []
        return [*DATA_TABLES, *toy_tables, *self.tables, *last]


def _entry(entries: Mapping[str, Tree], name: str, kind: str) -> Tree:
    check_known(name, entries, kind)
    return entries[name]
