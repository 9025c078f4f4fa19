"""Is a method better than another on the next domain? A hierarchical comparison over targets and seeds.

On target t, with seed s, two methods differ by d_ts = mu + a_t + e_ts: the domain's own difference mu + a_t,
where a_t ~ N(0, tau^2), and the noise of the seed, e_ts ~ N(0, sigma^2). Asked is the difference of a domain
that is not there yet, mu + a_new, of which seeds are averaged out: how probably it is above a region of
practical equivalence, within, or below.

Priors are flat in mu, log sigma and tau (Gelman, Bayesian Analysis 1, 2006). Given the spreads everything is
normal; they are integrated numerically, so that the posterior is a mixture of normals and nothing is sampled.
Targets whose trainings share sources are correlated, but alike: that moves mu + a_new along, and the
prediction stays right where a test of mu = 0 would not be.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from tsdg.results.latex import document, escape, ruled
from tsdg.results.selected import shown_runs
from tsdg.results.tables import write
from tsdg.study.layout import Layout
from tsdg.study.metric import METRICS

FEWEST = 3  # targets, of fewer the spread between them cannot be told
INTERVAL = 0.95
ALL = "all"  # data sets, each of which counts alike

Array = NDArray[np.float64]

_TAU = (np.arange(100) + 0.5) / 100  # u of tau = scale u / (1 - u)
_SIGMA = np.exp(np.linspace(-2.5, 2.5, 31))  # times the seeds' pooled deviation


@dataclass(frozen=True)
class Prediction:
    """The difference on the next domain: a mixture of normals.

    Attributes
    ----------
    weights, means, deviations : array, (G,)
        Of its parts.
    between, within : float
        Posterior means of tau and sigma.
    """

    weights: Array
    means: Array
    deviations: Array
    between: float
    within: float

    def below(self, value: float) -> float:
        """Probability of less than a value."""
        gap = value - self.means
        z = np.divide(gap, self.deviations, out=np.sign(gap) * np.inf, where=self.deviations > 0)
        return float(self.weights @ np.where(np.isnan(z), 0.5, ndtr(z)))

    def quantile(self, q: float) -> float:
        """The value below which it is with probability q."""
        reach = 40 * self.deviations.max() + 1e-9
        ends = self.means.min() - reach, self.means.max() + reach
        return float(brentq(lambda value: self.below(value) - q, *ends, xtol=1e-6))

    @classmethod
    def mixed(cls, parts: Sequence[Self]) -> Self:
        """Of a next domain that is as likely of each data set."""
        weights = np.concatenate([part.weights / len(parts) for part in parts])
        means = np.concatenate([part.means for part in parts])
        deviations = np.concatenate([part.deviations for part in parts])
        between, within = (fmean(getattr(part, name) for part in parts) for name in ("between", "within"))
        return cls(weights, means, deviations, between, within)


def predict(differences: Sequence[Sequence[float]]) -> Prediction:
    """From the differences of each target, one a seed, of `FEWEST` targets or more.

    Where no target has two seeds, their noise cannot be told from the domains' and counts as theirs.
    """
    values = [np.asarray(of_target, dtype=float) for of_target in differences]
    n = np.array([len(of_target) for of_target in values])
    mean = np.array([of_target.mean() for of_target in values])
    squares = sum(float(((one - one.mean()) ** 2).sum()) for one in values)
    free = int((n - 1).sum())
    noise = math.sqrt(squares / free) if free else 0.0
    scale = max(float(mean.std(ddof=1)), noise / math.sqrt(n.mean()))
    if scale == 0:
        return Prediction(np.ones(1), mean[:1], np.zeros(1), 0.0, 0.0)
    grids = np.meshgrid(scale * _TAU / (1 - _TAU), noise * _SIGMA if noise else np.zeros(1))
    tau, sigma = (grid.ravel() for grid in grids)
    weight = 1 / (tau[:, None] ** 2 + sigma[:, None] ** 2 / n)  # (G, T), of a target's mean
    precision = weight.sum(1)
    mu = weight @ mean / precision
    log = 0.5 * (np.log(weight).sum(1) - np.log(precision) - (weight * (mean - mu[:, None]) ** 2).sum(1))
    if noise:
        log -= free * np.log(sigma) + squares / (2 * sigma**2)
    log += 2 * np.log1p(tau / scale)  # of the grid: d tau / d u = scale / (1 - u)^2
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    deviations = np.sqrt(tau**2 + 1 / precision)
    return Prediction(weights, mu, deviations, float(weights @ tau), float(weights @ sigma))


def default_rope(metric: str) -> float:
    """One point, or 0.01 of a metric that is no percentage."""
    return 1.0 if METRICS[metric].unit == "%" else 0.01


def pairs(layout: Layout, baseline: str | None = None) -> list[tuple[str, str]]:
    """What is compared: all with the baseline, and ours with all.

    The baseline is by default the first row that is a network's and not ours.
    """
    others = [row for row in layout.ordered if row not in layout.ours]
    networks = [row for row in others if row not in layout.baselines]
    first = baseline or next(iter(networks or others or layout.ordered))
    found = [(row, first) for row in layout.ordered] + list(product(layout.ours, others))
    return list(dict.fromkeys(pair for pair in found if pair[0] != pair[1]))


def compare(
    selected: pd.DataFrame, layout: Layout, *, baseline: str | None = None, rope: float | None = None
) -> pd.DataFrame:
    """Every pair, by data set and over all.

    Parameters
    ----------
    selected, layout
        As for `tsdg.results.ranking.block_values`.
    baseline
        See `pairs`.
    rope : float, optional
        Half the width of the region of practical equivalence, in the unit of the metric.

    Returns
    -------
    DataFrame
        A row for each pair and data set (and `ALL`, of metrics in one unit): ``row``, ``than``, ``targets``
        and ``runs`` of both; ``difference``, positive where the row is better, the mean over targets; of the
        next domain ``low`` and ``high`` (95%), ``better``, ``equivalent`` and ``worse``, probabilities;
        ``rope``, ``unit``; ``between`` domains and ``within`` them, standard deviations. Of fewer than
        three targets nothing is predicted.
    """
    shown = shown_runs(selected, layout)
    units = {METRICS[panel.metrics[0]].unit for panel in layout.panels}
    keys = ["dataset", "target", "seed"]
    rows = []
    for row, than in pairs(layout, baseline):
        found: list[tuple[float, Prediction | None]] = []
        counted = np.zeros(2, int)
        for panel in layout.panels:
            metric, name = METRICS[panel.metrics[0]], panel.metrics[0]
            own = shown[shown["dataset"] == panel.dataset]
            wide = own.pivot(index=keys, columns="variant", values=name).reindex(columns=[row, than]).dropna()
            sign = metric.scale * (1 if metric.higher_is_better else -1)
            by_target = [list(part) for _, part in (sign * (wide[row] - wide[than])).groupby(level="target")]
            prediction = predict(by_target) if len(by_target) >= FEWEST else None
            difference = fmean(map(fmean, by_target)) if by_target else math.nan
            width = default_rope(name) if rope is None else rope
            count = np.array([len(by_target), len(wide)])
            about = {"row": row, "than": than, "dataset": panel.dataset}
            rows.append(about | _said(difference, prediction, count, width, metric.unit))
            found.append((difference, prediction))
            counted += count
        if len(layout.panels) > 1 and len(units) == 1:
            known = [prediction for _, prediction in found if prediction]
            whole = Prediction.mixed(known) if len(known) == len(found) else None
            about = {"row": row, "than": than, "dataset": ALL}
            rows.append(about | _said(fmean(d for d, _ in found), whole, counted, width, metric.unit))
    return pd.DataFrame(rows)


def _said(
    difference: float, prediction: Prediction | None, counted: NDArray[np.int_], rope: float, unit: str
) -> dict[str, Any]:
    numbers = dict.fromkeys(("low", "high", "better", "equivalent", "worse", "between", "within"), math.nan)
    if prediction:
        tail = (1 - INTERVAL) / 2
        worse, better = prediction.below(-rope), 1 - prediction.below(rope)
        numbers = {
            "low": prediction.quantile(tail),
            "high": prediction.quantile(1 - tail),
            "better": better,
            "equivalent": max(0.0, 1 - better - worse),
            "worse": worse,
            "between": prediction.between,
            "within": prediction.within,
        }
    targets, runs = map(int, counted)
    return {"targets": targets, "runs": runs, "difference": difference, **numbers, "rope": rope, "unit": unit}


def render(table: pd.DataFrame, layout: Layout, remarks: Sequence[str], out: str | Path) -> list[Path]:
    """Write ``next_domain.csv`` (`compare`) and ``next_domain.tex``."""
    titles: Mapping[str, str] = layout.titles | {ALL: "A data set at random"}
    chances = ["better", "equivalent", "worse"]
    heads = ["Method", "than", "Difference", "95% of domains", *chances, "Between", "Seeds"]
    blocks = []
    for dataset, part in table.groupby("dataset", sort=False):
        lines = [[escape(titles[str(dataset)]), *[""] * (len(heads) - 1)]] if len(layout.panels) > 1 else []
        for one in part.itertuples():
            names = [escape(layout.labels[row]) for row in (one.row, one.than)]
            spread = "--" if math.isnan(one.low) else f"${one.low:+.1f}$ to ${one.high:+.1f}$"
            said = [_percent(value) for value in (one.better, one.equivalent, one.worse)]
            ends = ["--" if math.isnan(value) else f"{value:.1f}" for value in (one.between, one.within)]
            difference = "--" if math.isnan(one.difference) else f"${one.difference:+.1f}$"
            lines.append([*names, difference, spread, *said, *ends])
        blocks.append(lines)
    tex = document("next_domain", " ".join(remarks), "llrrrrrrr", ruled(heads, blocks))
    labels = {"label": table["row"].map(layout.labels), "than_label": table["than"].map(layout.labels)}
    return write("next_domain", table.assign(**labels), tex, out)


def _percent(probability: float) -> str:
    return "--" if math.isnan(probability) else f"{100 * probability:.0f}"


def describe(table: pd.DataFrame, layout: Layout) -> list[str]:
    """What a reader must know, in sentences."""
    widths = (f"{one.rope:g}{one.unit and ' points'}" for one in table.itertuples())
    width = ", ".join(dict.fromkeys(widths))
    found = [
        "How much better a method will be than another on the next domain, one like those of the tables, "
        "with its seeds averaged out. better, equivalent, worse: the probability in % of a difference above "
        f"{width}, within, and below the negative; it is positive where the method is better. Differences "
        "are of the same target and seed; domains spread around their mean (Between, standard deviation) "
        "and seeds within a domain (Seeds), both of which are estimated."
    ]
    if len(layout.panels) > 1:
        found.append("Over several data sets each counts alike.")
    if table["low"].isna().any():
        found.append(f"Nothing is said of fewer than {FEWEST} targets.")
    if (table["runs"] <= table["targets"]).any():
        found.append("Of one seed, its noise counts as the domains' spread.")
    return found
