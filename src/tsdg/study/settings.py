"""What of a study decides the runs that are selected; they carry it, so that none pass for others."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from tsdg.data.kinds import KINDS
from tsdg.study import folds
from tsdg.study.layout import Panel
from tsdg.study.selection import LEFT_OUT, VALIDATED

if TYPE_CHECKING:
    from tsdg.study.study import Study


def of_table(study: Study, table: str) -> dict[tuple[str, str], str]:
    """Short hashes of what decides a table's selected runs, by data set and variant.

    Data, training, hyperparameters, amounts and checkpoint are in them; names of protocols and labels, which
    decide no number, are not, nor is the code.
    """
    rows = study.table(table)["rows"]
    return {
        (panel.dataset, row): _of(study, panel.dataset, row, _judged(study, table, panel))
        for panel in study.panels(table)
        for row in rows
    }


def _judged(study: Study, table: str, panel: Panel) -> dict[str, Any]:
    """What hyperparameters are judged by, where it is not the mean accuracy of validation on sources."""
    selection = study.selection(table)
    found: dict[str, Any] = {}
    if selection.policy == LEFT_OUT:
        found["folds"] = folds.of_panel(study, panel)
    if selection.name not in (VALIDATED, LEFT_OUT):
        found["selection"] = selection.name
    return found


def _of(study: Study, dataset: str, variant: str, judged: dict[str, Any]) -> str:
    config = {key: value for key, value in study.config(dataset, variant).items() if key != "protocol"}
    decided = {
        "data": _data(study, dataset),
        "config": config,
        "hparams": study.hparams_rule(dataset, variant),
        "draws": study.draws(variant),
        "seeds": study.protocol.seeds,
        "checkpoint": study.checkpoint,
        **judged,
    }
    if "of" in study.variants[variant]:
        decided["reading"] = study.reading(variant)
    return hashlib.sha256(json.dumps(decided, sort_keys=True).encode()).hexdigest()[:12]


def _data(study: Study, dataset: str) -> dict[str, Any]:
    entry = study.dataset(study.prepared(dataset))
    kind, simulated = KINDS[entry["kind"]], entry["source"] == "simulated"
    return {
        **{key: entry[key] for key in ("kind", "source")},
        "domains": study.dataset(dataset)["domains"],  # their metadata make targets of several
        "prepare": kind.arguments("prepare", entry),
        "raw": kind.arguments("simulate", entry) if simulated else entry["raw"],
    }
