"""Columns whose names differ by file, as one: a pattern such as ``X*_DE_time`` stands for each."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from tsdg.data.own.recordings import Block, Columns, Source
from tsdg.errors import InputError


def renamed(source: Source, names: Iterable[str]) -> Source:
    """Columns that a pattern among some names matches, called by the pattern.

    ``*`` stands for any letters, ``?`` for one; a name that there is as it stands is no pattern.

    Raises
    ------
    InputError
        If a pattern matches two columns of a file.
    """
    found: dict[str, str] = {}
    for pattern in names:
        if pattern in source.names or not set("*?") & set(pattern):
            continue
        expression = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
        matches = [name for name in source.names if re.fullmatch(expression, name)]
        matches = matches or [name for name in source.spoilt if re.fullmatch(expression, name)]
        if len(matches) > 1:
            raise InputError(
                f"{source.path}: {pattern!r} matches {', '.join(matches[:5])}; give a pattern that matches "
                "one column of each file"
            )
        if matches:
            found[pattern] = matches[0]
    if not found:
        return source
    called = {name: pattern for pattern, name in found.items()}

    def read(columns: Columns, whole: Source) -> Iterator[Block]:
        for pattern, name in found.items():
            whole.texts[name] = whole.texts.setdefault(pattern, {})

        def actual(name: str | None) -> str | None:
            return found.get(name, name) if name is not None else None

        inner = Columns(
            [found.get(name, name) for name in columns.channels],
            actual(columns.label), actual(columns.recording), actual(columns.time),
            [found.get(name, name) for name in columns.fields],
            actual(columns.rate),
        )  # fmt: skip
        for block in source.read(inner, whole):
            codes = {called.get(name, name): values for name, values in block.codes.items()}
            yield Block(block.signal, codes, block.time)

    return replace(
        source,
        names=[called.get(name, name) for name in source.names],
        numeric=[called.get(name, name) for name in source.numeric],
        dates=[called.get(name, name) for name in source.dates],
        spoilt={called.get(name, name): what for name, what in source.spoilt.items()},
        single={called.get(name, name): what for name, what in source.single.items()},
        read=read,
    )
