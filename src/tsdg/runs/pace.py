"""How long the jobs that are left will take, by what they are expected to and how the others went."""

from collections.abc import Mapping
from statistics import median

OTHER = 5.0  # seconds of a job that trains nothing, before there was one
PRIOR = 30.0  # seconds' worth of trust in what is expected, until more is measured


class Pace:
    """The jobs of one call of the workflow, as they start and end.

    Parameters
    ----------
    expected : mapping
        Seconds by number of a job; None for one that trains nothing.
    at_once : int
        How many jobs run at a time.
    """

    def __init__(self, expected: Mapping[int, float | None], at_once: int):
        self.expected, self.at_once = expected, at_once
        self._left = set(expected)
        self._started: dict[int, float] = {}
        self._took = self._predicted = PRIOR
        self._others = [OTHER]

    def start(self, job: int, now: float) -> None:
        """A job starts, maybe again."""
        self._started[job] = now
        self._left.add(job)

    def end(self, job: int, now: float, failed: bool = False) -> float:
        """A job has ended; the seconds that it took. One that failed says nothing of the others."""
        took = now - self._started.pop(job, now)
        self._left.discard(job)
        if failed:
            return took
        if predicted := self.expected.get(job):
            self._took += took
            self._predicted += predicted
        else:
            self._others.append(took)
        return took

    def left(self, now: float) -> float:
        """Seconds until all have ended: trainings take longer than expected by as much as those before."""
        pace, other = self._took / self._predicted, median(self._others)
        rest = []
        for job in tuple(self._left):  # another thread may end one
            predicted = self.expected.get(job)
            whole = predicted * pace if predicted else other
            rest.append(max(whole - (now - self._started.get(job, now)), 0.0))
        return max(max(rest, default=0.0), sum(rest) / self.at_once)


def duration(seconds: float) -> str:
    """Seconds in words: ``40 s``, ``12 min``, ``3.5 h``, ``12 days``, ``3.4 years``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    hours = seconds / 3600
    if hours < 100:
        return f"{hours:.1f} h"
    days = hours / 24
    return f"{days:.0f} days" if days < 400 else f"{days / 365.25:.1f} years"
