"""What a table shows, and how: rows, data sets side by side, metrics, names, and the protocol behind them."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from tsdg.errors import InputError
from tsdg.study.levels import Level
from tsdg.study.metric import METRICS
from tsdg.study.paper_style import PaperStyle
from tsdg.study.reading import Reading
from tsdg.study.selection import DEFAULT, Selection

AVERAGE = "Average"  # the mean over targets, where a target's name stands
WORST = "Worst"  # the worst of several targets, likewise
OVER_TARGETS = {AVERAGE: "the mean over targets", WORST: "the worst target"}


@dataclass(frozen=True)
class Protocol:
    """How much is trained: seeds 0 to n-1, hyperparameter draws, iterations.

    `reduced` says whether this is less than the paper's, `anew` whether each seed has draws of its own, see
    `tsdg.study.study.Study.anew`, and `checkpoint` which one counts.
    """

    name: str
    seeds: int
    draws: int | Literal["fixed"]
    iterations: int
    reduced: bool = False
    anew: bool = False
    checkpoint: str = "last"

    @property
    def searched(self) -> int:
        """Draws of the search, of which fixed hyperparameters have none."""
        return 0 if self.draws == "fixed" else self.draws

    def is_less_than(self, other: "Protocol") -> bool:
        """Whether anything is less than another protocol's."""
        return (
            self.seeds < other.seeds or self.searched < other.searched or self.iterations < other.iterations
        )


PAPER_PROTOCOL = Protocol("paper", seeds=3, draws=20, iterations=3000)


@dataclass(frozen=True)
class Panel:
    """A data set of a table.

    Attributes
    ----------
    dataset : str
    title : str
        How it is printed.
    targets, metrics : tuple of str
    average_only : bool
        Whether the average over targets is printed without the targets.
    paper : str, optional
        The paper's table to compare with, see `tsdg.data.paper`.
    groups : mapping of str to sequence of str
        The domains of each of the targets that is a group.
    legend : tuple of str
        What the domains are, e.g. ``A: drive end, load 0``, where targets are named by them.
    selection : Selection
        What its runs are selected by.
    """

    dataset: str
    title: str
    targets: tuple[str, ...]
    metrics: tuple[str, ...]
    average_only: bool = False
    paper: str | None = None
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    legend: tuple[str, ...] = ()
    selection: Selection = DEFAULT

    @property
    def leading(self) -> str:
        """The metric that is drawn by target: the first, unless less of it is better; then accuracy."""
        return self.metrics[0] if METRICS[self.metrics[0]].higher_is_better else "accuracy"

    @property
    def domains(self) -> list[tuple[str, str]]:
        """Target and domain of every domain that is held out."""
        return [(target, domain) for target in self.targets for domain in self.groups.get(target, (target,))]

    @property
    def shown(self) -> list[str]:
        """The targets that are printed, the average last."""
        return [AVERAGE] if self.average_only else [*self.targets, AVERAGE]


@dataclass(frozen=True)
class Layout:
    """A table.

    Attributes
    ----------
    rows : tuple of str
        Variants; see `ordered`.
    labels : mapping
        How each row is printed.
    panels : tuple of Panel
        Data sets side by side, each once, with equally many metrics.
    protocol : Protocol
    caption : str
        What the table shows; facts of its runs are added to it.
    baselines : tuple of str
        Those of the rows that come first, above a rule; they are no methods of the paper's.
    ours : tuple of str
        Those of the rows that come last, beneath a dashed rule.
    arrange : {"beneath", "beside"}
        One block of rows a metric, one below the other; or one block, the metrics as sub-columns of each
        target.
    settled : tuple of str
        Those of the rows with nothing to search, under no protocol.
    style : PaperStyle, optional
        How the paper prints it, where it is to be printed so.
    levels : mapping
        What the new domain gives to each row, where that is not nothing.
    readings : mapping
        What each row that is derived of another shows of that one's trainings.

    Raises
    ------
    InputError
        The parts do not fit together.
    """

    rows: tuple[str, ...]
    labels: Mapping[str, str]
    panels: tuple[Panel, ...]
    protocol: Protocol
    caption: str
    baselines: tuple[str, ...] = ()
    ours: tuple[str, ...] = ()
    arrange: Literal["beneath", "beside"] = "beneath"
    settled: tuple[str, ...] = ()
    style: PaperStyle | None = None
    levels: Mapping[str, Level] = field(default_factory=dict)
    readings: Mapping[str, Reading] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if problem := self._problem():
            raise InputError(problem)

    def _problem(self) -> str | None:
        if not self.rows:
            return "a table needs rows"
        for name, some in (("baselines", self.baselines), ("ours", self.ours)):
            if stray := [row for row in some if row not in self.rows]:
                return f"{name}: {', '.join(stray)} must be among rows too"
        if both := [row for row in self.baselines if row in self.ours]:
            return f"baselines: {', '.join(both)} cannot be among ours too"
        if stray := [row for row in self.rows if row not in self.labels]:
            return f"labels: {', '.join(stray)} must have one"
        if self.arrange not in ("beneath", "beside"):
            return f"arrange: {self.arrange!r} is neither 'beneath' nor 'beside'"
        for panel in self.panels:
            if not panel.targets or not panel.metrics:
                return f"{panel.dataset}: a panel needs targets and metrics"
            if unknown := [metric for metric in panel.metrics if metric not in METRICS]:
                return f"metrics: {', '.join(unknown)} unknown; known are {', '.join(METRICS)}"
        if len({len(panel.metrics) for panel in self.panels}) != 1:
            return "all panels must have equally many metrics"
        if max(Counter(panel.dataset for panel in self.panels).values()) > 1:
            return "a data set can have one panel"
        if self.style and len(self.sections) > 1:
            return (
                "layout: paper has no place for rows to which the new domain gives more; write layout: full"
            )
        return self.style.problem(self.rows, self.baselines) if self.style else None

    def level(self, row: str) -> Level:
        """What the new domain gives to a row."""
        return self.levels.get(row, Level())

    def is_ensemble(self, row: str) -> bool:
        """Whether a row shows the models of all seeds as one."""
        return row in self.readings and self.readings[row].ensemble

    def seeds(self, row: str) -> range:
        """The seeds that a row has a number of; an ensemble has one number, which counts as seed 0's."""
        return range(1 if self.is_ensemble(row) else self.protocol.seeds)

    @property
    def sections(self) -> list[tuple[Level, list[list[str]]]]:
        """The rows of each level in the order of printing, parted where a rule parts them."""
        levels = sorted({self.level(row) for row in self.rows}, key=lambda level: level.order)
        return [
            (level, parted([row for row in self.rows if self.level(row) == level], self.ours, self.baselines))
            for level in levels
        ]

    @property
    def groups(self) -> list[list[str]]:
        """The rows in the order of printing, parted where a rule parts them."""
        return [group for _, groups in self.sections for group in groups]

    @property
    def ordered(self) -> list[str]:
        """The rows in the order of printing."""
        return [row for group in self.groups for row in group]

    @property
    def titles(self) -> dict[str, str]:
        """How each data set is printed."""
        return {panel.dataset: panel.title for panel in self.panels}

    @property
    def places(self) -> list[tuple[Panel, str]]:
        """Panel and target of everything that is measured."""
        return [(panel, target) for panel in self.panels for target in panel.targets]


def parted(rows: Iterable[str], ours: Collection[str], baselines: Collection[str] = ()) -> list[list[str]]:
    """Rows in the order of printing, baselines first and ours last, parted where a rule parts them."""
    parts: list[list[str]] = [[], [], []]
    for row in rows:
        parts[0 if row in baselines else 2 if row in ours else 1].append(row)
    return [part for part in parts if part]


def common_rows(layouts: Sequence[Layout]) -> list[str]:
    """Variants that are rows of every table, in the first one's order."""
    return [row for row in layouts[0].rows if all(row in layout.rows for layout in layouts)]


def joined(
    layouts: Sequence[Layout], rows: Iterable[str] | None = None, metrics: Sequence[str] | None = None
) -> Layout:
    """The panels of several tables of different data sets side by side, as one layout.

    Parameters
    ----------
    layouts
        The tables' layouts.
    rows
        The variants it is about. Default: `common_rows`.
    metrics
        The metrics it is about. Default: the tables' own.
    """
    chosen = common_rows(layouts) if rows is None else list(rows)
    ours = {row for layout in layouts for row in layout.ours}
    baselines = {row for layout in layouts for row in layout.baselines} - ours
    labels = {row: label for layout in layouts for row, label in layout.labels.items()}
    panels = [panel for layout in layouts for panel in layout.panels]
    whole = Layout(
        rows=tuple(chosen),
        labels={row: labels[row] for row in chosen},
        panels=tuple(replace(panel, metrics=tuple(metrics or panel.metrics)) for panel in panels),
        protocol=layouts[0].protocol,
        caption=", ".join(panel.title for panel in panels),
        baselines=tuple(row for row in chosen if row in baselines),
        ours=tuple(row for row in chosen if row in ours),
        settled=tuple(row for row in chosen if any(row in layout.settled for layout in layouts)),
        levels={row: layout.levels[row] for layout in layouts for row in chosen if row in layout.levels},
        readings={row: one.readings[row] for one in layouts for row in chosen if row in one.readings},
    )
    return replace(whole, rows=tuple(whole.ordered))


def text(shown: object) -> str:
    """Layouts, or what holds some, as text that changes exactly when they do."""
    return json.dumps(shown, sort_keys=True, default=asdict)
