"""Files that know their rate: wav, EDF and WFDB. Their columns are the signals, and ``time`` in seconds."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import scipy.io.wavfile

from tsdg.data.own.arrays import some
from tsdg.data.own.reading import check_within, library, refused
from tsdg.data.own.recordings import Block, Columns, Progress, Source
from tsdg.errors import InputError

TIME = "time"
_STEPS = 1 << 16

ReadPart = Callable[[int, int, list[int]], np.ndarray]


def open_wav(path: Path, progress: Progress) -> Source:
    """Sound: a column a channel, in shares of full scale."""
    with refused(path):
        try:
            rate, sound = scipy.io.wavfile.read(path, mmap=True)
        except ValueError:  # 24 bits cannot be mapped
            rate, sound = scipy.io.wavfile.read(path)
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
    with refused(path):
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

    def part(start: int, stop: int, chosen: list[int]) -> np.ndarray:
        return np.stack([signals[k].get_data_slice(start / rate, stop / rate) for k in chosen], 1)

    names = [signal.label for signal in signals]
    return _sampled(path, [path], names, rate, count, part, progress, others)


def open_wfdb(path: Path, progress: Progress) -> Source:
    """WFDB, by its header: the signals in their physical units."""
    wfdb = library("wfdb", path)
    record = str(path.with_suffix(""))
    with refused(path):
        header = wfdb.rdheader(record)
    if not header.n_sig or not header.sig_len:
        raise InputError(f"{path}: holds no signal, or does not say how long it is")
    files = [path, *companions(path)]
    for file in files:
        check_within(path.parent, file)
        if not file.is_file():
            raise InputError(f"{path}: names {file.name}, which is not in {path.parent}")

    def part(start: int, stop: int, chosen: list[int]) -> np.ndarray:
        return wfdb.rdrecord(record, sampfrom=start, sampto=stop, channels=chosen).p_signal

    names = list(getattr(header, "sig_name", None) or wfdb.rdrecord(record, sampto=1).sig_name)
    return _sampled(path, files, names, float(header.fs), header.sig_len, part, progress)


def companions(path: Path) -> list[Path]:
    """The files that a header of WFDB names: of signals, or of segments with theirs."""
    if path.suffix.lower() != ".hea" or not path.is_file():
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        return []
    if "/" not in lines[0][0]:
        return list(dict.fromkeys(path.parent / words[0] for words in lines[1:] if words[0] != "~"))
    segments = dict.fromkeys(path.parent / f"{words[0]}.hea" for words in lines[1:] if words[0] != "~")
    return [file for segment in segments for file in (segment, *companions(segment))]


def _sampled(
    path: Path,
    files: list[Path],
    names: Sequence[str],
    rate: float,
    count: int,
    part: ReadPart,
    progress: Progress,
    others: Sequence[str] = (),
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
    """
    channels: list[str] = []
    for name in names:
        twice = sum(name == before for before in names[: len(channels)])
        channels.append(f"{name}_{twice + 1}" if twice else name)

    def read(columns: Columns, source: Source) -> Iterator[Block]:
        chosen = [channels.index(name) for name in columns.channels]
        for start in range(0, count, _STEPS):
            stop = min(start + _STEPS, count)
            with refused(path):
                signal = part(start, stop, chosen) if chosen else np.empty((stop - start, 0))
            codes = {}
            for name in columns.texts:
                values = part(start, stop, [channels.index(name)])[:, 0] if name in channels else None
                values, indices = np.unique(values if values is not None else np.arange(start, stop) / rate,
                                            return_inverse=True)  # fmt: skip
                codes[name] = source.codes(name, values.tolist(), indices)
            yield Block(signal.astype(np.float32), codes, np.arange(start, stop) / rate)
            progress(stop, count)

    header = [
        f"{path}: {count:,} time steps at {rate:.6g} Hz, {count / rate:,.4g} s",
        f"channels: {some(channels)}",
        *([f"not used, of another rate: {some(list(others))}"] if others else []),
    ]
    names = [*channels, TIME]
    return Source(path, files, names, list(names), read, header=header)
