"""Files that know their rate: wav, EDF and WFDB. Their columns are the signals, and ``time`` in seconds.

What EDF+ and WFDB say of them is a column of texts, see `annotations`.
"""

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io.wavfile

from tsdg.data.own import annotations
from tsdg.data.own.annotations import Annotations
from tsdg.data.own.arrays import some
from tsdg.data.own.reading import check_within, library, strictly
from tsdg.data.own.recordings import Block, Columns, Progress, Source
from tsdg.errors import InputError

TIME = "time"
_STEPS = 1 << 16
_FORMATS = (0, 8, 16, 24, 32, 61, 80, 160, 212, 310, 311, 508, 516, 524)  # of WFDB

ReadPart = Callable[[int, int, list[int]], np.ndarray]


def open_wav(path: Path, progress: Progress) -> Source:
    """Sound: a column a channel, in shares of full scale."""
    with strictly(path):
        _check_wav(path)
        try:
            rate, sound = scipy.io.wavfile.read(path, mmap=True)
        except ValueError:  # 24 bits cannot be mapped
            rate, sound = scipy.io.wavfile.read(path)
    _check_rate(path, rate)
    sound = sound[:, None] if sound.ndim == 1 else sound
    kind = sound.dtype
    scale = 1.0 if kind.kind == "f" else float(2 ** (8 * kind.itemsize - 1))
    middle = scale if kind.kind == "u" else 0.0

    def part(start: int, stop: int, chosen: list[int]) -> np.ndarray:
        return (sound[start:stop, chosen].astype(np.float64) - middle) / scale

    names = [f"channel{index}" for index in range(sound.shape[1])]
    return _sampled(path, [path], names, float(rate), len(sound), part, progress)


def open_edf(path: Path, progress: Progress) -> Source:
    """EDF: the signals of the rate that most have, in their physical units."""
    edfio = library("edfio", path)
    _check_edf(path)
    with strictly(path):
        edf = edfio.read_edf(path, lazy_load_data=True)
    if not edf.is_continuous:
        raise InputError(f"{path}: is EDF+D, with gaps, which is not read; save it as EDF+C, a file a part")
    rates = [signal.sampling_frequency for signal in edf.signals]
    if not rates:
        raise InputError(f"{path}: holds no signal")
    rate = max(rates, key=lambda one: (rates.count(one), one))
    signals = [signal for signal in edf.signals if signal.sampling_frequency == rate]
    others = [f"{signal.label} {signal.sampling_frequency:g} Hz" for signal in edf.signals
              if signal.sampling_frequency != rate]  # fmt: skip
    count = signals[0].samples_per_data_record * edf.num_data_records
    for number, signal in enumerate(signals, start=1):
        if not signal.label:
            raise InputError(f"{path}: signal {number} has no label, which names its column; give it one")
        if signal.physical_min == signal.physical_max or signal.digital_min >= signal.digital_max:
            raise InputError(
                f"{path}: signal {signal.label!r} goes from {signal.physical_min:g} to "
                f"{signal.physical_max:g} {signal.physical_dimension} in steps {signal.digital_min} to "
                f"{signal.digital_max}, which gives no scale; correct its header"
            )

    def part(start: int, stop: int, chosen: list[int]) -> np.ndarray:
        return np.stack([signals[k].get_data_slice(start / rate, stop / rate) for k in chosen], 1)

    names = [signal.label for signal in signals]
    said = annotations.of_edf(path, edf)
    return _sampled(path, [path], names, rate, count, part, progress, others, said)


def open_wfdb(path: Path, progress: Progress) -> Source:
    """WFDB, by its header: the signals in their physical units."""
    wfdb = library("wfdb", path)
    record = str(path.with_suffix(""))
    files = [path, *companions(path)]
    for file in files:
        check_within(path.parent, file)
        if not file.is_file():
            raise InputError(f"{path}: names {file.name}, which is not in {path.parent}")
        if file.suffix.lower() == ".hea":
            _check_header(file)
    with strictly(path):
        header = wfdb.rdheader(record)
    if not header.n_sig or not header.sig_len:
        raise InputError(f"{path}: holds no signal, or does not say how long it is")
    _check_rate(path, header.fs)
    sums = _Sums(path, header)

    def part(start: int, stop: int, chosen: list[int]) -> np.ndarray:
        span = {"sampfrom": start, "sampto": stop, "channels": chosen}
        if not sums.known:
            return wfdb.rdrecord(record, **span).p_signal
        found = wfdb.rdrecord(record, physical=False, **span)
        sums.add(start, stop, chosen, found.d_signal)
        return found.dac()

    described = getattr(header, "sig_name", None) or wfdb.rdrecord(record, sampto=1).sig_name
    names = [name or f"signal{index}" for index, name in enumerate(described)]
    rate, said = float(header.fs), annotations.of_wfdb(path, wfdb, float(header.fs))
    source = _sampled(path, files, names, rate, header.sig_len, part, progress, annotated=said)
    if any(file.suffix.lower() == ".hea" and _scaleless(file) for file in files):
        source.notes.append(
            "WFDB signals without a gain are not calibrated: 200 steps to a mV, as it has it."
        )
    return source


def _scaleless(path: Path) -> bool:
    """Whether a header of WFDB has a signal without gain, or with one of 0."""
    first, *lines = _header_lines(path)
    gains = [line[2] if len(line) > 2 else "0" for line in lines if line[0] != "~" and "/" not in first[0]]
    return any(re.match(r"0*(\.0*)?(?![\d.])", gain) for gain in gains)


class _Sums:
    """Checksums of WFDB: the sum of a signal's numbers, which its header says modulo 2^16.

    `known` is whether there are any that can be told from what is read: not of a record of several segments,
    nor of signals with several samples a time step, whose means are read, or moved in time.
    """

    def __init__(self, path: Path, header: Any):
        self.path, self.header = path, header
        said = getattr(header, "checksum", None) or []
        plain = said and set(header.samps_per_frame) == {1} and not any(header.skew)
        self.known = bool(plain) and any(one is not None for one in said)
        self.sums: dict[tuple[int, ...], np.ndarray] = {}

    def add(self, start: int, stop: int, chosen: list[int], numbers: np.ndarray) -> None:
        """Take in a block of some signals, ``(n, C)``; after the last, refuse a sum that is another."""
        before = self.sums.get(tuple(chosen), 0) if start else 0
        total = self.sums[tuple(chosen)] = before + numbers.sum(0, dtype=np.int64)
        if stop < self.header.sig_len:
            return
        for signal, one in zip(chosen, total, strict=True):
            said = self.header.checksum[signal]
            if said is not None and (one - said) % (1 << 16):
                raise InputError(
                    f"{self.path}: signal {self.header.sig_name[signal]!r} is not what its checksum says, "
                    f"{said}: its numbers in {self.header.file_name[signal]} are damaged or of another "
                    "record; get both files anew"
                )


def _check_header(path: Path) -> None:
    """Refuse a header of WFDB whose first line does not fit; the library would guess."""
    lines = _header_lines(path)
    words = lines[0] if lines else []
    match = re.fullmatch(r"[^/]+(?:/(\d+))? (\d+)", " ".join(words[:2]))
    if not match:
        raise InputError(f"{path}: its first line is not a record's name, number of signals and rate")
    count = int(match[1] or match[2])
    if len(lines) - 1 != count:
        what = "segments" if match[1] else "signals"
        raise InputError(f"{path}: says {count} {what}, and has {len(lines) - 1} lines of them; correct it")
    if len(words) > 2:
        _check_rate(path, words[2].split("/")[0])
    for line in [] if match[1] else lines[1:]:
        if "/" in line[0] or "\\" in line[0]:
            raise InputError(f"{path}: names {line[0]}, of another folder; put it beside and name it so")
        form = re.match(r"\d+", line[1]) if len(line) > 1 else None
        if not form or int(form[0]) not in _FORMATS:
            raise InputError(
                f"{path}: {' '.join(line)!r} has no format of WFDB as its second word; correct it, such as "
                "by 16"
            )


def _check_rate(path: Path, rate: float | str) -> None:
    """Refuse a rate that is none."""
    try:
        fits = 0 < float(rate) < np.inf
    except ValueError:
        fits = False
    if not fits:
        raise InputError(f"{path}: its header says a rate of {rate} Hz, which is none; correct it")


def _check_wav(path: Path) -> None:
    """Refuse sound that is not as long as its header says; the library would cut it."""
    with open(path, "rb") as file:
        order = {b"RIFF": "<", b"RIFX": ">"}.get(file.read(4))
        file.seek(12)
        while order and len(head := file.read(8)) == 8:
            kind, size = struct.unpack(f"{order}4sI", head)
            if kind == b"data" and size > (left := path.stat().st_size - file.tell()):
                raise InputError(
                    f"{path}: holds {left:,} bytes of sound, and by its header {size:,}; it is cut off or "
                    "was not closed, save it anew"
                )
            file.seek(size + size % 2, 1)


def _check_edf(path: Path) -> None:
    """Refuse an EDF file that is not as long as its header says; the library would cut it."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        main = file.read(256).decode("latin-1")
        fields = [main[184:192], main[236:244], main[244:252], main[252:256]]
        try:
            head, records, duration, signals = (int(fields[0]), int(fields[1]), float(fields[2]),
                                                int(fields[3]))  # fmt: skip
            file.seek(256 + 216 * signals)
            steps = sum(int(file.read(8)) for _ in range(signals))
        except ValueError:
            raise InputError(f"{path}: its header is cut off or not one of EDF; save it anew") from None
    if records < 0:
        raise InputError(
            f"{path}: its header says {records} data records, as one that was not closed; save it anew"
        )
    if not duration > 0:
        raise InputError(f"{path}: its data records last {duration:g} s, which is no rate; correct it")
    if size != (whole := head + 2 * steps * records):
        raise InputError(
            f"{path}: is {size:,} bytes, and by its header {whole:,}; it is cut off or damaged, get it anew"
        )


def companions(path: Path) -> list[Path]:
    """The files of a WFDB record: those that its header names, of signals or of segments, and annotations."""
    if path.suffix.lower() != ".hea" or not path.is_file():
        return []
    lines = _header_lines(path)
    said = path.with_suffix(annotations.ENDING)
    last = [said] if said.is_file() else []
    if not lines:
        return []
    if "/" not in lines[0][0]:
        return [*dict.fromkeys(path.parent / words[0] for words in lines[1:] if words[0] != "~"), *last]
    segments = dict.fromkeys(path.parent / f"{words[0]}.hea" for words in lines[1:] if words[0] != "~")
    return [*(file for segment in segments for file in (segment, *companions(segment))), *last]


def _header_lines(path: Path) -> list[list[str]]:
    """The words of a WFDB header's lines, without comments."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _sampled(
    path: Path,
    files: list[Path],
    names: Sequence[str],
    rate: float,
    count: int,
    part: ReadPart,
    progress: Progress,
    others: Sequence[str] = (),
    annotated: Annotations | None = None,
) -> Source:
    """Columns of signals of one rate.

    Parameters
    ----------
    path, files, names
    rate : float
        Hz.
    count : int
        Time steps.
    part : callable
        From the first time step, the one after the last and the signals' numbers to ``(n, C)``.
    progress : callable
    others : sequence of str
        Signals that are no columns.
    annotated : Annotations, optional
    """
    channels: list[str] = []
    for name in names:
        twice = sum(name == before for before in names[: len(channels)])
        channels.append(f"{name}_{twice + 1}" if twice else name)

    def read(columns: Columns, source: Source) -> Iterator[Block]:
        chosen = [channels.index(name) for name in columns.channels]
        for start in range(0, count, _STEPS):
            stop = min(start + _STEPS, count)
            with strictly(path):
                signal = part(start, stop, chosen) if chosen else np.empty((stop - start, 0))
            time = np.arange(start, stop) / rate
            codes = {}
            for name in columns.texts:
                if name not in channels and name == annotations.COLUMN and annotated:
                    codes[name] = source.codes(name, annotated.texts, annotated.indices(time))
                    continue
                values = part(start, stop, [channels.index(name)])[:, 0] if name in channels else None
                values, indices = np.unique(time if values is None else values, return_inverse=True)
                codes[name] = source.codes(name, values.tolist(), indices)
            yield Block(signal.astype(np.float32), codes, time)
            progress(stop, count)

    if not count:
        raise InputError(f"{path}: holds no time steps; take it out")
    header = [
        f"{path}: {count:,} time steps at {rate:.6g} Hz, {count / rate:,.4g} s",
        f"channels: {some(channels)}",
        *([f"not used, of another rate: {some(list(others))}"] if others else []),
    ]
    numbers, texts, notes = [*channels, TIME], [], []
    if annotated and annotations.COLUMN not in channels:
        header.append(annotated.described)
        texts, notes = [annotations.COLUMN], [annotated.note] if annotated.note else []
    return Source(path, files, [*numbers, *texts], numbers, read, header=header, notes=notes)
