"""How many seeds a difference needs."""

import math

from tsdg.results.power import seeds_needed


def test_seeds_needed():
    # Cohen's d of 0.5, 0.8 and 1.0 in a paired t-test, level 5%, power 80%: published tables.
    assert [seeds_needed(d, 1) for d in (0.5, 0.8, 1.0)] == [34, 15, 10]
    assert seeds_needed(-8, 10) == 15
    assert seeds_needed(2, 0) == 2
    assert seeds_needed(0, 1) == seeds_needed(0, 0) == math.inf
    assert math.isnan(seeds_needed(5, math.nan))
