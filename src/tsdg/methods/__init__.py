"""Training methods by name: those that train networks, and estimators, which a variant describes itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tsdg.errors import InputError, nearest
from tsdg.methods import estimators, plugins
from tsdg.methods.adversarial import CDANN, DANN
from tsdg.methods.alignment import CORAL, MMD
from tsdg.methods.and_mask import ANDMask
from tsdg.methods.base import Method
from tsdg.methods.combined import RSCWithLearned, RSCWithMetadata
from tsdg.methods.correlation import Correlation
from tsdg.methods.eqrm import EQRM
from tsdg.methods.erm import ERM
from tsdg.methods.fish import Fish
from tsdg.methods.fishr import Fishr
from tsdg.methods.groupdro import GroupDRO
from tsdg.methods.ib_erm import IBERM
from tsdg.methods.irm import IRM
from tsdg.methods.lisa import LISA
from tsdg.methods.mixstyle import MixStyle
from tsdg.methods.mixup import InterdomainMixup
from tsdg.methods.mldg import MLDG
from tsdg.methods.mtl import MTL
from tsdg.methods.rdm import RDM
from tsdg.methods.rsc import RSC
from tsdg.methods.search import Distribution
from tsdg.methods.selective import LearnedConsistency, MetadataConsistency
from tsdg.methods.spectral_decoupling import SpectralDecoupling
from tsdg.methods.vrex import VREx

METHODS: dict[str, type[Method]] = {
    "erm": ERM,
    "irm": IRM,
    "vrex": VREx,
    "groupdro": GroupDRO,
    "mixup": InterdomainMixup,
    "mldg": MLDG,
    "mtl": MTL,
    "correlation": Correlation,
    "rsc": RSC,
    "dann": DANN,
    "cdann": CDANN,
    "coral": CORAL,
    "mmd": MMD,
    "ours-metadata": MetadataConsistency,
    "ours-learned": LearnedConsistency,
    "rsc-ours-metadata": RSCWithMetadata,
    "rsc-ours-learned": RSCWithLearned,
    "fishr": Fishr,
    "eqrm": EQRM,
    "ib-erm": IBERM,
    "sd": SpectralDecoupling,
    "rdm": RDM,
    "fish": Fish,
    "and-mask": ANDMask,
    "lisa": LISA,
    "mixstyle": MixStyle,
}
PLUGINS: dict[str, type[Method]] = {}  # from files and, once they are used, from installed packages


def use_plugins(files: Iterable[str | Path]) -> None:
    """Know the methods of these files, in place of those of other files."""
    found = plugins.load_files(files, taken=[*METHODS, estimators.METHOD])
    PLUGINS.clear()
    PLUGINS.update(found)


def get(name: str) -> type[Method]:
    """Class of a method that trains networks: the package's, a plug-in file's, or an installed package's."""
    known = METHODS | PLUGINS
    if name not in known:
        installed = plugins.installed()
        if name not in installed:
            names = [*known, *installed, estimators.METHOD]
            raise InputError(f"unknown method {name!r}{nearest(name, names)}; there are {', '.join(names)}")
        known[name] = PLUGINS[name] = plugins.load_installed(installed[name])
    return known[name]


def uses_clusters(name: str) -> bool:
    """Whether a method, of any kind, uses clusters of domains."""
    return name != estimators.METHOD and get(name).uses_clusters


def least_sources(name: str) -> int:
    """Source domains that a method of any kind takes at least."""
    return 1 if name == estimators.METHOD else get(name).least_sources


def options(name: str) -> Mapping[str, Any]:
    """Options of a method of any kind."""
    return {} if name == estimators.METHOD else get(name).options


def looks_at_domain(row: Mapping[str, Any]) -> bool:
    """Whether a variant classifies a window by what other windows of its domain are like, too.

    Parameters
    ----------
    row : mapping
        The variant's entry in params.yaml.
    """
    return row["method"] != estimators.METHOD and get(row["method"]).looks_at_domain(row.get("options", {}))


def search(row: Mapping[str, Any]) -> Mapping[str, Distribution]:
    """What the hyperparameters of a variant's method, of any kind, are drawn from.

    Parameters
    ----------
    row : mapping
        The variant's entry in params.yaml.
    """
    if row["method"] == estimators.METHOD:
        return estimators.distributions(row.get("search", {}))
    return get(row["method"]).search


def build(name: str, *, network, domains, classes, hparams, iterations, **settings) -> Method:
    """A method for the R runs of a network; parameters as in `tsdg.methods.base.Method`.

    Parameters
    ----------
    name : str
        See `get`.
    network : tsdg.learning.networks.Network
    domains, classes, iterations : int
    hparams : mapping of str to float or sequence of R floats
    **settings
        ``forward``, ``seeds``, ``clusters``, ``learning_rate``, ``weight_decay``, ``decay_at``, ``decay``
        and the method's own options.
    """
    cls = get(name)
    settings_of_all = set(inspect.signature(Method.__init__).parameters)
    check_options(name, {key: value for key, value in settings.items() if key not in settings_of_all})
    return cls(network, domains, classes, hparams, iterations, **settings)


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Raise InputError for an option that a method does not have, or values that it does not take."""
    method = get(name)
    known = method.options
    for option, value in options.items():
        if option not in known:
            raise InputError(
                f"method {name!r} has no option {option!r}{nearest(option, known)}; "
                f"it has {', '.join(known) or 'none'}"
            )
        values = known[option]
        if values is int and (type(value) is not int or value < 1):
            raise InputError(f"method {name!r}: option {option!r} is {value!r}; give a whole number from 1")
        if values is not int and value not in values:
            raise InputError(
                f"method {name!r}: option {option!r} is {value!r}{nearest(value, values)}; "
                f"choose one of {', '.join(map(str, values))}"
            )
    try:
        method.check(options)
    except InputError as error:
        raise InputError(f"method {name!r}: {error}") from None
