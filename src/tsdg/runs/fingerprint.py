"""Fingerprints of what can change a number.

A fingerprint is a hash of the definitions that a result is computed with: of what each says
(`tsdg.runs.code.wording`) and of what it refers to. So neither the name of a definition counts, nor where it
stands; but public attributes and parameters, which a program may name in any way, do.
"""

from __future__ import annotations

import hashlib
import sys
import sysconfig
from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

from tsdg import methods
from tsdg.errors import InputError
from tsdg.methods import estimators
from tsdg.runs.code.definitions import Definition, Imported, Module, Modules
from tsdg.runs.code.places import file_of, spec_of
from tsdg.runs.code.reach import Reach
from tsdg.runs.code.wording import Attribute, Wording, is_private

# What is used and no result depends on. Nor is anything reached by the registries of methods, backbones and
# inputs: those of a training are entry points themselves.
BESIDE = {
    "tsdg:__version__",
    "tsdg.learning.network_inputs:INPUTS",
    "tsdg.learning.networks:BACKBONES",
    "tsdg.learning.backbones.options:OPTIONS",
    "tsdg.methods:METHODS",
    "tsdg.methods:class_path",
    "tsdg.methods:declaration",
    "tsdg.methods:get",
    "tsdg.runs.fingerprint:code_fingerprint",
    "tsdg.runs.fingerprint:training_fingerprint",
    "tsdg.runs.fingerprint:functions_fingerprint",
    "tsdg.runs.machine:machine",
}

REQUIRED = {"sklearn", "numpy", "scipy", "torch", "tsdg"}


def training_fingerprint(config: Mapping[str, Any], loop: str = "runs.training") -> str:
    """Fingerprint of the code of trainings by a configuration, see `tsdg.study.study.Study.config`.

    Of the toy study, whose configuration names no backbone, the loop is ``toy.train``. Of an estimator the
    code of a module of one's own counts, and the version of an installed package; those that the package
    itself requires do not, as for networks.

    Raises
    ------
    InputError
        A module of one's own is no Python.
    """
    if config["method"] == estimators.METHOD:
        return _of_estimator(tuple(estimators.classes_of(config)))
    backbone, seen = config.get("backbone", "toy"), config.get("input", "raw")
    parts = [_registered("tsdg.learning.networks:BACKBONES", backbone)]
    if seen != "raw":
        parts += [_registered("tsdg.learning.network_inputs:INPUTS", seen)]
    return code_fingerprint(config["method"], loop, parts)


def _registered(registry: str, name: str) -> str:
    """``module:name`` of what a dictionary in a module, ``module:dictionary``, has under a name."""
    module, _, dictionary = registry.partition(":")
    defined = _package().modules.module(module).names[dictionary].nodes[0]  # type: ignore[union-attr]
    found = dict(zip((key.value for key in defined.keys), defined.values, strict=True))  # type: ignore
    return f"{module}:{found[name].id}"


def code_fingerprint(method: str, loop: str = "runs.training", parts: Iterable[str] = ()) -> str:
    """Fingerprint of a method's training, so that a change of one method leaves the results of others valid.

    Parameters
    ----------
    method : str
        Of the package, or a plug-in.
    loop : str
        Module of the training loop, its function `train`, named without ``tsdg.``.
    parts : iterable of str
        What a network is made of, each ``module:name``.
    """
    entry = methods.class_path(method)
    package = entry.partition(":")[0].partition(".")[0]
    declared: Hashable = methods.declaration(method)  # type: ignore[assignment]
    return _of_method(declared, package, f"tsdg.{loop}:train", entry, *parts)


@cache
def _of_method(declared: Hashable, package: str, *entries: str) -> str:
    """Fingerprint of entry points; a plug-in that is read again is another class of the same name."""
    wording = _package() if package == "tsdg" else Wording(Modules({"tsdg", package}, file_of, BESIDE))
    return fingerprint(wording, *entries)


@cache
def _of_estimator(classes: tuple[str, ...]) -> str:
    packages, entries, versions = {"tsdg"}, [], set()
    for path in classes:
        module, _, name = path.rpartition(".")
        package = module.partition(".")[0]
        if package in REQUIRED or package in sys.stdlib_module_names:
            continue
        if installed := _installed(package):
            versions |= set(installed)
        elif file_of(module):
            packages |= {package, *_beside(package)}
            entries.append(f"{module}:{name}")
    own = functions_fingerprint("runs.estimation:train")
    if entries:
        wording = Wording(Modules(packages, file_of, BESIDE))
        try:
            own = fingerprint(wording, "tsdg.runs.estimation:train", *entries)
        except (SyntaxError, ValueError) as error:
            words = " ".join(str(error).split())
            raise InputError(
                f"estimator {', '.join(classes)}: its module is no Python ({type(error).__name__}: {words}); "
                "correct it"
            ) from None
    text = "\n".join([own, *sorted(versions)])
    return hashlib.sha256(text.encode()).hexdigest()[:16] if versions else own


def _installed(package: str) -> list[str]:
    """Names and versions of the distributions of a package among the installed ones; none of another."""
    spec = spec_of(package)
    folders = [Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")]
    places = [spec.origin or "", *(spec.submodule_search_locations or ())] if spec else []
    if not any(Path(place).resolve().is_relative_to(folder) for place in places for folder in folders):
        return []
    return [f"{name} {version(name)}" for name in packages_distributions().get(package, ())]


def _beside(package: str) -> set[str]:
    """Modules and packages in the folder that has a module of one's own: it may import them."""
    file = file_of(package)
    if file is None:
        return set()
    folder = file.parents[1] if file.name == "__init__.py" else file.parent
    return {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }


@cache
def functions_fingerprint(*entries: str) -> str:
    """Fingerprint of functions and constants of the package, each ``module:name`` without ``tsdg.``."""
    return fingerprint(_package(), *(f"tsdg.{entry}" for entry in entries))


@cache
def _package() -> Wording:
    return Wording(Modules({"tsdg"}, file_of, BESIDE))


def fingerprint(wording: Wording, *entries: str) -> str:
    """Fingerprint of entry points, each ``module:name``, or ``module`` for all of it."""
    roots = [_entry(wording.modules, *entry.split(":")) for entry in entries]
    return _Graph(Reach(wording, roots)).digest(roots)


def _entry(modules: Modules, module: str, name: str = "") -> Definition | Imported:
    inside = modules.module(module)
    if inside is None:
        raise ModuleNotFoundError(f"no module {module}")
    found = modules.named(inside, name) if name else None
    # A class that a function makes has no definition of its own, so that all of its module counts.
    return found if isinstance(found, Definition) else Imported(module)


class _Graph:
    """Definitions, and how they refer to each other.

    Besides, a node for each private name of a family of classes, known by the members that it stands for, and
    one for all names of a module that is used as a value.
    """

    def __init__(self, reach: Reach):
        self.reach = reach
        self.places: dict[object, int] = {}
        self.words: list[bytes] = []
        self.links: list[list[int]] = []
        self.ordered: list[bool] = []
        self.families = _families(reach)
        told = reach.attributes.union(*reach.classes.values())  # names that more than these definitions use
        self.blank: dict[str, list[Definition]] = {}
        for definition in reach.definitions:
            if definition.owner and is_private(definition.name) and definition.name not in told:
                self.blank.setdefault(definition.name, []).append(definition)
        for definition in reach.definitions:
            self._define(definition)
        for name, module in reach.modules.items():
            self._define_module(name, module)

    def _node(self, key: object, words: str = "", links: Iterable[int] = (), *, ordered: bool = True) -> int:
        """Place of a node, made anew with these words and links if there is none of its key."""
        linked = list(links)  # which may make nodes
        if key not in self.places:
            self.places[key] = len(self.words)
            self.words.append(words.encode())
            self.links.append(linked)
            self.ordered.append(ordered)
        return self.places[key]

    def _define(self, definition: Definition) -> None:
        text = self.reach.wording[definition]
        place = self._node(definition)
        self.words[place] = (text.words + (definition.name if self.reach.names_count else "")).encode()
        self.links[place] += [self._place(reference) for reference in text.references]
        if definition in self.reach.classes:
            reached = {
                name: member
                for name, member in definition.body.members.items()
                if member in self.reach.definitions
            }
            members = [
                self._node((definition, name), "", [self._attribute(name, definition), self._node(member)])
                for name, member in reached.items()
            ]
            self.links[place].append(self._node((definition, None), "members", members, ordered=False))

    def _define_module(self, name: str, module: Module) -> None:
        found = {inside: self.reach.code.named(module, inside) for inside in module.names}
        self.links[self._node(Imported(name), "module", ordered=False)] += [
            self._node((name, inside), inside, [self._node(definition)])
            for inside, definition in found.items()
            if isinstance(definition, Definition)
        ]

    def _place(self, reference: Definition | Imported | Attribute) -> int:
        if isinstance(reference, Attribute):
            return self._attribute(reference.name, reference.owner)
        if isinstance(reference, Imported):
            return self._node(reference, "module", ordered=False)
        return self._node(reference)

    def _attribute(self, name: str, owner: Definition | None) -> int:
        """A private name by what it stands for, in one family of classes or in all; any other by itself."""
        family = owner and self.families[owner]
        members = [
            member
            for member in self.blank.get(name, ())
            if family in (None, self.families[member.owner])  # type: ignore[index]
        ]
        if not members:
            return self._node(name, name)
        links = map(self._node, members)
        return self._node((family, name), "private", links, ordered=False)

    def digest(self, roots: Iterable[Definition | Imported]) -> str:
        """Hash of all nodes and of the roots.

        A node's first colour is that of its words. In each round it takes in the colours of its links, until
        a round tells no more nodes apart than the one before: two programs of the same colours do the same.
        """
        colours, count = self.words, 0
        while True:
            colours = [self._colour(place, colours) for place in range(len(self.words))]
            if len(set(colours)) == count:
                break
            count = len(set(colours))
        first = [colours[self._place(root)] for root in roots]
        return hashlib.sha256(b"".join(first + sorted(colours))).hexdigest()[:16]

    def _colour(self, place: int, colours: list[bytes]) -> bytes:
        linked = [colours[link] for link in self.links[place]]
        if not self.ordered[place]:
            linked.sort()
        return hashlib.blake2b(b"\0".join([self.words[place], *linked]), digest_size=16).digest()


def _families(reach: Reach) -> dict[Definition, Definition]:
    """One class for each class and all of its relatives."""
    first: dict[Definition, Definition] = {}

    def of(cls: Definition) -> Definition:
        return of(first[cls]) if cls in first else cls

    for cls in reach.classes:
        for ancestor in reach.code.family(cls).ancestors:
            if of(ancestor) is not of(cls):
                first[of(ancestor)] = of(cls)
    return {cls: of(cls) for cls in reach.classes}
