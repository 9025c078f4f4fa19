"""A table's numbers by domain, where targets are groups of domains."""

from itertools import product
from pathlib import Path

import pandas as pd

from tsdg.results.numbers import BySeed, of_worst, over_seeds, over_targets
from tsdg.results.reading import read_records
from tsdg.results.selected import shown_runs
from tsdg.study.layout import AVERAGE, WORST, Layout
from tsdg.study.metric import METRICS


def by_domain(selected: pd.DataFrame, layout: Layout, runs: str | Path) -> pd.DataFrame:
    """Metrics of each domain that is held out, from the records of the selected runs.

    Parameters
    ----------
    selected, layout
        As for `tsdg.results.numbers.summarise`.
    runs : path
        Folder of the records.

    Returns
    -------
    DataFrame
        A row for each data set, variant, target, ``domain`` of it, and metric: ``label``, ``unit``,
        ``windows``; ``mean``, ``std`` and ``n`` over seeds, of the ``seeds`` expected. Where target and
        domain are "Average", the mean is over all domains, each of which counts alike, where they are
        "Worst", of the worst of all, and empty where one has no value.
    """
    found: dict[tuple, dict[int, float]] = {}
    windows: dict[tuple, int | None] = {}
    metrics = {panel.dataset: panel.metrics for panel in layout.panels}
    for row, _, checkpoint in read_records(shown_runs(selected, layout), runs):
        for domain, scores in (checkpoint.target.domains or {row.target: checkpoint.target}).items():
            key = row.dataset, row.variant, row.target, domain
            windows[key] = scores.n
            for metric in metrics[row.dataset]:
                value = getattr(scores, metric, None)  # a domain of a group has no worst one
                if value is not None:
                    found.setdefault((*key, metric), {})[row.seed] = METRICS[metric].scale * value
    rows = []
    for panel in layout.panels:
        for metric, variant in product(panel.metrics, layout.ordered):
            values: dict[tuple[str, str], BySeed] = {
                place: found.get((panel.dataset, variant, *place, metric), {}) for place in panel.domains
            }
            summaries = {place: over_seeds(of_domain) for place, of_domain in values.items()} | {
                (AVERAGE, AVERAGE): over_targets(values),
                (WORST, WORST): of_worst(values, higher_is_better=METRICS[metric].higher_is_better),
            }
            for place, summary in summaries.items():
                rows.append(
                    {
                        "dataset": panel.dataset,
                        "variant": variant,
                        "label": layout.labels[variant],
                        **dict(zip(("target", "domain"), place, strict=True)),
                        "windows": windows.get((panel.dataset, variant, *place)),
                        "metric": metric,
                        "unit": METRICS[metric].unit,
                        "seeds": len(layout.seeds(variant)),
                        **summary._asdict(),
                    }
                )
    return pd.DataFrame(rows).astype({"windows": "Int64"})
