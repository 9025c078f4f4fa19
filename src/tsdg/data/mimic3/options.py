"""Options of MIMIC-III."""

from tsdg.data.options import NATURAL, SEED, TEXT, Option, one_of

FETCH: tuple[Option, ...] = ()
SIMULATE = (
    SEED,
    Option(
        "patients",
        {"type": "integer", "minimum": 100, "description": "a number of patients from 100"},
        "how many",
        2000,
    ),
    Option(
        "rows",
        NATURAL | {"description": "a number of rows of CHARTEVENTS"},
        "of CHARTEVENTS, at least",
        0,
        unless="as the vital signs need",
    ),
)
PREPARE = (
    Option(
        "balance",
        one_of("survivors", "none"),
        "draw survivors down to the number of those who died, or keep all",
        "survivors",
    ),
    Option("items", TEXT, "table of items (csv) in place of the packaged one"),
    Option("seed", NATURAL, "seed of drawing and numbering", 0),
)
