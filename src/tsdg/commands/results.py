"""The commands from records to pages, from `tsdg select` to `tsdg show`."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tsdg.commands.arguments import (
    DATA,
    PARAMS,
    RUNS,
    Commands,
    check_folders,
    command,
    load_study,
    selection,
)
from tsdg.errors import InputError, check_known, nearest

if TYPE_CHECKING:
    import pandas as pd

    from tsdg.runs.record import Record
    from tsdg.study.run import Run
    from tsdg.study.study import Study

RESULTS, PARTIAL = Path("results"), Path("results/partial")
SELECTED, TABLES, FIGURES = RESULTS / "selected", RESULTS / "tables", RESULTS / "figures"


def add(commands: Commands) -> None:
    """Add the commands to the command line."""
    select = command(
        commands, "select", _select, "choose the runs that a table shows, from records", study=True
    )
    select.add_argument("table", help="table in params.yaml")
    _add_selection(select)
    select.add_argument("--runs", type=Path, default=RUNS, help="folder of records")
    select.add_argument("--data", type=Path, default=DATA, help="folder of prepared data sets")
    select.add_argument(
        "--out",
        type=Path,
        help="csv (default: results/selected/{table}.csv, or with gaps results/partial/selected/{table}.csv)",
    )

    policies = command(
        commands,
        "policies",
        _policies,
        "what each selection policy picks of a table's records, and how its validation ranks the target",
        study=True,
    )
    policies.add_argument("table", help="table in params.yaml")
    policies.add_argument("--metric", default="accuracy", help="that policies look at (default: accuracy)")
    policies.add_argument("--runs", type=Path, default=RUNS, help="folder of records")
    policies.add_argument("--data", type=Path, default=DATA, help="folder of prepared data sets")
    policies.add_argument("--out", type=Path, default=TABLES, help=f"folder (default: {TABLES})")

    table = command(
        commands, "table", _table, "csv, LaTeX and comparison of a table's selected runs", study=True
    )
    table.add_argument("table", help="table in params.yaml")
    _add_selection(table)
    table.add_argument(
        "--selected", type=Path, help="default: what `tsdg select` has written last for the table"
    )
    table.add_argument("--runs", type=Path, default=RUNS, help="folder of records")
    _add_out(table, TABLES)

    figure = command(
        commands,
        "figure",
        _figure,
        "draw accuracy by target of a table, or a figure of `figures` in params.yaml, as pdf and png",
        study=True,
    )
    figure.add_argument("figure", help="a table, or a name under `figures`, in params.yaml")
    _add_selection(figure)
    figure.add_argument(
        "--selected",
        type=Path,
        nargs="+",
        help="files of selected runs, each called as its table; a figure of several tables is drawn of those "
        "given (default: what `tsdg select` has written last for each)",
    )
    figure.add_argument(
        "--width",
        choices=["column", "page"],
        help="of a two-column paper (default: as params.yaml has it, or page)",
    )
    figure.add_argument("--runs", type=Path, default=RUNS, help="folder of records")
    _add_out(figure, FIGURES)

    ranking = command(
        commands,
        "ranking",
        _ranking,
        "rank methods over the targets of several tables: table, tests, diagram, and what to expect "
        "on the next domain",
        study=True,
    )
    _add_selection(ranking)
    ranking.add_argument(
        "--selected",
        type=Path,
        nargs="+",
        help="files of selected runs, each called as its table; the ranking is over those given (default: "
        "what `tsdg select` has written last for each table of `ranking` in params.yaml)",
    )
    _add_out(ranking, RESULTS, "folder, in which tables/ and figures/ are filled")

    claims = command(
        commands, "claims", _claims, "check what `claims` in params.yaml states, by numbers", study=True
    )
    _add_selection(claims)
    claims.add_argument(
        "--selected",
        type=Path,
        nargs="*",
        help="files of selected runs, each called as its table; claims of other tables are not run (default: "
        "what `tsdg select` has written last for each table of `claims` in params.yaml, if it has)",
    )
    claims.add_argument("--runs", type=Path, default=RUNS, help="folder of records")
    _add_out(claims, TABLES)

    document = command(
        commands,
        "document",
        _document,
        "put all tables into one LaTeX document, in the study's order",
        study=True,
    )
    document.add_argument("tables", nargs="*", help="names of tables (default: all; those not made are told)")
    document.add_argument("--out", type=Path, default=TABLES, help="folder of the tables")

    pdf = command(commands, "pdf", _pdf, "compile a table, or the document of all, with pdflatex")
    pdf.add_argument("tex", type=Path, help="e.g. results/tables/all.tex; the pdf is put beside it")

    summary = command(commands, "summary", _summary, "write the averages of tables as metrics", study=True)
    summary.add_argument("tables", nargs="+", metavar="TABLE", help="tables in params.yaml")
    summary.add_argument(
        "--selected",
        type=Path,
        help="folder of the selected runs (default: what `tsdg select` has written last)",
    )
    _add_out(summary, RESULTS, "folder of metrics.json and metrics.csv")

    show = command(commands, "show", _show, "print a finished table, or another csv of tsdg's")
    show.add_argument("csv", type=Path, help="e.g. results/tables/bearings.csv, results/hparams.csv")


def _add_selection(sub: argparse.ArgumentParser) -> None:
    """Add the option that shows other runs than a table's own, in a place of their own."""
    sub.add_argument(
        "--selection",
        type=selection,
        metavar="POLICY",
        help="what all runs are selected by, whatever params.yaml says: source-validation, worst-source, "
        f"leave-one-source-out or oracle; below {RESULTS / 'selection'}",
    )


def _of_policy(options: argparse.Namespace, place: Path) -> Path:
    """A place of what is made of a table's own runs, or the like for those of --selection."""
    if getattr(options, "selection", None) is None:
        return place
    return RESULTS / "selection" / options.selection.name / place.relative_to(RESULTS)


def _add_out(sub: argparse.ArgumentParser, place: Path, what: str = "folder") -> None:
    """Add the option of where to write, which `_place` reads."""
    partial = PARTIAL / place.relative_to(RESULTS)
    sub.add_argument("--out", type=Path, help=f"{what} (default: {place}, or of runs with gaps {partial})")


@contextmanager
def _place(
    options: argparse.Namespace,
    place: Path,
    selected: Iterable[pd.DataFrame],
    remark: str = "",
) -> Iterator[Path]:
    """Where to write what is made of selected runs: with gaps, never where the workflow makes the whole."""
    from tsdg.results.selected import gaps

    out, place = options.out, _of_policy(options, place)
    missing = sum(map(gaps, selected))
    if not missing:
        yield out or place
        return
    gap = f"{missing} run{'s have' if missing > 1 else ' has'} no current record{remark}"
    if out is not None and out.resolve() == place.resolve():
        raise InputError(f"{gap}: {place} is for what has no gap; give another --out, or none")
    out = out or PARTIAL / place.relative_to(RESULTS)
    yield out
    print(f"{gap}: what there is, is in {out}", file=sys.stderr)


def _select(options: argparse.Namespace) -> None:
    from tsdg.results import untaught
    from tsdg.results.selected import write_csv
    from tsdg.results.selection import select
    from tsdg.runs.current import CurrentRecords
    from tsdg.runs.record import read, read_end
    from tsdg.study import folds, settings
    from tsdg.study.run import run_path
    from tsdg.study.selection import LEFT_OUT

    study = load_study(options)
    check_folders(options)
    current = CurrentRecords(study, options.runs, options.data)
    outdated: set[Run] = set()

    def is_current(run: Run, record: Record) -> bool:
        if current.current(run, record):
            return True
        outdated.add(run)
        return False

    selected = select(
        study.shown_runs(options.table),
        options.runs,
        folds=folds.of_table(study, options.table),
        readings=study.readings(options.table),
        selection=study.selection(options.table),
        checkpoint=study.checkpoint,
        current=is_current,
        one_for_all=not study.anew,
        settings=settings.of_table(study, options.table),
        untaught=untaught.of_table(study, options.table, options.data),
        reader=read_end if study.checkpoint == "last" else read,
    )
    same = _of_study(options)
    if options.selection and options.selection.policy == LEFT_OUT:
        same += f" --set tables.{options.table}.selection={options.selection.name}"
    remark = f" in {options.runs} (`tsdg status {options.table}{same}` says more)"
    old = [run_path(run) for run in study.table_runs(options.table) if run in outdated]
    if old:
        remark += f", {len(old)} have an outdated one: delete {options.runs / old[0]}" + " ..." * (
            len(old) > 1
        )
    name = options.out.name if options.out else f"{options.table}.csv"
    options.out = options.out and options.out.parent
    with _place(options, SELECTED, [selected], remark) as folder:
        out = folder / name
        write_csv(selected, out)
        print(out)


def _policies(options: argparse.Namespace) -> None:
    from tsdg.results.policies import compare, render
    from tsdg.study.selection import JUDGES

    study = load_study(options)
    check_folders(options)
    check_known(options.metric, JUDGES, "metric that may select", "--metric")
    layout = study.layout(options.table)
    found, remarks = compare(study, options.table, options.runs, options.data, options.metric)
    print(*render(f"{options.table}_policies", found, layout, remarks, options.out), sep="\n")


def _of_study(options: argparse.Namespace) -> str:
    """What a command is given to read the same study."""
    words = [] if options.params == PARAMS else ["--params", str(options.params)]
    words += [word for override in options.set for word in ("--set", override)]
    return "".join(f" {shlex.quote(word)}" for word in words)


def _table(options: argparse.Namespace) -> None:
    from tsdg.results.tables import render

    study = load_study(options)
    layout = study.layout(options.table)
    selected = _runs(options, study, options.table, options.selected or _latest(options, options.table))
    with _place(options, TABLES, [selected]) as out:
        print(*render(options.table, selected, layout, out, options.runs), sep="\n")


def _figure(options: argparse.Namespace) -> None:
    from tsdg.results import figures

    study, name = load_study(options), options.figure
    known = dict.fromkeys([*study.tables, *study.figures])
    if name not in known:
        raise InputError(
            f"{name!r} is not a table or figure{nearest(name, known)}; there are {', '.join(known)}"
        )
    tables = study.figure_entry(name)["tables"]
    files = _files(options, options.selected, tables)
    if name not in study.figures and len(files) > 1:
        raise InputError(f"{name}: the figure of a table is drawn of one file of selected runs")
    if name in study.figures:
        figure, selected = study.figure(name, [path.stem for path in files]), _joined(options, study, files)
    else:
        figure, selected = study.figure(name), _runs(options, study, name, files[0])
    width = figures.WIDTHS[options.width or figure.width]
    with _place(options, FIGURES, [selected]) as out:
        made = figures.DRAW[figure.kind](
            selected, figure.layout, options.runs, out, name, width=width, **figure.options
        )
    print(*made, sep="\n")


def _ranking(options: argparse.Namespace) -> None:
    from tsdg.results import next_domain, ranking
    from tsdg.results.captions import notes, simulated
    from tsdg.results.figures.critical_difference import critical_difference
    from tsdg.results.figures.style import stamp
    from tsdg.study.metric import METRICS
    from tsdg.study.references import check_results

    study = load_study(options)
    files = _files(options, options.selected, study.params.get("ranking", {}).get("tables", []))
    tables = study.ranking([path.stem for path in files])
    files = sorted(files, key=lambda path: list(study.tables).index(path.stem))
    check_results(study, [path.stem for path in files])
    layout, selected = tables.layout, _joined(options, study, files)
    metric = METRICS[layout.panels[0].metrics[0]]  # of all, more is better or less
    ranked = ranking.rank(ranking.block_values(selected, layout), higher_is_better=metric.higher_is_better)
    text = ranking.describe(
        ranked,
        selected,
        layout,
        without=tables.without,
        others=tables.others,
        dropped=tables.dropped,
        apart=tables.apart,
        twice=tables.twice,
    )
    unreal = simulated(selected, layout)
    expected = next_domain.compare(selected, layout, baseline=tables.baseline, rope=tables.rope)
    words = [*next_domain.describe(expected, layout), *notes(selected, layout)]
    with _place(options, RESULTS, [selected]) as out:
        print(*ranking.render(ranked, layout, text, out / "tables"), sep="\n")
        print(*next_domain.render(expected, layout, words, out / "tables"), sep="\n")
        drawn = critical_difference(ranked, layout, text, out / "figures", stamp=stamp(unreal, layout))
        print(*drawn, sep="\n")


def _claims(options: argparse.Namespace) -> None:
    from tsdg.data import toy
    from tsdg.results import claims
    from tsdg.study.references import check_results
    from tsdg.toy import tables as toy_tables

    study = load_study(options)
    if not study.claims:
        raise InputError("there is nothing to check: params.yaml has no key `claims`")
    tables = list(dict.fromkeys(claim.table for claim in study.claims))
    files = options.selected
    if files is None:
        files = [path for path in _files(options, None, tables) if path.exists()]
    given = {path.stem: path for path in _files(options, files, [])}
    for name, path in given.items():
        check_known(name, [table for table in tables if table != toy.NAME], "table of a claim", str(path))
    check_results(study, list(given))
    runs = {table: _runs(options, study, table, given[table]) for table in tables if table in given}
    found = {}
    for table in tables:
        if table == toy.NAME:
            found[table] = toy_tables.evidence(study, options.runs)
        else:
            found[table] = claims.evidence(study, table, runs.get(table), options.runs)
    with _place(options, TABLES, runs.values()) as out:
        print(*claims.render(*claims.check(study, found), out), sep="\n")


def _files(options: argparse.Namespace, given: list[Path] | None, tables: Iterable[str]) -> list[Path]:
    """Files of selected runs: those given, or the latest of each table."""
    names = [path.stem for path in given or []]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"--selected: the file of table {twice} is given twice; give each once")
    return given or [_latest(options, table) for table in tables]


def _latest(options: argparse.Namespace, table: str) -> Path:
    """The file of a table's selected runs, or of those that there are, whichever is newer."""
    folder = _of_policy(options, SELECTED)
    whole, partial = (root / f"{table}.csv" for root in (folder, PARTIAL / folder.relative_to(RESULTS)))
    with suppress(FileNotFoundError):
        if partial.stat().st_mtime_ns > (whole.stat().st_mtime_ns if whole.exists() else 0):
            return partial
    return whole


def _runs(options: argparse.Namespace, study: Study, table: str, path: Path) -> pd.DataFrame:
    """The selected runs of a table as the study has it."""
    from tsdg.results.selected import read_selected
    from tsdg.study import settings

    place = "" if path == _latest(options, table) else f" --out {shlex.quote(str(path))}"
    chosen = getattr(options, "selection", None)
    policy = f" --selection {chosen.name}" if chosen else ""
    select = f"tsdg select {table}{_of_study(options)}{policy}{place}"
    return read_selected(path, table, study.layout(table), settings.of_table(study, table), select)


def _joined(options: argparse.Namespace, study: Study, files: Iterable[Path]) -> pd.DataFrame:
    """Selected runs of several tables, each in a file that is called as it."""
    from tsdg.results.selected import joined_runs

    return joined_runs([_runs(options, study, path.stem, path) for path in files])


def _document(options: argparse.Namespace) -> None:
    from tsdg.results import document

    names = options.tables or load_study(options).document()
    paths = {name: options.out / f"{name}.tex" for name in names}
    if not options.tables:
        absent = [name for name, path in paths.items() if not path.exists()]
        if 0 < len(absent) < len(paths):
            print(f"Not in {options.out}, and left out: {', '.join(absent)}", file=sys.stderr)
        paths = {name: path for name, path in paths.items() if name not in absent}
    print(document.write(paths.values(), options.out / "all.tex"))


def _pdf(options: argparse.Namespace) -> None:
    from tsdg.results.document import compiled

    print(compiled(options.tex))


def _summary(options: argparse.Namespace) -> None:
    from tsdg.results.averages import averages, write

    study = load_study(options)
    tables = [table for table in options.tables if study.selection(table).is_result]
    layouts = {table: study.layout(table) for table in tables}
    folder = options.selected
    files = {table: folder / f"{table}.csv" if folder else _latest(options, table) for table in layouts}
    selected = {table: _runs(options, study, table, files[table]) for table in layouts}
    rows = {table: averages(selected[table], layout) for table, layout in layouts.items()}
    with _place(options, RESULTS, selected.values()) as out:
        print(*write(rows, out), sep="\n")


def _show(options: argparse.Namespace) -> None:
    from tsdg.results.show import lines

    print(*lines(options.csv), sep="\n")
