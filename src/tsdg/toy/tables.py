"""The tables of the toy study, from its records alone: csv and LaTeX.

The bound is that of Ben-David et al. (A theory of learning from different domains, 2010): target risk <=
source risk + half the divergence + a constant. The tables show the first two
terms, the csv files their sum too.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path

import pandas as pd
from scipy.stats import spearmanr

from tsdg.data import paper
from tsdg.data.toy import CYCLES, DOMAINS, LENGTH, NAME, SOURCES, TARGET
from tsdg.errors import InputError
from tsdg.results.claims import Evidence
from tsdg.results.latex import document, escape, row, ruled
from tsdg.results.measures import COLUMNS
from tsdg.results.tables import write
from tsdg.runs.record import Record, read
from tsdg.study.layout import AVERAGE, parted
from tsdg.study.run import run_path
from tsdg.study.study import Study

MEAN = "mean"  # over the sources
QUANTITIES = {
    "source_risk": "Source risk",
    "divergence": "H-divergence",
    "sum": "Sum",
    "target_risk": "Target risk",
}


PRINTED = ("source_risk", "divergence", "target_risk")  # by the paper, and in LaTeX; the csv has all


def runs(study: Study, folder: str | Path) -> pd.DataFrame:
    """Every run's numbers, a row for each source and for their mean.

    Returns
    -------
    DataFrame
        ``variant``, ``label``, ``seed``, ``status`` ("stopped", "not stopped", "diverged" or "missing"),
        ``iterations``, ``source``, and the `QUANTITIES`, of which the sum is source risk + divergence / 2.
        Where there is no result the numbers are empty.
    """
    rows = []
    for run in study.table_runs(NAME):
        label = study.toy["variants"][run.variant]["label"]
        path = Path(folder) / run_path(run)
        record = None
        if path.exists():
            record = read(path, run)
            if record.finished and not _is_of_toy(record):
                raise InputError(
                    f"{path}: not a record of the toy study. Delete it and run the same command again."
                )
        start = {"variant": run.variant, "label": label, "seed": run.seed}
        rows += [start | values for values in _of_record(record)]
    return pd.DataFrame(rows)


def _is_of_toy(record: Record) -> bool:
    sources = set(SOURCES)
    return (
        "risk_threshold" in record.config
        and sources <= set(record.sources)
        and sources <= set(record.divergence or {})
        and len(record.checkpoints) == 1
    )


def _of_record(record: Record | None) -> list[dict]:
    if record is None or not record.finished:
        empty = dict.fromkeys(["iterations", *QUANTITIES], float("nan"))
        status = "missing" if record is None else "diverged"
        return [{"status": status, "source": source} | empty for source in (*SOURCES, MEAN)]
    [checkpoint] = record.checkpoints
    risks = {name: 1 - checkpoint.validation[name].accuracy for name in SOURCES}
    divergences = {name: (record.divergence or {})[name].value for name in SOURCES}
    for values in (risks, divergences):
        values[MEAN] = sum(values.values()) / len(values)
    return [
        {
            "status": "not stopped" if record.stopped_at is None else "stopped",
            "source": source,
            "iterations": checkpoint.iteration,
            "source_risk": risks[source],
            "divergence": divergences[source],
            "sum": risks[source] + divergences[source] / 2,
            "target_risk": 1 - checkpoint.target.accuracy,
        }
        for source in risks
    ]


def summarise(table: pd.DataFrame) -> pd.DataFrame:
    """Mean, standard deviation (n-1) and n over seeds of each number of `runs`, in long form.

    Returns
    -------
    DataFrame
        ``variant``, ``label``, ``source``, ``quantity``, ``mean``, ``std``, ``n``, ``seeds``, and the number
        of seeds ``not_stopped`` (counted in the mean), ``diverged`` and ``missing`` (not counted).
    """
    rows = []
    for (variant, label, source), group in table.groupby(["variant", "label", "source"], sort=False):
        status = group["status"].value_counts()
        counts = {name.replace(" ", "_"): int(status.get(name, 0)) for name in _FAILURES}
        for quantity in ("iterations", *QUANTITIES):
            values = group[quantity].dropna()
            rows.append(
                {"variant": variant, "label": label, "source": source, "quantity": quantity}
                | {"mean": values.mean(), "std": values.std(), "n": len(values), "seeds": len(group)}
                | counts
            )
    return pd.DataFrame(rows)


_FAILURES = ("not stopped", "diverged", "missing")


def _beside(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """A summary with what the paper prints in its table of this name, or nothing, in a column ``paper``."""
    printed = paper.numbers(name).set_index(["row", "target", "metric"])["value"]
    keys = [
        (line.variant, TARGET if line.quantity == "target_risk" else line.source, line.quantity)
        for line in table.itertuples()
    ]
    return table.assign(paper=[printed.get(key) for key in keys])


def evidence(study: Study, folder: str | Path) -> Evidence:
    """What claims about the toy study are checked by."""
    return Evidence({NAME: [*SOURCES, TARGET]}, measured(runs(study, folder)), printed())


def measured(table: pd.DataFrame) -> pd.DataFrame:
    """`runs` as `tsdg.results.measures.measured` returns them: the mean over the sources is the average."""
    long = table.melt(["variant", "seed", "source"], ["source_risk", "divergence", "target_risk"], "metric")
    long["target"] = long["source"].replace(MEAN, AVERAGE)
    of_target = (long["metric"] == "target_risk") & (long["source"] == MEAN)
    long = long[(long["metric"] != "target_risk") | of_target]
    at_target = long[long["metric"] == "target_risk"].assign(target=TARGET)
    return pd.concat([long, at_target]).dropna(subset=["value"]).assign(dataset=NAME)[list(COLUMNS)]


def printed() -> dict[tuple[str, str, str, str], float]:
    """What the paper prints, as `tsdg.results.claims.printed_by_paper` returns it."""
    found = {
        (NAME, number.row, AVERAGE if number.target == MEAN else number.target, number.metric): number.value
        for number in paper.numbers("target_risk_full").itertuples()
    }
    return found | {(*key[:2], AVERAGE, key[3]): v for key, v in found.items() if key[3] == "target_risk"}


def rank_correlation(table: pd.DataFrame) -> dict[str, float]:
    """Spearman's correlation of average H-divergence and target risk: of all runs, and of methods' means.

    Returns
    -------
    dict
        ``n`` runs; ``runs``: over all of them; ``methods``: over the means of each variant; ``within``: over
        all runs, each less its variant's mean, that is, whether the seeds of one method follow the claim.
    """
    means = table[table["source"] == MEAN].dropna(subset=["divergence"])
    pair = means[["divergence", "target_risk"]]
    by_variant = means.groupby("variant")[["divergence", "target_risk"]]
    within = pair - by_variant.transform("mean")
    return {
        "n": len(pair),
        "runs": _spearman(pair),
        "methods": _spearman(by_variant.mean()),
        "within": _spearman(within),
    }


def _spearman(pair: pd.DataFrame) -> float:
    """Rank correlation of two columns; NaN where one is constant or there are fewer than three rows."""
    if len(pair) < 3 or (pair.nunique() == 1).any():
        return math.nan
    return float(spearmanr(pair).statistic)


def _correlations(table: pd.DataFrame) -> str:
    found = rank_correlation(table)
    places = {
        "runs": f"over all {found['n']} runs",
        "methods": "over the methods' means",
        "within": "among the seeds of a method",
    }
    known = [f"{found[key]:.2f} {where}" for key, where in places.items() if not math.isnan(found[key])]
    what = "Spearman's rank correlation of average H-divergence and target risk: "
    return f"{what}{', '.join(known)}. " if known else ""


def notes(study: Study, table: pd.DataFrame) -> str:
    """What a reader must know: seeds, stopping rule, runs that did not end as they should."""
    entry = study.toy
    ends = table[table["source"] == MEAN]
    found = [
        f"Mean ± standard deviation (n-1) over {entry['seeds']} seeds, each with its own data.",
        f"Training stops when the mean error rate on the whole source sets is below "
        f"{entry['risk_threshold']}, and after {entry['iterations']:,} iterations at most.",
        "The paper's numbers (one model each of DANN-DG, CDANN-DG and ours with {A, B} aligned) are in the "
        "csv file.",
    ]
    words = {
        "not stopped": "† Runs that never met the stopping rule, and count as they ended",
        "diverged": "Diverged runs, which do not count",
        "missing": "Missing runs, which do not count",
    }
    for status, what in words.items():
        hit = ends.loc[ends["status"] == status, "label"].value_counts(sort=False)
        if len(hit):
            found.append(f"{what}: {', '.join(f'{label} {n}' for label, n in hit.items())}.")
    return " ".join(found)


def toy_attributes(study: Study, runs_folder: str | Path, out: str | Path) -> list[Path]:
    """Write what the domains are."""
    table = pd.DataFrame(
        [
            {
                "domain": name,
                "role": domain.role,
                "samples": domain.samples,
                "noise_std": domain.noise,
                "channel_1": "class's wave + noise",
                "channel_2_sawtooth": "N(0, 1)",
                "channel_2_square": "square wave + noise" if domain.second else "N(0, 1)",
            }
            for name, domain in DOMAINS.items()
        ]
    )
    sources = ", ".join(f"{name} {DOMAINS[name].samples}" for name in SOURCES)
    caption = (
        "The domains of the toy study, by the channels that show the class and the standard deviation of the "
        f"noise on the wave: windows of {LENGTH} steps and two channels, half of each class (sources "
        f"{sources}; target {TARGET} {DOMAINS[TARGET].samples}). Channel 1 has the class's wave, sawtooth or "
        "square; channel 2 standard normal noise or, of squares where it shows the class, the square wave. "
        f"Waves have amplitude 1 and 1/{1 / CYCLES[0]:.0f} to {CYCLES[1]:.0f} cycles a window."
    )
    noises = sorted({domain.noise for domain in DOMAINS.values()})
    lines = [
        [channels, *(", ".join(n for n, d in DOMAINS.items() if (d.second, d.noise) == (second, noise))
                     for noise in noises)]
        for second, channels in ((False, "1"), (True, "1 and 2"))
    ]  # fmt: skip
    heads = ["Channel with signal", *(f"Noise s.d. {noise:g}" for noise in noises)]
    return _write("toy_attributes", table, caption, heads, [lines], out, "l" + "c" * len(noises))


def target_risk(study: Study, runs_folder: str | Path, out: str | Path) -> list[Path]:
    """Write each method's numbers, averaged over the sources."""
    every = runs(study, runs_folder)
    table = _beside(summarise(every[every["source"] == MEAN]), "target_risk")
    caption = (
        "The toy study: mean over the sources of the risk and of the H-divergence to the target, and the "
        f"target risk. {notes(study, every)} {_correlations(every)}"
    ).rstrip()
    blocks = [
        [
            [escape(cell) for cell in (_marked(group), *(_text(group, name) for name in PRINTED))]
            for group in part
        ]
        for part in _blocks(study, table)
    ]
    heads = ["Method", *(QUANTITIES[name] for name in PRINTED)]
    return _write("target_risk", table, caption, heads, blocks, out, "lrrr")


def target_risk_full(study: Study, runs_folder: str | Path, out: str | Path) -> list[Path]:
    """Write each method's numbers for every source."""
    every = runs(study, runs_folder)
    table = _beside(summarise(every), "target_risk_full")
    caption = (
        "The toy study: source risk and H-divergence to the target of every source and on average, and "
        f"the target risk of {TARGET}. {notes(study, every)}"
    )
    sources = (*SOURCES, MEAN)
    blocks = []
    for part in _blocks(study, table):
        lines: list[list[str]] = []
        for group in part:
            of_source = dict(list(group.groupby("source")))
            cells = [_text(of_source[source], name) for name in PRINTED[:2] for source in sources]
            target = _text(of_source[MEAN], PRINTED[2])
            lines.append([escape(cell) for cell in (_marked(group), *cells, target)])
        blocks.append(lines)
    named = (*SOURCES, "Avg.")
    over = [("", 1), *((QUANTITIES[name], len(named)) for name in PRINTED[:2]), (QUANTITIES[PRINTED[2]], 1)]
    heads = ["Method", *named, *named, TARGET]
    columns = "l" + "r" * (len(heads) - 1)
    return _write("target_risk_full", table, caption, heads, blocks, out, columns, over)


def _blocks(study: Study, table: pd.DataFrame) -> list[list[pd.DataFrame]]:
    """The variants' parts of a table: others, then ours."""
    of_variant = dict(list(table.groupby("variant", sort=False)))
    groups = parted(of_variant, study.toy.get("ours", []))
    return [[of_variant[variant] for variant in group] for group in groups]


def _marked(group: pd.DataFrame) -> str:
    return group["label"].iloc[0] + ("†" if group["not_stopped"].iloc[0] else "")


def _text(group: pd.DataFrame, quantity: str) -> str:
    [line] = group[group["quantity"] == quantity].itertuples()
    if not line.n:
        return "--"
    digits = 0 if quantity == "iterations" else 3
    spread = f" ± {line.std:.{digits}f}" if line.n > 1 else ""
    return f"{line.mean:.{digits}f}{spread}"


def _write(
    name: str,
    table: pd.DataFrame,
    caption: str,
    heads: Iterable[str],
    blocks: Iterable[list[list[str]]],
    out: str | Path,
    columns: str,
    over: Sequence[tuple[str, int]] = (),
) -> list[Path]:
    """Write a table; `over` are headings above the heads, each over so many columns."""
    first, *others = ruled(heads, blocks)
    groups = [row(rf"\multicolumn{{{width}}}{{c}}{{{escape(text)}}}" for text, width in over)] if over else []
    ends = accumulate(width for _, width in over)
    rules = [
        rf"\cmidrule(lr){{{end - width + 1}-{end}}}"
        for (text, width), end in zip(over, ends, strict=True)
        if text
    ]
    lines = [first, *groups, *(["".join(rules)] if rules else []), *others]
    csv, tex = write(name, table, document(name, caption, columns, lines), out)
    return [tex, csv]
