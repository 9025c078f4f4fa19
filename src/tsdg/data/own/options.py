"""Options of a user's own recordings."""

from dataclasses import replace

from tsdg.data.options import NATURAL, POSITIVE, SEED, TEXT, Option, one_of

COLUMNS = {
    "type": "array",
    "items": TEXT,
    "minItems": 1,
    "uniqueItems": True,
    "description": "names of columns",
}
FILES = COLUMNS | {"description": "names of files"}
CLASSES = {
    "description": "labels such as [1, 2], or names for them such as {1: walking, 2: sitting}",
    "anyOf": [
        {
            "type": "array",
            "items": {"type": ["string", "number", "boolean"]},
            "minItems": 2,
            "uniqueItems": True,
        },
        {
            "type": "object",
            "additionalProperties": TEXT,
            "minProperties": 2,
            "examples": [{"1": "walking", "2": "sitting"}],
        },
    ],
}

RATE = {"description": "a number above 0, or the name of a column", "anyOf": [POSITIVE, TEXT]}

SIMULATE = (
    SEED,
    Option(
        "people",
        {"type": "integer", "minimum": 3, "description": "a number of people from 3"},
        "domains",
        5,
    ),
    Option(
        "seconds",
        {
            "type": "number",
            "minimum": 5,
            "maximum": 3600,
            "description": "seconds of each activity, 5 to 3600",
        },
        "of each activity",
        40,
    ),
)
PREPARE = (
    Option(
        "domains",
        {
            "type": "object",
            "propertyNames": {"pattern": r"^[^/\s]([^/\n]*[^/\s])?(?![\s\S])"},
            "additionalProperties": {
                "type": "object",
                "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
            },
            "examples": [{"A": {"user": 1}}],
        },
        """e.g. '{"A": {"user": 1}, "B": {"user": 2}, ...}'""",
        required=True,
        of_entry=lambda entry: entry["domains"],
    ),
    Option(
        "window",
        {"type": "integer", "minimum": 2, "description": "a number of time steps from 2"},
        "window length in time steps",
        required=True,
    ),
    Option(
        "stride",
        {"type": "integer", "minimum": 1, "description": "a number of time steps from 1"},
        "distance of two windows",
        unless="window",
    ),
    Option("short", one_of("drop", "pad"), "stretches shorter than a window", "drop"),
    Option(
        "files",
        TEXT,
        "of a folder without metadata.csv: pattern of their names, '{domain}/{label}_{recording}.csv'",
    ),
    Option(
        "rows",
        one_of("steps", "windows"),
        "what a row of a table is",
        unless="as numbered columns, recordings and labels say",
    ),
    Option("header", COLUMNS, "names of the columns of texts whose first line is a row", unless="that line"),
    Option("axes", one_of("NTC", "NCT"), "of windows already cut", unless="the shorter is the channels'"),
    Option("channels", COLUMNS, "columns", unless="all of numbers that are nothing else"),
    Option("label", TEXT, "column of the class", "label"),
    Option(
        "classes",
        CLASSES,
        """labels to use, or one mapping to names, '{"1": "walking", "2": "sitting"}'""",
        unless="all",
    ),
    Option("intervals", TEXT, "text file of the labels: recording, start, end, label", files=True),
    Option(
        "interval_unit",
        one_of("time", "s", "samples", "rows"),
        "of start and end: as the time, s since the recording begins, steps from 0, or from 1 and inclusive",
        unless="time, or s where there is none",
    ),
    Option(
        "metadata",
        TEXT,
        "table of what is the same in all of a recording, a row for each (or for each window, in order)",
        files=True,
    ),
    Option("recording", TEXT, "column of the recording", unless="recording"),
    Option("time", TEXT, "column of the time", unless="time"),
    Option(
        "time_unit",
        one_of("s", "ms", "us", "ns", "min", "h"),
        "of a time in numbers",
        unless="by its magnitude",
    ),
    Option("ties", one_of("spread", "drop"), "equal times", unless="refused"),
    Option("gap", POSITIVE, "sample periods above which a window ends", 5),
    Option("domain", COLUMNS, "columns that tell domains apart"),
    Option("sampling_rate", RATE, "Hz, where there is no time, or the column or variable that holds it"),
    Option("resample", POSITIVE, "Hz of the prepared signals"),
    Option("join", FILES, "files of other sensors, joined by recording and time", files=True),
    Option("order", TEXT, "column of the speed of a shaft, by the angle of which signals are resampled"),
    Option("order_unit", one_of("rpm", "Hz"), "of this speed", "rpm"),
    Option(
        "per_revolution",
        {"type": "integer", "minimum": 2, "description": "a number of samples from 2"},
        "samples of the prepared signals, with `order`",
        256,
    ),
    Option(
        "cap",
        {"type": "integer", "minimum": 1, "description": "a number of windows from 1"},
        "windows of each class and domain, at most",
    ),
    Option("seed", NATURAL, "of drawing these", 0),
    Option(
        "separator",
        {"type": "string", "minLength": 1, "maxLength": 1, "description": "one character, such as ;"},
        "of the cells of a text",
        unless="a comma; in .tsv a tab, in .txt as its first line says",
    ),
)
_PREDICT = ("rows", "header", "axes", "time_unit", "ties", "gap", "join", "separator")
PREDICT = tuple(
    replace(option, default="spread", unless="spread") if option.name == "ties" else option
    for option in PREPARE
    if option.name in _PREDICT
)
CHECK = tuple(
    replace(option, help="time steps", unless="128, or less where stretches are short", required=False)
    if option.name == "window"
    else option
    for option in PREPARE
    if option.name != "domains"
)
