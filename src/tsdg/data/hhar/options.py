"""Options of HHAR."""

from tsdg.data.options import SEED, TEXT, Option, one_of

FETCH = (Option("url", TEXT, "of the zip, if not the official one"),)
SIMULATE = (
    SEED,
    Option(
        "rows",
        {"type": "integer", "minimum": 200_000, "description": "a number of rows from 200,000"},
        "about how many",
        1_000_000,
    ),
)
PREPARE = (
    Option(
        "windows",
        one_of("devices", "legacy"),
        "within a device and without gaps, or rows as they come, as in earlier work",
        "devices",
    ),
)
