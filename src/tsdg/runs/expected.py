"""What an iteration is expected to take before anything has been measured here: seconds that are shipped.

``seconds.csv`` has those of ERM on each network, and of fits of estimators, on one core of one machine, with
what they saw; `tsdg.methods` has what a method costs over ERM. Other sizes are in proportion to the nearest.
`benchmarks/seconds.py` measures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from importlib.resources import files
from math import log
from typing import Any, NamedTuple

import pandas as pd

from tsdg.data import toy
from tsdg.data.kinds import KINDS
from tsdg.data.own.backbone import LONG
from tsdg.data.windows import card_of
from tsdg.errors import InputError
from tsdg.learning.backbones.options import DEFAULTS
from tsdg.methods import estimators
from tsdg.runs.current import CurrentRecords
from tsdg.runs.speed import measured
from tsdg.study.config import RAW
from tsdg.study.run import Run
from tsdg.study.study import Study

PROBE, FEATURES = "probe", "features"  # the row of the probe, and what estimators see
SOME_WINDOWS = 1000  # of a domain that is not prepared
COLUMNS = ("network", "input", "width", "steps", "windows", "seconds")


class Work(NamedTuple):
    """What decides the seconds of an iteration: network, input, and sizes."""

    network: str
    input: str
    width: int
    steps: int
    windows: int


class Shape(NamedTuple):
    """Of a data set: channels and time steps of a window, windows of a domain."""

    channels: int
    length: int
    windows: int


TOY = Shape(2, 24, SOME_WINDOWS)


class Expected:
    """Seconds of an iteration of a run by what is shipped, on this machine.

    Parameters
    ----------
    study : Study
    found : CurrentRecords
        Its folder of prepared data is looked into.
    speed : callable, optional
        Seconds of the probe here.
    """

    def __init__(self, study: Study, found: CurrentRecords, speed: Callable[[], float] = measured):
        self.study, self.data, self.speed = study, found.data, speed
        self._known: dict[tuple[str, str, int], float] = {}
        self._sources: dict[tuple[str, str], int] = {}
        self._shapes: dict[str, Shape] = {}

    def __call__(self, run: Run) -> float:
        """Seconds of an iteration of a run."""
        place = run.dataset, run.target
        if place not in self._sources:
            self._sources[place] = self._count(*place)
        key = run.dataset, run.variant, self._sources[place]
        if key not in self._known:
            config = self.study.config(run.dataset, run.variant)
            cost = seconds(self._work(run.dataset, config, self._sources[place]))
            self._known[key] = cost * _ratios().get(config["method"], 1.0) * self._slower
        return self._known[key]

    @cached_property
    def _slower(self) -> float:
        """How many times slower this machine is than that of the file."""
        return self.speed() / float(_measured().query("network == @PROBE")["seconds"].iloc[0])

    def _count(self, dataset: str, target: str) -> int:
        """Source domains of a target."""
        if dataset == toy.NAME:
            return len(toy.SOURCES)
        held_out = self.study.target(dataset, target).domains
        return len(self.study.dataset(dataset)["domains"]) - len(held_out)

    def _work(self, dataset: str, config: Mapping[str, Any], sources: int) -> Work:
        """What an iteration of a configuration with so many sources does."""
        if dataset not in self._shapes:
            self._shapes[dataset] = self._shape(dataset)
        channels, length, windows = self._shapes[dataset]
        if config["method"] == estimators.METHOD:
            name = config["estimator"].rpartition(".")[2]
            return Work(name, FEATURES, 1, channels * length, sources * windows)
        name = config.get("backbone", toy.NAME)
        options = DEFAULTS[name] | dict(config)
        steps = length // (options.get("stride") or options.get("patch") or 1)
        at_once = min(sources, config.get("domains_per_batch") or sources)
        batch = at_once * config["batch_size"]
        return Work(name, config.get("input", RAW), options.get("width") or 1, max(steps, 1), batch)

    def _shape(self, dataset: str) -> Shape:
        """The shape of a data set's windows, and how many a domain has: of its card, else of its entry."""
        if dataset == toy.NAME:
            return TOY
        entry, folder = self.study.dataset(dataset), self.data / self.study.prepared(dataset)
        try:
            card = card_of(folder, ())
            counts = [sum(of_class.values()) for of_class in card["counts"].values()]
            return Shape(len(card["channels"]), card["window"]["length"], sum(counts) // len(counts))
        except (InputError, LookupError, TypeError):
            told = KINDS[entry["kind"]].shape_of(entry)
        prepare = entry.get("prepare", {})
        channels = told.channels if told else len(prepare.get("channels", "x"))
        return Shape(channels, told.length if told else prepare.get("window", LONG), SOME_WINDOWS)


def seconds(work: Work) -> float:
    """Seconds of an iteration of ERM, or of a fit, on the file's machine, from the nearest row."""
    table = _measured().query("network != @PROBE")
    kind = table["input"] == FEATURES if work.input == FEATURES else table["input"] != FEATURES
    rows = list(table[kind].itertuples(index=False))

    def distance(row: Any) -> tuple[bool, bool, float]:
        sizes = zip((row.width, row.steps), (work.width, work.steps), strict=True)
        return row.network != work.network, row.input != work.input, sum(abs(log(a / b)) for a, b in sizes)

    nearest = min(rows, key=distance)
    sizes = (work.width / nearest.width) * (work.steps / nearest.steps) * (work.windows / nearest.windows)
    return nearest.seconds * sizes


@cache
def _measured() -> pd.DataFrame:
    return pd.read_csv(files("tsdg.runs") / "seconds.csv")  # type: ignore[arg-type]


@cache
def _ratios() -> dict[str, float]:
    """What each method costs over ERM, the mean over the shapes measured."""
    table = pd.read_csv(files("tsdg.methods") / "costs.csv")  # type: ignore[arg-type]
    return table.groupby("method")["ratio"].mean().to_dict()
