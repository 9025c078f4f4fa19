"""How the paper prints a table: groups of rows, columns that say what a row is, what is bold."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

MATRIX_HEADS = 3  # of what goes down, of a group of columns, of a column


@dataclass(frozen=True)
class Group:
    """Rows beneath a dashed rule, each with the name that it has there, and what stands above them."""

    rows: Mapping[str, str]
    title: str = ""


@dataclass(frozen=True)
class PaperStyle:
    """A table as the paper prints it, see ``layout: paper`` in `params.yaml`.

    The first metric stands by target and on average, the second on average. A table with `heads` has the
    average of the first alone.

    Attributes
    ----------
    groups : tuple of Group
        They come last; the other rows stand above.
    heads : tuple of str
        Of columns that say what a row is, in place of its name.
    cells : mapping
        Of each row, what stands below the heads: text, a number, or true for a check mark.
    matrix : bool
        Whether the first head's cells go down and the two others' across, the numbers where they meet.
    mark : {"averages", "columns", "groups", "none"}
        Best bold and second underlined in columns of averages; best bold in every column, or in every
        group; or nothing.
    """

    groups: tuple[Group, ...] = ()
    heads: tuple[str, ...] = ()
    cells: Mapping[str, tuple[str | bool | float, ...]] = field(default_factory=dict)
    matrix: bool = False
    mark: Literal["averages", "columns", "groups", "none"] = "averages"

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """Of a table's entry in params.yaml."""
        return cls(
            groups=tuple(Group(group["rows"], group.get("title", "")) for group in entry.get("groups", ())),
            heads=tuple(entry.get("heads", ())),
            cells={row: tuple(cells) for row, cells in entry.get("cells", {}).items()},
            matrix=entry.get("matrix", False),
            mark=entry.get("mark", "averages"),
        )

    def problem(self, rows: Sequence[str], baselines: Collection[str]) -> str | None:
        """What does not fit a table of these rows, in words."""
        count = Counter(row for group in self.groups for row in group.rows)
        for row, times in count.items():
            if row not in rows or row in baselines or times > 1:
                return f"groups: {row} must be among rows, in one group, and no baseline"
        if stray := [row for row in self.cells if row not in rows]:
            return f"cells: {', '.join(stray)} must be among rows too"
        if wrong := [row for row in rows if len(self.cells.get(row, ())) != len(self.heads)]:
            return f"cells: {', '.join(wrong)} must have {len(self.heads)}, one for each of `heads`"
        if self.matrix and (len(self.heads) != MATRIX_HEADS or self.groups or baselines):
            return "matrix: it takes three `heads` (of rows, groups of columns, columns) and no groups"
        if self.matrix and len({*self.cells.values()}) < len(rows):
            return "cells: two rows have the same place in the matrix"
        return None
