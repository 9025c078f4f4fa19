"""Which windows a run learns from: its sources' training and validation windows, and its target's."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from tsdg.data.split import TRAIN, VALIDATION, split
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError

Groups = Mapping[str, Sequence[str]]  # targets that are groups, each with its domains
NO_GROUPS: Groups = MappingProxyType({})


class Sources:
    """Training and validation windows of the source domains of one run, and its target's windows.

    A target is a domain, or a group of domains that goes by a name of its own: none of them is a source then.
    Without a target every domain is a source, as when a model is trained to be taken away.

    Parameters
    ----------
    dataset : WindowedDataset
    domains : sequence of str
        The domains of the study, target included.
    target : str or None
    seed, fraction, method
        See `tsdg.data.split.split`.
    groups : mapping of str to sequence of str
        The domains of each target that is a group.
    least : int
        The fewest sources that can be learned from.

    Attributes
    ----------
    names : list of str
        The source domains.
    held_out : tuple of str
        The domains of the target.
    train, evaluation : dict of str to numpy.ndarray
        Rows of the windows table by domain: each source's training windows; each source's validation windows
        and all of each domain's that is held out.
    reference : dict of str to numpy.ndarray
        Rows of all windows of a class that is neither learned nor evaluated (label -1), of each domain.

    Raises
    ------
    InputError
        A domain is not in the data set, too few are left as sources, or one has no window to train or to
        validate on.
    """

    def __init__(
        self,
        dataset: WindowedDataset,
        domains: Sequence[str],
        target: str | None,
        *,
        seed: int,
        fraction: float,
        method: str,
        groups: Groups = NO_GROUPS,
        least: int = 2,
    ):
        self.held_out = () if target is None else tuple(groups.get(target, (target,)))
        for domain in (*self.held_out, *domains):
            if domain not in dataset.domains:
                raise InputError(
                    f"the prepared data set {dataset.card['name']!r} has no domain {domain!r}; "
                    f"it has {', '.join(dataset.domains)}; prepare it again, or correct `domains` in the "
                    "study"
                )
        self.target = target
        self.names = [domain for domain in domains if domain not in self.held_out]
        if len(self.names) < least:
            what = "without a target there are" if target is None else f"target {target!r} leaves"
            needed = "two or more are" if least == 2 else "one or more is"
            raise InputError(f"{what} {len(self.names)} source domain(s); {needed} needed")
        parts = split(dataset.windows, fraction=fraction, seed=seed, method=method, cut=dataset.cut)
        domain = dataset.windows["domain"].to_numpy()
        apart = dataset.windows["label"].to_numpy() < 0
        self.reference = {
            name: np.flatnonzero((domain == name) & apart) for name in (*self.names, *self.held_out)
        }

        def rows(name: str, part: int | None = None) -> np.ndarray:
            return np.flatnonzero((domain == name) & ~apart & (True if part is None else parts == part))

        self.train = {name: rows(name, TRAIN) for name in self.names}
        self.evaluation = {name: rows(name, VALIDATION) for name in self.names}
        self.evaluation |= {name: rows(name) for name in self.held_out}
        for name in self.names:
            if not len(self.train[name]) or not len(self.evaluation[name]):
                raise InputError(
                    f"source domain {name!r} has {len(self.train[name])} training and "
                    f"{len(self.evaluation[name])} validation windows; both are needed: "
                    "leave the domain out or change the split"
                )
