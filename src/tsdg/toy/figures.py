"""The figures of the toy study: what the data look like, and divergence against target risk."""

import math
from itertools import cycle, product
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from tsdg.data.toy import CLASSES, DOMAINS, LENGTH, SOURCES, Samples, generate
from tsdg.results.figures import FAINT, PAGE, save, style
from tsdg.results.figures.foot import Foot
from tsdg.results.figures.style import plain
from tsdg.study.study import Study
from tsdg.toy.tables import MEAN, rank_correlation, runs

COLORS = ("#333333", "#0072B2", "#56B4E9", "#009E73", "#7FC9B0", "#CC79A7", "#E5B8CF", "#E69F00", "#D55E00")
MARKERS = "os^v"
CHANNELS = ("#0072B2", "#E69F00")  # blue, orange
NOTES = (
    "A point is a run (left) or a method's mean over its runs (right); the divergence is the mean over "
    "sources. The correlation is Spearman's."
)
SHIFT = 28  # between the two channels, in units of the signal


def toy_dataset(study: Study, runs_folder: str | Path, out: str | Path) -> list[Path]:
    """Draw the two waves, and one sample of each domain and class: what is measured, and the wave within."""
    data = generate(seed=0)
    with style():
        figure = Figure(figsize=(PAGE, 3.0))
        axes = figure.subplots(len(CLASSES), 1 + len(DOMAINS), sharex=True)
        for ax in axes[:, 1:].flat[1:]:
            ax.sharey(axes[0, 1])
        for label, kind in enumerate(CLASSES):
            samples = data[SOURCES[0]]
            clean = axes[label, 0]
            clean.plot(samples.signal[_sample(samples, label), 0], color=CHANNELS[label], linewidth=1.1)
            clean.set_ylim(-3, 3)
            clean.set_ylabel(f"{kind} wave")
            for column, name in enumerate(DOMAINS, start=1):
                _measured(axes[label, column], data[name], label)
        axes[0, 0].set_title("(a) without noise", fontsize=7)
        for letter, ax, (name, domain) in zip("bcde", axes[0, 1:], DOMAINS.items(), strict=True):
            ax.set_title(f"({letter}) {name} ({domain.role}), noise {domain.noise:g}", fontsize=7)
        for ax in axes[1]:
            ax.set_xlabel("time step")
        figure.subplots_adjust(left=0.07, right=0.985, top=0.92, bottom=0.2, wspace=0.2, hspace=0.1)
        handles = [
            *(
                Line2D([], [], color=color, linewidth=0.8, label=f"channel {channel}")
                for channel, color in enumerate(CHANNELS, start=1)
            ),
            Line2D([], [], color="black", linewidth=1.1, label="the wave in it, amplitude 1"),
        ]
        figure.legend(handles=handles, loc="lower center", ncols=3)
        return save(figure, out, "toy_dataset")


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


def divergence_vs_risk(study: Study, runs_folder: str | Path, out: str | Path) -> list[Path]:
    """Draw every run's average H-divergence against its target risk; the methods' means beside."""
    every = runs(study, runs_folder)
    table = every[(every["source"] == MEAN) & every["divergence"].notna()]
    found = rank_correlation(every)
    with style():
        figure = Figure(figsize=(PAGE, 3.1))
        left, right = figure.subplots(1, 2, sharex=True, sharey=True)
        handles = []
        looks = cycle(product(MARKERS, COLORS))
        for (marker, color), (variant, entry) in zip(looks, study.toy["variants"].items(), strict=False):
            own = table[table["variant"] == variant]
            if own.empty:
                continue
            ended = own["status"] == "stopped"
            left.plot(
                own["divergence"][ended], own["target_risk"][ended], marker, color=color, ms=3, alpha=0.75
            )
            left.plot(
                own["divergence"][~ended], own["target_risk"][~ended], marker, mfc="none", mec=color, ms=3
            )
            x, y = own["divergence"], own["target_risk"]
            right.plot(x.mean(), y.mean(), marker, color=color, ms=4)
            if len(own) > 1:
                right.errorbar(x.mean(), y.mean(), y.std(), x.std(), color=color, elinewidth=0.8)
            handles.append(
                Line2D([], [], color=color, marker=marker, ms=4, linestyle="", label=plain(entry["label"]))
            )
        if (table["status"] == "not stopped").any():
            label = "stopping rule never met"
            hollow = Line2D([], [], color=FAINT, marker="o", mfc="none", ms=4, linestyle="", label=label)
            handles.append(hollow)
        methods = table["variant"].nunique()
        left.set_title(_correlation(found["runs"], f"{found['n']} runs").capitalize())
        right.set_title(f"Means ± s.d.: {_correlation(found['methods'], f'{methods} methods')}")
        left.set_ylabel("target risk")
        for ax in (left, right):
            ax.set_xlabel("average H-divergence, sources to target")
            ax.xaxis.set_major_locator(MaxNLocator(5, prune="upper"))  # the next diagram's first is beside
            ax.grid()
        foot = Foot(PAGE, [NOTES])
        low = (foot.height + 0.38) / (3.1 + foot.height)
        figure.set_size_inches(PAGE, 3.1 + foot.height)
        figure.subplots_adjust(left=0.07, right=0.745, top=0.93, bottom=low, wspace=0.1)
        foot.write(figure)
        figure.legend(handles=handles, loc="center left", bbox_to_anchor=(0.75, 0.55), handlelength=1.2)
        return save(figure, out, "divergence_vs_risk", stamp="Simulated waves")


def _correlation(value: float, of: str) -> str:
    return (
        f"too few for a rank correlation ({of})"
        if math.isnan(value)
        else f"rank correlation {value:.2f} ({of})"
    )
