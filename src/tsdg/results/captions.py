"""What a reader must know to judge the numbers of a table: protocol, data, gaps."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from tsdg.results.numbers import summarise
from tsdg.study.layout import AVERAGE, OVER_TARGETS, PAPER_PROTOCOL, Layout, Protocol
from tsdg.study.levels import Level
from tsdg.study.metric import METRICS
from tsdg.study.reading import ADAPTED, AVERAGED, WAYS
from tsdg.study.selection import DEFAULT, LEFT_OUT, VALIDATED
from tsdg.study.targets import REST

FEW = 50  # windows of a target, below which a caption gives their number
LISTED = 4  # gaps that a caption spells out; beyond, it counts them


def caption(selected: pd.DataFrame, layout: Layout) -> str:
    """The layout's caption followed by `notes`, as plain text."""
    partial = bool(summarise(selected, layout)["partial"].any())
    all_of = "seeds and draws" if _searched(layout) else "seeds"
    mark = [f"† Mean of what there is, not of all {all_of}."] * partial
    return " ".join([layout.caption, *notes(selected, layout), *mark])


def notes(selected: pd.DataFrame, layout: Layout) -> list[str]:
    """A sentence or two on each of protocol, data and gaps."""
    titles = layout.titles
    rows = selected[selected["variant"].isin(layout.rows) & selected["dataset"].isin(titles)]
    found = [_protocol(layout), *_selection(layout)]
    if layout.baselines:
        names = ", ".join(layout.labels[row] for row in layout.baselines)
        found.insert(0, f"No networks, and not the paper's: {names}.")
    found += _levels(layout)
    found += _readings(layout)
    found += _groups(layout)
    others = rows[~rows["protocol"].isin(["", layout.protocol.name])]
    if len(others):
        pairs = others[["variant", "protocol"]].drop_duplicates().itertuples()
        listing = ", ".join(f"{layout.labels[pair.variant]} ({pair.protocol})" for pair in pairs)
        found.append(f"Under another protocol: {listing}.")
    if unreal := sorted(titles[dataset] for dataset in simulated(selected, layout)):
        found.append(f"Simulated raw files ({', '.join(unreal)}): these are not results on real recordings.")
    few = rows[rows["windows"] < FEW].drop_duplicates(["dataset", "target"])
    if len(few):
        listing = ", ".join(
            f"{titles[row.dataset] + ' ' if len(titles) > 1 else ''}{row.target} {row.windows}"
            for row in few.sort_values(["dataset", "target"]).itertuples()
        )
        found.append(f"Few windows to test on: {listing}.")
    return found + _untaught(rows, titles) + _gaps(summarise(selected, layout), layout)


def simulated(selected: pd.DataFrame, layout: Layout) -> list[str]:
    """The data sets of which shown runs are on simulated recordings."""
    shown = selected[selected["variant"].isin(layout.rows) & selected["simulated"].fillna(False)]
    found = set(shown["dataset"])
    return [panel.dataset for panel in layout.panels if panel.dataset in found]


def _selection(layout: Layout) -> list[str]:
    """By what runs are selected, where it is not the mean accuracy of validation on sources."""
    drawn, best = _searched(layout) and layout.protocol.searched > 1, layout.protocol.checkpoint == "best"
    found: dict[str, list[str]] = {}
    for panel in layout.panels:
        selection = panel.selection
        by_checkpoint = best and selection.is_result
        chosen = " and ".join(["hyperparameters"] * drawn + ["checkpoint"] * by_checkpoint)
        sentence = f"{chosen.capitalize()} by {selection.words}."
        if selection.policy == LEFT_OUT and by_checkpoint:
            sentence = f"Hyperparameters by {selection.words}." * drawn
        if not selection.is_result:
            chosen = chosen or "what there is to select, here nothing,"
            sentence = (
                f"Oracle, no result: {chosen} by {selection.words}, "
                f"which nobody has of a new domain{'; the last checkpoint' * best}. Nothing is marked best."
            )
        elif selection == DEFAULT or not chosen:
            sentence = ""
        found.setdefault(sentence, []).append(panel.title)
    return [
        f"{', '.join(titles)}: {sentence}" if len(found) > 1 else sentence
        for sentence, titles in found.items()
        if sentence
    ]


def _untaught(rows: pd.DataFrame, titles: Mapping[str, str]) -> list[str]:
    """Which classes nothing teaches, and where."""
    entries = []
    for (dataset, names), hit in rows[rows["untaught"] != ""].groupby(["dataset", "untaught"], sort=False):
        of = f"{titles[dataset]} " if len(titles) > 1 else ""
        targets = list(dict.fromkeys(hit["target"]))
        everywhere = len(targets) == rows.loc[rows["dataset"] == dataset, "target"].nunique()
        entries.append(f"{names} ({of}{'every target' if everywhere else ', '.join(targets)})")
    return [f"No source has windows of classes: {', '.join(entries)}."] if entries else []


def _levels(layout: Layout) -> list[str]:
    """What the new domain gives, where it is more than nothing, and to whom."""
    found = []
    for level, groups in layout.sections:
        if level != Level():
            names = ", ".join(layout.labels[row] for group in groups for row in group)
            found.append(f"{level.title}: {names}.")
    if len(layout.sections) > 1:
        found.append("Rows are compared and marked only with those to which the new domain gives as much.")
    return found


def _readings(layout: Layout) -> list[str]:
    """Which rows show another model of the same trainings than the last weights."""
    found = []
    averaged: dict[float | None, list[str]] = {}
    for row, reading in layout.readings.items():
        if reading.weights == AVERAGED:
            averaged.setdefault(reading.since, []).append(layout.labels[row])
    adapted = [
        f"{layout.labels[row]} ({reading.weights.removeprefix(ADAPTED)})"
        for row, reading in layout.readings.items()
        if reading.weights in WAYS
    ]
    if adapted:
        found.append(f"Adapted to each domain of a target when they are evaluated: {', '.join(adapted)}.")
    for since, names in averaged.items():
        share = f" from {100 * since:g} % of the iterations on" if since else ""
        found.append(f"Mean of the weights{share}: {', '.join(names)}.")
    if names := [layout.labels[row] for row in layout.readings if layout.is_ensemble(row)]:
        found.append(
            f"Ensembles, the mean of the seeds' probabilities, which has no spread: {', '.join(names)}."
        )
    return found


def _groups(layout: Layout) -> list[str]:
    """Which domains are held out together, where a target's name does not list them."""
    found: dict[tuple[str, str], list[str]] = {}  # how a sentence begins and goes on, and of which panels
    for panel in layout.panels:
        rests = [target for target in panel.targets if target.startswith(REST)]
        if rests:
            begins = f'The target "{rests[0]}"'
            found.setdefault((begins, f" is every domain but {rests[0].removeprefix(REST)}."), []).append(
                panel.title
            )
        named = [target for target in panel.targets if "=" in target]
        if named:
            listing = "; ".join(f"{target} is {', '.join(panel.groups[target])}" for target in named)
            found.setdefault(("Held out together", f": {listing}."), []).append(panel.title)
    several = len(layout.panels) > 1
    return [
        f"{begins} of {'; '.join(titles)}{rest}" if several else f"{begins}{rest}"
        for (begins, rest), titles in found.items()
    ]


def legend(layout: Layout) -> list[str]:
    """A sentence a data set on what its domains are, for figures whose titles have no room for it."""
    several = len(layout.panels) > 1
    return [
        f"{f'{panel.title}, ' * several}{'; '.join(panel.legend)}."
        for panel in layout.panels
        if panel.legend and not panel.average_only
    ]


def _searched(layout: Layout) -> bool:
    """Whether any row has several draws."""
    return layout.protocol.anew or any(row not in layout.settled for row in layout.rows)


def _protocol(layout: Layout) -> str:
    """Seeds, draws and iterations; where nothing is there to search, no draws, and none are missed."""
    used, papers = layout.protocol, PAPER_PROTOCOL
    reduced = used.reduced
    if not _searched(layout):
        used, papers = replace(used, draws="fixed"), replace(papers, draws="fixed")
        reduced = used.is_less_than(papers)
    settled = [layout.labels[row] for row in layout.settled if row not in layout.baselines]
    without = ""
    if settled and used.anew:
        without, settled = f"; draws of {', '.join(settled)} differ by their seed alone", []
    if any(row in layout.settled for row in layout.baselines):
        settled.append("what is no network")
    if settled and used.searched:
        without += f"; nothing to search for {', '.join(settled)}"
    amounts = _amounts(used)
    if used.checkpoint == "best" and any(
        panel.selection.policy in (VALIDATED, LEFT_OUT) for panel in layout.panels
    ):
        amounts += ", the checkpoint with the best source validation"
    if reduced:
        return f"Reduced protocol {used.name}: {amounts}{without} (the paper: {_amounts(papers)})."
    return f"Protocol {used.name}: {amounts}{without}."


def _amounts(protocol: Protocol) -> str:
    draws = protocol.draws
    return (
        f"{_plural(protocol.seeds, 'seed')}, "
        f"{'fixed hyperparameters' if draws == 'fixed' else _plural(draws, 'hyperparameter draw')}"
        f"{' of each, with seeds of their own, the first being the published values' * protocol.anew}, "
        f"{_plural(protocol.iterations, 'iteration')}"
    )


def _plural(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _gaps(table: pd.DataFrame, layout: Layout) -> list[str]:
    found = []
    first = {panel.dataset: panel.metrics[0] for panel in layout.panels}
    targets = {panel.dataset: panel.targets for panel in layout.panels}
    once = table[table["metric"] == table["dataset"].map(first)]  # gaps of runs are the same for each metric
    cells = once[~once["target"].isin(OVER_TARGETS)]
    for kind, opening in (("missing", "Missing runs"), ("diverged", "Diverged runs")):
        hit = cells[cells[kind] != ""]
        if len(hit):
            found.append(f"{opening}: {_listing(hit, kind, targets, layout.protocol.seeds)}.")
    unknown = table[(table["undefined"] != "") & ~table["target"].isin(OVER_TARGETS)]
    for name, hit in unknown.groupby("metric", sort=False):
        where = list(dict.fromkeys(hit["target"]))
        why = "a class is not there" if name == "auc" else "not in the records"
        found.append(f"{METRICS[str(name)].label} is undefined for {', '.join(where)} ({why}).")
    empty = once[(once["target"] == AVERAGE) & once["mean"].isna()]
    if len(empty):
        names = dict.fromkeys(_name(row, len(targets)) for row in empty.itertuples())
        found.append(f"No average where a target has no result ({', '.join(names)}).")
    return found


def _name(row: Any, datasets: int) -> str:
    return row.label if datasets == 1 else f"{row.label} on {row.dataset}"


def _listing(hit: pd.DataFrame, kind: str, targets: Mapping[str, Sequence[str]], seeds: int) -> str:
    """Spelled out where short, else counted by row."""
    every = "; ".join(f"seed {seed}" for seed in range(seeds))
    entries, counts = [], []
    for (dataset, _), group in hit.groupby(["dataset", "variant"], sort=False):
        name = _name(next(group.itertuples()), len(targets))
        total = len(targets[str(dataset)])
        counts.append(f"{name} {len(group)} of {total}")
        if len(group) == total and (group[kind] == every).all():
            entries.append(f"{name} (all)")
        else:
            entries += [f"{name} at {row.target} ({getattr(row, kind)})" for row in group.itertuples()]
    if len(entries) <= LISTED:
        return ", ".join(entries)
    return f"targets concerned: {', '.join(counts)}; each is listed in the csv file"
