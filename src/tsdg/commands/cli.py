"""The `tsdg` command: parse, call, print."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsdg import __version__
from tsdg.commands import bundle as bundle_cli
from tsdg.commands import check as check_cli
from tsdg.commands.arguments import draws, natural, positive
from tsdg.commands.data import add_commands
from tsdg.errors import InputError, nearest
from tsdg.runs.log import job_log

if TYPE_CHECKING:
    import pandas as pd

    from tsdg.study.study import Study

PARAMS, RUNS = Path("params.yaml"), Path("results/runs")
STUDY_OPTIONS = """
The study is read from params.yaml; --set key=value overrides a value of it, e.g. --set iterations=100 or
--set datasets.bearings.split=blocked.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code is 1 if `status` saw a failure, 2 for bad input, 130 if interrupted."""
    options = parser().parse_args(arguments)
    try:
        return options.command(options) or 0
    except InputError as error:
        print(f"tsdg {options.name}: error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            sys.stderr.close()
            return 1
        where, why = error.filename or "output", error.strerror or error
        print(f"tsdg {options.name}: error: {where}: {why}; choose another place", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"tsdg {options.name}: interrupted; what was finished is kept", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="tsdg",
        description="Domain generalization for time series: from raw recordings to tables.",
        epilog="The whole way is one command: snakemake --cores 2 results/tables/bearings.tex",
    )
    top.add_argument("--version", action="version", version=f"tsdg {__version__}")
    commands = top.add_subparsers(dest="name", required=True, metavar="COMMAND")

    add_commands(commands)
    check_cli.add_arguments(
        _command(
            commands, "check", check_cli.check, "say what is in recordings, or in a data set", study=True
        )
    )
    _train_arguments(
        _command(commands, "train", _train, "train runs of one variant and record them", study=True)
    )

    bundle_cli.export_arguments(
        _command(commands, "export", bundle_cli.export, "train on all domains, to take away", study=True)
    )
    bundle_cli.predict_arguments(
        _command(commands, "predict", bundle_cli.predict, "classify recordings with an exported model")
    )

    select = _command(
        commands, "select", _select, "choose the runs that a table shows, from records", study=True
    )
    select.add_argument("table", help="table in params.yaml")
    select.add_argument("--runs", type=Path, default=RUNS, help="folder of records")
    select.add_argument(
        "--data", type=Path, default=Path("results/data"), help="folder of prepared data sets"
    )
    select.add_argument("--out", type=Path, default=None, help="csv (default: results/selected/{table}.csv)")

    table = _command(
        commands, "table", _table, "csv, LaTeX and comparison of a table's selected runs", study=True
    )
    table.add_argument("table", help="table in params.yaml")
    table.add_argument("--selected", type=Path, default=None, help="default: results/selected/{table}.csv")
    table.add_argument("--out", type=Path, default=Path("results/tables"), help="folder")

    figure = _command(
        commands,
        "figure",
        _figure,
        "draw accuracy by target of a table, or a figure of `figures` in params.yaml, as pdf and png",
        study=True,
    )
    figure.add_argument("figure", help="a table, or a name under `figures`, in params.yaml")
    figure.add_argument(
        "--selected",
        type=Path,
        nargs="+",
        help="files of selected runs, each called as its table; a figure of several tables is drawn of those "
        "given (default: results/selected/{table}.csv of each)",
    )
    figure.add_argument("--runs", type=Path, default=RUNS, help="folder of records")
    figure.add_argument("--out", type=Path, default=Path("results/figures"), help="folder")

    ranking = _command(
        commands,
        "ranking",
        _ranking,
        "rank methods over the targets of several tables: table, tests, critical-difference diagram",
        study=True,
    )
    ranking.add_argument(
        "--selected",
        type=Path,
        nargs="+",
        help="files of selected runs, each called as its table; the ranking is over those given (default: "
        "results/selected/{table}.csv of each table of `ranking` in params.yaml)",
    )
    ranking.add_argument(
        "--out", type=Path, default=Path("results"), help="folder, in which tables/ and figures/ are filled"
    )

    document = _command(
        commands,
        "document",
        _document,
        "put all tables into one LaTeX document, in the study's order",
        study=True,
    )
    document.add_argument("tables", nargs="*", help="names of tables (default: all; those not made are told)")
    document.add_argument("--out", type=Path, default=Path("results/tables"), help="folder of the tables")

    pdf = _command(commands, "pdf", _pdf, "compile a table, or the document of all, with pdflatex")
    pdf.add_argument("tex", type=Path, help="e.g. results/tables/all.tex; the pdf is put beside it")

    summary = _command(commands, "summary", _summary, "write the averages of tables as metrics", study=True)
    summary.add_argument("tables", nargs="+", metavar="TABLE", help="tables in params.yaml")
    summary.add_argument(
        "--selected", type=Path, default=Path("results/selected"), help="folder of the selected runs"
    )
    summary.add_argument(
        "--out", type=Path, default=Path("results"), help="folder of metrics.json and metrics.csv"
    )

    show = _command(commands, "show", _show, "print a finished table")
    show.add_argument("csv", type=Path, help="the table's csv, e.g. results/tables/bearings.csv")

    datasets = _command(commands, "datasets", _datasets, "write the tables of prepared data sets")
    datasets.add_argument("data", nargs="+", type=Path, help="folders of prepared data sets")
    datasets.add_argument("--out", type=Path, default=Path("results/tables"), help="folder")

    networks = _command(commands, "networks", _networks, "write the table of the networks")
    networks.add_argument("--out", type=Path, default=Path("results/tables"), help="folder")

    hparams = _command(commands, "hparams", _hparams, "list the hyperparameters of every draw", study=True)
    hparams.add_argument("--out", type=Path, default=Path("results/hparams.csv"))
    hparams.add_argument(
        "--tables", type=Path, help="also write hyperparameter.tex and .csv into this folder"
    )
    _toy_arguments(commands)
    _progress_arguments(commands)
    return top


def _progress_arguments(commands: Any) -> None:
    """What looks at a whole study: before, during and after."""
    ahead = _command(commands, "plan", _plan, "count runs, jobs and hours that tables need", study=True)
    ahead.add_argument(
        "--probe",
        action="store_true",
        help="measure the hours: some iterations of every variant on this machine",
    )
    ahead.add_argument("--device", choices=["auto", "cpu", "cuda"], help="of the probe; as in params.yaml")
    ahead.add_argument(
        "--jobs", type=positive, default=os.cpu_count() or 1, help="at a time (default: cores)"
    )
    seen = _command(
        commands, "status", _status, "say what is done, running, failed, diverged and waiting", study=True
    )
    seen.epilog = "Ends with 1 if anything failed, with 0 otherwise."
    seen.add_argument("--logs", type=Path, default=Path("logs/train"), help="folder of the trainings' logs")
    for sub in (ahead, seen):
        sub.add_argument(
            "tables", nargs="*", metavar="TABLE",
            help="tables in params.yaml, `toy`, or paths such as results/tables/bearings.tex (default: all)",
        )  # fmt: skip
        sub.add_argument(
            "--data", type=Path, default=Path("results/data"), help="folder of prepared data sets"
        )
    stale = _command(
        commands, "prune", _prune, "list the records that no table of the study wants", study=True
    )
    stale.add_argument("--yes", action="store_true", help="delete them")
    for sub in (ahead, seen, stale):
        sub.add_argument("--runs", type=Path, default=RUNS, help="folder of records")


def _toy_arguments(commands: Any) -> None:
    toy = commands.add_parser("toy", help="the toy study: trainings, tables, figures")
    parts = toy.add_subparsers(dest="part", required=True, metavar="COMMAND")
    train = _command(parts, "train", _toy_train, "train seeds of one variant and record them", study=True)
    train.add_argument("--variant", required=True, help="variant of the toy study in params.yaml")
    train.add_argument("--seed", nargs="+", type=natural, default=[0], help="seeds")
    train.add_argument("--out", type=Path, default=RUNS, help="folder of records")
    for kind, names in (
        ("table", ["toy_attributes", "target_risk", "target_risk_full"]),
        ("figure", ["toy_dataset", "divergence_vs_risk"]),
    ):
        sub = _command(parts, kind, _toy_result, f"write a {kind} of the toy study", study=True)
        sub.add_argument("result", choices=names)
        sub.add_argument("--runs", type=Path, default=RUNS, help="folder of records")
        sub.add_argument("--out", type=Path, default=Path(f"results/{kind}s"), help="folder")


def _command(
    commands: Any,
    name: str,
    command: Callable[[argparse.Namespace], int | None],
    what: str,
    *,
    study: bool = False,
) -> argparse.ArgumentParser:
    sub = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + "." + (STUDY_OPTIONS if study else ""),
    )
    sub.set_defaults(command=command)
    if study:
        sub.add_argument("--params", type=Path, default=PARAMS, help="the study (default: params.yaml)")
        sub.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a value")
    return sub


def _train_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--data", type=Path, required=True, help="folder of the prepared data set")
    sub.add_argument(
        "--dataset", help="data set in params.yaml (default: the name on the prepared one's card)"
    )
    sub.add_argument("--variant", required=True, help="variant in params.yaml")
    sub.add_argument("--target", nargs="+", required=True, help="domain held out; several make a pack")
    sub.add_argument("--seed", nargs="+", type=natural, default=[0], help="seeds")
    sub.add_argument("--draw", nargs="+", type=draws, default=[["fixed"]], help="draws: 3, 0-19, or fixed")
    sub.add_argument("--out", type=Path, default=RUNS, help="folder of records")
    sub.add_argument("--device", choices=["auto", "cpu", "cuda"], help="default: as in params.yaml")
    sub.add_argument(
        "--threads", type=positive, default=1, help="CPU threads (default: 1, the fastest a core)"
    )
    sub.add_argument("--force", action="store_true", help="train again what has a record already")


def _train(options: argparse.Namespace) -> None:
    from tsdg.runs.job import train_job
    from tsdg.study.jobs import job_identity
    from tsdg.study.run import Run
    from tsdg.study.study import Study

    study = Study.load(options.params, options.set)
    draws = [number for numbers in options.draw for number in numbers]
    identity = None
    if name := options.dataset:
        runs = (Run(name, options.variant, *rest) for rest in product(options.target, options.seed, draws))
        identity = job_identity(study, runs)
    with job_log(identity):
        train_job(
            study,
            options.data,
            variant=options.variant,
            targets=options.target,
            seeds=options.seed,
            draws=draws,
            out=options.out,
            dataset=options.dataset,
            device=options.device,
            threads=options.threads,
            force=options.force,
        )


def _select(options: argparse.Namespace) -> None:
    from tsdg.results.selection import select, write_csv
    from tsdg.runs.current import CurrentRecords
    from tsdg.study.study import Study

    study = Study.load(options.params, options.set)
    out = options.out or Path("results/selected") / f"{options.table}.csv"
    _check_runs(options)
    current = CurrentRecords(study, options.runs, options.data)
    selected = select(
        study.table_runs(options.table),
        options.runs,
        checkpoint=study.params["checkpoint"],
        current=current.current,
    )
    write_csv(selected, out)
    chosen = selected[selected["rule"] == "per_seed"]
    found, expected = (int(chosen[f"draws_{which}"].sum()) for which in ("found", "expected"))
    if found < expected:
        print(
            f"{found} of {expected} runs of {options.table} have a current record in {options.runs}; "
            f"`tsdg status {options.table}` says more",
            file=sys.stderr,
        )
    print(out)


def _table(options: argparse.Namespace) -> None:
    from tsdg.results.tables import render
    from tsdg.study.layouts import read_selected
    from tsdg.study.study import Study

    study = Study.load(options.params, options.set)
    layout = study.layout(options.table)
    path = options.selected or Path("results/selected") / f"{options.table}.csv"
    selected = read_selected(path, options.table, layout)
    for path in render(options.table, selected, layout, options.out):
        print(path)


def _figure(options: argparse.Namespace) -> None:
    from tsdg.results import figures
    from tsdg.study.layouts import read_selected
    from tsdg.study.study import Study

    study, name = Study.load(options.params, options.set), options.figure
    if name in study.figures:
        files = _files(options.selected, study.figures[name]["tables"])
        entry = study.figure(name, [path.stem for path in files])
        selected = _selected(study, files)
        draw = figures.KINDS[entry["kind"]]
        made = draw(selected, entry["layout"], options.runs, options.out, name, **entry["options"])
    elif name in study.tables:
        files = _files(options.selected, [name])
        if len(files) > 1:
            raise InputError(f"{name}: the figure of a table is drawn of one file of selected runs")
        layout = study.layout(name)
        made = figures.accuracy_by_target(read_selected(files[0], name, layout), layout, options.out, name)
    else:
        known = dict.fromkeys([*study.tables, *study.figures])
        raise InputError(
            f"{name!r} is not a table or figure{nearest(name, known)}; there are {', '.join(known)}"
        )
    print(*made, sep="\n")


def _files(given: list[Path] | None, tables: Iterable[str]) -> list[Path]:
    names = [path.stem for path in given or []]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"--selected: the file of table {twice} is given twice; give each once")
    return given or [Path("results/selected") / f"{table}.csv" for table in tables]


def _selected(study: Study, files: Iterable[Path]) -> pd.DataFrame:
    """Selected runs of several tables, each in a file that is called as it."""
    from tsdg.study.layouts import joined_runs, read_selected

    return joined_runs([read_selected(path, path.stem, study.layout(path.stem)) for path in files])


def _ranking(options: argparse.Namespace) -> None:
    from tsdg.results import ranking
    from tsdg.results.figures.critical_difference import critical_difference
    from tsdg.results.tables import METRICS
    from tsdg.study.study import Study

    study = Study.load(options.params, options.set)
    files = _files(options.selected, study.params.get("ranking", {}).get("tables", []))
    entry = study.ranking([path.stem for path in files])
    layout = entry["layout"]
    selected = _selected(study, files)
    metric = METRICS[study.params["ranking"]["metric"]]
    ranked = ranking.rank(ranking.block_values(selected, layout), higher_is_better=metric.higher_is_better)
    text = ranking.describe(ranked, selected, layout, without=entry["without"], dropped=entry["dropped"])
    print(*ranking.render(ranked, layout, text, options.out / "tables"), sep="\n")
    print(*critical_difference(ranked, layout, text, options.out / "figures"), sep="\n")


def _document(options: argparse.Namespace) -> None:
    from tsdg.results import document
    from tsdg.study.study import Study

    names = options.tables or Study.load(options.params, options.set).document()
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
    from tsdg.study.layouts import read_selected
    from tsdg.study.study import Study

    study = Study.load(options.params, options.set)
    layouts = {table: study.layout(table) for table in options.tables}
    rows = {
        table: averages(read_selected(options.selected / f"{table}.csv", table, layout), layout)
        for table, layout in layouts.items()
    }
    print(*write(rows, options.out), sep="\n")


def _plan(options: argparse.Namespace) -> None:
    from tsdg.runs import plan
    from tsdg.runs.current import CurrentRecords
    from tsdg.study.study import Study

    study = Study.load(options.params, options.set)
    _check_runs(options)
    tables = plan.chosen_tables(study, options.tables)
    found = CurrentRecords(study, options.runs, options.data)
    rates = plan.recorded_rates(study, tables, options.runs)
    if options.probe:
        device = options.device or study.params["device"]
        rates |= plan.probed_rates(study, tables, options.data, device, _say, options.params)
    print(plan.text(plan.plan(study, tables, found, rates), options.jobs))


def _status(options: argparse.Namespace) -> int:
    from tsdg.runs import status
    from tsdg.runs.current import CurrentRecords
    from tsdg.runs.plan import chosen_tables
    from tsdg.study.study import Study

    study = Study.load(options.params, options.set)
    _check_runs(options)
    tables = chosen_tables(study, options.tables)
    again = [] if options.params == PARAMS else ["--params", str(options.params)]
    again += [word for override in options.set for word in ("--set", override)]
    again += [] if options.runs == RUNS else ["--out", str(options.runs)]
    found = CurrentRecords(study, options.runs, options.data)
    seen = status.status(study, tables, found, options.logs, again)
    print(status.text(seen, tables))
    return 1 if seen.failures else 0


def _prune(options: argparse.Namespace) -> None:
    from tsdg.runs import prune
    from tsdg.study.study import Study

    study = Study.load(options.params, options.set)
    _check_runs(options)
    paths = prune.unwanted(study, options.runs)
    if not paths:
        print(f"every record in {options.runs} is wanted by a table (protocol {study.params['protocol']})")
        return
    print(*prune.summary(paths, options.runs), sep="\n")
    if options.yes:
        prune.delete(paths, options.runs)
        print(f"{len(paths)} records deleted")
    else:
        print(
            f"{len(paths)} records that no table wants under protocol {study.params['protocol']}; "
            "--yes deletes them"
        )


def _check_runs(options: argparse.Namespace) -> None:
    """Before anything is trained there is no folder of records; one that was named should be there."""
    if options.runs != RUNS and not options.runs.is_dir():
        raise InputError(f"--runs {options.runs}: no such folder; give the folder of records")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _show(options: argparse.Namespace) -> None:
    import pandas as pd

    from tsdg.results.tables import METRICS

    try:
        types = dict.fromkeys(("dataset", "variant", "label", "target", "metric"), str) | {"mean": float}
        table = pd.read_csv(options.csv, keep_default_na=False, na_values={"mean": [""]}, dtype=types)
        if table.empty:
            raise ValueError("no rows")
        lines = []
        for (dataset, metric), part in table.groupby(["dataset", "metric"], sort=False):
            wide = part.pivot(index="variant", columns="target", values="mean")
            wide = wide.loc[part["variant"].unique(), part["target"].unique()].rename_axis(columns=None)
            wide.index = part.drop_duplicates("variant")["label"].to_list()
            lines.append(f"{dataset}: {METRICS[metric].heading}, mean over seeds")
            lines.append(wide.to_string(na_rep="--", float_format=f"%.{METRICS[metric].decimals}f"))
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{options.csv}: not a table's csv ({error}); make it with `tsdg table`") from None
    print(*lines, sep="\n")


def _datasets(options: argparse.Namespace) -> None:
    from tsdg.results.about.datasets import render

    print(*render(options.data, options.out), sep="\n")


def _networks(options: argparse.Namespace) -> None:
    from tsdg.results.about.networks import render

    print(*render(options.out), sep="\n")


def _hparams(options: argparse.Namespace) -> None:
    from tsdg.files import write_text
    from tsdg.study.study import Study

    table = Study.load(options.params, options.set).hparams_table()
    write_text(options.out, table.to_csv(index=False, lineterminator="\n"))
    print(options.out)
    if options.tables:
        from tsdg.results.about.hyperparameters import render

        print(*render(options.tables), sep="\n")


def _toy_train(options: argparse.Namespace) -> None:
    from tsdg.data.toy import TARGET
    from tsdg.study.jobs import job_identity
    from tsdg.study.run import Run
    from tsdg.study.study import Study
    from tsdg.toy.job import train_job

    study = Study.load(options.params, options.set)
    runs = (Run("toy", options.variant, TARGET, seed, "fixed") for seed in options.seed)
    with job_log(job_identity(study, runs)):
        train_job(study, options.variant, options.seed, options.out)


def _toy_result(options: argparse.Namespace) -> None:
    from tsdg.study.study import Study
    from tsdg.toy import figures, tables

    study = Study.load(options.params, options.set)
    write = getattr(figures if options.part == "figure" else tables, options.result)
    print(*write(study, options.runs, options.out), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
