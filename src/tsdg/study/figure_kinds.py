"""The kinds of `figures` in params.yaml: the options of each, and what these must name.

A kind is drawn by the module of its name in `tsdg.results.figures`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tsdg import methods
from tsdg.errors import InputError

Schema = Mapping[str, Any]  # a piece of a JSON schema
Options = Mapping[str, Any]  # of a figure, as they are written
Rows = Mapping[str, str]  # that its tables share, each with its method

PAGE = "page"  # how wide a figure is where nothing is said
WIDTH: Schema = {"enum": ["column", PAGE], "description": "of a two-column paper"}
AVERAGES: Schema = {"type": "boolean", "description": "whether the averages are drawn without the targets"}
ROW: Schema = {"type": "string"}
ROWS: Schema = {"type": "array", "items": ROW, "minItems": 1, "uniqueItems": True}


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure.

    Attributes
    ----------
    options : mapping
        Its options, all of which must be given, with the schema of each: `ROW` or `ROWS`, rows of its tables.
    optional : mapping
        Options that need not be given, with the schema of each.
    check : callable
        Called with the figure's place in params.yaml, its options and rows; raises `InputError` for what
        cannot be drawn.
    clusters : bool
        Whether drawing takes the clusters of each data set's domains, in words.
    own_metrics : bool
        Whether it draws what its table leads with; accuracy otherwise.
    single_source : bool
        Whether its tables must hold out all domains but one; drawing then takes the domains' metadata.
    """

    options: Mapping[str, Schema]
    optional: Mapping[str, Schema] = field(default_factory=dict)
    check: Callable[[str, Options, Rows], None] = lambda where, options, rows: None
    clusters: bool = False
    own_metrics: bool = False
    single_source: bool = False

    def named(self, options: Options) -> list[tuple[str, str]]:
        """Option and row of everything that the options name."""
        return [
            (option, row)
            for option, schema in self.options.items()
            for row in (options[option] if schema is ROWS else [options[option]])
        ]


def _one_table(where: str, options: Options, rows: Rows) -> None:
    if len(options["tables"]) > 1:
        raise InputError(
            f"{where}.tables: accuracy by target is drawn of one table; give each its own figure"
        )


def _two_rows(where: str, options: Options, rows: Rows) -> None:
    if len(rows) == 1:
        raise InputError(
            f"{where}: its tables share no row to compare with the baseline {options['baseline']}"
        )


def _learns_neighbours(where: str, options: Options, rows: Rows) -> None:
    name = rows[options["variant"]]
    if "neighbour" not in methods.options(name):
        raise InputError(f"{where}.variant: {options['variant']} learns no neighbours ({name})")


def _has_clusters(where: str, options: Options, rows: Rows) -> None:
    for row, name in rows.items():
        if not methods.uses_clusters(name):
            raise InputError(f"{where}: row {row} of its tables has no clusters, which it counts")


ACCURACY = "accuracy"  # which every table has
FIGURE_KINDS = {
    "optimization": FigureKind({"variant": ROW}, check=_has_clusters),
    "neighbours": FigureKind({"variant": ROW}, check=_learns_neighbours, clusters=True),
    "reliability": FigureKind({"rows": ROWS}),
    "confusion": FigureKind({"rows": ROWS}),
    "forest": FigureKind({"baseline": ROW}, {"averages": AVERAGES}, _two_rows),
    "transfer": FigureKind({"variant": ROW}, single_source=True),
    ACCURACY: FigureKind({}, {"averages": AVERAGES}, _one_table, own_metrics=True),
}


def schema() -> dict[str, Any]:
    """JSON schema of a figure."""
    common = {"tables": {"$ref": "#/$defs/some_tables"}, "caption": {"type": "string"}}
    return {
        "type": "object",
        "required": ["kind", *common],
        "properties": {"kind": {"enum": list(FIGURE_KINDS)}},
        "allOf": [
            {
                "if": {"required": ["kind"], "properties": {"kind": {"const": name}}},
                "then": {
                    "additionalProperties": False,
                    "required": list(kind.options),
                    "properties": {"kind": True, "width": WIDTH, **common, **kind.options, **kind.optional},
                },
            }
            for name, kind in FIGURE_KINDS.items()
        ],
    }
