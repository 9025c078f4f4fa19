"""What is held out: a target is a named set of domains, of which a single domain is the simplest.

A target's name says what is in it: a domain's own name (``E``); the value that its domains share of a
metadata field, or of several (``location=fan end``, ``user=a,model=s3``); a list of domains (``A+B``); or all
domains but those of another target (``not A``, to learn from one domain alone).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tsdg.errors import InputError, nearest
from tsdg.study.run import is_target, target_folder

SINGLE_SOURCE = "single-source"
LONGEST = 200  # characters of a target's folder; a file system takes 255
REST = "not "  # before a target's name: all domains but its own

Domains = Mapping[str, Mapping[str, Any]]  # each with its metadata
Holdout = str | Sequence[str] | Sequence[Sequence[str]] | None


@dataclass(frozen=True)
class Target:
    """What is held out.

    Attributes
    ----------
    name : str
    domains : tuple of str
        In the data set's order.
    """

    name: str
    domains: tuple[str, ...]

    @property
    def is_domain(self) -> bool:
        """Whether it is a domain that goes by its own name."""
        return self.domains == (self.name,)


def named(domains: Domains, name: str, owner: str = "the data set") -> Target:
    """The target of a name, by its usual spelling: fields and domains in the data set's order.

    The domains are the owner's, which a message names.

    Raises
    ------
    InputError
        The name is of no domain, field or value, of all domains, or the rest of a rest.
    """
    if name in domains:
        return Target(name, (name,))
    if name.startswith(REST):
        other = named(domains, name.removeprefix(REST), owner)
        if is_rest(other.name) and not other.is_domain:
            raise InputError(f"{name!r} is what {other.name.removeprefix(REST)!r} is; call it that")
        return _target(domains, REST + other.name, set(domains) - set(other.domains))
    if "=" in name:
        return _of_values(domains, name)
    listed = name.split("+")
    for domain in listed:
        if domain not in domains:
            raise InputError(
                f"{domain!r} is not a domain of {owner}{nearest(domain, domains)}; "
                f"there are {', '.join(domains)}{_or_by_field(domains)}"
            )
    if len(set(listed)) < len(listed):
        raise InputError(f"{name!r} names a domain twice")
    return _listed(domains, listed)


def held_out(domains: Domains, holdout: Holdout) -> list[Target]:
    """The targets of a table.

    Parameters
    ----------
    domains : mapping
        A data set's domains, each with its metadata.
    holdout : str, list of str, or list of lists
        A metadata field, or several, whose values the domains of a target share; lists of domains; or
        ``single-source``: all domains but one, for each of them. None for each domain by itself.

    Raises
    ------
    InputError
        A field or domain is unknown or named twice, or there is one group alone.
    """
    if holdout is None:
        return [Target(name, (name,)) for name in domains]
    if holdout == SINGLE_SOURCE:
        return [named(domains, REST + name) for name in domains]
    parts = [holdout] if isinstance(holdout, str) else list(holdout)
    if all(isinstance(part, str) for part in parts):
        fields = list(map(str, parts))
        for field in fields:
            check_field(domains, field)
        ordered = _in_order(domains, fields)
        found = [_of_fields(metadata, ordered) for metadata in domains.values()]
        names = list(dict.fromkeys(found))
        if len(names) == 1:
            raise InputError(
                f"every domain has {names[0]}: one group alone leaves no sources; name another field"
            )
        made = [
            _target(domains, name, {d for d, of in zip(domains, found, strict=True) if of == name})
            for name in names
        ]
        for target in made:
            if set(_values(target.name)) != set(fields):
                raise InputError(
                    f"{target.name!r}: a value of metadata cannot have ',NAME=' in it; rename it"
                )
        return made
    lists = [[part] if isinstance(part, str) else list(part) for part in parts]
    for domain in (domain for part in lists for domain in part):
        if domain not in domains:
            raise InputError(
                f"{domain!r} is not a domain{nearest(domain, domains)}; there are {', '.join(domains)}"
            )
    every = [domain for part in lists for domain in part]
    if twice := [domain for domain in domains if every.count(domain) > 1]:
        raise InputError(f"domain {twice[0]} is held out twice; name it once")
    return [_listed(domains, part) for part in lists]


def check_apart(held_out: Iterable[Target]) -> None:
    """Raise `InputError` if two targets are the same domains, which would count twice."""
    seen: dict[tuple[str, ...], str] = {}
    for target in held_out:
        if target.domains in seen:
            raise InputError(
                f"{seen[target.domains]!r} and {target.name!r} are the same domains, "
                f"{', '.join(target.domains)}, which would count twice; leave out one of the two"
            )
        seen[target.domains] = target.name


def together(domains: Domains, chosen: Iterable[str]) -> Target:
    """Some domains, by their list."""
    return _listed(domains, chosen)


def is_rest(name: str) -> bool:
    """Whether a target is all domains but another target's."""
    return name.startswith(REST)


def check_field(domains: Domains, field: str) -> None:
    """Raise `InputError` unless every domain has a metadata field."""
    for name, metadata in domains.items():
        if field not in metadata:
            there = f"it has {', '.join(metadata)}" if metadata else "it has none"
            raise InputError(f"domain {name} has no metadata {field!r}{nearest(field, metadata)}; {there}")
    if set(field) & set("=,"):
        raise InputError(f"the name of metadata {field!r} cannot have '=' or ','; rename it")


def _of_values(domains: Domains, name: str) -> Target:
    """The domains that have some values of metadata fields, ``user=a,model=s3``."""
    wanted: dict[str, str] = {}
    for field, value in _values(name).items():
        check_field(domains, field)
        values = list(dict.fromkeys(_text(metadata[field]) for metadata in domains.values()))
        if value not in values:
            raise InputError(
                f"no domain has {field} {value!r}{nearest(value, values)}; there are {', '.join(values)}"
            )
        wanted[field] = value
    fields = _in_order(domains, wanted)
    usual = ",".join(f"{field}={wanted[field]}" for field in fields)
    found = {domain for domain, metadata in domains.items() if _of_fields(metadata, fields) == usual}
    if not found:
        raise InputError(f"no domain has {usual}")
    return _target(domains, usual, found)


def _values(name: str) -> dict[str, str]:
    """The values of metadata fields in a target's name."""
    pairs = [part.split("=", 1) for part in re.split(r",(?=[^,=]+=)", name)]
    values = dict(pairs)
    if len(values) < len(pairs):
        raise InputError(f"{name!r} names a field twice")
    return values


def _in_order(domains: Domains, fields: Iterable[str]) -> list[str]:
    """Metadata fields in the order of the first domain's."""
    return sorted(fields, key=list(next(iter(domains.values()))).index)


def _of_fields(metadata: Mapping[str, Any], fields: Iterable[str]) -> str:
    return ",".join(f"{field}={_text(metadata[field])}" for field in fields)


def _listed(domains: Domains, listed: Iterable[str]) -> Target:
    chosen = set(listed)
    return _target(domains, "+".join(domain for domain in domains if domain in chosen), chosen)


def _target(domains: Domains, name: str, chosen: set[str]) -> Target:
    if len(chosen) == len(domains):
        raise InputError(f"{name!r} is every domain: nothing is left to learn from")
    if not is_target(name):
        raise InputError(
            f"{name!r} cannot name a target: use values of one line that do not end with a space; rename it"
        )
    if len(target_folder(name)) > LONGEST:
        raise InputError(
            f"{name[:60]!r}...: the name of its folder would have {len(target_folder(name))} characters, "
            f"more than {LONGEST}; give its domains a metadata field with a short value, and hold that out"
        )
    return Target(name, tuple(domain for domain in domains if domain in chosen))


def _text(value: object) -> str:
    """A value of metadata as YAML has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _or_by_field(domains: Domains) -> str:
    """What else may stand for a target, as an end of a message."""
    metadata = next(iter(domains.values()))
    example = next((f"{field}={_text(value)}" for field, value in metadata.items()), None)
    return f", or FIELD=VALUE such as {example!r}" if example else ""


def legend(domains: Domains, names: Iterable[str]) -> list[str]:
    """What each domain is, such as ``A: drive end, load 0``; nothing if no target is called by one."""
    if all("=" in name for name in names):
        return []
    values = [(field, value) for metadata in domains.values() for field, value in metadata.items()]
    mute = {field for field, value in values if not _speaks(value)}

    def told(field: str, value: Any) -> str:
        return f"{field.replace('_', ' ')} {_text(value)}" if field in mute else value

    return [
        f"{domain}: {', '.join(told(field, value) for field, value in metadata.items())}"
        for domain, metadata in domains.items()
        if metadata
    ]


def _speaks(value: Any) -> bool:
    """Whether a value is understood without its field's name: no number, no short code, no range."""
    return isinstance(value, str) and len(value) > 2 and value[0].isalpha()
