"""What the comparisons of layers and networks with PyTorch's own share."""

import torch

from tsdg.streams import torch_stream

SLOPE = 0.01


def streams(seeds):
    return [torch_stream(seed, "weights") for seed in seeds]


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def close(ours, expected, tolerance):
    """Largest difference, relative to the largest expected value."""
    ours, expected = ours.detach().cpu(), expected.detach().cpu()
    scale = max(1e-30, float(expected.abs().max()))
    difference = float((ours.double() - expected.double()).abs().max())
    assert difference <= tolerance * scale, f"{difference / scale:.2e} of the largest value"
