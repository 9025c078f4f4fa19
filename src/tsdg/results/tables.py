"""A results table as files, from selected runs and a layout: csv, LaTeX, HTML, beside the paper's numbers."""

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from tsdg.files import write_text
from tsdg.results import paper
from tsdg.results.best import LEGEND
from tsdg.results.by_domain import by_domain
from tsdg.results.captions import caption
from tsdg.results.cells import Column, printed
from tsdg.results.html import page
from tsdg.results.latex import body, document, escape, row
from tsdg.results.lead import lead
from tsdg.results.numbers import CONFIDENCE, summarise
from tsdg.results.paper_layout import tabular
from tsdg.study.layout import AVERAGE, WORST, Layout, Panel
from tsdg.study.metric import METRICS
from tsdg.study.run import RECORDS

INTERVALS = f"± is half of the mean's {CONFIDENCE:.0%} interval over seeds (Student's t)."


def render(
    name: str, selected: pd.DataFrame, layout: Layout, out_folder: str | Path, runs: str | Path = RECORDS
) -> list[Path]:
    """Write a table.

    Parameters
    ----------
    runs : path
        Folder of the records, which are read where a target is a group of domains.

    Returns
    -------
    list of Path
        ``{name}.csv`` (`summarise`) and ``{name}.tex`` (a document that compiles alone), and what `write`
        puts beside them; where the layout names a table of the paper also ``{name}_comparison.csv`` and
        ``{name}_comparison.md``; where a target is a group ``{name}_by_domain.csv``
        (`tsdg.results.by_domain.by_domain`).
    """
    table, text = summarise(selected, layout), caption(selected, layout)
    titles = ", ".join(panel.title for panel in layout.panels)
    spread = f"{text} {INTERVALS}" if (table["n"] > 1).any() else text
    shown = page(_latex(name, table, spread, layout, intervals=True), titles, lead(table, layout))
    paths = write(name, table, _latex(name, table, text, layout), out_folder, shown=shown)
    compared = paper.compare(table, layout)
    if len(compared):
        words = paper.markdown(compared, text)
        paths += write(f"{name}_comparison", compared, words, out_folder, ".md")
    if any(panel.groups for panel in layout.panels):
        paths.append(Path(out_folder, f"{name}_by_domain.csv"))
        own = by_domain(selected, layout, runs)
        write_text(paths[-1], own.to_csv(index=False, lineterminator="\n"))
    return paths


def write(
    name: str, table: pd.DataFrame, text: str, folder: str | Path, kind: str = ".tex", shown: str = ""
) -> list[Path]:
    r"""Write ``{name}.csv`` and the same as text (``.tex`` or ``.md``) into a folder; return both paths.

    Beside a ``.tex`` stand ``{name}.body.tex``, which one's own document can take in by ``\input``, and
    ``{name}.html``, for the report: what is `shown`, by default the same (`tsdg.results.html.page`).
    """
    paths = [Path(folder, f"{name}.csv"), Path(folder, f"{name}{kind}")]
    write_text(paths[0], table.to_csv(index=False, lineterminator="\n"))
    write_text(paths[1], text)
    if kind == ".tex":
        write_text(Path(folder, f"{name}.body.tex"), body(text))
        write_text(Path(folder, f"{name}.html"), shown or page(text))
    return paths


def _latex(name: str, table: pd.DataFrame, text: str, layout: Layout, *, intervals: bool = False) -> str:
    if layout.style:
        shape, rows, legend = tabular(table, layout, layout.style, intervals=intervals)
        return document(name, f"{text} {legend}".rstrip(), shape, rows)
    cells = {(r.dataset, r.variant, r.target, r.metric): r for r in table.itertuples()}
    lines: list[str] = []
    blocks = _blocks(layout)
    for columns in blocks:
        lines += [r"\midrule"] if lines else [r"\toprule"]
        lines += _headings(columns, layout)
        lines.append(r"\midrule")
        for place, (level, groups) in enumerate(layout.sections):
            lines += [r"\midrule"] if place else []
            if len(layout.sections) > 1:
                lines.append(
                    row([rf"\multicolumn{{{1 + len(columns)}}}{{l}}{{\emph{{{escape(level.title)}}}}}"])
                )
            for number, group in enumerate(groups):
                if number:
                    own = group[0] in layout.ours
                    lines.append(r"\addlinespace\hdashline\addlinespace" if own else r"\midrule")
                for variant in group:
                    printed = [
                        _cell(cells[c.panel.dataset, variant, c.target, c.metric], intervals) for c in columns
                    ]
                    lines.append(row([escape(layout.labels[variant]), *printed]))
    lines.append(r"\bottomrule")
    legend = LEGEND if table["rank"].notna().any() else ""
    return document(name, f"{text} {legend}".rstrip(), f"l{'r' * len(blocks[0])}", lines)


def _blocks(layout: Layout) -> list[list[Column]]:
    """The columns of each block of rows."""
    shown = [(panel, target) for panel in layout.panels for target in _targets(panel)]
    if layout.arrange == "beside":
        return [[Column(panel, target, metric) for panel, target in shown for metric in panel.metrics]]
    count = len(layout.panels[0].metrics)
    return [[Column(panel, target, panel.metrics[k]) for panel, target in shown] for k in range(count)]


def _targets(panel: Panel) -> list[str]:
    """What is printed of a panel: of several targets that stand there by themselves the worst too."""
    return [*panel.shown, *[WORST] * (len(panel.targets) > 1 and not panel.average_only)]


def _headings(columns: Sequence[Column], layout: Layout) -> list[str]:
    """Heading rows: what a group of columns shares, then targets, then (beside) metrics."""
    several, beside = len(layout.panels) > 1, layout.arrange == "beside"

    def shared(column: Column) -> tuple[str, ...]:
        metric = [METRICS[column.metric].heading] * (not beside)
        return column.panel.dataset, *metric, ", ".join([column.panel.title] * several + metric)

    def target(column: Column) -> tuple[str, ...]:
        return column.panel.dataset, column.target, "Avg." if column.target == AVERAGE else column.target

    def metric(column: Column) -> tuple[str, ...]:
        return column.panel.dataset, column.target, METRICS[column.metric].heading

    # Neighbours that are alike in these have one heading, whose text is the last of them.
    levels: list[Callable[[Column], tuple[str, ...]]] = [target]
    if several or not beside:
        levels.insert(0, shared)
    if beside:
        levels.append(metric)
    lines = []
    for level in levels:
        cells, rules, end = ["Method" if level is levels[-1] else ""], "", 1
        for alike, members in groupby(columns, level):
            start, end = end + 1, end + len(list(members))
            cells.append(rf"\multicolumn{{{end - start + 1}}}{{c}}{{{escape(alike[-1])}}}")
            rules += rf"\cmidrule(lr){{{start}-{end}}}"
        lines.append(row(cells))
        if level is not levels[-1]:
            lines.append(rules)
    return lines


def _cell(cell: Any, intervals: bool) -> str:
    return printed(cell, None if pd.isna(cell.rank) else cell.rank, intervals=intervals)
