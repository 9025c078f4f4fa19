"""How long the jobs that are left will take."""

import pytest

from tsdg.runs.pace import OTHER, PRIOR, Pace, duration


def test_trainings_take_as_much_longer_as_those_before_did():
    pace = Pace({0: None, 1: 100.0, 2: 100.0, 3: 300.0}, at_once=1)
    assert pace.left(0.0) == OTHER + 500
    pace.start(0, 0.0)
    assert pace.end(0, 15.0) == 15
    pace.start(1, 15.0)
    assert pace.left(65.0) == 500 - 50  # of what runs, what it has taken is done
    assert pace.end(1, 345.0) == 330
    slower = (330 + PRIOR) / (100 + PRIOR)
    assert pace.left(345.0) == pytest.approx(400 * slower)
    pace.start(2, 345.0)
    pace.end(2, 346.0, failed=True)  # which says nothing of the others
    assert pace.left(346.0) == pytest.approx(300 * slower)
    pace.start(2, 346.0)  # again
    assert pace.left(346.0) == pytest.approx(400 * slower)
    pace.start(3, 346.0)
    assert pace.left(1e6) == 0


def test_jobs_at_once_share_the_time_but_the_longest_one_takes_its_own():
    assert Pace({0: 40.0, 1: 40.0, 2: 40.0, 3: 40.0}, at_once=2).left(0.0) == 80
    assert Pace({0: 90.0, 1: 10.0}, at_once=8).left(0.0) == 90


def test_one_long_download_is_no_measure_of_the_small_jobs():
    pace = Pace(dict.fromkeys(range(10)), at_once=1)
    for job, seconds in enumerate((3.0, 600.0, 4.0)):
        pace.start(job, 0.0)
        pace.end(job, seconds)
    assert pace.left(0.0) == 7 * 4.5


def test_durations_in_words():
    assert [duration(seconds) for seconds in (7.2, 100, 5990, 9000)] == ["7 s", "2 min", "100 min", "2.5 h"]
    assert [duration(3600 * hours) for hours in (38.6, 288, 29667.6)] == ["38.6 h", "12 days", "3.4 years"]
