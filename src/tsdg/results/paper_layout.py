"""A results table as the paper lays it out, see `tsdg.study.paper_style.PaperStyle`."""

from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby, product
from typing import Any, NamedTuple

import pandas as pd

from tsdg.results.best import LEGEND, places
from tsdg.results.cells import Column, printed
from tsdg.results.latex import escape, row
from tsdg.study.layout import AVERAGE, Layout
from tsdg.study.metric import METRICS
from tsdg.study.paper_style import PaperStyle

LEGENDS = {
    "averages": LEGEND.replace("Best", "Best average"),
    "columns": "Best in bold.",
    "groups": "Best of each group in bold.",
    "none": "",
}
DASHED = r"\addlinespace\hdashline\addlinespace"


class Tabular(NamedTuple):
    """Column types, lines, and what the caption must say of them."""

    columns: str
    lines: list[str]
    legend: str


def tabular(table: pd.DataFrame, layout: Layout, style: PaperStyle, *, intervals: bool = False) -> Tabular:
    """The summary of a table, laid out."""
    cells = {(r.dataset, r.variant, r.target, r.metric): r for r in table.itertuples()}
    columns = _columns(layout, style)
    groups = list(_groups(layout, style))
    ranks = _ranks(cells, columns, groups, style)

    def numbers(variant: str) -> list[str]:
        keys = [(c.panel.dataset, variant, c.target, c.metric) for c in columns]
        return [printed(cells[key], ranks.get(key), intervals=intervals) for key in keys]

    legend = LEGENDS[style.mark] if ranks else ""
    if style.matrix:
        return _matrix({variant: numbers(variant) for variant in layout.rows}, columns, style, legend)
    lines = [r"\toprule", *_heads(columns, layout, style)]
    for rule, title, names in groups:
        lines.append(rule)
        if title:
            lines.append(row([escape(title), *[""] * (len(style.heads or "-") + len(columns) - 1)]))
        for variant, name in names.items():
            about = [_said(cell) for cell in style.cells[variant]] if style.heads else [escape(name)]
            lines.append(row([*about, *numbers(variant)]))
    shape = "l" * len(style.heads or "-") + "".join(
        "r" if column.target == AVERAGE or columns[0].target == AVERAGE else "c" for column in columns
    )
    return Tabular(shape, [*lines, r"\bottomrule"], legend)


def _columns(layout: Layout, style: PaperStyle) -> list[Column]:
    if style.heads:
        return [Column(panel, AVERAGE, panel.metrics[0]) for panel in layout.panels]
    return [
        Column(panel, target, metric)
        for panel in layout.panels
        for metric, targets in zip(panel.metrics, (panel.shown, [AVERAGE]), strict=False)
        for target in targets
    ]


def _groups(layout: Layout, style: PaperStyle) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The rule above, the title and the names of each group of rows."""
    grouped = {variant for group in style.groups for variant in group.rows}
    above = [[v for v in group if v not in grouped] for group in layout.groups]
    for names in filter(None, above):
        yield r"\midrule", "", {variant: layout.labels[variant] for variant in names}
    first = not any(above)
    for group in style.groups:
        yield r"\midrule" if first else DASHED, group.title, dict(group.rows)
        first = False


def _ranks(
    cells: dict[tuple, Any],
    columns: Sequence[Column],
    groups: Sequence[tuple[str, str, dict[str, str]]],
    style: PaperStyle,
) -> dict[tuple, int | None]:
    """Places of the cells that are marked: 1 bold, 2 underlined."""
    ranks: dict[tuple, int | None] = {}
    every = [variant for _, _, names in groups for variant in names]
    parts = [list(names) for _, _, names in groups] if style.mark == "groups" else [every]
    for column, variants in product(columns, parts):
        if not column.panel.selection.is_result:
            continue
        if style.mark == "none" or (style.mark == "averages" and column.target != AVERAGE):
            continue
        metric = METRICS[column.metric]
        keys = [(column.panel.dataset, variant, column.target, column.metric) for variant in variants]
        shown = (metric.printed(cells[key].mean) for key in keys)
        ranks |= dict(zip(keys, places(shown, higher_is_better=metric.higher_is_better), strict=True))
    best_only = style.mark != "averages"
    return {key: place for key, place in ranks.items() if place == 1 or not best_only}


def _heads(columns: Sequence[Column], layout: Layout, style: PaperStyle) -> list[str]:
    """Heading rows: data sets where there are several, metrics with their arrows, targets."""
    beginning = [*map(escape, style.heads)] or ["Method"]
    empty = [""] * len(beginning)
    if style.heads and len(columns) == 1:
        return [row([*beginning, f"Avg. {_arrow(columns[0].metric)}"])]
    levels: list[list[tuple[Hashable, str]]]
    if style.heads:
        levels = [
            [(c.metric, f"Avg. {_arrow(c.metric)}") for c in columns],
            [(c.panel.dataset, escape(c.panel.title)) for c in columns],
        ]
    else:
        levels = [
            [((c.panel.dataset, c.metric), _arrow(c.metric)) for c in columns],
            [((c.panel.dataset, c.metric, c.target), escape("Avg." if c.target == AVERAGE else c.target))
             for c in columns],
        ]  # fmt: skip
        if len(layout.panels) > 1:
            levels.insert(0, [(c.panel.dataset, escape(c.panel.title)) for c in columns])
    lines = []
    for k, level in enumerate(levels):
        cells, rules, end = list(empty if k < len(levels) - 1 else beginning), "", len(beginning)
        for _, members in groupby(level, key=lambda pair: pair[0]):
            texts = [text for _, text in members]
            start, end = end + 1, end + len(texts)
            cells.append(rf"\multicolumn{{{len(texts)}}}{{c}}{{{texts[0]}}}")
            rules += rf"\cmidrule(lr){{{start}-{end}}}"
        lines += [row(cells), rules]
    return lines[:-1]


def _matrix(
    numbers: dict[str, list[str]], columns: Sequence[Column], style: PaperStyle, legend: str
) -> Tabular:
    """The first head's cells down, the other two's across; N/A where there is no row."""
    [column] = columns
    down, groups, within = (list(dict.fromkeys(values)) for values in zip(*style.cells.values(), strict=True))
    found = {place: numbers[variant][0] for variant, place in style.cells.items()}
    over = [rf"\multicolumn{{{len(within)}}}{{c}}{{{_said(group)}}}" for group in groups]
    edges = range(2, 2 + len(groups) * len(within), len(within))
    lines = [
        r"\toprule",
        row(["", *over]),
        "".join(rf"\cmidrule(lr){{{start}-{start + len(within) - 1}}}" for start in edges),
        row([escape(style.heads[0]), *(_said(name) for _ in groups for name in within)]),
        r"\midrule",
        *(
            row([_said(one), *(found.get((one, *place), "N/A") for place in product(groups, within))])
            for one in down
        ),
        r"\bottomrule",
    ]
    heading = f"Averages of {METRICS[column.metric].heading}."
    return Tabular("l" + "c" * (len(groups) * len(within)), lines, f"{heading} {legend}".rstrip())


def _arrow(metric: str) -> str:
    about = METRICS[metric]
    return escape(about.heading) + (r" $\uparrow$" if about.higher_is_better else r" $\downarrow$")


def _said(cell: str | bool | float) -> str:
    if isinstance(cell, bool):
        return r"\checkmark" if cell else ""
    return escape(str(cell))
