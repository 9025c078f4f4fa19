"""Random streams: named, independent, and the same for ever."""

import numpy as np
import torch

from tsdg.streams import numpy_stream, torch_stream


def test_streams_differ_by_seed_and_by_every_word():
    names = [(0,), (0, "a"), (0, "a", "b"), (0, "b", "a"), (0, "ab"), (1, "a", "b"), (2**40, "a")]
    numbers = [tuple(numpy_stream(*name).integers(0, 2**62, 2)) for name in names]
    numbers += [tuple(torch.randint(2**62, (2,), generator=torch_stream(*n)).tolist()) for n in names]
    assert len(set(numbers)) == len(numbers)


def test_streams_repeat_and_stay_as_they_are():
    for _ in range(2):
        drawn = numpy_stream(0, "batches", "A").integers(0, 1000, 5)
        np.testing.assert_array_equal(drawn, GOLDEN_NUMPY)
        assert torch.randint(1000, (5,), generator=torch_stream(0, "weights")).tolist() == GOLDEN_TORCH


# Records made earlier rest on these numbers.
GOLDEN_NUMPY = [284, 276, 24, 612, 993]
GOLDEN_TORCH = [940, 287, 431, 289, 21]
