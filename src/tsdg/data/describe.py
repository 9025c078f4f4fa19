"""What the windows of a prepared data set are, in words to act on."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from tsdg.data.split import TRAIN, VALIDATION, split
from tsdg.data.windows import WindowedDataset

FEW = 20  # windows of a class in a domain below which its accuracy says little
IMBALANCED = 3  # times the rarest class that the most frequent may be
FRACTION = 0.2  # of validation windows


def describe(data: WindowedDataset) -> list[str]:
    """What the windows of a prepared data set are, in words."""
    length, stride = data.card["window"]["length"], data.card["window"]["stride"]
    rate = data.card.get("sampling_rate")
    unit = "revolutions" if "order" in data.card else "s"
    seconds = f" ({length / rate:.3g} {unit})" if rate else ""
    lines = [f"windows of {length} time steps{seconds}, stride {stride}: {len(data.windows):,}"]
    counts = pd.DataFrame.from_dict(data.card["counts"], orient="index")
    lines += [f"  {line}" for line in counts.to_string().splitlines()]
    absent = [
        f"{domain} has no {name}" for domain, row in counts.iterrows() for name, n in row.items() if not n
    ]
    few = [
        f"{domain} {name} {n}" for domain, row in counts.iterrows() for name, n in row.items() if 0 < n < FEW
    ]
    lines.append(
        "classes: "
        + (
            f"{', '.join(absent[:10])}; where a domain is held out, its accuracy is of the others alone"
            if absent
            else "every domain has all"
        )
    )
    lines += untaught_somewhere(data.card)
    share = counts.sum() / max(1, counts.to_numpy().sum())
    if is_unbalanced(data.card):
        lines.append(
            f"imbalance: {share.idxmax()} {share.max():.0%} of the windows, {share.idxmin()} "
            f"{share.min():.1%}; whoever always says {share.idxmax()} has an accuracy of {share.max():.0%}: "
            "`metrics: [balanced_accuracy, macro_f1]` count each class alike"
        )
    if few:
        lines.append(
            f"few windows (below {FEW}): {', '.join(few[:10])}"
            + ("" if data.cut else "; a smaller stride makes more of them")
        )
    twice = duplicates(data)
    lines.append(
        "duplicate windows: "
        + (
            f"{twice} have the signal of another one; look for recordings that are there twice"
            if twice
            else "none"
        )
    )
    if data.cut:
        lines.append(_of_cut(data.cut))
    for method in () if data.cut else ("random", "blocked"):
        share = leakage(data, method)
        words = f"split {method}: {share:.0%} of the validation windows overlap a training window"
        if share:
            words += ", so that validation is optimistic; `split: blocked` prevents it"
        lines.append(words)
    return lines


def is_unbalanced(card: Mapping[str, Any]) -> bool:
    """Whether some class has clearly more windows than another."""
    windows = pd.DataFrame.from_dict(card["counts"], orient="index").sum()
    return bool(windows.max() > IMBALANCED * windows.min())


def untaught_somewhere(card: Mapping[str, Any]) -> list[str]:
    """What to know of classes that one domain alone has windows of, or none, in lines."""
    present = {
        name: [domain for domain, of_class in card["counts"].items() if of_class.get(name)]
        for name in card["classes"]
    }
    alone = [f"{name} in {domains[0]}" for name, domains in present.items() if len(domains) == 1]
    nowhere = [name for name, domains in present.items() if not domains]
    lines = []
    if alone:
        shown = ", ".join(alone[:10])
        lines.append(f"classes of one domain: {shown} alone; where it is held out, nothing teaches them")
    if nowhere:
        lines.append(
            f"classes without a window: {', '.join(nowhere[:10])}; nothing teaches or tests them, so leave "
            "them out"
        )
    return lines


def untaught(card: Mapping[str, Any], sources: Iterable[str]) -> list[str]:
    """Names of the classes that none of some domains has a window of."""
    counts = [card["counts"].get(domain, {}) for domain in sources]
    return [name for name in card["classes"] if not any(of_class.get(name) for of_class in counts)]


def _of_cut(cut: str) -> str:
    """What the divisions of windows whose order is not known are worth."""
    if cut == "recordings":
        return (
            "split: the windows were already cut, so that their order is not known; `split: blocked` keeps "
            "those of a recording together"
        )
    return (
        "split: the windows were already cut, and nothing says which are of one recording, so that windows "
        "of training and validation may overlap; name a column of `recording` if there is one"
    )


def duplicates(data: WindowedDataset) -> int:
    """Windows whose signal another one has too, whatever their domains."""
    length = data.card["window"]["length"]
    seen: set[int] = set()
    for start in data.windows["start"]:
        seen.add(hash(data.signals[start : start + length].tobytes()))
    return len(data.windows) - len(seen)


def leakage(data: WindowedDataset, method: str, seed: int = 0) -> float:
    """Share of the validation windows that share a time step with a training window."""
    parts = split(data.windows, fraction=FRACTION, seed=seed, method=method)
    starts, length = data.windows["start"].to_numpy(), data.card["window"]["length"]
    train = np.sort(starts[parts == TRAIN])
    mine = starts[parts == VALIDATION]
    after = np.searchsorted(train, mine + length) > np.searchsorted(train, mine - length, side="right")
    return float(after.mean()) if len(mine) else 0.0
