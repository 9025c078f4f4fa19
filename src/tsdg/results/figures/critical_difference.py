"""The critical-difference diagram of a ranking: methods by average rank, bars join those not told apart."""

import math
from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from tsdg.results.figures.foot import Foot
from tsdg.results.figures.style import (
    LINE,
    OURS,
    PAGE,
    PAPER,
    apart,
    fitted,
    plain,
    save,
    style,
    text_width,
    unparsed,
)
from tsdg.results.ranking import ALPHA, Ranking, posthocs
from tsdg.study.layout import Layout

HEAD, ROW, BELOW = 0.42, 0.14, 0.1  # heights: above the axis, of a name, and beneath them, inches
BESIDE = 0.25  # ranks of the axis before the first and after the last
RANK, TICK = 0.38, 0.25  # widths of a rank beside a name and of one at the axis, inches


def critical_difference(
    ranking: Ranking,
    layout: Layout,
    remarks: Sequence[str],
    out_folder: str | Path,
    *,
    width: float = PAGE,
    stamp: str = "",
) -> list[Path]:
    """Draw ``critical_difference.pdf`` and ``.png``, with remarks at the foot and what is stamped above.

    The diagram is scikit-posthocs'. Without a test there are no bars.
    """
    layout = unparsed(layout)
    variants = list(ranking.average.index)
    names = [layout.labels[variant] for variant in variants]
    if len(set(names)) < len(names):
        names = variants
    # By number: the library has them in sets, and sets of words have another order in every process.
    number = {variant: k for k, variant in enumerate(variants)}
    said = [] if math.isnan(ranking.friedman) else ["Bars join methods that were not told apart."]
    said += ["Ours are orange."] if set(variants) & set(layout.ours) else []
    foot = Foot(width, [plain(line) for line in [*said, *remarks]])
    names = fitted(names, 0.37 * width - RANK)
    margin = 0.05 * (len(names) - 1)  # between the outermost ranks and the names, in ranks
    beside = max(BESIDE, margin)
    side = 0.06 + RANK + max(text_width(line) for name in names for line in name.split("\n"))
    with style():
        figure = Figure(figsize=(width, 1.0))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        drawn = posthocs().critical_difference_diagram(
            ranking.average.rename(number),
            ranking.pairs.rename(index=number, columns=number).fillna(0),
            alpha=ALPHA,
            ax=ax,
            label_fmt_left="{label}",
            label_fmt_right="{label}",
            text_h_margin=margin,
            color_palette={k: OURS if v in layout.ours else PAPER for v, k in number.items()},
            elbow_props={"linewidth": 0.7},
            marker_props={"s": 8},
            crossbar_props={"color": PAPER, "linewidth": 2, "solid_capstyle": "round"},
        )
        columns: dict[str, list[str]] = {}  # of names, as they stand beneath each other
        for label in drawn["labels"]:
            k = int(label.get_text())
            at = {"xy": label.get_position(), "textcoords": "offset points", "color": label.get_color()}
            at |= {"ha": label.get_ha(), "va": "center", "annotation_clip": False}
            outward = -72 if label.get_ha() == "right" else 72
            ax.annotate(f"{ranking.average.iloc[k]:.2f}", xytext=(0.04 * outward, 0), **at)
            ax.annotate(names[k], xytext=(RANK * outward, 0), linespacing=1.1, **at)
            columns.setdefault(at["ha"], []).append(names[k])
            label.set_visible(False)
        levels = 0.6 - min(label.get_position()[1] for label in drawn["labels"])
        ax.set_xlim(1 - beside, len(names) + beside)
        ax.set_xticks(range(1, len(names) + 1, math.ceil(len(names) * TICK / (width - 2 * side))))
        ax.set_ylim(-levels, 0.3)
        ax.spines["top"].set_visible(True)
        diagram = (ROW + LINE * (max(map(apart, columns.values())) - 1)) * levels
        height = HEAD + diagram + BELOW + foot.height
        figure.set_size_inches(width, height)
        lowest = (BELOW + foot.height) / height
        ax.set_position((side / width, lowest, 1 - 2 * side / width, diagram / height))
        figure.text(0.5, 1 - 0.06 / height, "average rank", ha="center", va="top")
        foot.write(figure)
        return save(figure, out_folder, "critical_difference", stamp=stamp)
