"""What no table of the study wants: records of past draws, seeds, targets or variants, and features."""

from collections.abc import Iterable
from pathlib import Path

from tsdg.data.windows import FEATURES
from tsdg.errors import InputError
from tsdg.methods.estimators import METHOD
from tsdg.runs.current import STAGING
from tsdg.runs.feature_cache import feature_file
from tsdg.runs.recipe import prepared_fingerprints
from tsdg.study.run import parse_run_path
from tsdg.study.study import Study


def unwanted(study: Study, folder: Path) -> list[Path]:
    """Records, those of unfinished packs included, whose run is in no table and not in the toy study."""
    wanted = {run for runs in study.wanted.values() for run in runs}
    found = []
    for path in sorted([*folder.glob("*/*/*/seed*/*.json"), *folder.glob(f"{STAGING}/*/*/*/seed*/*.json")]):
        try:
            run = parse_run_path(path)
        except InputError:
            continue  # no record
        if run not in wanted:
            found.append(path)
    return found


def stale_features(study: Study, data: Path) -> list[Path]:
    """Files of features that no estimator of a table reads: of data, options or code of the past."""
    fingerprints = prepared_fingerprints(study, data)
    rows = {(run.dataset, run.variant) for runs in study.wanted.values() for run in runs}
    wanted: set[Path] = set()
    found: set[Path] = set()
    for dataset, variant in rows:
        name = study.prepared(dataset)
        found.update((data / name / FEATURES).glob("*.npy"))
        config = study.config(dataset, variant)
        if config["method"] == METHOD and name in fingerprints:
            wanted.add(feature_file(data / name, fingerprints[name], config["features"]))
    return sorted(found - wanted)


def delete(paths: Iterable[Path], folder: Path) -> None:
    """Delete files, and the folders that they leave empty."""
    for path in paths:
        path.unlink()
        for parent in path.parents:
            if parent == folder or parent.is_symlink() or any(parent.iterdir()):
                break
            parent.rmdir()


def summary(paths: Iterable[Path], folder: Path) -> list[str]:
    """How many records of each data set and variant."""
    counts: dict[str, int] = {}
    for path in paths:
        name = path.relative_to(folder).parents[2].as_posix()
        counts[name] = counts.get(name, 0) + 1
    return [f"{count:6} {folder.as_posix()}/{name}" for name, count in counts.items()]
