"""What names rows that a table has no more goes with them, so that taking rows away is one edit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tsdg.study.figure_kinds import FIGURE_KINDS

if TYPE_CHECKING:
    from tsdg.study.study import Study

NAMING = ("baselines", "ours", "labels", "cells")  # keys of a table that name rows


def follow(study: Study, before: Mapping[str, Any]) -> list[str]:
    """Take out of a study what names variants that are no rows of the tables concerned; say what, in words.

    These are what a table has under `NAMING` and ``groups``, and then the figures, claims and ranking of such
    tables that name what is gone or are left with too few rows. Names of no variant stay: they are misspelt.

    Parameters
    ----------
    study : Study
    before : mapping
        params.yaml without overrides, which may have taken rows of tables away.
    """
    notes, narrowed = list[str](), _narrowed(before.get("tables"), study.tables)

    def gone(named: Iterable[str], rows: list[str]) -> list[str]:
        return [row for row in dict.fromkeys(named) if row in study.variants and row not in rows]

    for name, entry in study.tables.items():
        groups = entry.get("groups", [])
        named = {key: list(entry.get(key, [])) for key in NAMING}
        named["groups"] = [row for group in groups for row in group["rows"]]
        for key, rows in named.items():
            if not (lost := gone(rows, entry["rows"])):
                continue
            if key == "groups":
                for group in groups:
                    group["rows"] = _without(group["rows"], lost)
                entry[key] = [group for group in groups if group["rows"]]
            else:
                entry[key] = _without(entry[key], lost)
            narrowed.add(name)
            notes.append(f"tables.{name}.{key}: without {', '.join(lost)}, no row of the table")
    for place, (of, rows, tables, least) in _shown(study).items():
        lists = [study.tables[table]["rows"] for table in tables if table in study.tables]
        shared = [row for row in lists[0] if all(row in one for one in lists)] if lists else []
        lost = gone(rows, shared)
        of_claim = lost and place.startswith("claims.")  # of one table, also where no list names its rows
        if of_claim or (not narrowed.isdisjoint(tables) and (lost or len(shared) < least)):
            what = f"{', '.join(lost)} is no row of" if lost else "too few rows are in all of"
            notes.append(f"{place}: left out, since {what} {', '.join(tables)}")
            del of[place.rpartition(".")[2]]
    return notes


def _narrowed(before: Any, tables: Mapping[str, Any]) -> set[str]:
    """Tables with fewer rows than before."""
    had = {name: (entry or {}).get("rows") or [] for name, entry in (before or {}).items()}
    return {name for name, entry in tables.items() if not set(had.get(name, [])) <= set(entry["rows"])}


def _without(named: Any, rows: list[str]) -> Any:
    if isinstance(named, dict):
        return {row: value for row, value in named.items() if row not in rows}
    return [row for row in named if row not in rows]


def _shown(study: Study) -> dict[str, tuple[dict[str, Any], list[str], list[str], float]]:
    """Figures, claims and ranking by place: what holds each, rows named, tables, rows needed."""
    found: dict[str, tuple[dict[str, Any], list[str], list[str], float]] = {}
    for name, entry in study.figures.items():
        named = FIGURE_KINDS[entry["kind"]].named(entry)
        least = 2 if any(option == "baseline" for option, _ in named) else 1
        found[f"figures.{name}"] = study.figures, [row for _, row in named], entry["tables"], least
    for name, entry in study.params.get("claims", {}).items():
        if entry["table"] in study.tables:
            claim = study.claim(name)
            enough = 1 if claim.pairs else math.inf  # nothing is compared
            found[f"claims.{name}"] = study.params["claims"], claim.named, [entry["table"]], enough
    if ranking := study.params.get("ranking"):
        baseline = [ranking["baseline"]] if "baseline" in ranking else []
        found["ranking"] = study.params, baseline, ranking["tables"], 2
    return found
