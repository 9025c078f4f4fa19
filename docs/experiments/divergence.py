"""Does alignment make domains alike in a network's features, and does that go with accuracy on the target? ::

    python docs/experiments/divergence.py --data results/data/bearings-size --out docs/data/divergence.csv \\
        --set protocol=single --set iterations=300 --set 'variants.ours-metadata-one={label: One cluster, \\
        method: ours-metadata, clusters: [[A, B, C, D, E, F]]}' --targets A B C D E F \\
        --variants erm ours-metadata-plain ours-metadata-one --figure docs/images/divergence.png

Where a sensor is held out, with its rows added to the same csv: ``--data results/data/bearings --targets
'location=drive end' 'location=fan end' --variants erm ours-metadata ours-learned``.

A network's features of every source's validation windows and of all of the target's stay in a folder: what is
there is not trained again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
import trainings
from matplotlib.figure import Figure
from scipy import stats
from seeds import show
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError
from tsdg.files import atomic
from tsdg.learning.inputs import Windows
from tsdg.results.figures.forest import interval
from tsdg.results.figures.style import PAGE, SERIES, style
from tsdg.runs.training import EVALUATION_WINDOWS, Trainer
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study
from tsdg.toy.divergence import fit as svm

RUN = ["dataset", "variant", "target", "seed"]
MEASURES = ["linear", "linear_by_class", "svm"]
DRAWN = "linear_by_class"
WITHIN, BETWEEN, TARGET = "sources of one end", "sources, one of each end", "a source and the target"


def linear(x: np.ndarray, y: np.ndarray) -> LogisticRegression:
    """A logistic regression."""
    return LogisticRegression(max_iter=1000).fit(x, y)


def divergence(first: np.ndarray, second: np.ndarray, fit: Callable[..., Any]) -> float:
    """H-divergence of two domains: 2 (1 - 2 error) of a machine that tells them apart.

    Parameters
    ----------
    first, second : (2, N, F)
        Features of each domain's two halves: the machine learns from the first and is tested on the second.
    fit : callable
        Fits the machine to standardized features and which domain they are of.
    """
    learned, tested = (np.concatenate(part) for part in zip(first, second, strict=True))
    labels = np.repeat([0, 1], [first.shape[1], second.shape[1]])
    scaler = StandardScaler().fit(learned)
    found = fit(scaler.transform(learned), labels)
    error = np.mean(found.predict(scaler.transform(tested)) != labels)
    return float(2 * (1 - 2 * error))


def halves(windows: pd.DataFrame) -> list[tuple[np.ndarray, np.ndarray]]:
    """Places of a domain's windows, of each class those of two halves.

    Each recording is cut at the window in its middle; what of its first half overlaps the second is left out.
    """
    found = []
    for _, of_class in windows.reset_index(drop=True).groupby("label"):
        first, second = [], []
        for _, recording in of_class.groupby("recording"):
            starts = recording["start"].sort_values()
            middle = starts.iloc[len(starts) // 2]
            first.extend(starts.index[starts + recording["length"].iloc[0] <= middle])
            second.extend(starts.index[starts >= middle])
        found.append((np.array(first, int), np.array(second, int)))
    return found


def balanced(
    features: Mapping[str, np.ndarray], windows: Mapping[str, pd.DataFrame]
) -> dict[str, np.ndarray]:
    """Features ``(2, K, N, F)`` of each domain's halves: of each class as many, evenly over its windows."""
    places = {domain: halves(of_domain) for domain, of_domain in windows.items()}
    count = min(len(half) for of_domain in places.values() for both in of_domain for half in both)
    if not count:
        raise InputError("a class of a domain has too few windows for two halves; evaluate more of them")

    def thinned(half: np.ndarray) -> np.ndarray:
        return half[np.linspace(0, len(half) - 1, count).round().astype(int)]

    return {
        domain: np.stack([[features[domain][thinned(both[half])] for both in of_domain] for half in (0, 1)])
        for domain, of_domain in places.items()
    }


def measured(
    features: Mapping[str, np.ndarray],
    windows: Mapping[str, pd.DataFrame],
    ends: Mapping[str, str],
    held_out: Sequence[str],
) -> pd.DataFrame:
    """All pairs of sources, and of a source and a domain that is held out, of one network.

    Returns
    -------
    DataFrame
        ``first``; ``second``, which is the target's if one is; ``pairs``; ``windows`` of each class in a
        half; the divergence of all classes at once, which have equal shares, by a logistic regression
        (``linear``) and by the paper's support vector machine (``svm``), and the first's mean over classes.
    """
    z = balanced(features, windows)
    sources = [domain for domain in features if domain not in held_out]
    rows = []
    for first, second in [*combinations(sources, 2), *product(sources, held_out)]:
        a, b = z[first], z[second]
        first_z, second_z = (one.reshape(2, -1, one.shape[-1]) for one in (a, b))
        pairs = TARGET if second in held_out else WITHIN if ends[first] == ends[second] else BETWEEN
        row: dict[str, Any] = {"first": first, "second": second, "pairs": pairs, "windows": a.shape[2]}
        row["linear"] = divergence(first_z, second_z, linear)
        row["linear_by_class"] = np.mean([divergence(a[:, k], b[:, k], linear) for k in range(a.shape[1])])
        row["svm"] = divergence(first_z, second_z, svm)
        rows.append(row)
    return pd.DataFrame(rows)


@torch.no_grad()
def features(trainer: Trainer, domain: str) -> np.ndarray:
    """Features ``(N, F)`` of a domain's windows that are evaluated, in their order."""
    rows = torch.from_numpy(trainer.sources[0].evaluation[domain])
    network = trainer.method.network.eval()
    parts = rows[None].split(EVALUATION_WINDOWS, dim=1)
    return torch.cat([network.featurizer(trainer.windows[part][0])[0] for part in parts]).numpy()


def train(study: Study, dataset: WindowedDataset, run: Run, path: Path) -> None:
    """Train a network, and keep its features and its accuracy on the target."""
    trainer = Trainer(
        dataset, Windows(dataset), study.config(run.dataset, run.variant),
        targets=[run.target], seeds=[run.seed], hparams=[study.hparams(run)],
        groups=study.groups(run.dataset, [run.target]),
    )  # fmt: skip
    last = trainer.train()[0].checkpoints[-1]
    rows = trainer.sources[0].evaluation
    kept = {f"features/{domain}": features(trainer, domain) for domain in rows}
    kept |= {f"rows/{domain}": of_domain for domain, of_domain in rows.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path) as part, open(part, "wb") as file:
        np.savez(file, allow_pickle=False, accuracy=last["target"]["accuracy"], **kept)


def of_run(dataset: WindowedDataset, study: Study, run: Run, path: Path) -> pd.DataFrame:
    """What is `measured` of a network that was trained."""
    with np.load(path) as kept:
        parts: dict[str, dict[str, np.ndarray]] = {"features": {}, "rows": {}}
        for name in kept.files:
            part, _, domain = name.partition("/")
            parts.get(part, {})[domain] = kept[name]
        accuracy = float(kept["accuracy"])
    windows = {domain: dataset.windows.iloc[rows] for domain, rows in parts["rows"].items()}
    ends = {domain: values["location"] for domain, values in dataset.card["domains"].items()}
    held_out = study.groups(run.dataset, [run.target]).get(run.target, (run.target,))
    table = measured(parts["features"], windows, ends, held_out)
    own = {name: getattr(run, name) for name in RUN} | {"accuracy": accuracy}
    return pd.concat([pd.DataFrame([own] * len(table)), table], axis=1)


def of_networks(table: pd.DataFrame) -> pd.DataFrame:
    """Each network's mean divergence over its pairs of a kind: a row a network, kind and measure."""
    keys = [*RUN, "accuracy", "pairs"]
    means = table.groupby(keys, sort=False)[MEASURES].mean().reset_index()
    return means.melt(keys, var_name="measure", value_name="divergence")


def lowered(networks: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Divergence of each variant less the baseline's on the same targets, with the interval over these."""
    means = (
        networks.groupby(["measure", "pairs", "target", "variant"], sort=False)["divergence"].mean().unstack()
    )
    rows = []
    for (measure, pairs), part in means.groupby(level=["measure", "pairs"], sort=False):
        for variant in part.columns.drop(baseline):
            less = (part[variant] - part[baseline]).dropna().to_numpy()
            low, high = interval(less)
            rows.append(
                {
                    "measure": measure, "pairs": pairs, "variant": variant,
                    baseline: f"{part[baseline].mean():.2f}", "its": f"{part[variant].mean():.2f}",
                    "less": f"{less.mean():.2f} ({low:.2f} to {high:.2f})",
                    "lower on": f"{(less < 0).sum()} of {len(less)}",
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def rank_correlation(x: np.ndarray, y: np.ndarray, *, together: bool = False) -> tuple[float, float]:
    """Correlation of the ranks within rows, of all rows at once, and its two-sided p by 10,000 permutations.

    y is permuted within each row; `together` all rows alike, where columns are what may be exchanged.
    """
    x, y = (stats.rankdata(one, axis=1) for one in (x, y))
    x, y = (one - one.mean(axis=1, keepdims=True) for one in (x, y))
    generator, found = np.random.default_rng(0), (x * y).sum()

    def permuted() -> np.ndarray:
        return generator.permutation(y, axis=1) if together else generator.permuted(y, axis=1)

    drawn = np.array([(x * permuted()).sum() for _ in range(10_000)])
    extreme = (np.abs(drawn) >= np.abs(found) - 1e-9).sum()
    return float(found / np.sqrt((x**2).sum() * (y**2).sum())), float((1 + extreme) / (1 + len(drawn)))


def with_accuracy(networks: pd.DataFrame) -> pd.DataFrame:
    """Rank correlation of divergence and accuracy, among a target's networks and among targets."""
    rows = []
    for (measure, pairs), part in networks.groupby(["measure", "pairs"], sort=False):
        wide = part.pivot(index="target", columns=["variant", "seed"], values=["divergence", "accuracy"])
        x, y = (wide[name].to_numpy() for name in ("divergence", "accuracy"))
        found = rank_correlation(x, y), rank_correlation(x.T, y.T, together=True)
        of_target, of_variant = (f"{rho:.2f} (p = {p:.2f})" for rho, p in found)
        rows.append(
            {
                "measure": measure, "pairs": pairs, "networks": x.size,
                "among a target's networks": of_target, "among targets": of_variant,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def draw(networks: pd.DataFrame, labels: Mapping[str, str]) -> Figure:
    """A network is the letter of its target; a line joins a target's."""
    shown = networks[networks["measure"] == DRAWN]
    with style():
        figure = Figure(figsize=(PAGE, 2.8), layout="constrained")
        axes = figure.subplots(1, 3, sharey=True)
        for ax, pairs in zip(axes, (WITHIN, BETWEEN, TARGET), strict=True):
            own = shown[shown["pairs"] == pairs]
            for _, part in own.groupby("target"):
                ax.plot(part["divergence"], 100 * part["accuracy"], color="0.8", linewidth=0.8)
            for color, (variant, label) in zip(SERIES, labels.items(), strict=False):
                ax.plot([], [], "s", color=color, label=label)
                for row in own[own["variant"] == variant].itertuples():
                    at = (row.divergence, 100 * row.accuracy)
                    ax.text(*at, row.target, color=color, ha="center", va="center", weight="bold", size=8)
            ax.set(title=pairs, xlabel="H-divergence, mean over classes")
            ax.set_xlim(own["divergence"].min() - 0.08, own["divergence"].max() + 0.08)
            ax.grid()
        axes[0].set_ylabel("Accuracy on the target (%)")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(labels))
    return figure


def main() -> None:
    parser = trainings.parser(__doc__, "divergence.csv")
    parser.add_argument("--variants", nargs="+", required=True, help="others are compared with the first")
    parser.add_argument("--targets", nargs="+", required=True)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--features", type=Path, default=Path("results/divergence"))
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    study, name, dataset = trainings.opened(options)
    wanted = list(product([name], options.variants, options.targets, options.seeds))
    for _, variant, target, seed in tqdm(trainings.missing(options.out, RUN, wanted)):
        run = Run(name, variant, target, seed, "fixed")
        path = (options.features / run_path(run)).with_suffix(".npz")
        if not path.exists():
            train(study, dataset, run, path)
        trainings.add(of_run(dataset, study, run, path).round(4), options.out)
    networks = of_networks(pd.read_csv(options.out).set_index(RUN).loc[wanted].reset_index())
    show("divergence", lowered(networks, options.variants[0]))
    show("rank correlation with accuracy", with_accuracy(networks))
    if options.figure:
        labels = {variant: study.variant(variant)["label"] for variant in options.variants}
        draw(networks, labels).savefig(options.figure, dpi=200)


if __name__ == "__main__":
    main()
