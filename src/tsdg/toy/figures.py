"""The figures of the toy study: what the data look like, and divergence against target risk."""

import math
from itertools import cycle
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from tsdg.data.toy import CLASSES, DOMAINS, LENGTH, SOURCES, Samples, generate
from tsdg.results.figures import FAINT, PAGE, save, style
from tsdg.results.figures.foot import Foot
from tsdg.results.figures.style import LINE, fitted, most_lines, plain
from tsdg.study.study import Study
from tsdg.toy.tables import MEAN, rank_correlation, runs

COLORS = ("#333333", "#0072B2", "#56B4E9", "#009E73", "#7FC9B0", "#CC79A7", "#E5B8CF", "#E69F00", "#D55E00")
MARKERS = "os^vDP<>X*"  # of another number than the colors, so that no two of many methods look alike
STAMP = "Simulated waves"
CHANNELS = ("#0072B2", "#E69F00")  # blue, orange
NOTES = (
    "A point is a run ({}) or a method's mean over its runs ({}); the divergence is the mean over "
    "sources. The correlation is Spearman's."
)
SHIFT = 28  # between the two channels, in units of the signal


def toy_dataset(study: Study, runs_folder: str | Path, out: str | Path, *, width: float = PAGE) -> list[Path]:
    """Draw the two waves, and one sample of each domain and class: what is measured, and the wave within.

    Domains stand side by side in a page's width, one above the other in a column's.
    """
    data = generate(seed=0)
    beside = width >= PAGE
    names = ["(a) without noise"] + [
        f"({letter}) {name} ({domain.role}), noise {domain.noise:g}"
        for letter, (name, domain) in zip("bcde", DOMAINS.items(), strict=True)
    ]
    kinds = [f"{kind} wave" for kind in CLASSES]
    with style():
        handles = [
            *(
                Line2D([], [], color=color, linewidth=0.8, label=f"channel {channel}")
                for channel, color in enumerate(CHANNELS, start=1)
            ),
            Line2D([], [], color="black", linewidth=1.1, label="the wave in it, amplitude 1"),
        ]
        foot = Foot(width, [], handles)
        lines = len(kinds) if beside else len(names)
        high, head, below = (1.05 if beside else 0.72), 0.22, 0.38
        height = head + lines * high + below + foot.height
        figure = Figure(figsize=(width, height))
        places = figure.subplots(lines, len(names) + len(kinds) - lines, sharex=True)
        axes = places if beside else places.T  # classes by without noise and domains
        for ax in axes[:, 1:].flat[1:]:
            ax.sharey(axes[0, 1])
        for label, own in enumerate(axes):
            samples = data[SOURCES[0]]
            own[0].plot(samples.signal[_sample(samples, label), 0], color=CHANNELS[label], linewidth=1.1)
            own[0].set_ylim(-3, 3)
            for ax, name in zip(own[1:], DOMAINS, strict=True):
                _measured(ax, data[name], label)
        for ax, name in zip(places[0], names if beside else kinds, strict=True):
            ax.set_title(name, pad=4)
        for ax, name in zip(places[:, 0], kinds if beside else fitted(names, 0.55), strict=True):
            ax.set_ylabel(name, rotation=90 if beside else 0, ha="center" if beside else "right")
            ax.yaxis.label.set_verticalalignment("bottom" if beside else "center")
        figure.align_ylabels(places[:, 0])
        for ax in places[-1]:
            ax.set_xlabel("time step")
        left, low, top = (0.5 if beside else 1.0) / width, (below + foot.height) / height, 1 - head / height
        figure.subplots_adjust(left=left, right=1 - 0.1 / width, top=top, bottom=low, wspace=0.2, hspace=0.1)
        foot.write(figure)
        return save(figure, out, "toy_dataset", stamp=STAMP)


def _sample(samples: Samples, label: int) -> int:
    """Position of the sample of a class that is nearest to three cycles."""
    of_class = np.flatnonzero(samples.y == label)
    return int(of_class[np.abs(samples.cycles[of_class] - 3).argmin()])


def _measured(ax: Axes, samples: Samples, label: int) -> None:
    """Draw both channels of a sample, one above the other, and the waves in them."""
    chosen = _sample(samples, label)
    for channel, (place, color) in enumerate(zip((SHIFT, 0), CHANNELS, strict=True)):
        ax.plot(samples.x[chosen, channel] + place, color=color, linewidth=0.5, alpha=0.8)
        wave = samples.signal[chosen, channel]
        if wave.any():
            ax.plot(wave + place, color="black", linewidth=1.1)
    ax.set_yticks([])
    ax.set_xlim(0, LENGTH)
    ax.set_xticks(range(0, LENGTH, 50))


def divergence_vs_risk(
    study: Study, runs_folder: str | Path, out: str | Path, *, width: float = PAGE
) -> list[Path]:
    """Draw every run's average H-divergence against its target risk; the methods' means beside or below."""
    every = runs(study, runs_folder)
    table = every[(every["source"] == MEAN) & every["divergence"].notna()]
    found = rank_correlation(every)
    there = {row: own for row in study.toy["variants"] if len(own := table[table["variant"] == row])}
    looks = dict(zip(study.toy["variants"], zip(cycle(COLORS), cycle(MARKERS), strict=False), strict=False))
    handles = [
        Line2D([], [], color=color, marker=marker, ms=4, linestyle="", label=plain(entry["label"]))
        for row, entry in study.toy["variants"].items()
        for color, marker in [looks[row]]
        if row in there
    ]
    if (table["status"] == "not stopped").any():
        label = "stopping rule never met"
        handles.append(Line2D([], [], color=FAINT, marker="o", mfc="none", ms=4, linestyle="", label=label))
    abreast = 2 if width >= PAGE else 1
    notes = NOTES.format(*(("left", "right") if abreast == 2 else ("above", "below")))
    foot = Foot(width, [notes], handles)
    left, between, right = 0.5, 0.2, 0.1
    side = (width - left - right - between * (abreast - 1)) / abreast
    titles = fitted(
        [
            _correlation(found["runs"], f"{found['n']} runs").capitalize(),
            f"Means ± s.d.: {_correlation(found['methods'], f'{len(there)} methods')}",
        ],
        side,
    )
    head, high, below = 0.1 + LINE * most_lines(titles), 2.3, 0.38
    height = 2 // abreast * (head + high + below) + foot.height
    with style():
        figure = Figure(figsize=(width, height))
        axes: list[Axes] = []
        for k, title in enumerate(titles):
            x = left + k % abreast * (side + between)
            y = height - (k // abreast + 1) * (head + high + below) + below
            place = (x / width, y / height, side / width, high / height)
            ax = figure.add_axes(place, sharex=axes[0] if k else None, sharey=axes[0] if k else None)
            ax.set_title(title, pad=3)
            ax.set_xlabel("average H-divergence, sources to target")
            if k % abreast == 0:
                ax.set_ylabel("target risk")
            else:
                ax.tick_params(axis="y", labelleft=False)
            ax.grid()
            axes.append(ax)
        single, means = axes
        for row, own in there.items():
            color, marker = looks[row]
            ended = own["status"] == "stopped"
            for some, face in ((own[ended], color), (own[~ended], "none")):
                x, y = some["divergence"], some["target_risk"]
                single.plot(x, y, marker, color=color, mfc=face, ms=3, alpha=0.75 if face == color else 1)
            x, y = own["divergence"], own["target_risk"]
            means.plot(x.mean(), y.mean(), marker, color=color, ms=4)
            if len(own) > 1:
                means.errorbar(x.mean(), y.mean(), y.std(), x.std(), color=color, elinewidth=0.8)
        single.xaxis.set_major_locator(MaxNLocator(5, prune="upper"))  # the next diagram's first is beside
        foot.write(figure)
        return save(figure, out, "divergence_vs_risk", stamp=STAMP)


def _correlation(value: float, of: str) -> str:
    return (
        f"too few for a rank correlation ({of})"
        if math.isnan(value)
        else f"rank correlation {value:.2f} ({of})"
    )
