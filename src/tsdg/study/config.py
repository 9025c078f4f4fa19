"""What decides a variant's trainings on a data set, but target, seed and draw: resolved from params.yaml."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tsdg import methods
from tsdg.data import toy
from tsdg.data.own.backbone import backbone
from tsdg.errors import InputError
from tsdg.learning.backbones.options import DEFAULTS
from tsdg.learning.centring import NONE, REFERENCE
from tsdg.study import backbones, clusters
from tsdg.study.params import Tree

RAW = "raw"  # the input of a network that sees windows as they are
SPECTRAL = ("spectrum", "spectrogram")  # inputs whose mean over windows is one of what they have in common
KEPT = "probabilities"  # what records may keep beside their numbers
TOY_SETTINGS = ("batch_size", "learning_rate", "weight_decay", "decay_at", "decay")


def of_network(variant: str, row: Tree, dataset: str, data: Tree, training: Tree) -> Tree:
    """Of a network, trained on a prepared data set.

    Parameters
    ----------
    variant, dataset : str
        Names, for errors.
    row, data : mapping
        Their entries in `params.yaml`.
    training : mapping
        Training settings.

    Raises
    ------
    InputError
        The variant needs clusters or augmentation of which neither it nor the data set says anything.
    """
    _check_centred(variant, row, data)
    augment = dict(data.get("augmentation") or {}) if row.get("augment", False) else None
    if augment is not None and isinstance(row["augment"], list):
        augment["functions"] = row["augment"]
    if augment == {}:
        raise InputError(
            f"variants.{variant}.augment: datasets.{dataset} has no `augmentation`; list functions there"
        )
    given = None
    if methods.uses_clusters(row["method"]):
        given = row.get("clusters", data.get("clusters"))
        if given is None:
            raise InputError(
                f"variants.{variant}: {row['method']} needs `clusters`, which neither it nor "
                f"datasets.{dataset} has; give them to one of the two"
            )
    return {
        **_method(row),
        "augment": augment,
        "clusters": given and clusters.numbered(dataset, data["domains"], given),
        **network(data, row),
        **_new_domain(variant, row, dataset, data),
        **_data(data),
        **_of_training(training, row),
        **{key: data[key] for key in ("domains_per_batch",) if key in data},
    }


def _of_training(training: Tree, row: Tree) -> Tree:
    """Training settings, some of which a variant may have of its own, less those that ask for nothing."""
    asked = {key: row.get(key, training.get(key)) for key in ("average", "adapt")}
    settings = {key: value for key, value in training.items() if key not in ("average", "adapt", "keep")}
    return settings | {key: value for key, value in asked.items() if value} | _kept(training)


def _kept(training: Tree) -> Tree:
    """What records keep beside their numbers."""
    return {"keep": KEPT} if training.get("keep") == KEPT else {}


def of_estimator(variant: str, row: Tree, dataset: str, data: Tree, training: Tree) -> Tree:
    """Of an estimator, of which settings of network training decide nothing."""
    return {
        "method": row["method"],
        "estimator": row["estimator"],
        "arguments": row.get("arguments", {}),
        "features": row["features"],
        "random_filter": row.get("random_filter"),
        **_new_domain(variant, row, dataset, data),
        **_data(data),
        "validation_fraction": training["validation_fraction"],
        "iterations": 1,
        **_kept(training),
    }


def of_toy(row: Tree, entry: Tree, training: Tree) -> Tree:
    """Of a network in the toy study, whose entry is given."""
    given = row["clusters"] if methods.uses_clusters(row["method"]) else None
    sources: dict[str, dict[str, Any]] = {name: {} for name in toy.SOURCES}  # no metadata
    return {
        **_method(row),
        "clusters": given and clusters.numbered(toy.NAME, sources, given),
        **{key: training[key] for key in TOY_SETTINGS},
        "iterations": entry["iterations"],
        "risk_threshold": entry["risk_threshold"],
    }


def _method(row: Tree) -> Tree:
    forward = row.get("forward", methods.declaration(row["method"]).forward_default)
    return {"method": row["method"], "forward": forward, "options": row.get("options", {})}


def network(data: Tree, row: Mapping[str, Any] = MappingProxyType({})) -> Tree:
    """The backbone of a data set's entry or a variant's, and its options and input where not the usual ones.

    Raises
    ------
    InputError
        The data set gives a width to another backbone than har.
    """
    seen = row.get("input", data.get("input", RAW))
    name, options = backbones.named(row.get("backbone", data["backbone"]))
    if name == backbones.AUTO:  # by the length of what it sees; bands and frames are few
        name = "har" if seen in ("spectrum", "spectrogram") else backbone(data["prepare"]["window"])
    if "width" in data:
        if name == "har":
            options = {"width": data["width"], **options}
        elif "backbone" not in row:
            raise InputError(f"width: {data['width']} is for backbone har, not {name}; leave it out")
    usual = DEFAULTS[name]
    own = {"backbone": name} | {key: value for key, value in options.items() if value != usual[key]}
    if seen != RAW:
        own["input"] = seen
    return own


def _check_centred(variant: str, row: Tree, data: Tree) -> None:
    """Raise `InputError` where a network is centred on what has no mean over windows."""
    seen = row.get("input", data.get("input", RAW))
    if row.get("center", NONE) != NONE and seen not in SPECTRAL:
        raise InputError(
            f"variants.{variant}: center: {row['center']} is of spectra, and the network's input is {seen}; "
            f"give it `input: {SPECTRAL[0]}` or {SPECTRAL[1]}"
        )


def _new_domain(variant: str, row: Tree, dataset: str, data: Tree) -> Tree:
    """What a domain is centred by, and the class that is then neither learned nor evaluated."""
    center = row.get("center", NONE)
    own = {} if center == NONE else {"center": center}
    if center == REFERENCE or row.get("omit_reference"):
        if "reference" not in data:
            raise InputError(
                f"variants.{variant}: datasets.{dataset} has no `reference`, the class of its reference "
                "recordings; give it one, such as normal"
            )
        own["reference"] = data["reference"]
    return own


def _data(data: Tree) -> Tree:
    """How the prepared data are divided and scaled."""
    return {
        "domains": list(data["domains"]),
        "split": data["split"],
        "standardize": data.get("standardize"),
    }
