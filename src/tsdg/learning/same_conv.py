"""Convolutions that keep the length of a window, with a leading run axis, see `tsdg.learning.layers`."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tsdg.learning.layers import convolved, uniform


class SameConv1d(nn.Module):
    """Convolution of as many time steps as come in, one for each run: ``(R, N, T, C) -> (R, N, T, O)``.

    Equal to `torch.nn.Conv1d` with ``padding="same"``: of an odd number of zeros, one more comes at the end.

    Parameters
    ----------
    in_channels, out_channels, kernel_size : int
    generators : list of torch.Generator
        One a run; initial weights are drawn as by `torch.nn.Conv1d`.
    dilation : int
        Time steps from one of the kernel's values to the next.
    causal : bool
        Whether all zeros come before, so that no output looks ahead.
    bias : bool

    Attributes
    ----------
    weight : (R, out, in, kernel)
    bias : (R, out) or None
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        generators: list[torch.Generator],
        *,
        dilation: int = 1,
        causal: bool = False,
        bias: bool = True,
    ):
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        reach = (kernel_size - 1) * dilation
        self.before = reach if causal else reach // 2
        self.after = reach - self.before
        fan_in = in_channels * kernel_size
        self.weight = uniform((out_channels, in_channels, kernel_size), fan_in, generators)
        self.bias = uniform((out_channels,), fan_in, generators) if bias else None

    def kernel(self) -> Tensor:
        """What the window is convolved with, ``(R, out, in, kernel)``."""
        return self.weight

    def forward(self, x: Tensor) -> Tensor:
        time = x.shape[2]
        x = F.pad(x, (0, 0, self.before, self.after))
        if x.shape[0] == 1 and not x.is_cuda:
            return convolved(x, self.kernel(), self.bias, dilation=self.dilation)
        starts = range(0, self.kernel_size * self.dilation, self.dilation)
        columns = torch.cat([x[:, :, start : start + time] for start in starts], dim=-1)
        kernel = self.kernel().permute(0, 3, 2, 1).flatten(1, 2)  # (R, kernel * in, out)
        y = columns.flatten(1, 2) @ kernel
        if self.bias is not None:
            y = y + self.bias.unsqueeze(1)
        return y.unflatten(1, (*x.shape[1:2], time))


class WeightNormConv1d(SameConv1d):
    """The same with weight normalization: length and direction of each output's kernel are parameters.

    Attributes
    ----------
    magnitude : (R, out)
    weight : (R, out, in, kernel)
        Whose direction alone counts.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.magnitude = nn.Parameter(self.weight.detach().flatten(2).norm(dim=2))

    def kernel(self) -> Tensor:
        length = self.weight.flatten(2).norm(dim=2)
        return self.weight * (self.magnitude / length)[..., None, None]
