"""Claims of `params.yaml`: what is said to be better than what, by which measure, and where."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from tsdg.errors import InputError, check_known
from tsdg.study.layout import AVERAGE, Layout
from tsdg.study.metric import METRICS, Metric

TARGETS = "targets"  # each of a panel's
OTHERS = "others"  # all rows of the table that are neither said to be better nor baselines
# What figures show, read from the records: a name and, after a slash, of what.
MEASURES = {
    "neighbours": Metric("nearest neighbours of the same {}", 1, "%", 1, True),
    "chance": Metric("other sources of the same {}", 1, "%", 1, True),
    "half": Metric("iteration at which half of {} is reached", 1, "", 0, False),
    "time": Metric("time of an iteration, of that of {}", 1, "%", 0, False),
}
TOY_MEASURES = {
    "source_risk": Metric("Source risk", 1, "", 3, False),
    "divergence": Metric("H-divergence", 1, "", 3, False),
    "target_risk": Metric("Target risk", 1, "", 3, False),
}
LOSSES = ("loss", "cross_entropy", "consistency")


def measure(name: str) -> Metric:
    """A metric of tables, of the toy study or of records such as ``neighbours/location``."""
    family, _, of = name.partition("/")
    if family not in MEASURES:
        return (METRICS | TOY_MEASURES)[name]
    about = MEASURES[family]
    return Metric(about.label.format(of.replace("_", " ")), *list(vars(about).values())[1:])


@dataclass(frozen=True)
class Claim:
    """Rows that are better than others, in every data set of a table or in one.

    Attributes
    ----------
    name, says, table, metric : str
    pairs : tuple of (row, row)
        The first is said to be better; the second is empty beside `than_value` or `than_metric`.
    at : tuple of str
        Targets, or `AVERAGE`, or `TARGETS`.
    dataset : str, optional
        Of a table with several. Default: all of them.
    at_least : int, optional
        How many of all comparisons must hold. Default: all.
    margin : float
        By how much better; below 0, by how much it may be worse.
    than_value : float, optional
    than_metric : str, optional
        Another measure of the same row.
    across_levels : bool
        Whether it says so if the new domain gives more to a row than to the other.
    """

    name: str
    says: str
    table: str
    metric: str
    pairs: tuple[tuple[str, str], ...]
    at: tuple[str, ...] = (AVERAGE,)
    dataset: str | None = None
    at_least: int | None = None
    margin: float = 0.0
    than_value: float | None = None
    than_metric: str | None = None
    across_levels: bool = False

    @classmethod
    def of(cls, name: str, entry: Mapping[str, Any], rows: Sequence[str]) -> Self:
        """Of an entry of params.yaml, about a table whose rows, baselines aside, are given."""
        than, better = entry.get("than"), entry.get("better", [])
        if than == OTHERS:
            than = [row for row in rows if row not in better]
        others = than if isinstance(than, list) else [""]
        at = entry.get("at", [AVERAGE])
        return cls(
            name=name,
            says=entry["says"],
            table=entry["table"],
            metric=entry["metric"],
            pairs=tuple(map(tuple, entry.get("pairs", [(row, other) for row in better for other in others]))),
            at=(at,) if isinstance(at, str) else tuple(at),
            dataset=entry.get("dataset"),
            at_least=entry.get("at_least"),
            margin=entry.get("margin", 0.0),
            than_value=than if isinstance(than, int | float) else None,
            than_metric=than["metric"] if isinstance(than, dict) else None,
            across_levels=entry.get("across_levels", False),
        )

    @property
    def metrics(self) -> list[str]:
        """The measures that it takes."""
        return [self.metric, *([self.than_metric] if self.than_metric else [])]

    @property
    def _ends(self) -> bool:
        """Whether its measure is a part of something, of 100 % at most."""
        return measure(self.metric).unit == "%" and not self.metric.startswith("time/")

    def _is_possible(self, value: float) -> bool:
        return 0 <= value <= (100 if self._ends else math.inf)

    @property
    def rows(self) -> list[str]:
        """The rows that it compares."""
        return [row for row in dict.fromkeys(row for pair in self.pairs for row in pair) if row]

    @property
    def named(self) -> list[str]:
        """The rows that it names: those, and that whose time is the measure of theirs."""
        families = [name.partition("/") for name in self.metrics]
        return [*self.rows, *(of for family, _, of in families if family == "time")]

    def targets(self, targets: Sequence[str]) -> list[str]:
        """Where it is compared, of a data set with these targets."""
        return list(targets) if self.at == (TARGETS,) else list(self.at)

    def check(self, layout: Layout, fields: Mapping[str, Sequence[str]]) -> None:
        """Raise `InputError` unless its table has what it names, given the metadata's fields by data set."""
        for row in self.rows:
            check_known(row, layout.rows, f"row of table {self.table}", "rows")
        for panel in layout.panels:
            if self.dataset in (None, panel.dataset):
                for target in self.targets(panel.targets):
                    check_known(target, [*panel.targets, AVERAGE], f"target of table {self.table}", "at")
        if self.dataset is not None:
            check_known(self.dataset, layout.titles, f"data set of table {self.table}", "dataset")
        for name in self.metrics:
            family, _, of = name.partition("/")
            known = {
                "neighbours": [field for dataset in layout.titles for field in fields[dataset]],
                "chance": [field for dataset in layout.titles for field in fields[dataset]],
                "half": LOSSES,
                "time": layout.rows,
            }.get(family)
            if known is None:
                check_known(name, [*METRICS, *(f"{one}/..." for one in MEASURES)], "measure", "metric")
            else:
                check_known(of, known, f"{family} of table {self.table}", "metric")
        self.check_count(sum(len(self.targets(p.targets)) for p in layout.panels
                             if self.dataset in (None, p.dataset)))  # fmt: skip

    def check_toy(self, rows: Sequence[str], targets: Sequence[str]) -> None:
        """Raise `InputError` unless the toy study has what it names."""
        for row in self.rows:
            check_known(row, rows, "variant of the toy study", "rows")
        for target in self.targets(targets):
            check_known(target, [*targets, AVERAGE], "domain of the toy study", "at")
        for name in self.metrics:
            check_known(name, TOY_MEASURES, "measure of the toy study", "metric")
        self.check_count(len(self.targets(targets)))

    def check_count(self, places: int) -> None:
        """Raise `InputError` unless there is something to compare, often enough."""
        if not self.pairs:
            raise InputError("pairs: nothing is compared; give `better` and `than`, or `pairs`")
        if alone := [row for row, other in self.pairs if row == other]:
            raise InputError(f"{alone[0]} is compared with itself; name another row")
        if self.than_value is not None and not self._is_possible(self.than_value):
            raise InputError(
                f"than: {self.than_value:g} is no value of {self.metric}, which is "
                f"{'from 0 to 100 %' if self._ends else 'from 0'}; give one in the unit that tables print"
            )
        if self.at_least is not None and self.at_least > places * len(self.pairs):
            raise InputError(f"at_least: {self.at_least} of {places * len(self.pairs)} comparisons")
        if self.than_metric and measure(self.than_metric).unit != measure(self.metric).unit:
            raise InputError(f"than: {self.than_metric} is in another unit than {self.metric}")
