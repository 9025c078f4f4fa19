"""The numbers that the paper prints, all of them. Zhang, Ragab, Foo, ICPR 2022.

Each file is a table of the paper, or what it says of one data set in a table of several. What is absent from
a file the paper does not print.
"""

from importlib import resources

import pandas as pd

from tsdg.errors import check_known

# Tables of results by the kind of their data set: on all of its domains, or on some.
WHOLE = {
    "bearings": "bearings",
    "hhar": "hhar",
    "mimic3": "mimic3",
    "ablation-bearings": "bearings",
    "ablation-hhar": "hhar",
    "ablation_augmentation": "bearings",
    "bearings_diff_dist": "bearings",
    "different_clustering": "bearings",
    "ablation_learned_reg": "bearings",
    "kernel_choice-bearings": "bearings",
    "kernel_choice-hhar": "hhar",
}
PARTS = {"bearings_locdrive": "bearings", "hhar_user1": "hhar"}
OTHERS = ("bearings-samples", "hhar-samples", "mimic3-samples", "target_risk", "target_risk_full")


def numbers(table: str) -> pd.DataFrame:
    """The numbers of a table.

    Where the paper defines xi in two ways, which are rows called ``*-bandwidth`` and ``*-gamma``, it prints
    one number, which stands for both. Its study of the learned similarity is read as one without
    augmentation, so that its rows are called ``*-plain``.

    Returns
    -------
    DataFrame
        ``row`` (variant, or class), ``target`` (domain, or the mean over domains), ``metric`` (accuracy, ece
        and auc in %; samples; risks and divergences of the toy study), ``value``.

    Raises
    ------
    InputError
        There is no such table; the message lists those there are.
    """
    check_known(table, [*WHOLE, *PARTS, *OTHERS], "table of the paper", "params.yaml: paper")
    with (resources.files("tsdg.data.paper") / f"{table}.csv").open(encoding="utf-8") as file:
        found = pd.read_csv(file, dtype={"row": "str", "target": "str"}, keep_default_na=False)
    found = found.drop(columns="table")
    if table == "ablation_learned_reg":
        found["row"] += "-plain"
    both = found[found["row"].str.contains("-bandwidth")]
    other = both.assign(row=both["row"].str.replace("-bandwidth", "-gamma"))
    return pd.concat([found, other], ignore_index=True)


def samples(kind: str, domain: str, label: str) -> int | None:
    """Windows of a class in a domain of a kind of data set, where the paper says it."""
    if f"{kind}-samples" not in OTHERS:
        return None
    found = numbers(f"{kind}-samples")
    here = found[(found["target"] == domain) & found["row"].isin([label, "each class"])]
    return int(here["value"].item()) if len(here) else None
