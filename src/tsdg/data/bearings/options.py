"""Options of Bearings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tsdg.data.options import NATURAL, SEED, TEXT, Option, one_of

RECORDINGS = Path(__file__).with_name("recordings.csv")
PRESETS: dict[str, dict[str, Any]] = {
    "default": {"samples": None, "per_class": "all", "normal_rate": 12_000},
    "published": {"samples": 120_000, "per_class": 400, "normal_rate": "as_is"},
}


def _simulated(entry: Mapping[str, Any]) -> str | None:
    """Whether more recordings must be simulated than the preparation needs by default."""
    prepare = entry.get("prepare", {})
    return "both" if prepare.get("location") == "fault" or "recordings" in prepare else None


def unlike_paper(prepare: Mapping[str, Any]) -> str:
    """What differs from the paper's windows, as far as its counts tell what these were."""
    chosen = {**PRESETS[prepare.get("preset", "default")], **prepare}
    count = chosen["per_class"]
    differences = []
    if chosen["normal_rate"] != "as_is":
        differences.append("normal recordings are at 12 kHz here, there most likely at 48 kHz")
    if count != "paper":
        here = "all windows of its recordings" if count == "all" else f"{count} windows of each class"
        differences.append(f"a domain has {here} here, there 4,000 (371 to 417 of each class)")
    return f"The data are not quite the paper's: {'; '.join(differences)}." if differences else ""


def reshaped(prepare: Mapping[str, Any]) -> dict[str, Any]:
    """What options of a preparation make of the shape."""
    length = {"length": prepare["window"]} if "window" in prepare else {}
    return length | ({"classes": 3} if prepare.get("domains") == "bearing" else {})


FETCH = (
    Option("base_url", TEXT, "where {number}.mat lie, if not on the official site"),
    Option("numbers", {"type": "array", "items": {"type": "integer"}}, "only these files, e.g. 97-100,105"),
)
SIMULATE = (
    SEED,
    Option(
        "seconds",
        {
            "type": "number",
            "minimum": 1,
            "maximum": 600,
            "description": "seconds of a recording, 1 to 600",
        },
        "length of a recording",
        default=121_000 / 12_000,
        unless="as the official ones",
    ),
    Option("location", one_of("sensor", "both"), "which recordings", "sensor", of_entry=_simulated),
)
PREPARE = (
    Option("preset", one_of(*PRESETS), "values of what follows", "default"),
    Option("location", one_of("sensor", "fault"), "what a domain's location is", "sensor"),
    Option(
        "domains", one_of("place", "bearing"), "location and load, or damaged bearings of a size", "place"
    ),
    Option("clock", one_of("prefer6", "prefer3"), "position of outer race faults", "prefer6"),
    Option(
        "per_class",
        {
            "description": "`all`, `paper`, or a number of windows a class",
            "anyOf": [one_of("all", "paper"), {"type": "integer", "minimum": 1}],
        },
        "windows of a class: all, paper, or a number",
        "all",
        unless="as the preset",
    ),
    Option(
        "normal_rate",
        one_of(12_000, "as_is"),
        "12000, or as_is (48 kHz where official)",
        12_000,
        unless="as the preset",
    ),
    Option(
        "samples",
        {
            "description": "a number of samples from the start of each recording, or null for all",
            "anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}],
        },
        "only the first so many samples of a recording",
        unless="as the preset",
    ),
    Option("window", {"type": "integer", "minimum": 2}, "window length in samples", 4096),
    Option("stride", {"type": "integer", "minimum": 1}, "distance of two windows in samples", 290),
    Option("seed", NATURAL, "seed of drawing windows", 0),
    Option("recordings", TEXT, "recordings table (csv) in place of the packaged one"),
)
