"""Classes of new recordings from a bundle."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from tsdg.bundle import new_domain
from tsdg.bundle.model import Bundle
from tsdg.data.own.cut import CutSource, check_axes, settled
from tsdg.data.own.join import joined
from tsdg.data.own.order import Order
from tsdg.data.own.raw import open_source
from tsdg.data.own.recordings import Columns, Recording, Source
from tsdg.data.own.sampling import RATES_DIFFER, Sampling
from tsdg.data.own.stamps import GAP, rate_of
from tsdg.data.windows import window_starts
from tsdg.errors import InputError, nearest

WINDOWS = ("recording", "start", "seconds", "class", "confidence")  # and p_CLASS; seconds if they are known
VOTES = ("recording", "class", "share", "windows", "confidence")


@dataclass(frozen=True, kw_only=True)
class Options:
    """How recordings are read.

    Attributes
    ----------
    recording, time : str, optional
        Columns; by default those that the model was trained with where they are there, see
        `tsdg.data.own.prepare.prepare`.
    sampling_rate, files, rows, header, axes, time_unit, ties, gap, join, separator
        As in `tsdg.data.own.prepare.prepare`. Of a model of windows already cut, a table's row is by default
        one.
    stride : int, optional
        Distance of two windows; by default as in training.
    order : str, optional
        Column of the shaft's speed; by default that of the training.
    """

    recording: str | None = None
    time: str | None = None
    sampling_rate: float | str | None = None
    files: str | None = None
    stride: int | None = None
    rows: str | None = None
    header: Sequence[str] | None = None
    axes: str | None = None
    time_unit: str | None = None
    ties: str = "spread"
    gap: float = GAP
    order: str | None = None
    join: Sequence[str | Path] | None = None
    separator: str | None = None


def predict(
    bundle: Bundle,
    path: str | Path,
    *,
    reference: str | Path | None = None,
    adapt: bool = False,
    say: Callable[[str], None] = lambda text: None,
    **options: Any,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Classify every window of recordings, and vote on each recording.

    Parameters
    ----------
    bundle : Bundle
    path : path
        A file, or a folder of files, see `tsdg.data.own.raw`; no label is needed.
    reference : path, optional
        Recordings of the reference class of the same domain, read as the others are.
    adapt : bool
        Whether statistics of the windows may be used, which are then those of one domain and of all kinds.
    say : callable, optional
        Called with how the file was understood.
    **options
        `Options`.

    Returns
    -------
    windows : DataFrame
        One row a window: ``recording``, ``start`` (the recording's time step, from 0, as the file has it),
        ``seconds`` since the recording begins where the rate is known, ``class``, ``confidence``, and
        ``p_CLASS`` of each class, whose greatest is the confidence; all are scaled by the temperature.
    votes : DataFrame
        One row a recording: ``recording``, ``class`` of most windows (a tie: the greater mean probability),
        ``share`` of the windows that say so, ``windows``, mean ``confidence``.

    Raises
    ------
    InputError
        If channels are missing, the rate is another one, or a recording is shorter than a window.
    """
    card = bundle.card
    read = partial(_stretches, card, Options(**options))
    new_domain.check_asked(card, reference=reference is not None, adapt=adapt)
    length = card["window"]["length"]
    stretches = read(path, say=say)
    if reference is not None or adapt:
        bundle = Bundle(card, deepcopy(bundle.model))
    if reference is not None:
        new_domain.take_reference(bundle, _Windows(read(reference), length), str(reference), say)
    if adapt:
        kept = list(stretches)
        new_domain.take_windows(bundle, _Windows(kept, length), str(path), say)
        stretches = iter(kept)
    tables = [_classified(bundle, stretch) for stretch in stretches]
    found = pd.concat(tables, ignore_index=True)
    return found, _votes(found, card["classes"])


@dataclass(frozen=True)
class _Stretch:
    """A stretch of a recording without a gap.

    Attributes
    ----------
    name : str
        The recording's.
    signal : (samples, C)
    starts : (N,)
        Of windows in it.
    steps : (N,)
        The same in its recording.
    seconds : (N,) or None
    """

    name: str
    signal: np.ndarray
    starts: np.ndarray
    steps: np.ndarray
    seconds: np.ndarray | None


class _Windows:
    """Windows ``(n, C, T)`` by their numbers through several stretches."""

    def __init__(self, stretches: Iterable[_Stretch], length: int):
        kept = list(stretches)
        self.views = [torch.from_numpy(stretch.signal).unfold(0, length, 1) for stretch in kept]
        self.places = [(k, start) for k, stretch in enumerate(kept) for start in stretch.starts]

    def __len__(self) -> int:
        return len(self.places)

    def __call__(self, numbers: torch.Tensor) -> torch.Tensor:
        found = [self.places[number] for number in numbers.tolist()]
        return torch.stack([self.views[k][start] for k, start in found])


def _stretches(
    card: dict,
    given: Options,
    path: str | Path,
    say: Callable[[str], None] = lambda text: None,
) -> Iterator[_Stretch]:
    """All stretches of recordings that windows are cut of."""
    rate, rate_column = given.sampling_rate, None
    if isinstance(rate, str):
        rate, rate_column = None, rate
    speed = given.order or (card.get("order") or {}).get("column")
    asked = [*card["channels"], *card.get("columns", {}).values()]
    source = open_source(
        path, separator=given.separator, axes=given.axes, files=given.files, header=given.header,
        columns=[*asked, given.recording, given.time, rate_column, speed],
    )  # fmt: skip
    rows = given.rows
    if rows is None and card["window"].get("cut") and not set(card["channels"]) <= set(source.names):
        rows = "windows"
    source = settled(source, rows, channels=card["channels"] if rows is None else None, label=None)
    check_axes(source, given.axes)
    if given.join:
        here = {key: name for key, name in card["columns"].items() if name in source.names}
        source = joined(
            source, given.join, rate=card["resample"], recording=given.recording or here.get("recording"),
            time=given.time or here.get("time"), channels=card["channels"], time_unit=given.time_unit,
            ties=given.ties, gap=given.gap, separator=given.separator, header=given.header,
        )  # fmt: skip
    for channel in card["channels"]:
        if channel not in source.names:
            raise InputError(
                f"{path}: the model needs channel {channel!r}{nearest(channel, source.names)}; there are "
                f"{', '.join(source.names)}"
            )
    known = {key: name for key, name in card.get("columns", {}).items() if name in source.names}
    if given.sampling_rate is None and given.time is None:
        rate_column = known.get("rate")
    columns = source.columns(
        channels=card["channels"],
        label=None,
        recording=given.recording or known.get("recording"),
        time=given.time or (None if rate_column else known.get("time")),
        rate=rate_column,
    )
    source.time_unit, source.ties = given.time_unit, given.ties
    by_angle = _order(card, given.order)
    length, step = card["window"]["length"], given.stride or card["window"]["stride"]
    sampling = Sampling(rate, card["resample"], given.gap, by_angle)
    dropped = 0
    for whole in source.recordings(by_angle.columns(source, columns) if by_angle else columns):
        _check_rate(f"{path}: recording {whole.name}", whole, rate, card)
        numbered = replace(whole, labels=np.arange(len(whole.signal)))  # the step of each, wherever it goes
        if whole.time is not None and _wanted(card):  # with which each was compared
            sampling = replace(sampling, rate=None)
        stretches = list(sampling.stretches(numbered, str(path)))
        parts = [_padded(part, length, card) for part in stretches]
        parts = [part for part in parts if len(part.signal) >= length]
        if not parts:
            longest = max((len(part.signal) for part in stretches), default=0)
            raise InputError(
                f"{path}: recording {whole.name} has {longest} time steps without a gap, and the "
                f"model takes windows of {length}; give a longer recording"
            )
        dropped += len(stretches) - len(parts)
        for part in parts:
            starts = window_starts(length, step, len(part.signal))
            signal = _filled(card, whole.name, part.signal)
            seconds = _seconds(whole, part, starts, rate, card)
            yield _Stretch(whole.name, signal, starts, part.labels[starts], seconds)
    for line in _understood(source, columns, rows):
        say(line)
    if dropped:
        say(f"{dropped} stretches are shorter than a window and left out.")


def _order(card: dict, column: str | None) -> Order | None:
    """Resampling to a shaft's angle as in training, by a column that may have another name here."""
    if card.get("order") is None:
        if column is not None:
            raise InputError(f"order: the model takes signals by time, not by {column}; leave it out")
        return None
    return Order(**card["order"] | ({"column": column} if column else {}))


def _understood(source: Source, columns: Columns, rows: str | None) -> list[str]:
    """How a file was read, in words."""
    lines = list(source.notes)
    if isinstance(source, CutSource):
        shown = f"{source.length} time steps, already cut"
        lines.append(f"A row is a window of {shown}." if rows else f"Windows of {shown}.")
    if columns.recording is None and not isinstance(source, CutSource):
        lines.append("No column names recordings, so the file is one.")
    if columns.time:
        what = "dates" if columns.time in source.dates else f"in {source.time_unit or 's'}"
        lines.append(f"Time: {columns.time}, {what}.")
    return lines


def _wanted(card: dict) -> float | None:
    """Hz of the signals that the model takes, None where it takes any or goes by the angle."""
    return None if card.get("order") else card["sampling_rate"]


def _check_rate(where: str, recording: Recording, given: float | None, card: dict) -> None:
    """Refuse a rate that is not known or not the model's, unless it resamples."""
    rate, wanted = given, _wanted(card)
    if recording.time is not None and len(recording.time) > 1:
        rate = rate_of(recording.time)
        if given and abs(rate / given - 1) > RATES_DIFFER:
            raise InputError(
                f"{where}: sampling_rate: {given:.4g} Hz is given, and its time says {rate:.4g} Hz; leave "
                "sampling_rate out, or correct the unit of the time"
            )
    if wanted and not rate:
        raise InputError(
            f"{where}: its rate is not known, and the model takes {wanted:.4g} Hz; name the column of the "
            "time with --time, or give --sampling-rate"
        )
    if rate and wanted and not card["resample"] and abs(rate / wanted - 1) > RATES_DIFFER:
        raise InputError(
            f"{where} has a rate of {rate:.4g} Hz, and the model takes {wanted:.4g} Hz; resample the "
            "recording, or train with `resample`"
        )


def _padded(part: Recording, length: int, card: dict) -> Recording:
    """A stretch that is too short, as the training had it."""
    if len(part.signal) >= length or card["window"]["short"] == "drop":
        return part
    tail = np.repeat(part.signal[-1:], length - len(part.signal), axis=0)
    return Recording(part.name, part.fields, np.concatenate([part.signal, tail]), part.labels, None)


def _seconds(
    whole: Recording, part: Recording, starts: np.ndarray, rate: float | None, card: dict
) -> np.ndarray | None:
    """When windows of a stretch begin, since its recording does; None where no rate tells."""
    if card.get("order"):
        return None
    if whole.time is not None:
        time = whole.time - whole.time[0]
    elif rate:
        time = np.arange(len(whole.signal)) / rate
    else:
        return None
    if card["resample"]:
        return time[part.labels[0]] + starts / card["resample"]
    return time[part.labels[starts]]


def _filled(card: dict, name: str, signal: np.ndarray) -> np.ndarray:
    filled = pd.DataFrame(signal).ffill().to_numpy(np.float32, copy=True)  # as in training
    if np.isnan(filled).any() and card["standardize"] is None:
        raise InputError(f"recording {name} begins with missing values, which this model cannot fill")
    return filled


def _classified(bundle: Bundle, stretch: _Stretch) -> pd.DataFrame:
    card = bundle.card
    windows = torch.from_numpy(stretch.signal).unfold(0, card["window"]["length"], 1)
    x = windows[torch.from_numpy(stretch.starts)]
    probabilities = (bundle.logits(x).double() / card["temperature"]).softmax(1).numpy()
    table = pd.DataFrame(
        {
            "recording": stretch.name,
            "start": stretch.steps,
            "class": [card["classes"][k] for k in probabilities.argmax(1)],
            "confidence": probabilities.max(1),
        }
    )
    table[[f"p_{label}" for label in card["classes"]]] = probabilities
    if stretch.seconds is not None:
        table.insert(2, "seconds", stretch.seconds)
    return table


def _votes(windows: pd.DataFrame, classes: list[str]) -> pd.DataFrame:
    rows = []
    for name, part in windows.groupby("recording", sort=False):
        counts = [(part["class"] == label).sum() for label in classes]
        means = [part[f"p_{label}"].mean() for label in classes]
        best = max(range(len(classes)), key=lambda k: (counts[k], means[k]))
        row = (name, classes[best], counts[best] / len(part), len(part), part["confidence"].mean())
        rows.append(row)
    return pd.DataFrame(rows, columns=list(VOTES))


def is_output(path: Path) -> bool:
    """Whether a file begins as the windows or votes of a prediction do."""
    with open(path, encoding="utf-8", errors="replace") as file:
        first = file.readline(1 << 16)
    try:
        names = next(csv.reader([first]), [])
    except csv.Error:
        return False
    common = [name for name in names if not name.startswith("p_")]
    without_time = [name for name in WINDOWS if name != "seconds"]
    return names == list(VOTES) or (common != names and common in (list(WINDOWS), without_time))
