"""Whether the names in `params.yaml` are names of something that fits: what a schema cannot say."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from tsdg import methods
from tsdg.data import paper, toy
from tsdg.data.kinds import KINDS
from tsdg.errors import InputError, all_of, check_known, nearest
from tsdg.learning.backbones.options import DEFAULTS
from tsdg.learning.centring import NONE
from tsdg.methods import estimators
from tsdg.methods.declarations import Declaration
from tsdg.methods.search import Distribution
from tsdg.study import backbones, clusters, config, folds, levels, targets
from tsdg.study.figure_kinds import FIGURE_KINDS
from tsdg.study.layout import OVER_TARGETS, common_rows, joined
from tsdg.study.metric import METRICS
from tsdg.study.names import TAKEN
from tsdg.study.params import Tree
from tsdg.study.reading import ADAPTED, AVERAGED, LAST, T3A, WAYS, Reading
from tsdg.study.selection import LEFT_OUT

if TYPE_CHECKING:
    from tsdg.study.study import Study


def check(study: Study) -> None:
    """Raise `InputError`, which names the place, unless every reference of a study is to what is there."""
    name, protocols = study.params["protocol"], study.params["protocols"]
    if name not in protocols:
        raise InputError(
            f"protocol: {name!r} is not one{nearest(name, protocols)}; there are {', '.join(protocols)}"
        )
    if study.anew and study.protocol.draws == "fixed":
        raise InputError(
            f"protocols.{study.params['protocol']}.search: fixed hyperparameters are not drawn anew; give a "
            "number of draws, or leave `search` out"
        )
    for of_section in (_datasets, _variants, _tables, _shown):
        problems = []
        for check_one in of_section(study):
            try:
                check_one()
            except InputError as error:
                problems.append(str(error))
        if problems:  # what follows would stumble over them again
            raise all_of(problems)


Checks = Iterator[Callable[[], None]]


def _datasets(study: Study) -> Checks:
    for name in study.datasets:
        yield partial(_dataset, study, name)
    if study.datasets:
        most = max(len(entry["domains"]) for entry in study.datasets.values() if "domains" in entry)
        yield partial(_enough, "", study.training, most)


def _variants(study: Study) -> Checks:
    for name, row in study.variants.items():
        place = f"variants.{name}"
        yield partial(_derived, study, place, row) if "of" in row else partial(_variant, place, row)
    if "toy" in study.params:
        yield partial(_toy, study)


def _tables(study: Study) -> Checks:
    for name in study.tables:
        yield partial(_table, study, name)


def _shown(study: Study) -> Checks:
    """What is made of tables: their names are free, and what is drawn, claimed and ranked fits."""
    yield partial(_names, study)
    for name, entry in study.figures.items():
        yield partial(_figure, study, f"figures.{name}", entry)
        yield partial(_in_place, study, name, entry)
    for name in study.params.get("claims", {}):
        yield partial(_claim, study, name)
    if "ranking" in study.params:
        yield partial(_ranking, study, study.params["ranking"]["tables"], study.params["ranking"]["metric"])


def _in_place(study: Study, name: str, entry: Tree) -> None:
    if name in study.tables and entry["tables"] != [name]:
        raise InputError(
            f"figures.{name}: it would take the place of table {name}'s figure, of which it is not; "
            "choose another name"
        )


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Errors name the place."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _dataset(study: Study, name: str) -> None:
    entry, where = study.datasets[name], f"datasets.{name}"
    if "of" in entry:
        recorded = {name: other for name, other in study.datasets.items() if "of" not in other}
        check_known(entry["of"], recorded, "data set with recordings of its own", f"{where}.of")
        for domain in entry.get("domains", []):
            there = recorded[entry["of"]]["domains"]
            check_known(domain, there, f"domain of {entry['of']}", f"{where}.domains")
    data = study.dataset(name)
    if data["backbone"] == "auto" and not KINDS[data["kind"]].own:
        raise InputError(f"{where}.backbone: auto is for kind table; choose another")
    with _at(where):
        config.network(data)
    for word, what in OVER_TARGETS.items():
        if word in data["domains"]:
            raise InputError(f"{where}.domains.{word}: tables call {what} that; rename it")
    if "clusters" in data:
        clusters.numbered(name, data["domains"], data["clusters"])
    _enough(f"{where}.", entry, len(data["domains"]))


def _enough(where: str, settings: Tree, domains: int) -> None:
    """A batch has windows of fewer domains than there are, since one at least is held out."""
    count = settings.get("domains_per_batch", 1)
    if count >= domains:
        raise InputError(
            f"{where}domains_per_batch: {count} where {domains - 1} domains at most are sources, all of "
            "which each batch has where nothing is said; give fewer, or leave it out"
        )


def _variant(where: str, row: Tree) -> None:
    if row["method"] == estimators.METHOD:
        with _at(where):
            estimators.check(row)
        return
    with _at(where):
        backbones.named(row.get("backbone", backbones.AUTO))
        method = methods.declaration(row["method"])
        methods.check_options(row["method"], row.get("options", {}))
    for name, value in row.get("hparams", {}).items():
        if name not in method.search:
            raise InputError(
                f"{where}.hparams: {row['method']} has no hyperparameter {name!r}"
                f"{nearest(name, method.search)}; it has {', '.join(method.search) or 'none'}"
            )
        _hparam(f"{where}.hparams.{name}", name, value, method.search[name])
    if "clusters" in row and not method.uses_clusters:
        raise InputError(f"{where}.clusters: {row['method']} uses none; leave them out")


def _derived(study: Study, where: str, row: Tree) -> None:
    trained = {name: entry for name, entry in study.variants.items() if "of" not in entry}
    check_known(row["of"], trained, "variant with trainings of its own", f"{where}.of")
    if row.get("weights", LAST) == LAST and not row.get("ensemble", False):
        raise InputError(
            f"{where}: it is what {row['of']} is; give it `weights: averaged`, `ensemble: true`, or both"
        )
    if row.get("weights", LAST) in WAYS and row.get("ensemble", False):
        raise InputError(f"{where}.ensemble: of adapted networks no probabilities are kept; leave it out")
    if row.get("weights", LAST) != LAST and trained[row["of"]]["method"] == estimators.METHOD:
        raise InputError(f"{where}.weights: {row['of']} is no network, which has such weights")


def _read(study: Study, row: str, reading: Reading) -> None:
    """Raise `InputError` unless the records of a row hold what it shows."""
    if reading.weights == AVERAGED and reading.since is None:
        raise InputError(
            f"variant {row} shows averaged weights, and {reading.variant} is trained without `average`; give "
            "it, `training` or the protocol one, such as average: {from: 0.2}"
        )
    way = reading.weights.removeprefix(ADAPTED).partition(",")[0]
    asked = study.variant(reading.variant).get("adapt", study.training.get("adapt")) or []
    if reading.weights in WAYS and way not in asked:
        raise InputError(
            f"variant {row} shows networks adapted by {way}, and {reading.variant} is evaluated without; "
            f"give it, `training` or the protocol `adapt: [{way}]`"
        )
    if reading.ensemble and study.training.get("keep") != config.KEPT:
        raise InputError(
            f"variant {row} is an ensemble, which is made of the probabilities in records, and protocol "
            f"{study.params['protocol']} keeps none; give it, or `training`, `keep: {config.KEPT}`"
        )
    if reading.ensemble and study.protocol.seeds < 2:
        raise InputError(
            f"variant {row} is an ensemble of seeds, of which protocol {study.params['protocol']} has one"
        )


def _hparam(where: str, name: str, value: float, distribution: Distribution) -> None:
    """What is searched on a log scale is positive; but a count may be 0, and a weight, for no such term."""
    log = distribution.kind in ("power", "floor_power")
    zero = distribution.kind != "power" or name == "lambda" or distribution.default == 0
    low = 0 if log or min(distribution.values) >= 0 else -math.inf
    if value < low or (value == 0 and not zero):
        raise InputError(f"{where}: {value!r} is wrong: a number {'from' if zero else 'above'} 0")


def _toy(study: Study) -> None:
    if "toy" in study.datasets:
        raise InputError("datasets.toy: the toy study's records have that name; choose another")
    for name, row in study.toy["variants"].items():
        if row["method"] == estimators.METHOD:
            raise InputError(f"toy.variants.{name}.method: the toy study trains networks; choose another")
        _variant(f"toy.variants.{name}", row)
        if methods.uses_clusters(row["method"]) and "clusters" not in row:
            raise InputError(f"toy.variants.{name}: {row['method']} needs clusters, e.g. [[A, B], [C]]")
        study.config("toy", name)
    for name in study.toy.get("ours", []):
        check_known(name, study.toy["variants"], "variant of the toy study", "toy.ours")


def _table(study: Study, name: str) -> None:
    entry, where = study.tables[name], f"tables.{name}"
    for row in entry["rows"]:
        check_known(row, study.variants, "variant", f"{where}.rows")
    for key in ("baselines", "ours", "labels"):
        for row in entry.get(key, []):
            check_known(row, entry["rows"], "row of the table", f"{where}.{key}")
    for number, panel in enumerate(entry.get("panels", [entry])):
        place = f"{where}.panels.{number}" if "panels" in entry else where
        check_known(panel["dataset"], study.datasets, "data set", f"{place}.dataset")
        _targets(study, place, panel, entry["rows"])
        if "paper" in panel:
            _paper(study, f"{place}.paper", panel["dataset"], panel["paper"])
        for row in entry["rows"]:
            settings = study.config(panel["dataset"], row)
            _check_batch(row, settings)
            _check_adapted(row, settings)
    for row, reading in study.readings(name).items():
        with _at(where):
            _read(study, row, reading)
    if study.selection(name).policy == LEFT_OUT:
        with _at(f"{where}.selection"):
            _folds(study, name)
    with _at(where):
        layout = study.layout(name)
    seen: dict[str, str] = {}
    for row, label in layout.labels.items():
        if seen.setdefault(label, row) != row:
            raise InputError(
                f"{where}.labels: {seen[label]} and {row} are both called {label!r}; name them apart"
            )


def _check_batch(row: str, settings: Tree) -> None:
    """Raise `InputError` unless a row can learn from as many domains at once as it is given."""
    count = settings.get("domains_per_batch")
    if count is None:
        return
    method = methods.declaration(settings["method"])
    if not method.some_domains:
        raise InputError(
            f"domains_per_batch: variant {row} learns from all source domains at once, since "
            f"{settings['method']} does not say `some_domains`; leave one of the two out"
        )
    if count < method.least_sources:
        raise InputError(
            f"domains_per_batch: {count}: variant {row} learns from {method.least_sources} domains or more"
        )


def _check_adapted(row: str, settings: Tree) -> None:
    """Raise `InputError` unless a row's networks can be adapted as is asked when they are evaluated."""
    ways = settings.get("adapt", [])
    if not ways:
        return
    method = methods.declaration(settings["method"])
    if method.looks_at_domain is not Declaration.looks_at_domain:
        raise InputError(
            f"adapt: method {settings['method']!r} looks at other windows of the domain itself; give variant "
            f"{row} `adapt: []`"
        )
    norm = settings.get("norm", DEFAULTS[settings["backbone"]]["norm"])
    if norm != "batch" and set(ways) != {T3A}:
        raise InputError(
            f"adapt: {', '.join(way for way in ways if way != T3A)}: backbone {settings['backbone']} of "
            f"variant {row} has no batch normalization; give the variant `adapt: [{T3A}]` or `adapt: []`"
        )


def _targets(study: Study, where: str, panel: Tree, rows: Sequence[str]) -> None:
    """The targets of a panel are there, and each leaves as many sources as the rows learn from."""
    domains = study.dataset(panel["dataset"])["domains"]
    if "holdout" in panel and "targets" in panel:
        raise InputError(f"{where}.holdout: `targets` says what is held out; leave out one of the two")
    if "holdout" in panel and "paper" in panel:
        raise InputError(f"{where}.paper: the paper holds out single domains; leave out `paper` or `holdout`")
    for name in panel.get("targets", []):
        if "=" not in name and "+" not in name and not name.startswith(targets.REST):
            check_known(name, domains, "domain", f"{where}.targets")
    with _at(f"{where}.{'targets' if 'targets' in panel else 'holdout'}"):
        held_out = [study.target(panel["dataset"], name) for name in study.targets(panel)]
        targets.check_apart(held_out)
    for target in held_out:
        _leaves_enough(
            study, rows, len(domains) - len(target.domains), f"{where}: target {target.name}", "row"
        )


def _folds(study: Study, table: str) -> None:
    """Each training that judges hyperparameters has as many sources as the rows learn from."""
    rows = [row for row in study.table(table)["rows"] if study.search(row)]
    for panel in study.panels(table):
        domains = len(study.dataset(panel.dataset)["domains"])
        for target, of_target in folds.of_panel(study, panel).items():
            for name, left_out in of_target:
                left = domains - len(study.target(panel.dataset, name).domains)
                fold = f"target {target} without {', '.join(left_out)}"
                _leaves_enough(study, rows, left, fold, "row or `selection`")


def _leaves_enough(study: Study, rows: Sequence[str], left: int, what: str, out: str) -> None:
    """Raise `InputError` for a row that learns from more sources than what is held out leaves."""
    for row in rows:
        needed = methods.least_sources(study.variant(row)["method"])
        if left < needed:
            raise InputError(
                f"{what} leaves {left} source domain(s), and row {row} learns from {needed} or more; "
                f"leave the {out} out"
            )


def _paper(study: Study, where: str, dataset: str, table: str) -> None:
    """A table of the paper is of a kind of data set with recordings of its own, or of some of its domains."""
    kinds = paper.WHOLE | paper.PARTS
    check_known(table, kinds, "table of results of the paper", where)
    data, whole = study.dataset(dataset), table in paper.WHOLE
    of = f"a data set of kind {kinds[table]} with recordings of its own"
    fits = data["kind"] == kinds[table] and whole == ("of" not in study.datasets[dataset])
    if not whole:
        domains = sorted(set(paper.numbers(table)["target"]) - set(OVER_TARGETS))
        of = f"the domains {', '.join(domains)} of {of}"
        fits &= sorted(data["domains"]) == domains
    if not fits:
        raise InputError(f"{where}: the paper's table is of {of}, which {dataset} is not; leave `paper` out")


def _names(study: Study) -> None:
    for section in ("tables", "figures"):
        for name in study.params.get(section, {}):
            if name in TAKEN:
                raise InputError(f"{section}.{name}: the name is taken, by a result of every study")
    for name in study.tables:
        panels = study.panels(name)
        for other, reason, what in (
            ("comparison", "paper", f"comparison of table {name} with the paper"),
            ("by_domain", "groups", f"numbers of table {name} by domain"),
            ("policies", "dataset", f"selection policies of table {name}"),
        ):
            made = any(getattr(panel, reason) for panel in panels)
            if made and f"{name}_{other}" in study.tables:
                raise InputError(f"tables.{name}_{other}: the name is taken, by the {what}")


def _figure(study: Study, where: str, entry: Tree) -> None:
    rows = _together(study, where, entry["tables"])
    kind = FIGURE_KINDS[entry["kind"]]
    for option, row in kind.named(entry):
        check_known(row, rows, "row of all its tables", f"{where}.{option}")
    if entry["kind"] == "forest":
        _one_level(study, f"{where}.tables", rows)
    kind.check(where, entry, {row: study.variant(row)["method"] for row in rows})
    if kind.single_source:
        for table in entry["tables"]:
            if not all(targets.is_rest(target) for panel in study.panels(table) for target in panel.targets):
                raise InputError(
                    f"{where}.tables: {table} has other targets than all domains but one; give it "
                    f"`holdout: {targets.SINGLE_SOURCE}`"
                )


def _one_level(study: Study, where: str, rows: Iterable[str]) -> None:
    """Raise `InputError` if the new domain gives more to some rows than to others."""
    found = {levels.of(study.variant(row)): row for row in rows}
    if len(found) > 1:
        (one, first), (other, second) = list(found.items())[:2]
        raise InputError(
            f"{where}: {first} ({one.title.lower()}) and {second} ({other.title.lower()}) are not compared: "
            "leave rows of one level, or, of a claim, write `across_levels: true`"
        )


def _claim(study: Study, name: str) -> None:
    where = f"claims.{name}"
    entry = study.params["claims"][name]
    of_toy = ["toy"] if "toy" in study.params else []
    check_known(entry["table"], [*study.tables, *of_toy], "table", f"{where}.table")
    with _at(where):
        claim = study.claim(name)
        if entry["table"] == toy.NAME:
            claim.check_toy(list(study.toy["variants"]), [*toy.SOURCES, toy.TARGET])
            return
        check_results(study, [entry["table"]])
        layout = study.layout(entry["table"])
        domains = {panel.dataset: study.dataset(panel.dataset)["domains"] for panel in layout.panels}
        fields = {dataset: list(dict.fromkeys(f for about in d.values() for f in about))
                  for dataset, d in domains.items()}  # fmt: skip
        claim.check(layout, fields)
        if not claim.across_levels:
            for pair in claim.pairs:
                _one_level(study, "rows", filter(None, pair))


def check_results(study: Study, tables: Sequence[str]) -> None:
    """Raise `InputError` if a table is selected by the oracle: its numbers are shown, and no more."""
    if chosen := [table for table in tables if not study.selection(table).is_result]:
        raise InputError(
            f"table {chosen[0]} is selected by the oracle, which looks at the target: such numbers are no "
            "results and are neither ranked nor claimed; leave the table out, or its `selection`"
        )


def _ranking(study: Study, tables: Sequence[str], metric: str | dict[str, str]) -> None:
    for name in tables:
        check_known(name, study.tables, "table", "ranking.tables")
    kept = study.most_alike(tables)
    _together(study, "ranking", kept)
    rows = study.ranked_rows(kept)
    if isinstance(metric, dict):
        for name in metric:
            check_known(name, tables, "table of the ranking", "ranking.metric")
        if lacking := [name for name in tables if name not in metric]:
            raise InputError(f"ranking.metric: {', '.join(lacking)} must have one too")
        if len({METRICS[one].higher_is_better for one in metric.values()}) > 1:
            raise InputError("ranking.metric: of some more is better, of others less; rank one kind alone")
    if len(rows) < 2:
        given = study.params["ranking"].get("given", NONE)
        raise InputError(
            f"ranking.tables: {rows[0] if rows else 'no row'} alone is a row of all, of those to which the "
            f"new domain gives {given}; a ranking takes two or more"
        )
    if "baseline" in study.params["ranking"]:
        check_known(study.params["ranking"]["baseline"], rows, "row of the ranking", "ranking.baseline")
    with _at("ranking.tables"):
        check_results(study, tables)
    seen: dict[str, str] = {}
    for dataset in (panel.dataset for name in tables for panel in study.panels(name)):
        other = seen.setdefault(study.prepared(dataset), dataset)
        if other != dataset:
            raise InputError(
                f"ranking.tables: {other} and {dataset} are of the same recordings, which would count "
                "twice; leave out the table of one"
            )


def _together(study: Study, where: str, tables: Sequence[str]) -> list[str]:
    """The rows that some tables share; their data sets must be different ones."""
    for name in tables:
        check_known(name, study.tables, "table", f"{where}.tables")
    layouts = [study.layout(name) for name in tables]
    rows = common_rows(layouts)
    if not rows:
        raise InputError(f"{where}.tables: no row is in all of {', '.join(tables)}")
    with _at(f"{where}.tables"):
        joined(layouts, metrics=["accuracy"])
    return rows
