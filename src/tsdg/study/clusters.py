"""Clusters of domains: given by metadata fields such as ``[location]``, or by lists of domains."""

from collections.abc import Mapping, Sequence
from typing import Any

from tsdg.errors import InputError, nearest

Domains = Mapping[str, Mapping[str, Any]]  # each with its metadata
Clusters = Sequence[str] | Sequence[Sequence[str]]


def numbered(dataset: str, domains: Domains, clusters: Clusters) -> dict[str, int]:
    """Cluster of each domain.

    Raises
    ------
    InputError
        A domain is in no list, or lacks a metadata field; or a field is named twice.
    """
    if all(isinstance(cluster, list) for cluster in clusters):
        assigned = {name: c for c, members in enumerate(clusters) for name in members}
        if set(assigned) != set(domains) or sum(map(len, clusters)) != len(domains):
            raise InputError(
                f"clusters of data set {dataset!r} must hold each of its domains once: {clusters}"
            )
        return {name: assigned[name] for name in domains}
    if len(set(map(str, clusters))) < len(clusters):
        raise InputError(
            f"clusters of data set {dataset!r} name a field twice: {', '.join(map(str, clusters))}; "
            "name it once"
        )
    for field in clusters:
        for name, metadata in domains.items():
            if field not in metadata:
                raise InputError(
                    f"datasets.{dataset}.domains.{name} has no metadata {field!r}"
                    f"{nearest(field, metadata)}, which `clusters` asks for"
                )
    keys = [tuple(metadata[str(field)] for field in clusters) for metadata in domains.values()]
    order = list(dict.fromkeys(keys))
    return {name: order.index(key) for name, key in zip(domains, keys, strict=True)}


def named(dataset: str, domains: Domains, clusters: Clusters | None) -> dict[str, str]:
    """Cluster of each domain in words; empty where there are no clusters."""
    if not clusters:
        return dict.fromkeys(domains, "")
    if isinstance(clusters[0], str):
        return {
            name: ", ".join(str(data[str(field)]) for field in clusters) for name, data in domains.items()
        }
    return {name: f"cluster {c + 1}" for name, c in numbered(dataset, domains, clusters).items()}
