"""The paper's printed numbers."""

import pytest

from tsdg.data import paper
from tsdg.errors import InputError


def test_the_papers_sample_sizes_add_up():
    bearings = paper.numbers("bearings-samples")
    assert bearings.groupby("target")["value"].sum().to_dict() == dict.fromkeys("ABCDEFGH", 4000)
    assert paper.numbers("mimic3-samples")["value"].sum() == 164 + 625 + 1179 + 495
    with pytest.raises(InputError, match="bearings, bearings-samples"):
        paper.numbers("hhar")
