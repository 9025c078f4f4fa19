"""The commands `tsdg fetch`, `simulate` and `prepare`, with the options of each data set."""

import argparse
import json
from importlib import import_module
from pathlib import Path
from typing import Any

from tsdg.commands.arguments import Commands, natural, numbers, positive, progress_bar

KINDS = {
    "bearings": "Bearings (Case Western Reserve University): vibration of damaged bearings",
    "hhar": "HHAR: activities, from the accelerometers of phones",
    "mimic3": "MIMIC-III: death in hospital, from vital signs",
    "table": "your own recordings: csv, parquet or npz, or a folder of files",
}
UNITS = {"bearings": "recording", "hhar": "MB", "mimic3": "MB", "table": "part"}
_OWN = {"name", "command", "kind", "raw", "out"}
_GIVEN: dict[str, Any] = {"default": argparse.SUPPRESS}  # what is not given is the function's default


def add(commands: Commands) -> None:
    """Add the commands to the command line."""
    for name, run, what in (
        ("fetch", _fetch, "download the official recordings of a data set"),
        ("simulate", _simulate, "write simulated raw recordings in the official layout"),
        ("prepare", _prepare, "cut raw recordings into a windowed data set"),
    ):
        command = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
        kinds = command.add_subparsers(dest="kind", required=True, metavar="DATASET")
        for kind, title in KINDS.items():
            if (name, kind) not in _OPTIONS:
                continue
            sub = kinds.add_parser(kind, help=title, description=f"{title}: {what}.")
            sub.set_defaults(command=run)
            if name == "prepare":
                sub.add_argument("--raw", type=Path, required=True, help=_RAW[kind == "table"])
                sub.add_argument("--out", type=Path, required=True, help="folder of the prepared data set")
            else:
                place = Path("data", "raw" if name == "fetch" else "simulated", kind)
                sub.add_argument("--out", type=Path, default=place, help=f"folder (default: {place})")
            _OPTIONS[name, kind](sub)


def _fetch_bearings(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--base-url", help="where {number}.mat lie, if not on the official site", **_GIVEN)
    sub.add_argument("--numbers", type=numbers, help="only these files, e.g. 97-100,105", **_GIVEN)


def _fetch_hhar(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--url", help="of the zip, if not the official one", **_GIVEN)


def _fetch_mimic3(sub: argparse.ArgumentParser) -> None:
    sub.epilog = "The files need credentials: the command says how to get them, and fetches nothing."


def _simulate_bearings(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--seed", type=natural, help="default: 0", **_GIVEN)
    sub.add_argument(
        "--seconds", type=float, help="length of a recording (default: as the official ones)", **_GIVEN
    )
    sub.add_argument(
        "--location", choices=["sensor", "both"], help="which recordings (default: sensor)", **_GIVEN
    )


def _simulate_hhar(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--seed", type=natural, help="default: 0", **_GIVEN)
    sub.add_argument("--rows", type=positive, help="about how many (default: 1000000)", **_GIVEN)


def _simulate_mimic3(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--seed", type=natural, help="default: 0", **_GIVEN)
    sub.add_argument("--patients", type=positive, help="how many (default: 2000)", **_GIVEN)
    sub.add_argument(
        "--rows", type=natural, help="of CHARTEVENTS, at least (default: as the vital signs need)", **_GIVEN
    )


def _prepare_bearings(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--preset",
        choices=["default", "published"],
        help="values of what follows (default: default)",
        **_GIVEN,
    )
    sub.add_argument("--location", choices=["sensor", "fault"], help="what a domain's location is", **_GIVEN)
    sub.add_argument(
        "--clock", choices=["prefer6", "prefer3"], help="position of outer race faults", **_GIVEN
    )
    sub.add_argument(
        "--per-class", type=_per_class, help="windows of a class: all, paper, or a number", **_GIVEN
    )
    sub.add_argument("--normal-rate", type=_rate, help="12000, or as_is (48 kHz where official)", **_GIVEN)
    sub.add_argument(
        "--samples", type=_samples, help="only the first so many samples of a recording", **_GIVEN
    )
    sub.add_argument("--window", type=natural, help="window length in samples", **_GIVEN)
    sub.add_argument("--stride", type=natural, help="distance of two windows in samples", **_GIVEN)
    sub.add_argument("--seed", type=natural, help="seed of drawing windows", **_GIVEN)
    sub.add_argument(
        "--recordings", type=Path, help="recordings table (csv) in place of the packaged one", **_GIVEN
    )


def _prepare_hhar(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--windows",
        choices=["devices", "legacy"],
        help="within a device and without gaps (default), or rows as they come, as in earlier work",
        **_GIVEN,
    )


def _prepare_mimic3(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--balance",
        choices=["survivors", "none"],
        help="draw survivors down to the number of those who died (default), or keep all",
        **_GIVEN,
    )
    sub.add_argument("--items", type=Path, help="table of items (csv) in place of the packaged one", **_GIVEN)
    sub.add_argument("--seed", type=natural, help="seed of drawing and numbering (default: 0)", **_GIVEN)


def _simulate_table(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--seed", type=natural, help="default: 0", **_GIVEN)
    sub.add_argument("--people", type=positive, help="domains (default: 5)", **_GIVEN)
    sub.add_argument("--seconds", type=float, help="of each activity (default: 40)", **_GIVEN)


def _prepare_table(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--domains", type=_mapping, required=True, help="""e.g. '{"A": {"user": 1}, "B": {"user": 2}, ...}'"""
    )
    sub.add_argument("--window", type=positive, required=True, help="window length in time steps")
    table_options(sub)


def table_options(sub: argparse.ArgumentParser) -> None:
    """Options of `tsdg prepare table` that `tsdg check` has too."""
    sub.add_argument("--stride", type=positive, help="distance of two windows (default: window)", **_GIVEN)
    sub.add_argument(
        "--short", choices=["drop", "pad"], help="stretches shorter than a window (default: drop)", **_GIVEN
    )
    sub.add_argument(
        "--channels",
        nargs="+",
        action="extend",
        help="columns (default: all of numbers that are nothing else)",
        **_GIVEN,
    )
    sub.add_argument("--label", help="column of the class (default: label)", **_GIVEN)
    sub.add_argument(
        "--classes",
        nargs="+",
        action="extend",
        type=_class,
        help="""labels to use, or one mapping to names, '{"imbalance": "Imbalance"}' (default: all)""",
        **_GIVEN,
    )
    sub.add_argument("--recording", help="column of the recording (default: recording)", **_GIVEN)
    sub.add_argument("--time", help="column of the time, in seconds or dates (default: time)", **_GIVEN)
    sub.add_argument("--domain", nargs="+", action="extend", help="columns that tell domains apart", **_GIVEN)
    sub.add_argument("--sampling-rate", type=float, help="Hz, where there is no time", **_GIVEN)
    sub.add_argument("--resample", type=float, help="Hz of the prepared signals", **_GIVEN)
    sub.add_argument("--cap", type=positive, help="windows of each class and domain, at most", **_GIVEN)
    sub.add_argument("--seed", type=natural, help="of drawing these (default: 0)", **_GIVEN)
    sub.add_argument("--separator", help="of the cells of a csv (default: a comma)", **_GIVEN)


_RAW = ("folder of the raw recordings", "file, or folder of files and metadata.csv")
_OPTIONS = {
    ("fetch", "bearings"): _fetch_bearings,
    ("fetch", "hhar"): _fetch_hhar,
    ("fetch", "mimic3"): _fetch_mimic3,
    ("simulate", "bearings"): _simulate_bearings,
    ("simulate", "hhar"): _simulate_hhar,
    ("simulate", "mimic3"): _simulate_mimic3,
    ("prepare", "bearings"): _prepare_bearings,
    ("prepare", "hhar"): _prepare_hhar,
    ("prepare", "mimic3"): _prepare_mimic3,
    ("simulate", "table"): _simulate_table,
    ("prepare", "table"): _prepare_table,
}


def _mapping(text: str, example: str = '{"A": {"user": 1}}') -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"{text!r} is no JSON object such as '{example}'")
    return value


def _class(text: str) -> str | dict[str, Any]:
    return _mapping(text, '{"imbalance": "Imbalance"}') if text.startswith("{") else text


def _per_class(text: str) -> int | str:
    return text if text in ("all", "paper") else natural(text)


def _rate(text: str) -> int | str:
    return text if text == "as_is" else natural(text)


def _samples(text: str) -> int | None:
    return None if text in ("all", "None") else natural(text)


def _given(options: argparse.Namespace) -> dict[str, Any]:
    return {key: value for key, value in vars(options).items() if key not in _OWN}


def _folder(kind: str) -> str:
    return "own" if kind == "table" else kind


def _fetch(options: argparse.Namespace) -> None:
    from tsdg.data import fetch

    files = getattr(fetch, f"fetch_{options.kind}")(options.out, **_given(options))
    print(f"{len(files)} files in {options.out}")


def _simulate(options: argparse.Namespace) -> None:
    simulate = getattr(
        import_module(f"tsdg.data.{_folder(options.kind)}.simulate"), f"simulate_{options.kind}"
    )
    with progress_bar("simulate", "part") as step:
        files = simulate(options.out, **_given(options), progress=step)
    print(f"{len(files)} simulated files in {options.out}")


def _prepare(options: argparse.Namespace) -> None:
    module = import_module(f"tsdg.data.{_folder(options.kind)}.prepare")
    given = _given(options)
    if options.kind == "table":
        given = table_values(given)
    if options.kind == "bearings":
        given = module.PRESETS[given.pop("preset", "default")] | given
    with progress_bar("prepare", UNITS[options.kind]) as step:
        card = module.prepare(options.raw, options.out, **given, progress=step)
    counts = {name: sum(of_class.values()) for name, of_class in card["counts"].items()}
    print(
        f"{sum(counts.values())} windows in {options.out}: "
        + ", ".join(f"{name} {count}" for name, count in counts.items())
    )
    for line in _counts(card):
        print(f"  {line}")
    for note in card.get("notes", []):
        print(f"  note: {note}")


def table_values(given: dict[str, Any]) -> dict[str, Any]:
    """Options as `tsdg.data.own.prepare.prepare` takes them: one mapping of classes is no list."""
    classes = given.get("classes", [])
    return given | ({"classes": classes[0]} if classes and isinstance(classes[0], dict) else {})


def _counts(card: dict[str, Any]) -> list[str]:
    """Windows of each domain and class, the paper's number beside them where it is known."""
    import pandas as pd

    paper = card.get("expected_counts", {})
    cells = {
        domain: {
            name: f"{count} ({paper[domain][name]})" if paper else f"{count}"
            for name, count in of_class.items()
        }
        for domain, of_class in card["counts"].items()
    }
    table = pd.DataFrame.from_dict(cells, orient="index")
    heading = "windows of each class" + (" (in the paper)" if paper else "")
    return [f"{heading}:", *table.to_string().splitlines()]
