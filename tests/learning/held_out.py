"""The sources that are left when a domain is held out."""

from tsdg.learning.sources import Sources

DOMAINS = list("ABCD")


def sources(dataset, target, seed=0, domains=DOMAINS, fraction=0.25, method="random"):
    return Sources(dataset, domains, target, seed=seed, fraction=fraction, method=method)
