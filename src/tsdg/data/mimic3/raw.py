"""Raw tables of MIMIC-III.

``PATIENTS``, ``ADMISSIONS``, ``ICUSTAYS`` and ``CHARTEVENTS``, each as ``.csv`` or ``.csv.gz``, with column
names in upper or lower case.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv

from tsdg.data.raw import names_there
from tsdg.errors import InputError

TABLES = ("PATIENTS", "ADMISSIONS", "ICUSTAYS", "CHARTEVENTS")
REMEDY = "`tsdg fetch mimic3` says how to get the files"

_TIMES = ("INTIME", "OUTTIME", "ADMITTIME", "DISCHTIME", "DEATHTIME", "DOB")
_BLOCK = 1 << 22
_QUOTED = re.compile(
    r"(invalid value|columns, got \d+).*", re.DOTALL
)  # Arrow quotes the row: a person's data


def raw_names(entry: Mapping[str, Any]) -> list[str]:
    """See `tsdg.data.kinds.Kind.raw_names`."""
    return names_there(entry, [(f"{table}.csv", f"{table}.csv.gz") for table in TABLES])


def raw_files(raw: str | Path) -> dict[str, Path]:
    """The file of each table, csv or csv.gz.

    Raises
    ------
    InputError
        That names every missing table.
    """
    raw = Path(raw)
    found = {
        name: path
        for name in TABLES
        for end in (".csv.gz", ".csv")
        if (path := raw / f"{name}{end}").is_file()
    }
    missing = [name for name in TABLES if name not in found]
    if missing:
        raise InputError(f"{raw}: {', '.join(missing)} missing (.csv or .csv.gz); {REMEDY}")
    return found


def read_table(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Columns of a small table, upper case; times in seconds, so that no date is too early or late."""
    found = list(batches(path, dict.fromkeys(columns, pa.string()), lambda done, total: None))
    table = pa.Table.from_batches(found).to_pandas() if found else pd.DataFrame(columns=columns)
    for name in columns:
        text = table[name].replace("", None)
        if name in _TIMES:
            table[name] = pd.to_datetime(text, format="ISO8601", errors="coerce").astype("datetime64[s]")
        else:
            table[name] = pd.to_numeric(text, errors="coerce")
        optional = name in ("OUTTIME", "DISCHTIME", "DEATHTIME")
        bad = table[name].isna() & (text.notna() if optional else True)
        if bad.any():
            kind = "time" if name in _TIMES else "number"
            raise InputError(f"{path}: {name} is not a {kind} in {bad.sum()} rows; {REMEDY}")
    if "HOSPITAL_EXPIRE_FLAG" in table and not table["HOSPITAL_EXPIRE_FLAG"].isin([0, 1]).all():
        raise InputError(f"{path}: HOSPITAL_EXPIRE_FLAG is neither 0 nor 1 in some rows; {REMEDY}")
    return table


def batches(
    path: Path, types: dict[str, pa.DataType], progress: Callable[[int, int], None]
) -> Iterator[pa.RecordBatch]:
    """The needed columns of a table under their upper-case names, some megabytes at a time."""
    size = path.stat().st_size
    try:
        with pa.input_stream(path) as file:
            given = {name.strip('"').upper(): name.strip('"') for name in _header(file)}
        missing = [name for name in types if name not in given]
        if missing:
            raise InputError(f"{path}: column {', '.join(missing)} missing; {REMEDY}")
        named = {given[name]: kind for name, kind in types.items()}
        with (
            open(path, "rb") as file,
            pa.input_stream(file, compression="gzip" if path.suffix == ".gz" else None) as stream,
            pa.csv.open_csv(
                stream,
                read_options=pa.csv.ReadOptions(block_size=_BLOCK),
                parse_options=pa.csv.ParseOptions(newlines_in_values=True),
                convert_options=pa.csv.ConvertOptions(column_types=named, include_columns=list(named)),
            ) as reader,
        ):
            for batch in reader:
                yield batch.rename_columns(list(types))
                progress(file.tell() >> 20, size >> 20)
    except (OSError, EOFError, KeyError, ValueError) as error:  # Arrow's are ValueErrors
        told = re.sub(_QUOTED, r"\1", str(error))
        raise InputError(f"{path}: damaged or not in the official layout ({told}); {REMEDY}") from None


def _header(file: Any) -> list[str]:
    return file.read(10_000).split(b"\n", 1)[0].decode().strip().split(",")
