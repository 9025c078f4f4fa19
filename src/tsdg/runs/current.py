"""The records that are of the study as it stands: of the same settings, data and code."""

from collections.abc import Callable
from pathlib import Path

from tsdg.errors import InputError
from tsdg.runs.recipe import Recipes, prepared_fingerprints
from tsdg.runs.record import Record, read
from tsdg.study.run import RECORDS, Run, run_path
from tsdg.study.study import Study

STAGING = ".finished"  # below the records: runs of packs that are not done


class CurrentRecords:
    """The records of a study that are current.

    Parameters
    ----------
    study : Study
    runs, data : Path
        Folders of the records, and of the prepared data sets. Records of a data set that is not prepared are
        compared by settings and code alone.
    reader : callable
        `tsdg.runs.record.read`, or `read_end` for who asks for nothing of the course.

    Raises
    ------
    InputError
        The card of a prepared data set is damaged.
    """

    def __init__(
        self,
        study: Study,
        runs: Path = Path(RECORDS),
        data: Path = Path("results/data"),
        reader: Callable[[Path, Run], Record] = read,
    ):
        self.runs, self.data, self.read = runs, data, reader
        self.recipes = Recipes(study, prepared_fingerprints(study, data))

    def find(self, run: Run) -> Record | None:
        """The run's current record: in its place, or kept until the rest of its pack is done.

        Raises
        ------
        InputError
            The record in its place is damaged, or of another run.
        """
        return self.look(run)[0]

    def look(self, run: Run) -> tuple[Record | None, Record | None]:
        """What `find` gives, and the record in the run's place, current or not."""
        place, kept = self.runs / run_path(run), self.runs / STAGING / run_path(run)
        placed = self.read(place, run) if place.exists() else None
        if placed and self.current(run, placed):
            return placed, placed
        try:
            record = self.read(kept, run)
        except InputError:
            return None, placed
        return (record if self.current(run, record) else None), placed

    def current(self, run: Run, record: Record) -> bool:
        """Whether a record is what training this run now would give."""
        return self.recipes.of(run).difference(record.recipe) is None

    def outdated(self, run: Run) -> str | None:
        """In what the record in the run's place differs from one of today, if it is there and does."""
        place = self.runs / run_path(run)
        return self.recipes.of(run).difference(self.read(place, run).recipe) if place.exists() else None
