"""Which windows a run learns from: its sources' training and validation windows, and its target's."""

from collections.abc import Sequence

import numpy as np

from tsdg.data.split import TRAIN, VALIDATION, split
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError


class Sources:
    """Training and validation windows of the source domains of one run, and its target's windows.

    Without a target every domain is a source, as when a model is trained to be taken away.

    Parameters
    ----------
    dataset : WindowedDataset
    domains : sequence of str
        The domains of the study, target included.
    target : str or None
    seed, fraction, method
        See `tsdg.data.split.split`.

    Attributes
    ----------
    names : list of str
        The source domains.
    train, evaluation : dict of str to numpy.ndarray
        Rows of the windows table by domain: each source's training windows; each source's validation windows
        and all of the target's.

    Raises
    ------
    InputError
        A domain is not in the data set, fewer than two are left as sources, or one has no window to train or
        to validate on.
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
    ):
        for domain in domains if target is None else (target, *domains):
            if domain not in dataset.domains:
                raise InputError(
                    f"the prepared data set {dataset.card['name']!r} has no domain {domain!r}; "
                    f"it has {', '.join(dataset.domains)}"
                )
        self.target = target
        self.names = [domain for domain in domains if domain != target]
        if len(self.names) < 2:
            what = "without a target there are" if target is None else f"target {target!r} leaves"
            raise InputError(f"{what} {len(self.names)} source domain(s); two or more are needed")
        parts = split(dataset.windows, fraction=fraction, seed=seed, method=method, cut=dataset.cut)
        domain = dataset.windows["domain"].to_numpy()
        self.train = {name: np.flatnonzero((domain == name) & (parts == TRAIN)) for name in self.names}
        self.evaluation = {
            name: np.flatnonzero((domain == name) & (parts == VALIDATION)) for name in self.names
        }
        if target is not None:
            self.evaluation[target] = np.flatnonzero(domain == target)
        for name in self.names:
            if not len(self.train[name]) or not len(self.evaluation[name]):
                raise InputError(
                    f"source domain {name!r} has {len(self.train[name])} training and "
                    f"{len(self.evaluation[name])} validation windows; both are needed: "
                    "leave the domain out or change the split"
                )
