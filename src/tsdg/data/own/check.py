"""What is in recordings, in words to act on, and the entry for params.yaml."""

import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from tsdg.data.describe import FEW, describe
from tsdg.data.own import cut
from tsdg.data.own.backbone import SHORTEST, backbone
from tsdg.data.own.cut import CutSource, settled
from tsdg.data.own.intervals import attach
from tsdg.data.own.join import joined
from tsdg.data.own.metadata import described
from tsdg.data.own.prepare import domain_places, natural, prepare
from tsdg.data.own.raw import open_source
from tsdg.data.own.recordings import FILE, LABEL, Block, Columns, Progress, Recording, Source
from tsdg.data.own.sampling import IRREGULAR, RATES_DIFFER, plain_rate
from tsdg.data.own.stamps import GAP, is_epoch, names_a_clock, names_a_count, rate_of, resolution
from tsdg.data.own.study_file import BASELINES, MEASURED, METRICS, ROWS, name_of, yaml_text
from tsdg.data.simulated import SIMULATED_COLUMN
from tsdg.data.split import proposed
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError

WINDOW = 128
REVOLUTIONS = 4  # of a window by a shaft's angle
MOSTLY = 0.9  # share of steps
SENTINELS = (-999.0, -9999.0, -99.0, -99999.0, 999.0, 9999.0, 99999.0, -32768.0, 32767.0, 65535.0)
UPSAMPLED = 4  # times a rate that is still resampled without a word
USUAL = ("domain", "domains")  # names of columns that tell domains apart


def check_table(
    raw: str | Path,
    *,
    domains: Mapping[str, Mapping[str, object]] | None = None,
    domain: Sequence[str] | None = None,
    window: int | None = None,
    also: Callable[[WindowedDataset], list[str]] = lambda data: [],
    said_before: Callable[[list[str]], None] = lambda lines: None,
    progress: Progress | None = None,
    **options: Any,
) -> tuple[list[str], dict[str, Any]]:
    """Read recordings as `tsdg.data.own.prepare.prepare` does, and say what they are.

    Parameters
    ----------
    raw : path
    domains : mapping, optional
        As in a data set's entry; by default each combination of values of the columns `domain`.
    also : callable
        Says more of the windows, in lines that come last.
    said_before : callable
        Takes the lines that say what there is, before anything is read whole.
    domain, window, progress, **options
        See `tsdg.data.own.prepare.prepare`.

    Returns
    -------
    lines : list of str
    entry : dict
        The data set's entry for params.yaml.

    Raises
    ------
    InputError
        If the recordings cannot be prepared in this way.
    """
    wanted = _names(options)
    patterns = [
        *(wanted.pop("channels", None) or []),
        *wanted.values(),
        options.get("order"),
        *(domain or []),
    ]
    patterns += [name for values in (domains or {}).values() for name in values]
    source = open_source(
        raw, separator=options.get("separator"), axes=options.get("axes"), files=options.get("files"),
        columns=patterns, header=options.get("header"), progress=progress,
    )  # fmt: skip
    said_before(source.header)
    if "metadata" in options:
        source = described(source, options["metadata"], options.get("recording"))
    usual = [
        name for name in (cut.DOMAIN if isinstance(source, CutSource) else USUAL) if name in source.names
    ]
    guesses = []
    if domains is None and domain is None and usual:
        domain = usual[:1]
        guesses.append(f"domain: {usual[0]}, by its name; --domain says otherwise")
    if domains is None and domain is None:
        raise InputError(
            f"{raw}: name the column that tells domains apart with --domain; there are "
            f"{', '.join(source.names)}"
        )
    fields = list(domain or dict.fromkeys(name for values in (domains or {}).values() for name in values))
    if not {"label", "intervals"} & options.keys():
        known = cut.ARRAY_LABEL if isinstance(source, CutSource) else LABEL
        labels = [name for name in known if name in source.names and name not in fields]
        if labels and labels[0] != "label":
            options["label"] = labels[0]
            guesses.append(f"label: {labels[0]}, by its name; --label says otherwise")
    source = settled(source, options.get("rows"), **({"label": "label"} | _names(options)), fields=fields)
    options |= source.settled
    asked = set(options)
    if name := _recording_by_name(source, options, fields):
        options["recording"] = name
        guesses.append(f"recording: {name}, by its name; --recording says otherwise")
    if "join" in options:
        source, options, said = _joined(source, options, fields)
    else:
        options, said = _with_time(source, options, fields)
    guesses += said
    columns = source.columns(**_names(options), fields=fields)
    if "order" in options:
        options["channels"] = [name for name in columns.channels if name != options["order"]]
        columns = source.columns(**_names(options), fields=fields)
        window = window or REVOLUTIONS * options.get("per_revolution", 256)
    source.time_unit, source.ties = options.get("time_unit"), options.get("ties")
    rate = None if isinstance(options.get("sampling_rate"), str) else options.get("sampling_rate")
    if "intervals" in options:
        given = {"unit": options.get("interval_unit"), "rate": rate}
        attach(source, columns, options["intervals"], label=options.get("label", "label"), **given)
    if isinstance(source, CutSource) and window is None:
        window = max(source.length, SHORTEST)
        if source.length < window:
            options.setdefault("short", "pad")
    if window is not None and window < SHORTEST:
        guesses.append(f"window: {window} is too short to train on; give {SHORTEST} time steps or more")
    given_resample = options.get("resample")
    survey = Survey(columns, options.get("gap", GAP))
    for recording in source.recordings(columns):
        survey.add(recording)
    empty = survey.empty()
    if 0 < len(empty) < len(columns.channels) and "channels" not in asked:
        options["channels"] = [name for name in columns.channels if name not in empty]
        guesses.append(f"left out: {', '.join(empty)}, without a value anywhere")
    if (
        (rates := survey.rates)
        and max(rates) / min(rates) > 1 + RATES_DIFFER
        and not {"resample", "order"} & options.keys()
    ):
        options["resample"] = plain_rate(float(f"{min(rates):.3g}"))
    if window is None:
        scale = options["resample"] / max(survey.rates) if survey.rates and "resample" in options else 1.0
        window = survey.window(scale)
        if window < WINDOW:
            guesses.append(
                f"window: {window} time steps, since stretches of a class are short; --window says otherwise"
            )
    if source.time_unit not in (None, "s"):
        options["time_unit"] = source.time_unit
    if domains is None:
        labelled = [key for key, facts in survey.facts.items() if facts.labelled]
        domains = propose_domains(fields, [key for key in labelled if all(key)])
        if len(domains) < 3:
            found = ", ".join(" ".join(key) for key in labelled if all(key)) or "none"
            unlabelled = [
                " ".join(key).strip() or "(empty)"
                for key, facts in survey.facts.items()
                if not facts.labelled
            ]
            found += f" (without a label: {', '.join(unlabelled)})" if unlabelled else ""
            raise InputError(
                f"{raw}: {', '.join(fields)} makes {len(domains)} domain(s), {found}; three or more are "
                "needed: one is held out, two train"
            )
    else:
        places = domain_places(domains, fields)
        survey.facts = {key: facts for key, facts in survey.facts.items() if key in places}
    used = options | {"window": window} | ({"domain": list(domain)} if domain else {})
    with tempfile.TemporaryDirectory(prefix="tsdg-check-") as folder:
        card = prepare(raw, Path(folder) / "data", domains=domains, **used)
        lines = [*guesses, *(f"note: {note}" for note in source.notes)]
        lines += survey.lines(source, rate, given_resample)
        if columns.recording is None and not isinstance(source, CutSource):
            lines.append(unnamed_recordings(source, columns))
        data = WindowedDataset.load(Path(folder) / "data")
        lines += describe(data)
        lines += [f"note: {note}" for note in card["notes"] if note not in source.notes]
        lines += also(data)
    chosen = {"channels": card["channels"]} | {
        key: card["options"][key] for key in ("label", "recording", "time")
    }
    names = {_number(label): name for label, name in card["options"]["classes"].items()}
    named = any(str(label) != name for label, name in names.items())
    classes = names if named else list(names)
    rest = {key: value for key, value in options.items() if key not in (*chosen, "classes")}
    entry = {
        "kind": "table",
        "raw": str(raw),
        "source": "own",
        "prepare": {k: v for k, v in (chosen | {"classes": classes, "window": window} | rest).items() if v},
        "backbone": backbone(window),
        "split": proposed(data.cut),
        "standardize": "sources",
        "domains": {name: dict(values) for name, values in domains.items()},
        "augmentation": {"functions": ["scaling"], "statistics": "standard", "scale": [0.8, 1.2]},
    }
    return lines, entry


def _names(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that say which columns are what; labels that are intervals have none."""
    names = {key: options[key] for key in ("channels", "label", "recording", "time") if key in options}
    rate = options.get("sampling_rate")
    names |= {"rate": rate} if isinstance(rate, str) else {}
    return names | ({"label": None} if "intervals" in options else {})


def _recording_by_name(source: Source, options: Mapping[str, Any], fields: Sequence[str]) -> str | None:
    """A column that names the recordings by its name and its values, where none is given."""
    if isinstance(source, CutSource) or "recording" in options or source.usual_recording(fields):
        return None
    names = [name for name in cut.RECORDING if name in source.names]
    if not names:
        return None
    columns = source.columns(**_names(options), fields=fields)
    return next((name for name in likely_recordings(source, columns, repeated=True) if name in names), None)


def _joined(
    source: Source, options: dict[str, Any], fields: Sequence[str]
) -> tuple[Source, dict[str, Any], list[str]]:
    """A source with other sensors' files, and for each what `_with_time` says."""
    chosen = options.get("channels")
    own = {"channels": [name for name in chosen if name in source.names]} if chosen else {}
    known, said = _with_time(source, options | own, fields)
    given = {
        key: known[key]
        for key in ("recording", "time", "time_unit", "ties", "gap", "separator", "header")
        if key in known
    }
    label = known.get("label", "label")
    whole = joined(
        source,
        options["join"],
        rate=options.get("resample"),
        label=label,
        fields_=fields,
        channels=chosen,
        **given,
    )
    found = list(known.get("channels", []))
    for other in whole.others:
        there = [name for name in fields if name in other.source.names]
        keys = {key: given[key] for key in ("recording", "time") if key in given}
        signals, words = _with_time(other.source, {"label": None} | keys, there)
        found += [name for name, actual in other.channels.items() if actual in signals["channels"]]
        said += [f"{other.source.path.name}: {line}" for line in words]
    return whole, known | {"channels": chosen or found}, said


def _with_time(
    source: Source, options: dict[str, Any], fields: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """The options with a column of time and without times among the channels, and what was recognized."""
    if isinstance(source, CutSource):
        return options, []
    asked, options = options, dict(options)
    said: list[str] = []
    columns = source.columns(**_names(options), fields=fields)
    clocks: dict[str, Clock] = {}
    if "channels" not in options:
        names = [name for name in columns.channels if names_a_clock(name)]
        dates = [] if columns.time else source.dates
        found = {name: _clock(source, columns, name) for name in [*dates, *names]}
        clocks = {name: clock for name, clock in found.items() if name in dates or clock.back < 1 - MOSTLY}
        for name, clock in _rising(source, columns, [n for n in columns.channels if n not in found]).items():
            if clock.epoch or (clock.even and (not clock.count or names_a_count(name))):
                clocks[name] = clock
        options["channels"] = [name for name in columns.channels if name not in clocks]
        if not options["channels"]:
            return options | {"channels": list(columns.channels)}, said
    if not (columns.recording or columns.time) and any(clock.back for clock in clocks.values()):
        for name in likely_recordings(source, columns):
            found_options, words = _with_time(source, asked | {"recording": name}, fields)
            if "time" in found_options:
                why = "since times go back only where it changes; --recording says otherwise"
                return found_options, [f"recording: {name}, {why}", *words]
    time = columns.time
    for name, clock in clocks.items():
        if time is None and columns.rate is None and not clock.back and not clock.count_by(name):
            time = options["time"] = name
            said.append(f"time: {name}, recognized as such; --time says otherwise")
        elif name in columns.channels:
            why = "; it goes backwards in places: is the name of a recording missing?" if clock.back else ""
            said.append(f"left out: {name}, a time or a count of rows, no signal{why}")
    if time is not None and "ties" not in options:
        clock = clocks.get(time) or _clock(source, columns, time)
        if clock.ties and not clock.back:
            options["ties"] = "spread"
            said.append(
                f"ties: {clock.ties:.2%} of the times are the same as the one before; `ties: spread` shares "
                "the time to the next one, `ties: drop` leaves them out"
            )
    return options, said


@dataclass
class Clock:
    """How a column moves within recordings: shares of steps back, of none; even steps, of 1; since 1970."""

    back: float
    ties: float
    even: bool
    count: bool
    epoch: bool

    def count_by(self, name: str) -> bool:
        """Whether it counts rows, by its steps and its name."""
        return self.count and not names_a_clock(name)


def _clock(source: Source, columns: Columns, name: str) -> Clock:
    """Facts of a column as a time."""
    keys = [columns.recording] if columns.recording else list(columns.fields)
    steps, epoch = [], True
    last: tuple[np.ndarray, np.ndarray] | None = None
    for block in source.read(
        Columns([], recording=columns.recording, time=name, fields=columns.fields), source
    ):
        assert block.time is not None
        codes = np.stack([block.codes[key] for key in keys] or [np.zeros(len(block.time), np.int32)], 1)
        time = block.time
        if last is not None:
            codes, time = np.concatenate([last[0], codes]), np.concatenate([last[1], time])
        steps.append(np.diff(time)[(codes[1:] == codes[:-1]).all(1)])
        epoch &= len(time) > 0 and is_epoch(float(time[0]))
        last = codes[-1:], time[-1:]
    found = np.concatenate(steps) if steps else np.zeros(0)
    if not len(found):
        return Clock(0.0, 0.0, even=False, count=False, epoch=False)
    usual = np.median(found)
    even = bool(usual > 0 and (np.abs(found - usual) <= IRREGULAR * usual).mean() > MOSTLY)
    back, ties = float((~(found >= 0)).mean()), float((found == 0).mean())
    return Clock(back, ties, even, bool(even and usual == 1), epoch)


def _rising(source: Source, columns: Columns, names: Sequence[str]) -> dict[str, Clock]:
    """Columns that never fall in the first block within a recording, and nowhere but in few places."""
    block = next(islice(source.read(Columns(names, fields=columns.texts), source), 1), None)
    if block is None or not names:
        return {}
    keys = [columns.recording] if columns.recording else list(columns.fields)
    codes = np.stack([block.codes[key] for key in keys] or [np.zeros(len(block.signal), np.int32)], 1)
    same = (codes[1:] == codes[:-1]).all(1)
    steps = max(1, len(same))
    falls = (~(np.diff(block.signal, axis=0) >= 0) & same[:, None]).sum(0) / steps
    found = {
        name: _clock(source, columns, name) for name, f in zip(names, falls, strict=True) if f < 1 - MOSTLY
    }
    return {name: clock for name, clock in found.items() if clock.back < 1 - MOSTLY and clock.ties < MOSTLY}


def proposal(name: str, entry: Mapping[str, Any], *, unbalanced: bool = False) -> str:
    """A data set's entry, and that of its table, to be pasted into params.yaml."""
    table = {
        "dataset": name,
        "rows": ROWS,
        "baselines": BASELINES,
        "ours": ["ours-learned"],
        "metrics": METRICS[unbalanced],
        "caption": f"{name}: {MEASURED[unbalanced]} on each domain held out in turn.",
    }
    tree = {"datasets": {name: dict(entry)}, "tables": {name: table}}
    return yaml_text(tree)


def propose_domains(fields: Sequence[str], keys: Sequence[tuple[str, ...]]) -> dict[str, dict[str, object]]:
    """A name for each combination of the fields' values, and these."""
    domains: dict[str, dict[str, object]] = {}
    for key in sorted(keys, key=lambda values: [natural(value) for value in values]):
        words = [name + value if value.isdigit() else value for name, value in zip(fields, key, strict=True)]
        name = slug = name_of("-".join(words)) or f"domain{len(domains) + 1}"
        number = 2
        while name in domains:
            name, number = f"{slug}-{number}", number + 1
        domains[name] = {field: _number(value) for field, value in zip(fields, key, strict=True)}
    return domains


def _number(text: str) -> object:
    """A whole number written in the usual way as one, any other text as it is."""
    return int(text) if text.lstrip("-").isdecimal() and str(int(text)) == text else text


@dataclass
class Facts:
    """What the recordings of one domain hold."""

    channels: int
    steps: int = 0
    labelled: int = 0
    missing: np.ndarray = field(init=False)
    low: np.ndarray = field(init=False)
    high: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.missing = np.zeros(self.channels, np.int64)
        self.low, self.high = np.full(self.channels, np.inf), np.full(self.channels, -np.inf)


class Survey:
    """Facts of recordings, gathered one by one."""

    def __init__(self, columns: Columns, gap: float):
        self.columns, self.gap = columns, gap
        self.facts: dict[tuple[str, ...], Facts] = {}
        self.lengths: list[int] = []
        self.rates: list[float] = []
        self.irregular: list[str] = []
        self.gaps: list[int] = []
        self.longest: dict[tuple[str, tuple[str, ...] | int], int] = {}  # stretch, of each domain and label
        self.sentinels = np.zeros((len(SENTINELS), len(columns.channels)), np.int64)
        self.named: dict[int, str] = {}  # the first recording of each signal, by hash
        self.twice: list[str] = []
        self.rising = np.ones(len(columns.channels), bool)

    def add(self, recording: Recording) -> None:
        """Take a recording in."""
        key = tuple(recording.fields[name] for name in self.columns.fields)
        facts = self.facts.setdefault(key, Facts(len(self.columns.channels)))
        signal = recording.signal
        facts.steps += len(signal)
        facts.labelled += int((recording.labels >= 0).sum())
        facts.missing += np.isnan(signal).sum(0)
        facts.low = np.fmin(facts.low, np.fmin.reduce(signal))
        facts.high = np.fmax(facts.high, np.fmax.reduce(signal))
        self.rising &= (np.diff(signal, axis=0) > 0).all(0)
        self.lengths.append(len(signal))
        self._measure(recording, key)
        self.sentinels += np.stack([(signal == value).sum(0) for value in SENTINELS])
        first = self.named.setdefault(hash(signal.tobytes()), recording.name)
        if first != recording.name:
            self.twice.append(f"{recording.name} is {first}")
        if recording.time is not None and len(recording.time) > 1:
            steps = np.diff(recording.time)
            period = 1 / rate_of(recording.time, self.gap)
            self.rates.append(1 / period)
            self.gaps.append(int((steps > self.gap * np.median(steps)).sum()))
            allowed = IRREGULAR * period + resolution(recording.time, period)
            if np.quantile(np.abs(steps - period), 0.9) > 1.001 * allowed:
                self.irregular.append(recording.name)

    def lines(self, source: Source, sampling_rate: float | None, resample: float | None = None) -> list[str]:
        """The facts in words."""
        channels = list(self.columns.channels)
        low, middle, high = np.quantile(self.lengths, [0, 0.5, 1], method="nearest")
        first = f"{len(self.lengths)} recordings of {low:,} to {high:,} time steps (median {middle:,})"
        if isinstance(source, CutSource):
            first = f"{len(self.lengths):,} windows of {high:,} time steps, already cut"
        lines = [
            f"{source.path}: {first}",
            f"channels: {', '.join(channels)}",
        ]
        if self.columns.time:
            what = "dates" if self.columns.time in source.dates else f"in {source.time_unit or 's'}"
            since = " since 1970" if source.start is not None and is_epoch(source.start) else ""
            lines.append(f"time: {self.columns.time}, {what}{since}")
        rates = [1.0 * rate for rate in self.rates or ([sampling_rate] if sampling_rate else [])]
        if not rates and isinstance(source, CutSource):
            lines.append("rate: not known, and not needed; --sampling-rate gives it")
        elif not rates:
            lines.append("rate: not known; name the column of the time with --time, or give --sampling-rate")
        elif max(rates) / min(rates) > 1 + RATES_DIFFER:
            lines.append(
                f"rate: {_short(min(rates))} to {_short(max(rates))} Hz; bring all to one with `resample`"
            )
        else:
            slow = self.rates and np.median(rates) < 1 and source.time_unit == "s"
            hint = "; the time is taken as seconds: is it in milliseconds? then give --time-unit ms"
            lines.append(f"rate: {_short(float(np.median(rates)))} Hz" + (hint if slow else ""))
        if rates and resample and resample > UPSAMPLED * min(rates):
            lines.append(
                f"resample: {resample:g} Hz is {resample / min(rates):,.3g} times the rate, so that most "
                "values would be interpolated; is the unit of the time right?"
            )
        if self.irregular:
            lines.append(
                f"times: irregular in {len(self.irregular)} recordings, such as {self.irregular[0]}; "
                "`resample` interpolates them"
            )
        if self.gaps:
            with_gaps = sum(count > 0 for count in self.gaps)
            found = f"{sum(self.gaps)} longer than {self.gap:g} sample periods, in {with_gaps} recordings"
            lines.append("gaps: " + (f"{found}; no window crosses one" if with_gaps else "none"))
        steps = sum(facts.steps for facts in self.facts.values())
        missing = np.sum([facts.missing for facts in self.facts.values()], 0)
        shares = [f"{channels[i]} {missing[i] / steps:.2%}" for i in np.flatnonzero(missing)]
        lines.append(
            "missing values: "
            + (f"{', '.join(shares)}; `standardize: sources` fills them" if shares else "none")
        )
        lines += self._sentinels()
        if self.twice and not isinstance(source, CutSource):
            shown = f"{', '.join(self.twice[:5])}{' ...' if len(self.twice) > 5 else ''}"
            lines.append(f"duplicate recordings: {shown} under another name; leave one of them out")
        constant = [
            f"{channel} in {' '.join(key)}"
            for key, facts in self.facts.items()
            for channel, low, high in zip(channels, facts.low, facts.high, strict=True)
            if not high > low
        ]
        lines.append(
            f"constant channels: {', '.join(constant[:10]) or 'none'}"
            + (" ..." if len(constant) > 10 else "")
            + self._what_of_constant()
        )
        rising = [channel for channel, always in zip(channels, self.rising, strict=True) if always]
        if rising and isinstance(source, CutSource):
            lines.append(
                f"only increasing: {', '.join(rising)} within each window; leave out what is no signal"
            )
        elif rising and self.columns.time is None:
            name, is_it = (rising[0], "is it") if len(rising) == 1 else ("NAME", "is one of them")
            lines.append(
                f"only increasing: {', '.join(rising)} within each recording: {is_it} the time? "
                f"--time {name}; leave out an index, which is no signal"
            )
        elif rising:
            lines.append(
                f"only increasing: {', '.join(rising)}; leave out an index or a time, which is no signal"
            )
        return lines

    def _measure(self, recording: Recording, key: tuple[str, ...]) -> None:
        """Lengths of the stretches of one label without a gap."""
        changes = np.diff(recording.labels) != 0
        if recording.time is not None and len(recording.time) > 1:
            steps = np.diff(recording.time)
            changes |= steps > self.gap * np.median(steps)
        cuts = [0, *(np.flatnonzero(changes) + 1), len(recording.labels)]
        for first, last in itertools.pairwise(cuts):
            if (label := int(recording.labels[first])) >= 0:
                for of in (("domain", key), ("label", label)):
                    self.longest[of] = max(self.longest.get(of, 0), int(last - first))

    def window(self, scale: float) -> int:
        """A length that every domain has a window of, and every class that has stretches worth one.

        The length is `WINDOW` or a lower power of two; `scale` is time steps after resampling to one before.
        """
        lengths = [
            int(length * scale)
            for (of, _), length in self.longest.items()
            if of == "domain" or length * scale >= SHORTEST
        ]
        shortest = min(lengths, default=WINDOW)
        return WINDOW if shortest < SHORTEST else min(WINDOW, 1 << (shortest.bit_length() - 1))

    def empty(self) -> list[str]:
        """Channels without a value anywhere."""
        known = np.any([facts.high > -np.inf for facts in self.facts.values()], 0)
        return [name for name, is_known in zip(self.columns.channels, known, strict=True) if not is_known]

    def _sentinels(self) -> list[str]:
        """Values that stand for missing ones: at a channel's end, more than once."""
        low = np.min([facts.low for facts in self.facts.values()], 0)
        high = np.max([facts.high for facts in self.facts.values()], 0)
        found = [
            f"{channel} {value:g} ({count:,} times)"
            for value, counts in zip(SENTINELS, self.sentinels, strict=True)
            for channel, count, least, most in zip(self.columns.channels, counts, low, high, strict=True)
            if count > 1 and value in (least, most) and least < most
        ]
        words = "; if they stand for missing values, leave these cells empty"
        return [f"suspicious values: {', '.join(found)}{words}"] if found else []

    def _what_of_constant(self) -> str:
        """What to do about channels that are constant in every domain."""
        low = np.array([facts.low for facts in self.facts.values()])
        high = np.array([facts.high for facts in self.facts.values()])
        constant, alike = ~(high > low).any(0), (low == low[0]).all(0)
        words = ""
        for which, what in (
            (
                constant & ~alike,
                "constant within each domain but not the same in all, which gives the domain away",
            ),
            (constant & alike, "the same everywhere"),
        ):
            names = [str(name) for name in np.array(self.columns.channels)[which]]
            words += f"; {', '.join(names)}: {what}: leave it out" if names else ""
        return words


def _short(rate: float) -> str:
    """A rate in four digits or more, never as a power of ten."""
    return f"{rate:.4g}" if rate < 1e4 else f"{rate:,.0f}"


def unnamed_recordings(source: Source, columns: Columns) -> str:
    """That no column names the recordings, and which may do so."""
    likely = likely_recordings(source, columns)
    words = "recordings: no column names them, so all rows of a domain that stand together are one recording"
    if likely:
        words += f"; {likely[0]} looks like a name of recordings: --recording {likely[0]}"
    return words


def likely_recordings(source: Source, columns: Columns, *, repeated: bool = False) -> list[str]:
    """Columns that may name the recordings: the rows of a value stand together, in one domain.

    Where it may be `repeated`, a value is one of each domain's recordings.
    """
    taken = {columns.label, columns.time, *columns.fields, *source.dates, FILE, SIMULATED_COLUMN, ""}
    names = [name for name in source.names if name not in taken]

    def read() -> Iterator[Block]:
        return source.read(Columns([], fields=[*columns.fields, *names]), source)

    names = list(_nested(names, columns.fields, islice(read(), 1)))  # most drop out here
    found = _nested(names, columns.fields, read()) if names else {}
    values = {name: {part[0] for part in parts} for name, parts in found.items()}
    domains = {name: {part[1:] for part in parts} for name, parts in found.items()}
    return [
        name for name, parts in found.items()
        if len(parts) > len(domains[name]) and (repeated or len(parts) == len(values[name]))
    ]  # fmt: skip


def _nested(
    names: Sequence[str], fields: Sequence[str], blocks: Iterable[Block]
) -> dict[str, set[tuple[int, ...]]]:
    """Columns of which in each domain the rows of a value stand together, many: each value and domain."""
    found: dict[str, set[tuple[int, ...]]] = {name: set() for name in names}
    last: dict[str, tuple[int, ...]] = {}
    for block in blocks:
        domains = np.stack([block.codes[name] for name in fields], 1)
        for name in list(found):
            codes, seen = block.codes[name], found[name]
            changes = (codes[1:] != codes[:-1]) | (domains[1:] != domains[:-1]).any(1)
            starts = [0, *(np.flatnonzero(changes) + 1)] if len(codes) else []
            fits = len(starts) <= 1 + len(codes) / FEW and not (codes < 0).any()
            for start in starts if fits else []:
                key = int(codes[start]), *domains[start].tolist()
                fits &= key == last.get(name) or key not in seen
                seen.add(key)
                last[name] = key
            if not fits:
                del found[name]
    return found
