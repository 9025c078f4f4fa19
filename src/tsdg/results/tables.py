"""Every results table, from selected runs and a layout: csv, LaTeX, and the comparison with the paper.

Means are over seeds, of each seed's selected run. The spread of a target is the standard deviation (n-1) over
seeds; the spread of the average is that over seeds of the seed's mean over targets, for the seeds that have
every target. Percentages are printed with one decimal. Best and second of a column are ranked by what is
printed: equal prints share a rank, and the next different print is second.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from tsdg.data import paper
from tsdg.errors import InputError
from tsdg.files import write_text
from tsdg.study.layout import AVERAGE, PAPER_PROTOCOL, Layout, Panel, Protocol
from tsdg.study.metric import METRICS

FEW = 50  # windows of a target, below which a caption gives their number
_LISTED = 4  # gaps that a caption spells out; beyond, it counts them


def summarise(selected: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """The table in long form.

    Parameters
    ----------
    selected
        As `tsdg.results.selection.select` returns it; what the layout does not name is ignored.
    layout
        See the module.

    Returns
    -------
    DataFrame
        A row for each data set, variant, target (and "Average") and metric: ``label``, ``unit``; ``mean``,
        ``std`` and ``n`` (seeds, of the ``seeds`` expected) by each seed's own draw; ``shared_mean``,
        ``shared_std``, ``shared_n`` by one draw for all seeds; ``rank`` (1 best, 2 second, else empty);
        ``missing``, ``diverged``, ``undefined``: the seeds concerned, in words. An average over targets of
        which one has no value is empty.
    """
    if selected.duplicated(["rule", "dataset", "variant", "target", "seed"]).any():
        raise InputError("selected runs: a run is there twice; give every file of selected runs once.")
    index = {(r.rule, r.dataset, r.variant, r.target, r.seed): r for r in selected.itertuples()}
    rows = [
        row
        for panel in layout.panels
        for metric in panel.metrics
        for variant in layout.ordered
        for row in _summary_rows(index, layout, panel, metric, variant)
    ]
    table = pd.DataFrame(rows)
    table["rank"] = _ranks(table)
    gaps = ["missing", "diverged", "undefined"]
    return table[[name for name in table.columns if name not in gaps] + gaps]


def notes(selected: pd.DataFrame, layout: Layout) -> list[str]:
    """What a reader must know to judge the numbers, a sentence or two each: protocol, data, gaps."""
    table = summarise(selected, layout)
    datasets, used = {p.dataset: p.title for p in layout.panels}, layout.protocol
    rows = selected[selected["variant"].isin(layout.rows) & selected["dataset"].isin(datasets)]
    found = [_protocol_note(used)]
    others = rows[~rows["protocol"].isin(["", used.name])]
    if len(others):
        pairs = others[["variant", "protocol"]].drop_duplicates().itertuples()
        listing = ", ".join(f"{layout.labels[pair.variant]} ({pair.protocol})" for pair in pairs)
        found.append(f"Under another protocol: {listing}.")
    simulated = sorted({datasets[d] for d in rows.loc[rows["simulated"].fillna(False), "dataset"]})
    if simulated:
        found.append(
            f"Simulated raw files ({', '.join(simulated)}): these are not results on real recordings."
        )
    few = rows[rows["windows"] < FEW].drop_duplicates(["dataset", "target"])
    if len(few):
        several = len(datasets) > 1
        listing = ", ".join(
            f"{datasets[row.dataset] + ' ' if several else ''}{row.target} {row.windows}"
            for row in few.sort_values(["dataset", "target"]).itertuples()
        )
        found.append(f"Few windows to test on: {listing}.")
    return found + _gap_notes(table, layout)


def caption(selected: pd.DataFrame, layout: Layout) -> str:
    """The layout's caption followed by `notes`, as plain text."""
    partial = any(_partial(row) for row in summarise(selected, layout).itertuples())
    mark = ["† Mean of what there is, not of all seeds and draws."] * partial
    return " ".join([layout.caption, *notes(selected, layout), *mark])


def render(name: str, selected: pd.DataFrame, layout: Layout, out_folder: str | Path) -> list[Path]:
    """Write a table.

    Returns
    -------
    list of Path
        ``{name}.csv`` (`summarise`) and ``{name}.tex`` (a document that compiles alone); where the layout
        names a table of the paper also ``{name}_comparison.csv`` and ``{name}_comparison.md``.
    """
    table, text = summarise(selected, layout), caption(selected, layout)
    paths = write(name, table, _latex(name, table, text, layout), out_folder)
    compared = compare(table, layout)
    if len(compared):
        paths += write(f"{name}_comparison", compared, _comparison_text(compared, text), out_folder, ".md")
    return paths


def write(name: str, table: pd.DataFrame, text: str, folder: str | Path, kind: str = ".tex") -> list[Path]:
    """Write ``{name}.csv`` and the same as text (``.tex`` or ``.md``) into a folder; return both paths."""
    folder = Path(folder)
    paths = [folder / f"{name}.csv", folder / f"{name}{kind}"]
    write_text(paths[0], table.to_csv(index=False, lineterminator="\n"))
    write_text(paths[1], text)
    return paths


def compare(summary: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """The paper's numbers beside a summary, for the panels that name a table of the paper.

    Returns
    -------
    DataFrame
        The summary's ``dataset`` ... ``n``, ``paper``, ``difference`` (here minus paper, in the unit of the
        row) and ``note``, which says why a difference is empty.
    """
    named = {panel.dataset: panel.paper for panel in layout.panels if panel.paper}
    keys = ["dataset", "variant", "target", "metric"]
    columns = [*keys, "label", "unit", "mean", "std", "n"]
    numbers = [paper.numbers(table).assign(dataset=dataset) for dataset, table in named.items()]
    if not numbers:
        return pd.DataFrame(columns=[*columns, "paper", "difference", "note"])
    printed = pd.concat(numbers).rename(columns={"row": "variant", "value": "paper"})
    ours = summary.loc[summary["dataset"].isin(named), columns]
    compared = ours.merge(printed, how="left", on=keys, validate="many_to_one")
    compared["difference"] = compared["mean"] - compared["paper"]
    compared["note"] = ""
    compared.loc[compared["mean"].isna(), "note"] = "no result here"
    compared.loc[compared["paper"].isna(), "note"] = "the paper's number is not at hand"
    return compared


def _summary_rows(
    index: Mapping[tuple, Any], layout: Layout, panel: Panel, name: str, variant: str
) -> list[dict[str, Any]]:
    """One variant and metric: its targets, then the average."""
    metric, seeds, dataset = METRICS[name], range(layout.protocol.seeds), panel.dataset
    rows = [
        {
            "dataset": dataset,
            "variant": variant,
            "label": layout.labels[variant],
            "target": target,
            "metric": name,
            "unit": metric.unit,
            "seeds": len(seeds),
        }
        for target in [*panel.targets, AVERAGE]
    ]
    for rule, prefix in (("per_seed", ""), ("shared", "shared_")):
        cells = {
            target: {seed: index.get((rule, dataset, variant, target, seed)) for seed in seeds}
            for target in panel.targets
        }
        values = {
            target: {
                seed: getattr(run, name) * metric.scale
                for seed, run in runs.items()
                if run is not None and not math.isnan(getattr(run, name))
            }
            for target, runs in cells.items()
        }
        complete = [seed for seed in seeds if all(seed in v for v in values.values())]
        seed_means = [statistics.fmean(v[seed] for v in values.values()) for seed in complete]
        whole = all(values.values())
        means = [statistics.fmean(v.values()) if v else math.nan for v in values.values()]
        spreads = [_std(list(v.values())) for v in values.values()]
        counts = [len(v) for v in values.values()]
        means.append(statistics.fmean(means))
        spreads.append(_std(seed_means) if whole else math.nan)
        counts.append(len(complete) if whole else 0)
        for row, mean, std, n in zip(rows, means, spreads, counts, strict=True):
            row |= {f"{prefix}mean": mean, f"{prefix}std": std, f"{prefix}n": n}
        if rule == "per_seed":
            for row, (target, runs) in zip(rows, cells.items(), strict=False):
                row |= _gaps(runs, values[target])
            rows[-1] |= _average_gaps(rows[:-1])
    return rows


def _std(values: Sequence[float]) -> float:
    return statistics.stdev(values) if len(values) > 1 else math.nan


def _gaps(runs: Mapping[int, Any], values: Mapping[int, float]) -> dict[str, str]:
    """In words: seeds without a run, with fewer draws than expected, with diverged draws, without a value."""
    missing, diverged, undefined = [], [], []
    for seed, run in runs.items():
        if run is None or run.status == "missing":
            missing.append(f"seed {seed}")
            continue
        if run.draws_found < run.draws_expected:
            lost = run.draws_expected - run.draws_found
            missing.append(f"seed {seed}: {lost} of {run.draws_expected} draws")
        if run.draws_diverged:
            some = run.status == "finished"
            of = f": {run.draws_diverged} of {run.draws_expected} draws" if some else ""
            diverged.append(f"seed {seed}{of}")
        if run.status == "finished" and seed not in values:
            undefined.append(f"seed {seed}")
    gaps = {"missing": missing, "diverged": diverged, "undefined": undefined}
    return {key: "; ".join(words) for key, words in gaps.items()}


def _average_gaps(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {
        key: ", ".join(f"{row['target']} ({row[key]})" for row in rows if row[key])
        for key in ("missing", "diverged", "undefined")
    }


def _ranks(table: pd.DataFrame) -> pd.Series:
    """1 for the best printed value of a data set, target and metric, 2 for the next."""
    ranks = pd.Series(pd.NA, index=table.index, dtype="Int64")
    for (_, _, name), group in table.groupby(["dataset", "target", "metric"]):
        printed = group["mean"].dropna().map(lambda mean, name=name: float(METRICS[name].printed(mean)))
        order = printed.rank(method="dense", ascending=not METRICS[name].higher_is_better).astype("Int64")
        ranks.update(order[order <= 2])
    return ranks


def _protocol_note(used: Protocol) -> str:
    def words(protocol: Protocol) -> str:
        draws = protocol.draws
        return (
            f"{_plural(protocol.seeds, 'seed')}, "
            f"{'fixed hyperparameters' if draws == 'fixed' else _plural(draws, 'hyperparameter draw')}, "
            f"{_plural(protocol.iterations, 'iteration')}"
        )

    if used.reduced:
        return f"Reduced protocol {used.name}: {words(used)} (the paper: {words(PAPER_PROTOCOL)})."
    return f"Protocol {used.name}: {words(used)}."


def _plural(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _gap_notes(table: pd.DataFrame, layout: Layout) -> list[str]:
    found = []
    metric = {p.dataset: p.metrics[0] for p in layout.panels}
    single = len(metric) == 1
    targets = {p.dataset: p.targets for p in layout.panels}
    once = table[table["metric"] == table["dataset"].map(metric)]  # gaps of runs are the same for each metric
    cells = once[once["target"] != AVERAGE]
    for kind, opening in (("missing", "Missing runs"), ("diverged", "Diverged runs")):
        hit = cells[cells[kind] != ""]
        if len(hit):
            found.append(f"{opening}: {_listing(hit, kind, targets, range(layout.protocol.seeds), single)}.")
    unknown = table[(table["undefined"] != "") & (table["target"] != AVERAGE)]
    for name, hit in unknown.groupby("metric", sort=False):
        where = list(dict.fromkeys(hit["target"]))
        found.append(
            f"{METRICS[str(name)].label} is undefined for {', '.join(where)} (one class, or more than two)."
        )
    empty = once[(once["target"] == AVERAGE) & once["mean"].isna()]
    if len(empty):
        names = dict.fromkeys(_name(row, single) for row in empty.itertuples())
        found.append(f"No average where a target has no result ({', '.join(names)}).")
    return found


def _partial(row: Any) -> bool:
    """Whether a cell has a value, but not from everything that was to be run."""
    return not math.isnan(row.mean) and (row.missing != "" or row.n < row.seeds)


def _name(row: Any, single: bool) -> str:
    return row.label if single else f"{row.label} on {row.dataset}"


def _listing(
    hit: pd.DataFrame, kind: str, targets: Mapping[str, Sequence[str]], seeds: Sequence[int], single: bool
) -> str:
    """Spelled out where short, else counted by row."""
    every = "; ".join(f"seed {seed}" for seed in seeds)
    entries, counts = [], []
    for (dataset, _), group in hit.groupby(["dataset", "variant"], sort=False):
        name = _name(next(group.itertuples()), single)
        total = len(targets[str(dataset)])
        counts.append(f"{name} {len(group)} of {total}")
        if len(group) == total and (group[kind] == every).all():
            entries.append(f"{name} (all)")
        else:
            entries += [f"{name} at {row.target} ({getattr(row, kind)})" for row in group.itertuples()]
    if len(entries) <= _LISTED:
        return ", ".join(entries)
    return f"targets concerned: {', '.join(counts)}; each is listed in the csv file"


@dataclass(frozen=True)
class _Column:
    dataset: str
    title: str
    target: str
    metric: str


def _blocks(layout: Layout) -> list[list[_Column]]:
    """The columns of each block of rows."""
    printed = [(panel, panel.shown) for panel in layout.panels]

    def column(panel: Panel, target: str, metric: str) -> _Column:
        return _Column(panel.dataset, panel.title, target, metric)

    if layout.arrange == "beside":
        return [
            [
                column(p, target, metric)
                for p, targets in printed
                for target in targets
                for metric in p.metrics
            ]
        ]
    count = len(printed[0][0].metrics)
    return [
        [column(p, target, p.metrics[k]) for p, targets in printed for target in targets]
        for k in range(count)
    ]


def _latex(name: str, table: pd.DataFrame, text: str, layout: Layout) -> str:
    cells = {(r.dataset, r.variant, r.target, r.metric): r for r in table.itertuples()}
    ours, variants, blocks = layout.ours, layout.ordered, _blocks(layout)
    lines: list[str] = []
    for columns in blocks:
        lines += [r"\midrule"] if lines else [r"\toprule"]
        lines += _headings(columns, len(layout.panels) > 1, layout.arrange == "beside")
        lines.append(r"\midrule")
        for i, variant in enumerate(variants):
            if variant in ours and i and variants[i - 1] not in ours:
                lines.append(r"\addlinespace\hdashline\addlinespace")
            printed = [_latex_cell(cells[c.dataset, variant, c.target, c.metric]) for c in columns]
            lines.append(row([escape(layout.labels[variant]), *printed]))
    lines.append(r"\bottomrule")
    return document(name, f"{text} Best in bold, second best underlined.", f"l{'r' * len(blocks[0])}", lines)


def document(name: str, text: str, columns: str, lines: Iterable[str]) -> str:
    """A LaTeX document of one table, which compiles alone.

    Parameters
    ----------
    name : str
        Its label.
    text : str
        Its caption, as plain text.
    columns : str
        Column types of the tabular.
    lines : iterable of str
        LaTeX of the rows, rules included.
    """
    body = "\n".join(lines)
    return rf"""\documentclass{{article}}
\usepackage[a4paper,landscape,margin=15mm]{{geometry}}
\usepackage{{booktabs}}
\usepackage{{arydshln}}
\begin{{document}}
\begin{{table}}
\centering
\footnotesize
\setlength{{\tabcolsep}}{{4pt}}
\caption{{{escape(text)}}}
\label{{tab:{name}}}
\begin{{tabular}}{{{columns}}}
{body}
\end{{tabular}}
\end{{table}}
\end{{document}}
"""


def row(cells: Iterable[str]) -> str:
    """A row of a tabular from LaTeX cells."""
    return " & ".join(cells) + r" \\"


def _headings(columns: Sequence[_Column], several: bool, beside: bool) -> list[str]:
    """Heading rows: what a group of columns shares, then targets, then (beside) metrics."""

    def short(target: str) -> str:
        return "Avg." if target == AVERAGE else target

    def group(column: _Column) -> str:
        parts = [column.title] * several + [METRICS[column.metric].heading] * (not beside)
        return ", ".join(parts)

    levels: list[list[tuple[Any, str]]] = []
    if several or not beside:
        levels.append([((c.dataset, c.metric if not beside else ""), group(c)) for c in columns])
    levels.append([((c.dataset, c.target), short(c.target)) for c in columns])
    if beside:
        levels.append([((c.dataset, c.target, c.metric), METRICS[c.metric].heading) for c in columns])
    lines = []
    for level, keys in enumerate(levels):
        spans = _spans(keys)
        last = level == len(levels) - 1
        lines.append(row(["" if not last else "Method", *(_span(title, n) for title, n in spans)]))
        if not last:
            starts = [2 + sum(n for _, n in spans[:i]) for i in range(len(spans))]
            lines.append(
                "".join(rf"\cmidrule(lr){{{s}-{s + n - 1}}}" for s, (_, n) in zip(starts, spans, strict=True))
            )
    return lines


def _spans(keys: Sequence[tuple[Any, str]]) -> list[tuple[str, int]]:
    spans: list[list[Any]] = []
    for key, title in keys:
        if spans and spans[-1][0] == key:
            spans[-1][2] += 1
        else:
            spans.append([key, title, 1])
    return [(title, n) for _, title, n in spans]


def _span(title: str, n: int) -> str:
    return rf"\multicolumn{{{n}}}{{c}}{{{escape(title)}}}"


def _latex_cell(row: Any) -> str:
    if math.isnan(row.mean):
        return "div." if row.diverged and not row.missing and row.target != AVERAGE else "--"
    number = METRICS[row.metric].printed(row.mean)
    if not pd.isna(row.rank):
        number = rf"\textbf{{{number}}}" if row.rank == 1 else rf"\underline{{{number}}}"
    return number + (r"$^\dagger$" if _partial(row) else "")


_ESCAPES = str.maketrans(
    {character: rf"\{character}" for character in "&%$#_{}"}
    | {character: f"${character}$" for character in "<>|"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
        "−": "$-$",
    }
    | {
        "†": r"$^\dagger$",
        "λ": r"$\lambda$",
        "ξ": r"$\xi$",
        "γ": r"$\gamma$",
        "±": r"$\pm$",
        "×": r"$\times$",
    }
)


def escape(text: str) -> str:
    """Plain text for LaTeX: special characters, and the few symbols that labels use."""
    return text.translate(_ESCAPES)


def _comparison_text(compared: pd.DataFrame, text: str) -> str:
    known = compared[compared["paper"].notna()]
    lines = [
        "# Beside the paper's printed numbers",
        "",
        text,
        "",
        f"Of {len(compared)} numbers of this table, {len(known)} of the paper's are at hand; the "
        "others are left out. Differences are here minus paper, in points.",
        "",
        "| Method | Target | Metric | Here | Paper | Difference |",
        "|---|---|---|---:|---:|---:|",
    ]
    for row in known.itertuples():
        metric = METRICS[row.metric]
        here = "no result" if math.isnan(row.mean) else metric.printed(row.mean)
        if not math.isnan(row.std):
            here += f" ± {metric.printed(row.std)}"
        difference = "" if math.isnan(row.mean) else f"{row.difference:+.{metric.decimals}f}"
        paper = metric.printed(row.paper)
        lines.append(f"| {row.label} | {row.target} | {metric.heading} | {here} | {paper} | {difference} |")
    return "\n".join(lines) + "\n"
