"""What a domain's features are reduced by: nothing, the mean of its reference class, or its own mean.

The mean of a source is that of its training windows. Of a domain that is held out it is that of all its
windows, whose labels are not looked at; or of the windows of its reference class, which are then neither
learned nor evaluated.
"""

from collections.abc import Callable, Mapping

import numpy as np

from tsdg.errors import InputError
from tsdg.learning.sources import Sources

NONE, REFERENCE, DOMAIN = "none", "reference", "domain"


def centring_rows(center: str, sources: Sources) -> Mapping[str, np.ndarray]:
    """Rows of the windows table whose mean centres each domain.

    Raises
    ------
    InputError
        A domain has no reference window.
    """
    if center == DOMAIN:
        return sources.evaluation | sources.train
    if lacking := [name for name, rows in sources.reference.items() if not len(rows)]:
        raise InputError(
            f"center: reference: domain {', '.join(lacking)} has no window of the reference class; prepare "
            "the data set with some, leave the domain out, or give the variant `center: domain`"
        )
    return sources.reference


def centres(center: str, sources: Sources, of: Callable[[np.ndarray], np.ndarray]) -> dict[str, np.ndarray]:
    """What each domain is reduced by, given the features ``(n, F)`` of rows ``(n,)`` of the windows table."""
    if center == NONE:
        return {}
    return {name: of(rows).mean(0) for name, rows in centring_rows(center, sources).items()}
