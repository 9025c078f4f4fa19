"""How training goes: the parts of the loss, the loss by number of clusters, and the time of an iteration."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullFormatter

from tsdg.errors import InputError
from tsdg.results.captions import legend, notes, simulated
from tsdg.results.figures.foot import Foot
from tsdg.results.figures.style import (
    DASHES,
    FAINT,
    LINE,
    PAGE,
    SERIES,
    fitted,
    most_lines,
    save,
    stamp,
    style,
    unparsed,
)
from tsdg.results.reading import read_records
from tsdg.results.selected import shown_runs
from tsdg.runs.record import Record
from tsdg.study.layout import Layout, joined

FEW = 8  # points of a line, below which each is marked
PARTS = {"loss": "total", "cross_entropy": "cross-entropy", "consistency": "consistency"}


def mean_losses(records: Iterable[Record]) -> pd.DataFrame:
    """Mean over runs of each part of the loss, by iteration; empty where no run has a value.

    Each value is itself the mean over the iterations since the one before.
    """
    runs = [pd.DataFrame(record.losses).set_index("iteration").astype(float) for record in records]
    return pd.concat(runs).groupby(level=0).mean() if runs else pd.DataFrame()


def iteration_times(records: Iterable[Record]) -> pd.DataFrame:
    """A row a run: ``clusters`` (how many), ``milliseconds`` an iteration, and ``device`` in words."""
    rows = []
    for record in records:
        machine, timing = record.machine, record.timing
        together = timing.runs_at_once
        rows.append(
            {
                "clusters": len(set((record.config.get("clusters") or {}).values())),
                "milliseconds": 1000 * timing.seconds_per_iteration,
                "device": f"{machine.device.upper()} {machine.device_name}".strip()
                + (f", {together} runs at once" if together > 1 else ""),
            }
        )
    return pd.DataFrame(rows, columns=["clusters", "milliseconds", "device"])


def draw(
    selected: pd.DataFrame,
    layout: Layout,
    runs: str | Path,
    out_folder: str | Path,
    name: str,
    *,
    variant: str,
    width: float = PAGE,
) -> list[Path]:
    """Draw three panels, of variants that differ in their number of clusters.

    The parts of one variant's loss, the loss of every variant, and the time of an iteration by clusters.

    Raises
    ------
    InputError
        A run was trained without clusters.
    """
    layout = unparsed(joined([layout], metrics=["accuracy"]))
    by_variant: dict[str, list] = {row: [] for row in layout.rows}
    for row, record, _ in read_records(shown_runs(selected, layout), runs):
        if not record.config.get("clusters"):
            raise InputError(
                f"figures.{name}: {row.variant} was trained without clusters, of which the figure counts; "
                "its tables should have variants of ours-metadata"
            )
        by_variant[row.variant].append(record)
    times = iteration_times(record for own in by_variant.values() for record in own)
    devices = ", ".join(dict.fromkeys(times["device"])) or "no run"
    foot = Foot(
        width,
        [
            "Losses: mean over runs, and over the iterations since the point before.",
            f"Time of an iteration on {devices}: a dot a run, mean and standard deviation.",
            *legend(layout),
            *notes(selected, layout),
        ],
        _legend(by_variant, layout),
    )
    abreast = 3 if width >= PAGE else 1
    left, between, side_margin = 0.45, 0.5, 0.1
    side = (width - left - side_margin - between * (abreast - 1)) / abreast
    titles = fitted([f"Parts of the loss, {layout.labels[variant]}", "Loss", "Time of an iteration"], side)
    head, high, below = 0.1 + LINE * most_lines(titles), 1.7 if abreast == 3 else 1.35, 0.36
    lines = 3 // abreast
    height = lines * (head + high + below) + foot.height
    with style():
        figure = Figure(figsize=(width, height))
        axes = []
        for k, title in enumerate(titles):
            x = left + k % abreast * (side + between)
            y = height - (k // abreast + 1) * (head + high + below) + below
            ax = figure.add_axes((x / width, y / height, side / width, high / height))
            ax.set_title(title, pad=3)
            axes.append(ax)
        parts, loss, time = axes
        _parts(parts, by_variant[variant])
        _losses(loss, by_variant)
        _times(time, times)
        foot.write(figure)
        return save(figure, out_folder, name, stamp=stamp(simulated(selected, layout), layout))


def looks(variants: Iterable[str]) -> dict[str, tuple[str, Any]]:
    """Color and dashes of each variant."""
    return {  # no two alike of as many as there are colors times dashes
        variant: (SERIES[k % len(SERIES)], DASHES[(k + k // len(SERIES)) % len(DASHES)])
        for k, variant in enumerate(variants)
    }


def _legend(by_variant: Mapping[str, list], layout: Layout) -> list[Line2D]:
    there = looks({row: records for row, records in by_variant.items() if records})
    return [
        Line2D([], [], color=color, linestyle=dashes, linewidth=1.1, label=layout.labels[row])
        for row, (color, dashes) in there.items()
    ]


def _parts(ax: Axes, records: list) -> None:
    means = mean_losses(records)
    drawn = means[[part for part in PARTS if part in means]]
    for color, dashes, part in zip(SERIES, DASHES, drawn, strict=False):
        ax.plot(drawn.index, drawn[part], color=color, linestyle=dashes, linewidth=1.1, label=PARTS[part])
    _over_iterations(ax, drawn)


def _losses(ax: Axes, by_variant: Mapping[str, list]) -> None:
    losses = {}
    there = {variant: records for variant, records in by_variant.items() if records}
    for variant, (color, dashes) in looks(there).items():
        for record in there[variant] if len(there[variant]) > 1 else []:
            ax.plot(*(record.losses[key] for key in ("iteration", "loss")), color=color, lw=0.4, alpha=0.4)
        losses[variant] = mean_losses(there[variant])["loss"]
        ax.plot(losses[variant], color=color, linestyle=dashes, lw=1.1)
    _over_iterations(ax, pd.DataFrame(losses))


def _over_iterations(ax: Axes, drawn: pd.DataFrame) -> None:
    """Axes and legend of lines over iterations; values that range over a decade on a log scale."""
    ax.set_xlabel("iteration")
    ax.grid()
    if drawn.empty:
        return _missing(ax)
    ax.set_xlim(0, 1.03 * drawn.index.max())
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True, steps=[1, 2, 5, 10]))
    if len(drawn) < FEW:
        for line in ax.lines:
            line.set(marker="o", markersize=2.5)
    named = [line for line in ax.lines if not str(line.get_label()).startswith("_")]
    positive = drawn[drawn > 0].stack()
    if positive.max() > 10 * positive.min():
        ax.set_yscale("log")
        ax.yaxis.set_minor_formatter(NullFormatter())
    if named:
        low, high = ax.get_ylim()  # room for the legend
        logarithmic = ax.get_yscale() == "log"
        ax.set_ylim(low, high * (high / low) ** 0.15 if logarithmic else high + 0.45 * (high - low))
        ax.legend(handlelength=2.6, loc="upper right", borderaxespad=0)
    return None


def _times(ax: Axes, times: pd.DataFrame) -> None:
    ax.set_xlabel("clusters")
    ax.set_ylabel("milliseconds")
    if times.empty:
        return _missing(ax)
    places = {count: k for k, count in enumerate(sorted(set(times["clusters"])))}
    ax.plot(
        times["clusters"].map(places), times["milliseconds"], "o", color=SERIES[0], ms=2.6, alpha=0.4, mew=0
    )
    of_count = times.groupby("clusters")["milliseconds"]
    ax.errorbar(
        list(places.values()),
        of_count.mean(),
        of_count.std().fillna(0),
        fmt="_",
        color=SERIES[0],
        ms=9,
        elinewidth=1,
    )
    ax.set_xticks(list(places.values()), [str(count) for count in places])
    ax.set_xlim(-0.6, len(places) - 0.4)
    ax.set_ylim(0, 1.1 * max(times["milliseconds"].max(), (of_count.mean() + of_count.std().fillna(0)).max()))
    ax.grid(axis="y")
    return None


def _missing(ax: Axes) -> None:
    ax.text(0.5, 0.5, "missing", transform=ax.transAxes, ha="center", color=FAINT, style="italic")
