"""Whether a record is of the study as it stands: the same settings, data and code."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tsdg.errors import InputError
from tsdg.runs import record as records
from tsdg.runs.fingerprint import code_fingerprint
from tsdg.study.run import Run, run_path
from tsdg.study.study import Study

STAGING = ".finished"  # below the records: runs of packs that are not done

Record = dict[str, Any]


def is_current(
    record: Mapping[str, Any],
    config: Mapping[str, Any],
    hparams: Mapping[str, float],
    data: str | None,
    loop: str = "runs.training",
) -> bool:
    """Whether a record is of exactly this configuration, data and code.

    Parameters
    ----------
    record, config, hparams : mapping
    data : str or None
        Fingerprint of the prepared data; None where there are none to compare with.
    loop : str
        Module of the training loop, see `code_fingerprint`.
    """
    return (
        {**record["config"], "protocol": None} == json.loads(json.dumps({**config, "protocol": None}))
        and record["hparams"] == hparams
        and data in (None, record["data"]["fingerprint"])
        and record["code"]["fingerprint"] == code_fingerprint(config["method"], loop)
    )


class CurrentRecords:
    """The records of a study that are current.

    Parameters
    ----------
    study : Study
    runs, data : Path
        Folders of the records, and of the prepared data sets. Records of a data set that is not prepared are
        compared by settings and code alone.

    Raises
    ------
    InputError
        The card of a prepared data set is damaged.
    """

    def __init__(self, study: Study, runs: Path = Path("results/runs"), data: Path = Path("results/data")):
        self.study, self.runs, self.data = study, runs, data
        self.fingerprints = _fingerprints(study, data)
        self._configs: dict[tuple[str, str], dict] = {}

    def find(self, run: Run) -> Record | None:
        """The run's current record: in its place, or kept until the rest of its pack is done.

        Raises
        ------
        InputError
            The record in its place is damaged, or of another run.
        """
        place, kept = self.runs / run_path(run), self.runs / STAGING / run_path(run)
        if place.exists():
            record = records.read(place)
            records.check_run(place, record, run)
            if self.current(run, record):
                return record
        try:
            record = records.read(kept)
            records.check_run(kept, record, run)
        except InputError:
            return None
        return record if self.current(run, record) else None

    def current(self, run: Run, record: Mapping[str, Any]) -> bool:
        """Whether a record is what training this run now would give."""
        if run.dataset == "toy":
            config, hparams = self._config(run), self.study.toy_hparams(run.variant)
            return is_current(record, config, hparams, _toy_data(run.seed), "toy.train")
        data = self.fingerprints.get(self.study.prepared(run.dataset))
        return is_current(record, self._config(run), self.study.hparams(run), data)

    def _config(self, run: Run) -> dict:
        key = run.dataset, run.variant
        if key not in self._configs:
            toy = run.dataset == "toy"
            self._configs[key] = self.study.toy_config(run.variant) if toy else self.study.config(*key)
        return self._configs[key]


def _fingerprints(study: Study, data: Path) -> dict[str, str]:
    """Fingerprints of the prepared data sets, by name."""
    found = {}
    for name in study.datasets:
        card = data / name / "card.json"
        if card.exists():
            try:
                found[name] = json.loads(card.read_bytes())["fingerprint"]
            except (OSError, ValueError, KeyError, TypeError, RecursionError):
                found[name] = None
            if not isinstance(found[name], str):
                raise InputError(
                    f"{card}: not the card of a prepared data set; delete it, then "
                    f"`snakemake --cores 1 results/data/{name}/card.json`"
                )
    return found


def _toy_data(seed: int) -> str:
    from tsdg.toy.job import data_fingerprint

    return data_fingerprint(seed)
