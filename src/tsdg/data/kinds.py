"""The kinds of data sets: one entry each, which all that is particular to a kind is asked of.

A kind is implemented by a package with the modules ``raw`` (its function `raw_names`), ``prepare``,
``simulate`` and, where there are official files, ``fetch`` (each with a function of its name), which are
loaded when they are called, and ``options``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from tsdg.data.bearings import options as bearings
from tsdg.data.hapt import options as hapt
from tsdg.data.hhar import options as hhar
from tsdg.data.mimic3 import options as mimic3
from tsdg.data.options import Option, following, schema
from tsdg.data.own import options as own

Progress = Callable[[int, int], None]


class Shape(NamedTuple):
    """The backbone of the paper, and what it takes and gives."""

    backbone: str
    channels: int
    length: int
    classes: int
    width: int | None = None
    input: str = "raw"


@dataclass(frozen=True)
class Kind:
    """A kind of data set.

    Attributes
    ----------
    about : str
        One line for ``--help``.
    package : str
        Where it is implemented, below `tsdg.data`.
    options : mapping of str to tuple of Option
        Of each of its commands.
    unit : str
        What a preparation counts.
    title : str, optional
        As tables print it; by default a data set has its own name.
    shape : Shape, optional
        Where the kind says it: by default, see `shape_of`.
    reshaped : callable
        From the options of a preparation to what of the shape they make different.
    own : bool
        Whether the recordings are the user's own, who says what is what in them; else there are official
        ones.
    recordings : Path, optional
        The table that says which recordings there are, where a preparation may take another one.
    credentials : bool
        Whether the official files need them, so that they cannot be fetched.
    presets : mapping of str to mapping
        Values of some options of a preparation, by the name that its option ``preset`` has.
    fetch_only : callable
        From names of raw files to the options of ``tsdg fetch`` that get these alone, where it can.
    unlike_paper : callable
        From the options of a preparation to what of its windows differs from the paper's, in a sentence.
    memory : int
        MB that a preparation may take.
    minutes : int
        Time that a preparation may take.
    """

    about: str
    package: str
    options: Mapping[str, tuple[Option, ...]]
    unit: str
    title: str | None = None
    shape: Shape | None = None
    reshaped: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda prepare: {}
    own: bool = False
    recordings: Path | None = None
    credentials: bool = False
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fetch_only: Callable[[Iterable[str]], dict[str, Any]] = lambda names: {}
    unlike_paper: Callable[[Mapping[str, Any]], str] = lambda prepare: ""
    memory: int = 2000
    minutes: int = 30

    def fetch(self, out: str | Path, **options: Any) -> list[Path]:
        """Download the official raw files."""
        return self._module("fetch").fetch(out, **options)

    def simulate(self, out: str | Path, *, progress: Progress | None = None, **options: Any) -> list[Path]:
        """Write simulated raw files in the official layout."""
        return self._module("simulate").simulate(out, **options, progress=progress)

    def prepare(
        self, raw: str | Path, out: str | Path, *, progress: Progress | None = None, **options: Any
    ) -> dict[str, Any]:
        """Cut raw files into a windowed data set; return its card."""
        if self.presets:
            options = {**self.presets[options.pop("preset", "default")], **options}
        return self._module("prepare").prepare(raw, out, **options, progress=progress)

    def shape_of(self, entry: Mapping[str, Any]) -> Shape | None:
        """The shape of a data set's entry in params.yaml, where it can be told before it is prepared."""
        return self.shape and self.shape._replace(**self.reshaped(entry.get("prepare", {})))

    def raw_names(self, entry: Mapping[str, Any]) -> list[str]:
        """Names of the raw files of a data set's entry, in their folder, there or not.

        Where a file may be compressed, it is the one that is there.
        """
        return self._module("raw").raw_names(entry)

    def other_files(self, entry: Mapping[str, Any]) -> list[str]:
        """Files that options of a preparation name in a data set's entry; of folders, those that are read."""
        chosen = entry.get("prepare", {})
        named = [chosen[o.name] for o in self.options["prepare"] if o.files and o.name in chosen]
        paths = [path for one in named for path in ([one] if isinstance(one, str) else one)]
        listed = [
            [f"{path}/{name}" for name in self._module("raw").source_files(path)]
            if Path(path).is_dir()
            else [path]
            for path in paths
        ]
        return [path for of_one in listed for path in of_one]

    def in_one_file(self, entry: Mapping[str, Any]) -> bool:
        """Whether the recordings of a data set's entry are one file, not a folder."""
        if not self.own:
            return False
        raw = self._module("raw")
        return entry["source"] == "simulated" or raw.is_file(entry["raw"])

    def arguments(self, command: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Options of a command for a data set's entry in params.yaml."""
        return {**entry.get(command, {}), **following(self.options[command], entry)}

    def code(self, command: str) -> list[str]:
        """What a command's result is made by, as `tsdg.runs.fingerprint.functions_fingerprint` takes it."""
        options = ["PRESETS"] if self.presets and command == "prepare" else []
        places = [f"options:{name}" for name in (command.upper(), *options)]
        return [f"data.{self.package}.{place}" for place in (f"{command}:{command}", *places)]

    def entry_schema(self, backbone: Mapping[str, Any]) -> dict[str, Any]:
        """JSON schema of what a data set's entry in params.yaml may hold, where kinds differ."""
        options = {command: schema(self.options[command]) for command in ("simulate", "prepare")}
        if places := [option for option in self.options.get("fetch", ()) if option.name in PLACES]:
            options["fetch"] = schema(places)
        return {
            "required": ["prepare"] if options["prepare"]["required"] else [],
            "properties": {
                "source": {"enum": ["own" if self.own else "official", "simulated"]},
                "backbone": backbone,
                **options,
            },
        }

    def _module(self, name: str) -> Any:
        return import_module(f"tsdg.data.{self.package}.{name}")


PLACES = ("url", "base_url")  # options of ``tsdg fetch`` that say where official files are

KINDS: dict[str, Kind] = {
    "bearings": Kind(
        about="Bearings (Case Western Reserve University): vibration of damaged bearings",
        package="bearings",
        options={"fetch": bearings.FETCH, "simulate": bearings.SIMULATE, "prepare": bearings.PREPARE},
        unit="recording",
        title="Bearings",
        shape=Shape("bearings", channels=1, length=4096, classes=10),
        reshaped=bearings.reshaped,
        presets=bearings.PRESETS,
        recordings=bearings.RECORDINGS,
        unlike_paper=bearings.unlike_paper,
        fetch_only=lambda names: {"numbers": ",".join(sorted((PurePath(n).stem for n in names), key=int))},
    ),
    "hhar": Kind(
        about="HHAR: activities, from the accelerometers of phones",
        package="hhar",
        options={"fetch": hhar.FETCH, "simulate": hhar.SIMULATE, "prepare": hhar.PREPARE},
        unit="MB",
        title="HHAR",
        shape=Shape("har", channels=3, length=128, classes=6),
    ),
    "hapt": Kind(
        about="HAPT: activities of thirty people, from a phone at the waist",
        package="hapt",
        options={"fetch": hapt.FETCH, "simulate": hapt.SIMULATE, "prepare": hapt.PREPARE},
        unit="recording",
        title="HAPT",
        shape=Shape("har", channels=6, length=128, classes=6),
        reshaped=hapt.reshaped,
    ),
    "mimic3": Kind(
        about="MIMIC-III: death in hospital, from vital signs",
        package="mimic3",
        options={"fetch": mimic3.FETCH, "simulate": mimic3.SIMULATE, "prepare": mimic3.PREPARE},
        unit="MB",
        title="MIMIC-III",
        shape=Shape("har", channels=11, length=24, classes=2, width=32),
        credentials=True,
        memory=4000,
        minutes=240,
    ),
    "table": Kind(
        about="your own recordings: a file of any usual kind, or a folder of files",
        package="own",
        options={"simulate": own.SIMULATE, "prepare": own.PREPARE},
        unit="part",
        own=True,
    ),
}
