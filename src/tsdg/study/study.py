"""The study: what `params.yaml` asks for, checked and resolved into runs.

`params.yaml` is the one source for Snakemake, DVC and the command line. Nothing runs before all of it is
valid: an unknown key or value is an error that names its place and the nearest valid spelling.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from functools import cache, cached_property
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import yaml

from tsdg import methods
from tsdg.data import toy
from tsdg.data.kinds import KINDS
from tsdg.data.own.backbone import backbone
from tsdg.errors import InputError, nearest
from tsdg.methods.search import Distribution, draw
from tsdg.results.tables import AVERAGE, PANEL_KEYS, PAPER_PROTOCOL, layout_problem, paper_tables
from tsdg.study.layouts import common_rows, joined
from tsdg.study.run import Run

# What is made of every study, under names that a table or figure of params.yaml cannot take.
DATA_TABLES = ("datasets", "datasets_samplesize", "networks", "hyperparameter")
TOY_TABLES = ("toy_attributes", "target_risk", "target_risk_full")
TOY_FIGURES = ("toy_dataset", "divergence_vs_risk")
TAKEN = ("all", "toy", "ranking", "critical_difference", *DATA_TABLES, *TOY_TABLES, *TOY_FIGURES)


class Study:
    """A validated study.

    Parameters
    ----------
    params : mapping
        Contents of `params.yaml`. A section, or an entry of one, that is null is left out.
    overrides : iterable of str
        Assignments ``key=value``; keys with dots reach into the tree (``datasets.bearings.split=blocked``),
        a training setting alone (``iterations=100``) goes to the chosen protocol.

    Raises
    ------
    InputError
        If anything is unknown, misspelt, of the wrong kind, or refers to what is not there.
    """

    def __init__(self, params: Mapping[str, Any], overrides: Iterable[str] = ()):
        tree = deepcopy(dict(params))
        # The protocol first: settings given alone go to it.
        for assignment in sorted(overrides, key=lambda text: not text.startswith("protocol=")):
            _assign(tree, assignment)
        tree = _without_null(tree)
        _validate(tree)
        self.params = tree
        methods.use_plugins(tree.get("plugins", []))
        self._check_references()

    @classmethod
    def load(cls, path: str | Path = "params.yaml", overrides: Iterable[str] = ()) -> Study:
        """Read and validate a file."""
        path = Path(path)
        try:
            params = yaml.load(path.read_text(encoding="utf-8"), _Loader)
        except FileNotFoundError:
            raise InputError(
                f"{path}: not found; work in the project's folder, or name the file with --params"
            ) from None
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise InputError(f"{path}: not readable as YAML: {' '.join(str(error).split())}") from None
        if not isinstance(params, dict):
            raise InputError(f"{path}: should hold keys such as `datasets:` and `variants:`, but does not")
        if "set" in params:
            raise InputError(
                f"{path}: set: overrides are given on the command line (`snakemake --config`, `tsdg --set`); "
                "here, write the values in their places"
            )
        try:
            return cls(params, overrides)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    @property
    def datasets(self) -> dict[str, dict]:
        """Data sets by name, as they are written: see `dataset`."""
        return self.params["datasets"]

    @property
    def variants(self) -> dict[str, dict]:
        """Variants by name."""
        return self.params["variants"]

    @property
    def tables(self) -> dict[str, dict]:
        """Tables by name."""
        return self.params["tables"]

    @property
    def figures(self) -> dict[str, dict]:
        """Figures by name, beside the one that each table has, or in the place of its table's."""
        return self.params.get("figures", {})

    @cached_property
    def training(self) -> dict[str, Any]:
        """Training settings, with what the chosen protocol sets."""
        protocol = self.params["protocols"][self.params["protocol"]]
        own = {key: value for key, value in protocol.items() if key not in ("seeds", "draws", "toy_seeds")}
        return self.params["training"] | own

    @property
    def protocol(self) -> dict[str, Any]:
        """The chosen protocol: name, seeds, draws, iterations, and whether it is less than the paper's."""
        chosen = self.params["protocols"][self.params["protocol"]]
        protocol = {key: chosen[key] for key in ("seeds", "draws")} | {
            "iterations": self.training["iterations"]
        }
        reduced = protocol["draws"] == "fixed" or any(
            protocol[key] < value for key, value in PAPER_PROTOCOL.items()
        )
        return {"name": self.params["protocol"], **protocol, "reduced": reduced}

    def dataset(self, name: str) -> dict[str, Any]:
        """A data set's entry; a derived one's with what it takes over from the other."""
        entry = _entry(self.datasets, name, "data set")
        if "of" not in entry:
            return entry
        other = self.datasets[entry["of"]]
        domains = {domain: other["domains"][domain] for domain in entry.get("domains", other["domains"])}
        return {key: value for key, value in (other | entry).items() if key != "of"} | {"domains": domains}

    def prepared(self, name: str) -> str:
        """The data set whose prepared data a data set uses: itself, or the one that it is derived of."""
        if name == toy.NAME:
            return name
        return _entry(self.datasets, name, "data set").get("of", name)

    def variant(self, name: str) -> dict[str, Any]:
        """A variant's entry."""
        return _entry(self.variants, name, "variant")

    def table(self, name: str) -> dict[str, Any]:
        """A table's entry."""
        return _entry(self.tables, name, "table")

    def panels(self, table: str) -> list[dict[str, Any]]:
        """A table's data sets, side by side, each with its targets and metrics."""
        return [
            {"targets": list(self.dataset(panel["dataset"])["domains"]), **panel}
            for panel in _panels(self.table(table))
        ]

    def row(self, dataset: str, variant: str) -> dict[str, Any]:
        """A variant's entry; the toy study has variants of its own."""
        if dataset == toy.NAME:
            return _entry(self.toy["variants"], variant, "variant of the toy study")
        return self.variant(variant)

    def loop(self, dataset: str) -> str:
        """Module of the training loop, named without ``tsdg.``."""
        return "toy.train" if dataset == toy.NAME else "runs.training"

    def config(self, dataset: str, variant: str) -> dict[str, Any]:
        """Everything that decides a variant's trainings on a data set, but target, seed and draw."""
        if dataset == toy.NAME:
            return self._toy_config(variant)
        data, row = self.dataset(dataset), self.variant(variant)
        method = methods.get(row["method"])
        clusters = row.get("clusters", data.get("clusters"))
        augment = dict(data.get("augmentation") or {}) if row.get("augment", False) else None
        if augment is not None and isinstance(row["augment"], list):
            augment["functions"] = row["augment"]
        if augment == {}:
            raise InputError(
                f"variants.{variant}.augment: datasets.{dataset} has no `augmentation`; list functions there"
            )
        if method.uses_clusters and clusters is None:
            raise InputError(
                f"variants.{variant}: {row['method']} needs `clusters`, which neither it nor "
                f"datasets.{dataset} has; give them to one of the two"
            )
        return {
            "method": row["method"],
            "forward": row.get("forward", method.forward_default),
            "options": row.get("options", {}),
            "augment": augment,
            "clusters": _clusters(dataset, data["domains"], clusters) if method.uses_clusters else None,
            "backbone": _backbone(data),
            "domains": list(data["domains"]),
            "split": data["split"],
            "standardize": data.get("standardize"),
            **self.training,
            "protocol": self.params["protocol"],
        }

    def search(self, variant: str) -> dict:
        """Hyperparameters of a variant that are searched: those without a value of their own."""
        row = self.variant(variant)
        own = row.get("hparams", {})
        search = methods.get(row["method"]).search
        return {name: d for name, d in search.items() if name not in own and not d.constant}

    def draws(self, variant: str) -> list[int | str]:
        """Draws of a variant: one where there is nothing to search."""
        draws = self.protocol["draws"]
        if draws == "fixed":
            return ["fixed"]
        return list(range(draws)) if self.search(variant) else [0]

    def hparams(self, run: Run) -> dict[str, float]:
        """Hyperparameters of a run."""
        return self.hparams_of(run.dataset, run.variant, run.draw)

    def hparams_of(self, dataset: str, variant: str, number: int | str) -> dict[str, float]:
        """Hyperparameters of a variant's draw."""
        return self._drawn(self.row(dataset, variant), number)

    def _drawn(self, row: Mapping[str, Any], number: int | str) -> dict[str, float]:
        search = methods.get(row["method"]).search
        drawn = draw(search, number, seed=self.params["seed"], method=row["method"])
        return drawn | row.get("hparams", {})

    def hparams_rule(self, dataset: str, variant: str) -> dict[str, Any]:
        """What the hyperparameters of all draws follow from: a variant's own, and the seed of those drawn."""
        drawn = dataset != toy.NAME and self.protocol["draws"] != "fixed" and self.search(variant)
        own = self.row(dataset, variant).get("hparams", {})
        return {"own": own, "seed": self.params["seed"] if drawn else None}

    @cached_property
    def toy(self) -> dict[str, Any]:
        """The toy study's entry, with as many seeds as the chosen protocol has."""
        if "toy" not in self.params:
            raise InputError("there is no toy study: params.yaml has no key `toy`")
        protocol = self.params["protocols"][self.params["protocol"]]
        return self.params["toy"] | {"seeds": protocol.get("toy_seeds", self.params["toy"]["seeds"])}

    def _toy_config(self, variant: str) -> dict[str, Any]:
        """Training settings are those of the study; what a protocol changes of them is not for toy data."""
        row = self.row(toy.NAME, variant)
        method = methods.get(row["method"])
        sources: dict[str, dict] = {name: {} for name in toy.SOURCES}  # no metadata
        shared = ("batch_size", "learning_rate", "weight_decay", "decay_at", "decay")
        return {
            "method": row["method"],
            "forward": row.get("forward", method.forward_default),
            "options": row.get("options", {}),
            "clusters": _clusters(toy.NAME, sources, row.get("clusters")) if method.uses_clusters else None,
            **{key: self.params["training"][key] for key in shared},
            "iterations": self.toy["iterations"],
            "risk_threshold": self.toy["risk_threshold"],
            "protocol": self.params["protocol"],
        }

    def hparams_table(self) -> pd.DataFrame:
        """Hyperparameters of every variant and draw of the protocol: columns variant, draw, hparam, value."""
        rows = []
        for variant in self.variants:
            for number in self.draws(variant):
                values = self._drawn(self.variant(variant), number)
                rows += [(variant, number, name, value) for name, value in values.items()]
        return pd.DataFrame(rows, columns=["variant", "draw", "hparam", "value"])

    def runs(self, dataset: str, variants: Iterable[str], targets: Iterable[str] | None = None) -> list[Run]:
        """Runs of some variants on a data set."""
        targets = list(targets or self.dataset(dataset)["domains"])
        return [
            Run(dataset, variant, target, seed, number)
            for variant in variants
            for target, seed, number in product(targets, range(self.protocol["seeds"]), self.draws(variant))
        ]

    @property
    def wanted(self) -> dict[str, list[Run]]:
        """Runs that the study needs: those of each table, and those of the toy study under its name."""
        names = [*self.tables, *([toy.NAME] if "toy" in self.params else [])]
        return {name: self.table_runs(name) for name in names}

    def table_runs(self, table: str) -> list[Run]:
        """Runs that a table needs; under its name, those of the toy study."""
        if table == toy.NAME:
            wanted = product(self.toy["variants"], [toy.TARGET], range(self.toy["seeds"]), ["fixed"])
            return [Run(toy.NAME, *run) for run in wanted]
        rows = self.table(table)["rows"]
        return [
            run for panel in self.panels(table) for run in self.runs(panel["dataset"], rows, panel["targets"])
        ]

    def layout(self, table: str) -> dict[str, Any]:
        """A table's entry with labels and protocol, as `tsdg.results.tables.render` takes it."""
        entry = self.table(table)
        labels = {name: self.variants[name]["label"] for name in entry["rows"]} | entry.get("labels", {})
        return {
            "ours": [],
            **{key: value for key, value in entry.items() if key not in PANEL_KEYS},
            "panels": self.panels(table),
            "labels": labels,
            "protocol": self.protocol,
        }

    def figure(self, name: str, tables: Sequence[str] | None = None) -> dict[str, Any]:
        """A figure's kind, the layout of its tables together, and the options of its kind.

        Parameters
        ----------
        name : str
        tables : sequence of str, optional
            Those of its tables that are at hand. Default: all.
        """
        entry = _entry(self.figures, name, "figure")
        for given in tables or []:
            _known(given, entry["tables"], f"figures.{name}", "table of the figure")
        layout = joined([self.layout(of) for of in tables or entry["tables"]], metrics=["accuracy"])
        options = {key: value for key, value in entry.items() if key not in ("kind", "tables", "caption")}
        if entry["kind"] == "neighbours":
            options["clusters"] = {p["dataset"]: self._cluster_names(p["dataset"]) for p in layout["panels"]}
        return {"kind": entry["kind"], "layout": layout, "options": options}

    def _cluster_names(self, dataset: str) -> dict[str, str]:
        """Cluster of each domain, in words; empty where there are no clusters."""
        entry = self.dataset(dataset)
        domains, clusters = entry["domains"], entry.get("clusters", [])
        if clusters and isinstance(clusters[0], str):
            return {name: ", ".join(str(data[field]) for field in clusters) for name, data in domains.items()}
        number = _clusters(dataset, domains, clusters) if clusters else None
        return {name: f"cluster {number[name] + 1}" if number else "" for name in domains}

    def ranking(self, tables: Sequence[str] | None = None) -> dict[str, Any]:
        """The layout of the tables that are ranked together, and what is not in it.

        Parameters
        ----------
        tables : sequence of str, optional
            Those that are at hand. Default: all.

        Returns
        -------
        dict
            ``layout``; ``without``: titles of the data sets that are not at hand; ``dropped``: labels of the
            rows that only some tables have.

        Raises
        ------
        InputError
            params.yaml has no ranking.
        """
        if "ranking" not in self.params:
            raise InputError("there is nothing to rank: params.yaml has no key `ranking`")
        entry = self.params["ranking"]
        for given in tables or []:
            _known(given, entry["tables"], "ranking", "table of the ranking")
        layouts = {name: self.layout(name) for name in tables or entry["tables"]}
        layout = joined(list(layouts.values()), metrics=[entry["metric"]])
        labels = {row: label for one in layouts.values() for row, label in one["labels"].items()}
        return {
            "layout": layout,
            "without": [
                panel.get("title", panel["dataset"])
                for name in entry["tables"]
                if name not in layouts
                for panel in self.panels(name)
            ],
            "dropped": [label for row, label in labels.items() if row not in layout["rows"]],
        }

    def document(self) -> list[str]:
        """Names of all tables, in the order of the document that holds them."""
        toy_tables = TOY_TABLES if "toy" in self.params else ()
        ranking = ["ranking"] if "ranking" in self.params else []
        return [*DATA_TABLES, *toy_tables, *self.tables, *ranking]

    def dump(self) -> str:
        """The study with its overrides, as YAML that `load` reads."""
        return yaml.safe_dump(self.params, sort_keys=False, allow_unicode=True)

    def _check_references(self) -> None:
        if self.params["protocol"] not in self.params["protocols"]:
            name = self.params["protocol"]
            known = self.params["protocols"]
            raise InputError(
                f"protocol: {name!r} is not one{nearest(name, known)}; there are {', '.join(known)}"
            )
        for name, entry in self.datasets.items():
            if "of" in entry:
                self._check_derived(f"datasets.{name}", entry)
            data = self.dataset(name)
            if data["backbone"] == "auto" and not KINDS[data["kind"]].own:
                raise InputError(f"datasets.{name}.backbone: auto is for kind table; choose bearings or har")
            if AVERAGE in data["domains"]:
                raise InputError(
                    f"datasets.{name}.domains.{AVERAGE}: tables call the mean over targets that; rename it"
                )
            _clusters(name, data["domains"], data.get("clusters"))
        for name, row in self.variants.items():
            _check_variant(f"variants.{name}", row)
        for name, row in self.params.get("toy", {}).get("variants", {}).items():
            _check_variant(f"toy.variants.{name}", row)
            if methods.get(row["method"]).uses_clusters and "clusters" not in row:
                raise InputError(f"toy.variants.{name}: {row['method']} needs clusters, e.g. [[A, B], [C]]")
            self.config(toy.NAME, name)
        if "toy" in self.params and toy.NAME in self.datasets:
            raise InputError("datasets.toy: the toy study's records have that name; choose another")
        for name in self.params.get("toy", {}).get("ours", []):
            _known(name, self.toy["variants"], "toy.ours", "variant of the toy study")
        for name, entry in self.tables.items():
            where = f"tables.{name}"
            for row in entry["rows"]:
                _known(row, self.variants, f"{where}.rows", "variant")
            for key in ("ours", "labels"):
                for row in entry.get(key, []):
                    _known(row, entry["rows"], f"{where}.{key}", "row of the table")
            for number, panel in enumerate(_panels(entry)):
                place = f"{where}.panels.{number}" if "panels" in entry else where
                _known(panel["dataset"], self.datasets, f"{place}.dataset", "data set")
                for target in panel.get("targets", []):
                    _known(target, self.dataset(panel["dataset"])["domains"], f"{place}.targets", "domain")
                if "paper" in panel:
                    self._check_paper(f"{place}.paper", panel)
                for row in entry["rows"]:
                    self.config(panel["dataset"], row)
            layout = self.layout(name)
            if problem := layout_problem(layout):
                raise InputError(f"{where}: {problem}")
            _check_labels(f"{where}.labels", layout["labels"])

        for section in ("tables", "figures"):
            for name in self.params.get(section, {}):
                if name in TAKEN:
                    raise InputError(f"{section}.{name}: the name is taken, by a result of every study")
        for name, entry in self.tables.items():
            compared = f"{name}_comparison"
            if compared in self.tables and any("paper" in panel for panel in _panels(entry)):
                raise InputError(
                    f"tables.{compared}: the name is taken, by the comparison of table {name} with the paper"
                )
        for name, entry in self.figures.items():
            self._check_figure(f"figures.{name}", entry)
            if name in self.tables and entry["tables"] != [name]:
                raise InputError(
                    f"figures.{name}: it would take the place of table {name}'s figure, of which it is not; "
                    "choose another name"
                )
        if "ranking" in self.params:
            self._check_ranking(self.params["ranking"]["tables"])

    def _check_figure(self, where: str, entry: Mapping[str, Any]) -> None:
        rows = self._check_together(where, entry["tables"])
        for key in ("variant", "baseline", "rows"):
            given = entry.get(key, [])
            for row in given if key == "rows" else [given] * (key in entry):
                _known(row, rows, f"{where}.{key}", "row of all its tables")
        if entry["kind"] == "forest" and len(rows) == 1:
            raise InputError(f"{where}: its tables share no row to compare with the baseline {rows[0]}")
        if entry["kind"] == "neighbours":
            method = self.variants[entry["variant"]]["method"]
            if "neighbour" not in methods.get(method).options:
                raise InputError(f"{where}.variant: {entry['variant']} learns no neighbours ({method})")
        if entry["kind"] == "optimization":
            for row in rows:
                if not methods.get(self.variants[row]["method"]).uses_clusters:
                    raise InputError(f"{where}: row {row} of its tables has no clusters, which it counts")

    def _check_ranking(self, tables: Sequence[str]) -> None:
        rows = self._check_together("ranking", tables)
        if len(rows) == 1:
            raise InputError(f"ranking.tables: {rows[0]} alone is a row of all; a ranking takes two or more")
        seen: dict[str, str] = {}
        for dataset in (panel["dataset"] for name in tables for panel in self.panels(name)):
            other = seen.setdefault(self.prepared(dataset), dataset)
            if other != dataset:
                raise InputError(
                    f"ranking.tables: {other} and {dataset} are of the same recordings, which would count "
                    "twice; leave out the table of one"
                )

    def _check_paper(self, where: str, panel: Mapping[str, Any]) -> None:
        """A table of the paper is of a whole data set, whose kind it is called by."""
        _known(panel["paper"], paper_tables(), where, "table of the paper that is at hand")
        if self.datasets[panel["dataset"]].get("kind") != panel["paper"]:
            raise InputError(
                f"{where}: the paper's table is of a data set of kind {panel['paper']} with recordings of "
                f"its own, which {panel['dataset']} is not; leave `paper` out"
            )

    def _check_together(self, where: str, tables: Sequence[str]) -> list[str]:
        """The rows that some tables share; their data sets must be different ones."""
        for name in tables:
            _known(name, self.tables, f"{where}.tables", "table")
        layouts = [self.layout(name) for name in tables]
        rows = common_rows(layouts)
        if not rows:
            raise InputError(f"{where}.tables: no row is in all of {', '.join(tables)}")
        if problem := layout_problem(joined(layouts, metrics=["accuracy"])):
            raise InputError(f"{where}.tables: {problem}")
        return rows

    def _check_derived(self, where: str, entry: Mapping[str, Any]) -> None:
        recorded = {name: other for name, other in self.datasets.items() if "of" not in other}
        _known(entry["of"], recorded, f"{where}.of", "data set with recordings of its own")
        for domain in entry.get("domains", []):
            _known(domain, recorded[entry["of"]]["domains"], f"{where}.domains", f"domain of {entry['of']}")


def _panels(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A table's panels as they are written; those of one data set may stand in the table itself."""
    return entry.get("panels") or [{key: value for key, value in entry.items() if key in PANEL_KEYS}]


def _backbone(data: Mapping[str, Any]) -> str:
    """A data set's backbone; `auto` is chosen by the length of the windows."""
    return backbone(data["prepare"]["window"]) if data["backbone"] == "auto" else data["backbone"]


def _check_variant(where: str, row: Mapping[str, Any]) -> None:
    """Raise `InputError` unless a variant's method, options and hyperparameters exist."""
    try:
        method = methods.get(row["method"])
        methods.check_options(row["method"], row.get("options", {}))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    for hparam in row.get("hparams", {}):
        if hparam not in method.search:
            raise InputError(
                f"{where}.hparams: {row['method']} has no hyperparameter {hparam!r}"
                f"{nearest(hparam, method.search)}; it has {', '.join(method.search) or 'none'}"
            )
        _check_hparam(f"{where}.hparams.{hparam}", hparam, row["hparams"][hparam], method.search[hparam])
    if "clusters" in row and not method.uses_clusters:
        raise InputError(f"{where}.clusters: {row['method']} uses none; leave them out")


def _check_hparam(where: str, name: str, value: float, distribution: Distribution) -> None:
    """What is searched on a log scale is positive; but a count may be 0, and a weight, for no such term."""
    log = distribution.kind in ("power", "floor_power")
    zero = distribution.kind != "power" or name == "lambda" or distribution.default == 0
    low = 0 if log or min(distribution.values) >= 0 else -math.inf
    if value < low or (value == 0 and not zero):
        raise InputError(f"{where}: {value!r} is wrong: a number {'from' if zero else 'above'} 0")


def _check_labels(where: str, labels: Mapping[str, str]) -> None:
    """Raise `InputError` where two rows of a table would be printed alike."""
    seen: dict[str, str] = {}
    for row, label in labels.items():
        if seen.setdefault(label, row) != row:
            raise InputError(f"{where}: {seen[label]} and {row} are both called {label!r}; name them apart")


def _clusters(
    dataset: str, domains: Mapping[str, Mapping], clusters: Sequence | None
) -> dict[str, int] | None:
    """Cluster of each domain, from metadata fields of the domains or from lists of domains."""
    if clusters is None:
        return None
    if all(isinstance(cluster, list) for cluster in clusters):
        assigned = {name: c for c, members in enumerate(clusters) for name in members}
        if set(assigned) != set(domains) or sum(map(len, clusters)) != len(domains):
            raise InputError(
                f"clusters of data set {dataset!r} must hold each of its domains once: {clusters}"
            )
        return {name: assigned[name] for name in domains}
    for field in clusters:
        for name, metadata in domains.items():
            if field not in metadata:
                raise InputError(
                    f"datasets.{dataset}.domains.{name} has no metadata {field!r}"
                    f"{nearest(field, metadata)}, which `clusters` asks for"
                )
    keys = [tuple(metadata[field] for field in clusters) for metadata in domains.values()]
    order = list(dict.fromkeys(keys))
    return {name: order.index(key) for name, key in zip(domains, keys, strict=True)}


def _entry(entries: Mapping[str, dict], name: str, kind: str) -> dict:
    _known(name, entries, kind, kind)
    return entries[name]


def _known(name: str, known: Iterable[str], where: str, kind: str) -> None:
    known = list(known)
    if name not in known:
        place = "" if where == kind else f"{where}: "
        there = f"there are {', '.join(known)}" if known else "there are none"
        raise InputError(f"{place}{name!r} is not a {kind}{nearest(name, known)}; {there}")


def _assign(tree: dict, assignment: str) -> None:
    key, equals, text = assignment.partition("=")
    if not equals or not key:
        raise InputError(f"override {assignment!r}: write key=value, e.g. iterations=100")
    try:
        value = yaml.load(text, _Loader)
    except yaml.YAMLError:
        raise InputError(f"override {assignment!r}: the value is not valid YAML") from None
    path = key.split(".")
    if len(path) == 1 and path[0] not in schema()["properties"]:
        path = ["protocols", str(tree.get("protocol")), path[0]]
    if path[0] == "training" and path[1:2] and path[1] in tree["protocols"].get(tree.get("protocol"), {}):
        raise InputError(
            f"override {assignment!r}: protocol {tree['protocol']} sets it; write {path[1]}={text}"
        )
    for depth, part in enumerate(path[:-1]):
        if depth == 2 and part not in tree:
            tree[part] = {}
        if not isinstance(tree.get(part), dict):
            place = ".".join(path[: depth + 1])
            known = [k for k, v in tree.items() if isinstance(v, dict)]
            raise InputError(f"override {assignment!r}: there is no {place}{nearest(part, known)}")
        tree = tree[part]
    tree[path[-1]] = value


def _without_null(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The study less the sections, and entries of sections, that are null: so an override takes one away."""
    return {
        key: {name: entry for name, entry in value.items() if entry is not None}
        if isinstance(value, Mapping)
        else value
        for key, value in tree.items()
        if value is not None
    }


class _Loader(yaml.SafeLoader):
    """YAML's safe loader that reads 1e-3 as a number and refuses a key given twice."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key, (where, _) in zip(keys, node.value, strict=True):
            if keys.count(key) > 1:
                mark = where.start_mark
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is given twice", mark)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)


@cache
def schema() -> dict[str, Any]:
    """JSON schema of `params.yaml`: the file beside this one, with what each kind of data set may hold."""
    tree = yaml.safe_load((files("tsdg.study") / "params.schema.yaml").read_text(encoding="utf-8"))
    recorded = tree["$defs"]["recorded"]
    recorded["properties"]["kind"] = {"enum": list(KINDS)}
    recorded["allOf"] = [
        {"if": {"required": ["kind"], "properties": {"kind": {"const": name}}}, "then": kind.entry_schema}
        for name, kind in KINDS.items()
    ]
    return tree


def _is_number(_checker: object, value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: type(value) is int
    ).redefine("number", _is_number),
)


def _validate(tree: dict) -> None:
    validator = _Validator(schema())
    errors = sorted(validator.iter_errors(tree), key=lambda error: list(map(str, error.absolute_path)))
    if errors:
        raise InputError("; ".join(list(dict.fromkeys(map(_explain, errors)))[:5]))


def _explain(error: jsonschema.ValidationError) -> str:
    """A schema error in words: place, what is wrong, nearest valid spelling."""
    place = ".".join(map(str, error.absolute_path)) or "top level"
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        unknown = [key for key in error.instance if key not in known]
        words = ", ".join(f"{key!r}{nearest(key, known)}" for key in unknown)
        why = f" ({error.schema['description']})" if "description" in error.schema else ""
        return f"{place}: unknown key {words}; known are {', '.join(known)}{why}"
    if error.validator == "enum":
        values = [str(value) for value in error.validator_value]
        return (
            f"{place}: {error.instance!r} is not one of {', '.join(values)}{nearest(error.instance, values)}"
        )
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return f"{place}: key {', '.join(map(repr, missing))} is missing"
    if error.validator == "type" and error.validator_value == "object":
        return f"{place}: {error.instance!r} should hold keys, such as {place.split('.')[-1]}: {{key: value}}"
    if description := error.schema.get("description"):
        return f"{place}: {error.instance!r} is wrong: {description}"
    return f"{place}: {error.message}"
