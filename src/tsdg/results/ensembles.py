"""An ensemble: the models of several seeds as one, which gives the mean of their probabilities.

It is made of what records keep, without a training. The validation windows of one seed are training windows
of another, so that only the target is evaluated; calibrated, each member's probabilities go by its own
temperature.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from tsdg.errors import InputError
from tsdg.learning.metrics import evaluate_target, expected_calibration_error
from tsdg.results.kept import Classified, read_kept
from tsdg.runs.record import Checkpoint, Record, TargetScores
from tsdg.runs.writing import plain

AND, AT = ";", "@"  # in the text that names members: paths of records, each at an iteration


class Member(NamedTuple):
    """A model of an ensemble: its record's path, the record, and the checkpoint that counts."""

    path: str
    record: Record
    checkpoint: Checkpoint


def named(members: Iterable[tuple[str, int | None]]) -> str:
    """The text of the paths of records and iterations."""
    return AND.join(f"{path}{AT}{iteration}" for path, iteration in members)


def members_of(text: str) -> list[tuple[str, int]]:
    """The inverse of `named`."""
    pairs = (member.rpartition(AT) for member in text.split(AND))
    return [(path, int(iteration)) for path, _, iteration in pairs]


def target_scores(members: Sequence[Member]) -> TargetScores:
    """How good an ensemble is on the target.

    Raises
    ------
    InputError
        A record keeps no probabilities of the checkpoint, or the members' are of other windows.
    """
    target = members[0].record.run.target
    kept = [_of_target(member) for member in members]
    scored, calibrated = {}, {}
    for domain, (rows, labels, _) in kept[0].items():
        for member, own in zip(members, kept, strict=True):
            if not np.array_equal(own[domain].rows, rows):
                raise InputError(
                    f"{member.path}: the record is of other windows of {domain} than {members[0].path}, so "
                    "that they make no ensemble; train both again on the same data"
                )
        known = [own[domain].probabilities for own in kept]
        scored[domain] = np.mean(known, axis=0), labels
        pairs = zip(members, known, strict=True)
        calibrated[domain] = np.mean([_calibrated(*pair) for pair in pairs], axis=0), labels
    scores = evaluate_target(target, scored)
    together, labels = (np.concatenate(parts) for parts in zip(*calibrated.values(), strict=True))
    scores["ece_calibrated"] = expected_calibration_error(together, labels)
    for domain, of_domain in scores.get("domains", {}).items():
        of_domain["ece_calibrated"] = expected_calibration_error(*calibrated[domain])
    return msgspec.convert(plain(scores), TargetScores)


def _of_target(member: Member) -> dict[str, Classified]:
    try:
        kept = read_kept(member.record, member.checkpoint)
    except ValueError as error:
        raise InputError(f"{member.path}: {error}; delete the record and train it again") from None
    found = {domain: own for domain, own in kept.items() if domain not in member.record.sources}
    if not found:
        raise InputError(
            f"{member.path}: the record keeps no probabilities at iteration {member.checkpoint.iteration}, "
            "of which an ensemble is made; they are kept of the last checkpoint and of the one with the best "
            "source validation, under a protocol with `keep: probabilities`"
        )
    return found


def _calibrated(member: Member, probabilities: np.ndarray) -> np.ndarray:
    from tsdg.learning.calibration import tempered  # and an optimizer, which takes its time to load

    return tempered(probabilities, member.checkpoint.temperature or 1.0)
