"""What decides a training: its settings, hyperparameters, code and data, as one object.

Planning, the logs of jobs, the rules of the workflow, bundles, and whoever asks if a record is still of the
study go by it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsdg.data import toy
from tsdg.data.windows import CARD, card_of
from tsdg.runs.fingerprint import training_fingerprint
from tsdg.runs.writing import plain
from tsdg.study.run import Run, run_path

if TYPE_CHECKING:
    from tsdg.study.study import Study

BESIDE = ("average", "keep")  # settings by which a record holds more, and no other number


@dataclass(frozen=True)
class Recipe:
    """What decides a training but its target's name and seed: where two are equal, so are the numbers.

    Attributes
    ----------
    config : mapping
        Settings, see `tsdg.study.study.Study.config`. The protocol's name, which is in it, decides nothing.
    hparams : mapping
        Hyperparameters of the run. In the recipe of all runs of a variant, the rule that they follow.
    code : str
        Fingerprint of the code, see `tsdg.runs.fingerprint`.
    data : str or None
        Fingerprint of the prepared data; None where there are none to compare with.
    sources : tuple of str or None
        The domains that are learned from; None where a target's name tells, as it does of a single domain.
    """

    config: Mapping[str, Any]
    hparams: Mapping[str, Any]
    code: str
    data: str | None = None
    sources: tuple[str, ...] | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What of the study decides."""
        config = {key: value for key, value in self.config.items() if key != "protocol"}
        return {"config": config, "hparams": dict(self.hparams)}

    @cached_property
    def text(self) -> str:
        """The settings as text: another text, another training."""
        return json.dumps(self.settings, sort_keys=True)

    def difference(self, recorded: Recipe) -> str | None:
        """How the recipe that a record was made by differs from this one, in words; None if it does not.

        The record may hold what is not asked for.
        """
        held = recorded.settings
        for name in BESIDE:
            if name not in self.config:
                held["config"].pop(name, None)
        if found := _difference(self.settings, held):
            return found
        if self.sources not in (None, recorded.sources):
            were, now = (", ".join(sources or ()) for sources in (recorded.sources, self.sources))
            return f"its sources were {were} and are {now}"
        if self.data not in (None, recorded.data):
            return "it was trained on other data"
        if self.code != recorded.code:
            return "it was trained by other code"
        return None


def _difference(own: Any, recorded: Any, place: str = "") -> str | None:
    """The first place where two trees differ, in words."""
    if own == recorded:
        return None
    if isinstance(own, dict) and isinstance(recorded, dict):
        for key in sorted({*own, *recorded}):
            inner = f"{place}.{key}" if place else key
            if key not in own or key not in recorded:
                return f"{'the record' if key in own else 'the study'} has no {inner}"
            if found := _difference(own[key], recorded[key], inner):
                return found
    return f"{place} was {recorded!r:.40} and is {own!r:.40}"


class Recipes:
    """The recipes of a study.

    Parameters
    ----------
    study : Study
    data : mapping
        Fingerprints of prepared data sets by name, see `prepared_fingerprints`.
    """

    def __init__(self, study: Study, data: Mapping[str, str] | None = None):
        self.study, self.data = study, data or {}
        self._settings: dict[tuple[str, str], tuple[dict[str, Any], str]] = {}
        self._drafts: dict[tuple, Recipe] = {}
        self._rules: dict[tuple[str, str], Recipe] = {}
        self._sources: dict[tuple[str, str], tuple[str, ...] | None] = {}

    def of(self, run: Run) -> Recipe:
        """The recipe of a run."""
        recipe = self.of_draw(run.dataset, run.variant, run.draw, run.seed)
        if run.dataset == toy.NAME:
            return replace(recipe, data=_generated(run.seed))
        return replace(recipe, sources=self.sources(run.dataset, run.target))

    def sources(self, dataset: str, target: str) -> tuple[str, ...] | None:
        """The source domains that metadata leave to a target, if it is a group."""
        key = dataset, target
        if key not in self._sources:
            held_out = self.study.target(dataset, target)
            rest = (
                domain for domain in self.study.dataset(dataset)["domains"] if domain not in held_out.domains
            )
            self._sources[key] = None if held_out.is_domain else tuple(rest)
        return self._sources[key]

    def of_draw(self, dataset: str, variant: str, draw: int | str, seed: int) -> Recipe:
        """The recipe of a draw on prepared data, whatever the target and, unless drawn anew, the seed."""
        key = dataset, variant, draw, seed if self.study.anew else None
        if key not in self._drafts:
            hparams = self.study.hparams_of(dataset, variant, draw, seed)
            data = self.data.get(self.study.prepared(dataset))
            self._drafts[key] = self._recipe(dataset, variant, hparams, data)
        return self._drafts[key]

    def of_variant(self, dataset: str, variant: str) -> Recipe:
        """The recipe of all of a variant's runs, data and groups aside; it knows no count of draws."""
        key = dataset, variant
        if key not in self._rules:
            self._rules[key] = self._recipe(*key, self.study.hparams_rule(*key), None)
        return self._rules[key]

    def identity(self, runs: Iterable[Run]) -> str:
        """A short hash of a job's settings and runs: two studies' jobs may have logs of one name."""
        runs = sorted(set(runs))
        dataset, variant = runs[0].dataset, runs[0].variant
        text = json.dumps([self.text(dataset, variant, (run.target for run in runs)), *map(run_path, runs)])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def text(self, dataset: str, variant: str, targets: Iterable[str]) -> str:
        """What of the study decides a variant's runs with some targets, as text."""
        own = self.of_variant(dataset, variant).text
        if dataset == toy.NAME:
            return own
        found = {target: self.sources(dataset, target) for target in sorted(set(targets))}
        groups = {target: sources for target, sources in found.items() if sources is not None}
        return own + (json.dumps(groups) if groups else "")

    def _recipe(self, dataset: str, variant: str, hparams: Mapping[str, Any], data: str | None) -> Recipe:
        key = dataset, variant
        if key not in self._settings:
            config = plain(self.study.config(*key))
            self._settings[key] = config, training_fingerprint(config, self.study.loop(dataset))
        config, code = self._settings[key]
        return Recipe(config, hparams, code, data)


@cache
def _generated(seed: int) -> str:
    return toy.fingerprint(toy.generate(seed))


def prepared_fingerprints(study: Study, folder: Path) -> dict[str, str]:
    """Fingerprints of the prepared data sets that there are, by name.

    Raises
    ------
    InputError
        The card of a prepared data set is damaged.
    """
    there = [name for name in study.datasets if (folder / name / CARD).exists()]
    return {name: card_of(folder / name, ["fingerprint"])["fingerprint"] for name in there}
