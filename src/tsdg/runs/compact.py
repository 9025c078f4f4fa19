"""What a record's file holds shorter than the record: the same numbers in two thirds of the room.

Scores of domains are rows of numbers whose columns are named once; of reliability bins the right windows are
counted, from which their accuracy follows to the bit; confidences of bins and losses, which were single
precision when they were taken, have its digits.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

FORMAT = 2  # of the file; files of format 1 hold the record as it is
CHECKSUM = "checksum"  # of the file, see `tsdg.runs.writing.sealed`
LARGEST = float(np.finfo(np.float32).max)

Tree = dict[str, Any]


def compacted(record: Tree) -> Tree:
    """The record as its file holds it; it is changed in place."""
    tables = list(_tables(record))
    names = list(dict.fromkeys(name for table in tables for scores in table.values() for name in scores))
    for table in tables:
        table |= {domain: [scores.get(name) for name in names] for domain, scores in table.items()}
    for bins in _bins(record):
        right = bins.pop("accuracy")
        bins["right"] = [round(n * (part or 0)) for n, part in zip(bins["count"], right, strict=True)]
        bins["confidence"] = _single(bins["confidence"])
    record["losses"] = {
        name: values if name == "iteration" else _single(values) for name, values in record["losses"].items()
    }
    return record | {"format": FORMAT, "scores": names}


def expanded(record: Any) -> Any:
    """The record that a file holds; it is changed in place. A file of another format is left as it is.

    Raises
    ------
    ValueError
        The file is not as `compacted` makes it.
    """
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        return record
    try:
        names = record.pop("scores")
        record.pop(CHECKSUM, None)
        for table in _tables(record):
            for domain, row in table.items():
                table[domain] = dict(zip(names, row, strict=True))
        for bins in _bins(record):
            right = zip(bins["count"], bins.pop("right"), strict=True)
            bins["accuracy"] = [part / n if n else None for n, part in right]
    except (KeyError, TypeError, AttributeError, ValueError):
        raise ValueError(f"its scores are not as format {FORMAT} has them") from None
    return record


def _evaluations(record: Tree) -> Iterator[Tree]:
    for checkpoint in record["checkpoints"]:
        yield checkpoint
        if averaged := checkpoint.get("averaged"):
            yield averaged


def _targets(record: Tree) -> Iterator[Tree]:
    yield from (evaluation["target"] for evaluation in _evaluations(record))
    for checkpoint in record["checkpoints"]:
        yield from (checkpoint.get("adapted") or {}).values()


def _tables(record: Tree) -> Iterator[Tree]:
    """Scores by domain."""
    yield from (evaluation["validation"] for evaluation in _evaluations(record))
    yield from (target["domains"] for target in _targets(record) if "domains" in target)


def _bins(record: Tree) -> Iterator[Tree]:
    yield from (target["reliability"] for target in _targets(record) if target.get("reliability"))


def _single(values: list[float | None]) -> list[float | None]:
    """Numbers in as many digits as tell single precision apart; beyond its range, as they are."""
    return [
        value if value is None or abs(value) > LARGEST else float(str(np.float32(value))) for value in values
    ]
