"""Second names of records, for as long as Snakemake could delete the first."""

import os

import pytest

from synthetic_records import make_record
from tsdg.runs import kept
from tsdg.runs.current import STAGING, CurrentRecords
from tsdg.runs.writing import write
from tsdg.study.run import Run, run_path


class Found(CurrentRecords):
    """Records that are current where their version says so."""

    def __init__(self, runs):
        self.runs = runs

    def outdated(self, run):
        return None if "today" in (self.runs / run_path(run)).read_text() else "old"


RUN = Run("tiny", "erm", "A", 0, "fixed")


@pytest.fixture
def found(tmp_path):
    return Found(tmp_path)


def places(found):
    return found.runs / run_path(RUN), found.runs / STAGING / run_path(RUN)


def test_a_record_outlives_its_deletion(found):
    record, other = places(found)
    write(record, make_record(RUN))
    contents = record.read_bytes()
    kept.protect([RUN, Run("tiny", "erm", "B", 0, "fixed")], found)
    assert other.samefile(record)
    record.unlink()
    kept.release(found.runs)  # it has no other name
    assert other.read_bytes() == contents
    os.link(other, record)
    kept.release(found.runs)
    assert record.read_bytes() == contents
    assert not (found.runs / STAGING).exists()


@pytest.mark.parametrize("today", ["place", "kept"])
def test_of_two_that_differ_the_current_one_stays(found, today):
    record, other = places(found)
    for path, name in ((record, "place"), (other, "kept")):
        path.parent.mkdir(parents=True)
        path.write_text(f"today {name}" if name == today else f"old {name}")
    kept.protect([RUN], found)
    assert other.read_text() == f"today {today}"
    kept.release(found.runs)
    assert other.exists() == (today == "kept")
    assert today in record.read_text() + (other.read_text() if other.exists() else "")
