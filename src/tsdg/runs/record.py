"""Run records as they are read: typed, and found to be free of contradictions.

All that selection, tables and figures rest on. `tsdg.runs.writing` writes them.
"""

import json
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec
from msgspec import Meta, Raw, Struct
from msgspec.structs import asdict, replace

from tsdg.errors import InputError
from tsdg.runs import compact
from tsdg.runs.compact import expanded
from tsdg.runs.recipe import Recipe
from tsdg.runs.strict import FromZero, Number, converted, parsed
from tsdg.runs.writing import FORMAT, is_sealed
from tsdg.study.reading import ADAPTED, LAST, asked_ways
from tsdg.study.run import Run, run_path

FORMATS = (FORMAT, compact.FORMAT)
ROUNDING = 1e-6
_LARGEST = 2**63 - 1  # whole number of a table

Fraction = Annotated[float, Meta(ge=0, le=1 + ROUNDING)]
Brier = Annotated[float, Meta(ge=0, le=2 + ROUNDING)]
Integer = Annotated[int, Meta(ge=-_LARGEST, le=_LARGEST)]
Natural = Annotated[int, Meta(ge=0, le=_LARGEST)]
Positive = Annotated[int, Meta(ge=1, le=_LARGEST)]


class Data(Struct, frozen=True):
    """The data trained on."""

    fingerprint: str
    simulated: bool


class Code(Struct, frozen=True):
    """The code trained by."""

    fingerprint: str


class Machine(Struct, frozen=True):
    """What trained."""

    device: str
    device_name: str = ""


class Timing(Struct, frozen=True):
    """How long an iteration took, and how many runs shared it."""

    seconds_per_iteration: FromZero
    runs_at_once: Positive


class Scores(Struct, frozen=True, kw_only=True):
    """Metrics of one split, see `tsdg.learning.metrics.evaluate`."""

    accuracy: Fraction
    balanced_accuracy: Fraction | None = None
    macro_f1: Fraction | None = None
    ece: Fraction | None = None
    ece_calibrated: Fraction | None = None
    nll: FromZero | None = None
    brier: Brier | None = None
    auc: Fraction | None = None
    n: Natural | None = None


class Bins(TypedDict):
    """See `tsdg.learning.metrics.reliability`."""

    count: list[Natural]
    confidence: list[Fraction | None]
    accuracy: list[Fraction | None]


class TargetScores(Scores, frozen=True, kw_only=True):
    """Metrics of the target."""

    ece: Fraction
    nll: FromZero
    brier: Brier
    auc: Fraction | None
    reliability: Bins | None = None
    confusion: list[list[Natural]] | None = None  # windows by true class and by most probable class
    domains: dict[str, Scores] = {}  # of a group

    def __post_init__(self) -> None:
        self._check_bins()
        self._check_confusion()

    @property
    def worst_domain(self) -> float:
        """Accuracy on the worst of its domains."""
        return min([scores.accuracy for scores in self.domains.values()], default=self.accuracy)

    @property
    def worst_class(self) -> float | None:
        """The smallest fraction of a class's windows that is found, of the classes that are there."""
        if self.confusion is None:
            return None
        return min(row[k] / sum(row) for k, row in enumerate(self.confusion) if sum(row))

    def _check_confusion(self) -> None:
        if self.confusion is None:
            return
        if {len(row) for row in self.confusion} - {len(self.confusion)}:
            raise ValueError("its confusion has not as many columns as rows")
        count = sum(map(sum, self.confusion))
        right = sum([row[k] for k, row in enumerate(self.confusion)])
        if count == 0 or (self.n is not None and count != self.n):
            raise ValueError(f"its confusion holds {count} windows where n is {self.n}")
        if abs(right / count - self.accuracy) > ROUNDING:
            raise ValueError(
                f"its accuracy is {self.accuracy:.6g} where its confusion says {right / count:.6g}"
            )

    def _check_bins(self) -> None:
        if self.reliability is None:
            return
        count, right = self.reliability["count"], self.reliability["accuracy"]
        if not len(count) == len(right) == len(self.reliability["confidence"]):
            raise ValueError("the lists of its reliability differ in length")
        if self.n is not None and sum(count) != self.n:
            raise ValueError(f"its bins hold {sum(count)} windows where n is {self.n}")
        hits = sum([n * part for n, part in zip(count, right, strict=True) if part])
        mean = hits / max(sum(count), 1)
        if abs(mean - self.accuracy) > ROUNDING:
            raise ValueError(f"its accuracy is {self.accuracy:.6g} where its bins say {mean:.6g}")


class Evaluation(Struct, frozen=True, kw_only=True):
    """How good a network is on its sources' validation windows and on the target."""

    validation: dict[str, Scores]
    target: TargetScores
    temperature: FromZero | None = None
    probabilities: dict[str, str] = {}  # see `tsdg.runs.probabilities`

    @property
    def source_accuracy(self) -> float:
        """Validation accuracy, the mean over the source domains."""
        return fmean(scores.accuracy for scores in self.validation.values())


class Checkpoint(Evaluation, frozen=True, kw_only=True):
    """An evaluation in the course of a training, of the averaged weights too where there are some."""

    iteration: Positive
    averaged: Evaluation | None = None
    adapted: dict[str, TargetScores] | None = None  # to the target, see `tsdg.learning.adaptation`


class KeptWindows(Struct, frozen=True):
    """Windows of a domain whose probabilities are kept, see `tsdg.runs.probabilities`."""

    rows: str
    labels: str


class Divergence(Struct, frozen=True):
    """H-divergence of a source and the target."""

    value: Number


class Neighbours(Struct, frozen=True):
    """The nearest source of each source at an update of the similarity."""

    iteration: Natural
    of: dict[str, str]


class Config(TypedDict):
    """What readers ask of a configuration, which holds more, see `tsdg.study.study.Study.config`."""

    method: str
    iterations: Positive
    protocol: str
    clusters: NotRequired[dict[str, Natural] | None]
    average: NotRequired[dict[str, float]]
    adapt: NotRequired[list[str]]


class Record(Struct, frozen=True):
    """A run's record."""

    status: Literal["finished", "diverged"]
    run: Run
    config: dict[str, Any]
    hparams: dict[str, Number]
    sources: list[str]
    classes: list[Any]
    data: Data
    code: Code
    machine: Machine
    timing: Timing
    checkpoints: list[Checkpoint]
    losses: dict[str, list[Integer | Number | None]]
    diverged_at: Positive | None = None
    stopped_at: Positive | None = None
    divergence: dict[str, Divergence] | None = None
    neighbours: list[Neighbours] = []
    windows: dict[str, KeptWindows] = {}

    @property
    def recipe(self) -> Recipe:
        """What decided the training."""
        return Recipe(
            self.config, self.hparams, self.code.fingerprint, self.data.fingerprint, tuple(self.sources)
        )

    @property
    def finished(self) -> bool:
        """Whether the training went to its end; otherwise it diverged."""
        return self.status == "finished"

    def of_weights(self, weights: str) -> "Record":
        """The same with checkpoints of other weights than the ``last``, since there are some.

        These are the ``averaged``, or those adapted to the target, see `tsdg.study.reading.WAYS`.
        """
        if weights == LAST:
            return self
        if weights.startswith(ADAPTED):
            way = weights.removeprefix(ADAPTED)
            adapted = [
                replace(one, target=one.adapted[way])
                for one in self.checkpoints
                if one.adapted and way in one.adapted
            ]
            return replace(self, checkpoints=adapted)
        averaged = [
            Checkpoint(
                iteration=one.iteration, averaged=one.averaged, adapted=one.adapted, **asdict(one.averaged)
            )
            for one in self.checkpoints
            if one.averaged
        ]
        return replace(self, checkpoints=averaged)

    def __post_init__(self) -> None:
        try:
            msgspec.convert(self.config, Config)
        except msgspec.ValidationError as error:
            raise ValueError(str(error).replace("$", "$.config", 1)) from None
        if problem := self._contradiction():
            raise ValueError(problem)

    def _contradiction(self) -> str | None:
        sources = set(self.sources)
        if not sources:
            return "it has no sources"
        if self.run.target in sources:
            return f"its target {self.run.target} is among its sources"
        averaged = [checkpoint.averaged for checkpoint in self.checkpoints if checkpoint.averaged]
        for checkpoint in [*self.checkpoints, *averaged]:
            validated = checkpoint.validation.keys()
            if missing := sources - validated:
                return f"a checkpoint lacks the validation accuracy of {', '.join(sorted(missing))}"
            counts = checkpoint.target.confusion
            if counts is not None and len(counts) != len(self.classes):
                return (
                    f"the confusion of a checkpoint is of {len(counts)} classes, not of {len(self.classes)}"
                )
            if learned := sources & checkpoint.target.domains.keys():
                return f"its target holds {', '.join(sorted(learned))}, which are among its sources"
            if others := validated - sources:
                strange = ", ".join(sorted(others))
                return f"a checkpoint has a validation accuracy of {strange}, which are no sources"
        for update in self.neighbours:
            if unknown := sorted({*update.of, *update.of.values()} - sources):
                return f"neighbours name {', '.join(unknown)}, which are no sources"
        if not all(type(step) is int and step >= 0 for step in self.losses.get("iteration", [None])):
            return "losses lacks whole numbers from 0 as iteration"
        if len(set(map(len, self.losses.values()))) > 1:
            return "the lists of losses differ in length"
        return self._wrong_end()

    def _wrong_end(self) -> str | None:
        """What is wrong in how far the training went."""
        steps = [checkpoint.iteration for checkpoint in self.checkpoints]
        if steps != sorted(set(steps)):
            return "its checkpoints are not in the order of iterations"
        if self.finished:
            end = self.stopped_at or self.config["iterations"]
            if not steps:
                return "a finished run has no checkpoint"
            if steps[-1] != end:
                return f"its last checkpoint is of iteration {steps[-1]} where the training ended at {end}"
            if self.config.get("average") and self.checkpoints[-1].averaged is None:
                return "its last checkpoint lacks the averaged weights"
            if lacking := set(asked_ways(self.config.get("adapt") or [])) - {
                ADAPTED + way for way in self.checkpoints[-1].adapted or {}
            }:
                return f"its last checkpoint lacks the network {sorted(lacking)[0]}"
        elif self.diverged_at is None:
            return "the record lacks diverged_at"
        elif steps and steps[-1] >= self.diverged_at:
            return f"a checkpoint is of iteration {steps[-1]} where the run diverged at {self.diverged_at}"
        return None


def read(path: str | Path, run: Run | None = None, *, course: bool = True) -> Record:
    """A record, of the given run if there is one.

    Without its `course`, which is most of the file, it has of its checkpoints the last alone, and no losses:
    the course of a file that is as it was written is not decoded; any other is read whole.

    Raises
    ------
    InputError
        The file is absent, truncated, of another format or run, lacks a key, holds a wrong value, or
        contradicts itself; the message names it and the remedy.
    """
    try:
        text = Path(path).read_bytes()
        record = typed(expanded(parsed(text if course else _end(text))))
    except OSError as error:
        problem = f"it cannot be read ({error.strerror})"
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        problem = f"it is truncated or not JSON ({error})"
    except ValueError as error:
        problem = str(error)
    except RecursionError:
        problem = "it is nested too deeply"
    else:
        if run is not None:
            check_run(path, record, run)
        return record
    raise InputError(f"{path}: unusable run record, {problem}. Delete it and run the same command again.")


read_end = partial(read, course=False)


def _end(text: bytes) -> bytes:
    """The text of a record without its course, which was valid when it was sealed; another stays as it is."""
    if not is_sealed(text):
        return text
    parts = msgspec.json.decode(text, type=dict[str, Raw])
    checkpoints = msgspec.json.decode(parts["checkpoints"], type=list[Raw])
    return msgspec.json.encode(parts | {"checkpoints": checkpoints[-1:], "losses": {"iteration": []}})


def check_run(path: str | Path, record: Record, run: Run) -> None:
    """Raise `InputError` unless the record says that it is of this run: a record copied elsewhere lies."""
    if record.run != run:
        raise InputError(
            f"{path}: the record says that it is of run {run_path(record.run)}. Move it to where it "
            "belongs, or delete it and run the same command again."
        )


def typed(plain: Any) -> Record:
    """The record that JSON gives back.

    Raises
    ------
    ValueError
        It is none, or contradicts itself; the message says where and why.
    """
    if not isinstance(plain, dict):
        raise ValueError("it holds no JSON object")
    if plain.get("format") not in FORMATS:
        raise ValueError(f"its format is {plain.get('format')!r} where this version reads {FORMATS}")
    try:
        return converted(plain, Record)
    except InputError as error:
        raise ValueError(f"run: {error}") from None
