"""What the names of files and folders say, by a pattern with fields: ``{domain}/{label}_{recording}.csv``."""

import re
from pathlib import Path

import pandas as pd

from tsdg.data.own.reading import check_within
from tsdg.data.own.recordings import FILE
from tsdg.errors import InputError

RECORDING = "recording"
_TOKEN = re.compile(r"\{(\w+)(:d)?\}|(\*)")


def read_names(path: Path, pattern: str) -> tuple[pd.DataFrame, list[str]]:
    """A row for each file of a folder that a pattern matches, and the names of the others.

    Parameters
    ----------
    path : Path
        Hidden files in it are passed over.
    pattern : str
        Names relative to `path`. ``{field}`` is one or more letters within a name, ``{field:d}`` digits,
        ``*`` any letters that say nothing.

    Raises
    ------
    InputError
        If there is no such file, or the pattern may be read in more than one way.
    """
    greedy, lazy = (_expression(pattern, lazily) for lazily in (False, True))
    names = [
        file.relative_to(path) for file in path.rglob("*")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(path).parts)
    ]  # fmt: skip
    rows, others = [], []
    for name in sorted((name.as_posix() for name in names), key=_natural):
        if (found := greedy.fullmatch(name)) is None:
            others.append(name)
            continue
        other = lazy.fullmatch(name)
        assert other is not None
        fields = found.groupdict()
        if fields != other.groupdict():
            one, two = (" and ".join(f"{k} {v!r}" for k, v in m.groupdict().items()) for m in (other, found))
            raise InputError(
                f"{path}: files: {name} is {one}, or {two}; make the pattern {pattern!r} plain, such as by "
                "{field:d} for a field of digits"
            )
        check_within(path, path / name)
        rows.append({FILE: name} | fields)
    if not rows:
        asked = [name for name, _, _ in _TOKEN.findall(pattern) if name]
        twice = next((name for name in asked if asked.count(name) > 1), None)
        raise InputError(
            f"{path}: files: none of {len(others)} files matches {pattern!r}"
            + (f", such as {others[0]}" if others else "")
            + (f"; {{{twice}}} is there twice, and has to be the same in both places" if twice else "")
        )
    table = pd.DataFrame(rows)
    if RECORDING in table and table[RECORDING].duplicated().any():
        table[RECORDING] = table[FILE]
    return table, others


def _expression(pattern: str, lazily: bool) -> re.Pattern[str]:
    """The pattern as a regular expression, whose fields are as short or as long as they can be."""
    parts: list[str] = []
    seen: set[str] = set()
    end = 0
    some = "?" if lazily else ""
    for token in _TOKEN.finditer(pattern):
        literal = pattern[end : token.start()]
        if "{" in literal or "}" in literal:
            break
        if parts and not literal:
            before = pattern[: token.end()]
            raise InputError(
                f"files: {before!r} ends with two parts that nothing stands between; write what does"
            )
        name, digits, _ = token.groups()
        if name == FILE or (name and not name.isidentifier()):
            raise InputError(f"files: a field cannot be called {name!r}; name it otherwise")
        if name is None:
            one = f"[^/]*{some}"
        elif name in seen:
            one = f"(?P={name})"
        else:
            one = f"(?P<{name}>{r'[0-9]' if digits else '[^/]'}+{some})"
            seen.add(name)
        parts += [re.escape(literal), one]
        end = token.end()
    rest = pattern[end:]
    if "{" in rest or "}" in rest or not seen:
        raise InputError(
            f"files: {pattern!r} is no pattern with fields, such as '{{domain}}/{{label}}_{{recording}}.csv'"
        )
    return re.compile("".join([*parts, re.escape(rest)]))


def _natural(name: str) -> list[tuple[int, str]]:
    """Key that sorts numbers within names by value."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]
