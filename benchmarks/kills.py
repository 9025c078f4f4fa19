"""Kills at random moments: is anything that was finished lost, trained twice, or taken for what it is not?

Trainings, preparations, Snakemake alone, Snakemake with all its jobs, and `dvc repro` are killed and started
again until they end by themselves, in rounds that change the settings, so that the results of the last round
are there to be mistaken for those of this one. After each kill and each round the files are compared with
what they were, and with those of runs that nobody disturbed.

    python benchmarks/kills.py --kills 200 --seed 0 --minutes 60
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).parents[1]
sys.path[:0] = [str(PROJECT / "tests/workflow")]

from tiny import STUDY  # noqa: E402

from tsdg.data.integrity import load_checked  # noqa: E402
from tsdg.errors import InputError  # noqa: E402

# Parts of the kills, more of what takes less time.
KINDS = {"train": 0.5, "prepare": 0.26, "snakemake alone": 0.11, "snakemake and its jobs": 0.1, "dvc": 0.03}
SHARE = 0.7  # of the time undisturbed, in which a kill comes
LONGEST = 8  # kills of a round, after which it may end
FAULTS = ("lost", "damaged", "trained twice", "wrong", "stuck")
LENGTHS, STRIDES = (12, 18), (2000, 3000)  # of the settings that rounds change between
TABLE = "results/tables/small.csv"


class Folder:
    """A tiny study, with the results that it should have under either settings."""

    def __init__(self, root: Path, dice: random.Random):
        self.root, self.dice = root, dice
        self.length, self.stride = LENGTHS[0], STRIDES[0]
        self.counts: Counter[tuple[str, str]] = Counter()
        self.seconds: dict[str, float] = {}
        for part in ("Snakefile", "workflow", "profiles", "environment.yml", "src", "dvc.yaml", ".dvcignore"):
            source = PROJECT / part
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, root / part)
        self.environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(root / "src"),
            "OMP_NUM_THREADS": "1",
            "NO_COLOR": "1",
        }
        stages = (root / "dvc.yaml").read_text().replace("[bearings, hhar]", "[bearings]")
        (root / "dvc.yaml").write_text(stages)
        self.write_params()
        for command in (["git", "init", "--quiet"], ["dvc", "init", "--quiet"]):
            subprocess.run(command, cwd=root, env=self.environment, check=True)
        self.records_of: dict[int, dict[str, Any]] = {}
        self.table_of: dict[int, bytes] = {}
        self.data_of: dict[int, str] = {}

    def write_params(self) -> None:
        study = STUDY | {"training": STUDY["training"] | {"iterations": self.length}}
        study["protocols"] = {"tiny": STUDY["protocols"]["tiny"] | {"iterations": self.length}}
        (self.root / "params.yaml").write_text(yaml.safe_dump(study, sort_keys=False))

    def command(self, kind: str) -> list[str]:
        """What is killed."""
        if kind == "train":
            runs = f"--variant vrex --target A B C --seed 0 --draw 0-1 --keep --out {self.place(kind)}"
            return ["tsdg", "train", "--data", "results/data/bearings", *runs.split()]
        if kind == "prepare":
            place = "--raw data/simulated/other --out results/data/other"
            return ["tsdg", "prepare", "bearings", *place.split(), f"--stride={self.stride}"]
        if kind == "dvc":
            return ["dvc", "repro", "study", "--single-item"]
        return ["snakemake", "--cores", "2", "--", TABLE.replace("csv", "tex")]

    def start(self, kind: str) -> subprocess.Popen:
        with (self.root / "output.txt").open("w") as output:
            return subprocess.Popen(
                self.command(kind), cwd=self.root, env=self.environment, start_new_session=True,
                stdout=output, stderr=output,
            )  # fmt: skip

    def place(self, kind: str) -> str:
        """The folder of records."""
        return "by-hand" if kind == "train" else "results/runs"

    def records(self, kind: str = "") -> Iterator[tuple[str, Path]]:
        """Name and place of every record, in its place or kept."""
        runs = self.root / self.place(kind)
        for folder in (runs, runs / ".finished"):
            for path in folder.glob("[!.]*/*/*/seed*/[!.]*.json"):
                yield path.relative_to(folder).as_posix(), path

    def seen(self, kind: str) -> tuple[dict[str, set[bytes]], list[Path]]:
        """The records of these settings, by name, and those that cannot be read."""
        found: dict[str, set[bytes]] = {}
        damaged = []
        for _ in range(2):  # one may be moved from one place to the other as we look
            for name, path in self.records(kind):
                with suppress(FileNotFoundError):
                    contents = path.read_bytes()
                    try:
                        if json.loads(contents)["config"]["iterations"] == self.length:
                            found.setdefault(name, set()).add(contents)
                    except ValueError:
                        damaged.append(path)
        return found, damaged

    # ------------------------------------------------------------------------------------- references

    def reference(self) -> None:
        """What nobody disturbed, under either settings."""
        for length in reversed(LENGTHS):
            self.length = length
            self.write_params()
            self.finish("snakemake alone")
            self.records_of[length] = {name: _told(path) for name, path in self.records()}
            self.table_of[length] = (self.root / TABLE).read_bytes()
        raw = self.root / "data/simulated"
        shutil.copytree(raw / "bearings", raw / "other")
        for self.stride in reversed(STRIDES):
            self.finish("prepare")
            self.data_of[self.stride] = load_checked(self.root / "results/data/other").fingerprint
        self.finish("train")

    def finish(self, kind: str) -> None:
        """Run to the end, and note how long it takes."""
        begun = time.monotonic()
        if self.start(kind).wait():
            sys.exit((self.root / "output.txt").read_text())
        self.seconds[kind] = time.monotonic() - begun

    # ----------------------------------------------------------------------------------------- rounds

    def round(self, kind: str, kills: int, deadline: float) -> int:
        """Kill and start again until it ends by itself; return the kills."""
        self.other_settings(kind)
        done = 0
        ledger: dict[str, set[bytes]] = {}
        together = False  # whether two were at work at once
        while True:
            self.unlock()
            begun = time.monotonic()
            process = self.start(kind)
            wait = self.dice.uniform(0, self.seconds.get(kind, self.seconds["snakemake alone"]) * SHARE)
            if done >= kills or time.monotonic() > deadline:
                wait = 600.0
            try:
                code = process.wait(wait)
            except subprocess.TimeoutExpired:
                if wait == 600.0:
                    _kill(process, signal.SIGKILL, group=True)
                    self.fault(kind, "stuck", "did not end within ten minutes")
                    return done
                together |= self.kill(process, kind)
                done += 1
                self.counts[kind, "kills"] += 1
                self.check(kind, ledger, together)
                continue
            if code:
                self.fault(kind, "stuck", (self.root / "output.txt").read_text()[-2000:])
                return done
            self.check(kind, ledger, together)
            self.check_end(kind)
            self.counts[kind, "rounds"] += 1
            if done == 0:
                self.seconds[kind] = time.monotonic() - begun
            return done

    def other_settings(self, kind: str) -> None:
        if kind == "prepare":
            self.stride = STRIDES[self.stride == STRIDES[0]]
            return
        self.length = LENGTHS[self.length == LENGTHS[0]]
        self.write_params()

    def unlock(self) -> None:
        """What `snakemake --unlock` does, and DVC by itself."""
        for lock in (self.root / ".snakemake/locks").glob("*"):
            lock.unlink()

    def kill(self, process: subprocess.Popen, kind: str) -> bool:
        """Kill one or all; whether what was left is still at work."""
        alone = kind in ("train", "prepare", "snakemake alone") or (
            kind == "dvc" and self.dice.random() < 0.5
        )
        how = self.dice.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
        _kill(process, how, group=not alone)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            _kill(process, signal.SIGKILL, group=False)
            process.wait()
        if alone and self.dice.random() < 0.5:
            end = time.monotonic() + 120
            while _alive(process.pid) and time.monotonic() < end:
                time.sleep(0.2)
        left = _alive(process.pid)
        if left and not alone:
            _kill(process, signal.SIGKILL, group=True)
            time.sleep(0.2)
            return False
        return left

    def check(self, kind: str, ledger: dict[str, set[bytes]], together: bool) -> None:
        """That nothing that was seen is lost, nothing is half, and each record is the one that was seen."""
        if kind == "prepare":
            self.check_data(kind)
            return
        found, damaged = self.seen(kind)
        for path in damaged:
            self.fault(kind, "damaged", str(path))
        for name, before in ledger.items():
            now = found.get(name, set())
            if not now:
                self.fault(kind, "lost", name)
            elif not now & before:
                if together:
                    self.counts[kind, "trained by two at once"] += 1
                else:
                    self.fault(kind, "trained twice", name)
        for name, contents in found.items():
            for text in contents:
                if _plain(text) != self.records_of[self.length].get(name):
                    self.fault(kind, "wrong", name)
        ledger.clear()
        ledger.update(found)

    def check_data(self, kind: str) -> None:
        folder = self.root / "results/data/other"
        if not folder.exists():
            return
        try:
            if load_checked(folder).fingerprint not in self.data_of.values():
                self.fault(kind, "wrong", "prepared data")
        except InputError as error:
            self.fault(kind, "damaged", str(error))

    def check_end(self, kind: str) -> None:
        """That what ended by itself made what nobody disturbed makes."""
        if kind == "prepare":
            if load_checked(self.root / "results/data/other").fingerprint != self.data_of[self.stride]:
                self.fault(kind, "wrong", "prepared data")
            return
        places = {name: path for name, path in self.records(kind) if ".finished" not in path.parts}
        for name, told in self.records_of[self.length].items():
            if kind == "train" and "/vrex/" not in name:
                continue
            if name not in places:
                self.fault(kind, "lost", name)
            elif _told(places[name]) != told:
                self.fault(kind, "wrong", name)
        if kind != "train" and (self.root / TABLE).read_bytes() != self.table_of[self.length]:
            self.fault(kind, "wrong", TABLE)

    def fault(self, kind: str, what: str, where: str) -> None:
        self.counts[kind, what] += 1
        print(f"{what.upper()} ({kind}): {where}", flush=True)


def _kill(process: subprocess.Popen, how: signal.Signals, *, group: bool) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, how) if group else process.send_signal(how)


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _told(path: Path) -> Any:
    return _plain(path.read_bytes())


def _plain(contents: bytes) -> Any:
    """A record without what two runs of the same may differ in."""
    record = json.loads(contents)
    for part in ("timing", "machine"):
        record.pop(part, None)
    return record


def main() -> int:
    """Kill, and print a count of what came of it; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60, help="after which nothing more is killed")
    options = parser.parse_args()
    deadline = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        folder = Folder(Path(root), random.Random(options.seed))
        folder.reference()
        print("Undisturbed:", {kind: round(took) for kind, took in folder.seconds.items()}, "s", flush=True)
        kills = 0
        while kills < options.kills and time.monotonic() < deadline:
            kind = min(KINDS, key=lambda kind: folder.counts[kind, "kills"] / KINDS[kind])
            most = min(folder.dice.randint(1, LONGEST), options.kills - kills)
            kills += folder.round(kind, most, deadline)
            faults = sum(folder.counts[kind, fault] for kind in KINDS for fault in FAULTS)
            print(f"{kills} kills, {faults} faults, after {kind}", flush=True)
    columns = ("kills", "rounds", *FAULTS, "trained by two at once")
    print(f"\n{'':24}" + "".join(f"{column:>24}" for column in columns))
    for kind in KINDS:
        print(f"{kind:24}" + "".join(f"{folder.counts[kind, column]:24}" for column in columns))
    return int(any(folder.counts[kind, fault] for kind in KINDS for fault in FAULTS))


if __name__ == "__main__":
    sys.exit(main())
