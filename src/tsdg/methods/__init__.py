"""Training methods by name: those that train networks, and estimators, which a variant describes itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from tsdg.errors import InputError, listed, nearest
from tsdg.methods import declarations, estimators, plugins
from tsdg.methods.declarations import Declaration
from tsdg.methods.search import Distribution

if TYPE_CHECKING:
    from tsdg.methods.base import Method

METHODS: dict[str, type[Declaration]] = {
    "erm": declarations.ERM,
    "irm": declarations.IRM,
    "vrex": declarations.VREx,
    "groupdro": declarations.GroupDRO,
    "mixup": declarations.InterdomainMixup,
    "mldg": declarations.MLDG,
    "mtl": declarations.MTL,
    "correlation": declarations.Correlation,
    "rsc": declarations.RSC,
    "dann": declarations.DANN,
    "cdann": declarations.CDANN,
    "coral": declarations.CORAL,
    "mmd": declarations.MMD,
    "ours-metadata": declarations.MetadataConsistency,
    "ours-learned": declarations.LearnedConsistency,
    "rsc-ours-metadata": declarations.RSCWithMetadata,
    "rsc-ours-learned": declarations.RSCWithLearned,
    "fishr": declarations.Fishr,
    "eqrm": declarations.EQRM,
    "ib-erm": declarations.IBERM,
    "sd": declarations.SpectralDecoupling,
    "rdm": declarations.RDM,
    "fish": declarations.Fish,
    "and-mask": declarations.ANDMask,
    "lisa": declarations.LISA,
    "mixstyle": declarations.MixStyle,
}
PLUGINS: dict[str, type[Method]] = {}  # from files and, once they are used, from installed packages


def use_plugins(files: Iterable[str | Path]) -> None:
    """Know the methods of these files, in place of those of other files."""
    found = plugins.load_files(files, taken=[*METHODS, estimators.METHOD])
    PLUGINS.clear()
    PLUGINS.update(found)


def declaration(name: str) -> type[Declaration]:
    """What a method that trains networks says of itself: the package's, a plug-in file's, or a package's."""
    known: Mapping[str, type[Declaration]] = METHODS | PLUGINS
    if name in known:
        return known[name]
    installed = plugins.installed()
    if name not in installed:
        names = [*known, *installed, estimators.METHOD]
        raise InputError(f"unknown method {name!r}{nearest(name, names)}; there are {listed(names)}")
    PLUGINS[name] = plugins.load_installed(installed[name])
    return PLUGINS[name]


def class_path(name: str) -> str:
    """``module:class`` of a method that trains networks."""
    declared = declaration(name)
    module = f"{__name__}.{declared.module}" if name in METHODS else declared.__module__
    return f"{module}:{declared.__qualname__}"


def get(name: str) -> type[Method]:
    """Class of a method that trains networks; without PyTorch there is its `declaration`."""
    path = class_path(name)
    return PLUGINS[name] if name in PLUGINS else resolve_name(path)


def uses_clusters(name: str) -> bool:
    """Whether a method, of any kind, uses clusters of domains."""
    return name != estimators.METHOD and declaration(name).uses_clusters


def least_sources(name: str) -> int:
    """Source domains that a method of any kind takes at least."""
    return 1 if name == estimators.METHOD else declaration(name).least_sources


def options(name: str) -> Mapping[str, Any]:
    """Options of a method of any kind."""
    return {} if name == estimators.METHOD else declaration(name).options


def looks_at_domain(row: Mapping[str, Any]) -> bool:
    """Whether a variant classifies a window by what other windows of its domain are like, too.

    Parameters
    ----------
    row : mapping
        The variant's entry in params.yaml.
    """
    return row["method"] != estimators.METHOD and declaration(row["method"]).looks_at_domain(
        row.get("options", {})
    )


def search(row: Mapping[str, Any]) -> Mapping[str, Distribution]:
    """What the hyperparameters of a variant's method, of any kind, are drawn from.

    Parameters
    ----------
    row : mapping
        The variant's entry in params.yaml.
    """
    if row["method"] == estimators.METHOD:
        return estimators.distributions(row.get("search", {}))
    return declaration(row["method"]).search


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
    from tsdg.methods.base import Method

    cls = get(name)
    settings_of_all = set(inspect.signature(Method.__init__).parameters)
    check_options(name, {key: value for key, value in settings.items() if key not in settings_of_all})
    return cls(network, domains, classes, hparams, iterations, **settings)


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Raise InputError for an option that a method does not have, or values that it does not take."""
    method = declaration(name)
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
