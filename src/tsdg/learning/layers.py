"""Layers with a leading run axis.

A layer holds R independent copies of its parameters, so that R runs train in one pass and none sees
another. Inside a network, activations are ``(R, N, T, C)``, channels last: then every layer is a matrix
product over contiguous memory.

Axes: R run, G group, N sample, T time step, C channel, O channel that comes out.
"""

import math
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

NEGATIVE_SLOPE = 0.01
PART = 1 << 19  # values that stay in a core's caches
PIVOT = 1 << 12  # values of a channel whose mean its mean square is taken about


def uniform(shape: tuple[int, ...], fan_in: int, generators: list[torch.Generator]) -> nn.Parameter:
    """PyTorch's default initialization, U(-1/sqrt(fan_in), 1/sqrt(fan_in)), one stream a run."""
    bound = 1 / math.sqrt(fan_in)
    return nn.Parameter(
        torch.stack([torch.empty(shape).uniform_(-bound, bound, generator=g) for g in generators])
    )


class Linear(nn.Module):
    """Affine map of the last axis, one for each run: ``(R, N, in) -> (R, N, out)``.

    Parameters
    ----------
    in_features, out_features : int
    generators : list of torch.Generator
        One a run; initial weights are drawn as by `torch.nn.Linear`.

    Attributes
    ----------
    weight : (R, out, in)
    bias : (R, out)
    """

    def __init__(self, in_features: int, out_features: int, generators: list[torch.Generator]):
        super().__init__()
        self.weight = uniform((out_features, in_features), in_features, generators)
        self.bias = uniform((out_features,), in_features, generators)

    def forward(self, x: Tensor) -> Tensor:
        return torch.baddbmm(self.bias.unsqueeze(1), x, self.weight.transpose(1, 2))


def convolved(
    x: Tensor, kernel: Tensor, bias: Tensor | None, *, stride: int = 1, padding: int = 0, dilation: int = 1
) -> Tensor:
    """Convolution of one run by PyTorch's own operator, in channels-last memory.

    Parameters
    ----------
    x : (1, N, T, C)
    kernel : (1, O, C, taps)
    bias : (1, O) or None
    stride, padding, dilation : int
        As in `torch.nn.Conv1d`.

    Returns
    -------
    Tensor (1, N, T', O)
    """
    image = x.squeeze(0).transpose(1, 2).unsqueeze(2)
    weight = kernel.squeeze(0).unsqueeze(2).contiguous(memory_format=torch.channels_last)
    shift = None if bias is None else bias.squeeze(0)
    y = F.conv2d(image, weight, shift, stride=(1, stride), padding=(0, padding), dilation=(1, dilation))
    return y.squeeze(2).transpose(1, 2).unsqueeze(0)


class Conv1d(nn.Module):
    """One-dimensional convolution, one for each run: ``(R, N, T, C) -> (R, N, T', O)``.

    Equal to `torch.nn.Conv1d` with the weights of the run, and faster for few channels: the time axis is cut
    into blocks of ``block * stride`` steps, which channels-last memory makes the channels of a shorter
    signal; ``block`` neighbouring outputs of a block come from one product with a banded (Toeplitz) matrix.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding : int
        As in `torch.nn.Conv1d`.
    generators : list of torch.Generator
        One a run.

    Attributes
    ----------
    weight : (R, out, in, kernel)
    bias : (R, out)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        generators: list[torch.Generator],
        stride: int = 1,
        padding: int = 0,
    ):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        fan_in = in_channels * kernel_size
        self.weight = uniform((out_channels, in_channels, kernel_size), fan_in, generators)
        self.bias = uniform((out_channels,), fan_in, generators)

    def output_length(self, length: int) -> int:
        """Time steps that come out for ``length`` going in."""
        return (length + 2 * self.padding - self.kernel_size) // self.stride + 1

    def forward(self, x: Tensor, trim: bool = True) -> Tensor:
        """Convolve; without ``trim``, time steps may follow that are not of the convolution."""
        runs, _, time, channels = x.shape
        if runs == 1 and not x.is_cuda:
            # Bands save where neighbouring outputs share nearly all that they see, of few channels.
            banded = channels <= 8 and self.kernel_size >= 16 * self.stride
            if banded:
                y = self._blocked(x, block=4)
            else:
                y = convolved(x, self.weight, self.bias, stride=self.stride, padding=self.padding)
        else:
            # Two blocks hold a whole window; with many channels a wider band costs more than it saves.
            wide = max(1, math.ceil(self.kernel_size / self.stride) - 1)
            y = self._blocked(x, block=wide if channels < 16 else 1)
        return y[:, :, : self.output_length(time)] if trim else y

    def _blocked(self, x: Tensor, block: int) -> Tensor:
        runs, samples, time, channels = x.shape
        out_channels = self.weight.shape[1]
        length = self.output_length(time)
        step = block * self.stride
        blocks = -(-length // block)
        taps = -(-(step + self.kernel_size - self.stride) // step)

        padded = (blocks + taps - 1) * step
        x = F.pad(x, (0, 0, self.padding, padded - time - self.padding))
        x = x.reshape(runs, samples, blocks + taps - 1, step * channels)
        band = self._band(block, taps * step)  # (R, block * O, taps * step * C)
        bias = self.bias.repeat(1, block)
        if runs == 1 and not x.is_cuda:
            y = convolved(x, band.unflatten(2, (taps, step * channels)).transpose(2, 3), bias)
        else:
            columns = torch.cat([x[:, :, tap : tap + blocks] for tap in range(taps)], dim=-1)
            y = torch.baddbmm(bias.unsqueeze(1), columns.flatten(1, 2), band.transpose(1, 2))
        return y.reshape(runs, samples, blocks * block, out_channels)

    def _band(self, block: int, window: int) -> Tensor:
        """Rows hold the kernel shifted by 0, 1, ..., block - 1 strides within a window of time steps."""
        runs, out_channels, channels, kernel = self.weight.shape
        row = (window + self.stride) * channels
        rows = F.pad(
            self.weight.transpose(2, 3).reshape(runs, out_channels, 1, -1), (0, row - kernel * channels)
        )
        rows = rows.expand(runs, out_channels, block, row).reshape(runs, out_channels, -1)
        rows = rows[..., : block * window * channels].reshape(runs, out_channels, block, -1)
        return rows.transpose(1, 2).reshape(runs, block * out_channels, -1)


class _NormalizeActivate(torch.autograd.Function):
    """Leaky ReLU of the input ``(R, G, N, T*C)`` normalized by a group's own statistics, scaled and shifted.

    ``slope`` is that of the activation below zero.

    Of every sample the first values alone are taken, ``size`` of them. Written out for what the native
    operators do not have: runs, groups, and samples whose end is left out. On a CPU the samples are taken in
    parts that stay in the caches. Returns the activation, and mean and biased variance ``(R, G, C)``.
    """

    @staticmethod
    def forward(ctx, x, size, weight, bias, eps, slope):  # type: ignore[override]
        ctx.surplus, ctx.slope = x.shape[3] - size, slope
        x = x[..., :size]
        channels = weight.shape[1]
        count = x.shape[2] * size // channels
        # About a mean of some, the mean square keeps its digits whatever the offset of the data.
        some = max(1, PIVOT * channels // size)
        pivot = _fold(x[:, :, :some].sum(2), channels) / (min(some, x.shape[2]) * size // channels)
        wide_pivot = _spread(pivot, x)
        first, second = torch.zeros_like(wide_pivot[:, :, 0]), torch.zeros_like(wide_pivot[:, :, 0])
        for (part,) in _parts(x):
            difference = part - wide_pivot
            first += difference.sum(2)
            second += difference.square_().sum(2)
        offset = _fold(first, channels) / count
        mean, variance = pivot + offset, (_fold(second, channels) / count - offset.square()).clamp_(min=0)
        inverse = torch.rsqrt(variance + eps)
        scale = weight.unsqueeze(1) * inverse
        wide_scale, shift = _spread(scale, x), _spread(bias.unsqueeze(1) - mean * scale, x)
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        for part, out in _parts(x, y):
            F.leaky_relu_(torch.addcmul(shift, part, wide_scale, out=out), slope)
        ctx.save_for_backward(x, y, mean, inverse, wide_scale)
        ctx.mark_non_differentiable(mean, variance)
        return y, mean, variance

    @staticmethod
    def backward(ctx, grad, _mean, _variance):  # type: ignore[override]
        x, y, mean, inverse, scale = ctx.saved_tensors
        size, channels = x.shape[3], inverse.shape[2]
        count = x.shape[2] * size // channels
        full = torch.empty((*x.shape[:3], size + ctx.surplus), dtype=x.dtype, device=x.device)
        full[..., size:] = 0
        grad_x = full[..., :size]
        total, product = torch.zeros_like(scale[:, :, 0]), torch.zeros_like(scale[:, :, 0])
        for grad_part, part, y_part, out in _parts(grad, x, y, grad_x):
            torch.ops.aten.leaky_relu_backward.grad_input(grad_part, y_part, ctx.slope, True, grad_input=out)
            total += out.sum(2)
            product += (part * out).sum(2)
        total, product = _fold(total, channels), _fold(product, channels)
        weighted = (product - mean * total) * inverse
        steep = -inverse * weighted / count
        offset = _spread(-total / count - mean * steep, x) * scale
        steep = _spread(steep, x) * scale
        for part, out in _parts(x, grad_x):
            torch.addcmul(torch.addcmul(offset, part, steep), out, scale, out=out)
        return full, None, weighted.sum(1), total.sum(1), None, None


def _fold(sums: Tensor, channels: int) -> Tensor:
    """``(R, G, T*C)`` to ``(R, G, C)``."""
    return sums.unflatten(-1, (-1, channels)).sum(2)


def _spread(values: Tensor, like: Tensor) -> Tensor:
    """``(R, G, C)`` to ``(R, G, 1, T*C)``."""
    return values.repeat(1, 1, like.shape[3] // values.shape[2]).unsqueeze(2)


def _parts(*tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Parts of the samples' axis: on a CPU so many as a cache holds, else one."""
    runs, groups, samples, values = tensors[0].shape
    size = samples if tensors[0].is_cuda else max(1, min(samples, PART // (runs * groups * values)))
    return zip(*(tensor.split(size, dim=2) for tensor in tensors), strict=True)


class BatchNorm(nn.Module):
    """Batch normalization followed by leaky ReLU, for each run: ``(R, N, T, C) -> (R, N, T, C)``.

    In training the N samples form ``groups`` equal groups (domains), each normalized by its own batch
    statistics; the running averages move once for each group, in order. One group is `torch.nn.BatchNorm1d`.

    Parameters
    ----------
    channels, runs : int
    slope : float
        Of the activation below zero: 0 is ReLU, 1 no activation.
    momentum, eps : float
        As in `torch.nn.BatchNorm1d`.

    Attributes
    ----------
    statistics : callable or None
        Gives the mean and variance ``(R, C)`` of an evaluation from the layer and its input, in place of the
        running averages, see `tsdg.learning.adaptation`.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(
        self,
        channels: int,
        runs: int,
        slope: float = NEGATIVE_SLOPE,
        momentum: float = 0.1,
        eps: float = 1e-5,
    ):
        super().__init__()
        self.slope, self.momentum, self.eps = slope, momentum, eps
        self.statistics: Callable[[BatchNorm, Tensor], tuple[Tensor, Tensor]] | None = None
        self.weight = nn.Parameter(torch.ones(runs, channels))
        self.bias = nn.Parameter(torch.zeros(runs, channels))
        self.register_buffer("running_mean", torch.zeros(runs, channels))
        self.register_buffer("running_var", torch.ones(runs, channels))

    def forward(self, x: Tensor, groups: int = 1, length: int | None = None) -> Tensor:
        """Normalize the first ``length`` time steps, all of them by default."""
        runs, samples, time, channels = x.shape
        length = length or time
        if not self.training:
            x = x[:, :, :length]
            mean, variance = self.running_mean, self.running_var
            if self.statistics is not None:
                mean, variance = self.statistics(self, x)
            scale = self.weight * torch.rsqrt(variance + self.eps)
            shift = self.bias - mean * scale
            return F.leaky_relu_(x * scale[:, None, None] + shift[:, None, None], self.slope)
        if runs == groups == 1 and length == time and not x.is_cuda:
            return self._native(x)
        grouped = x.reshape(runs, groups, samples // groups, time * channels)
        y, mean, variance = _NormalizeActivate.apply(
            grouped, length * channels, self.weight, self.bias, self.eps, self.slope
        )
        count = samples // groups * length
        for group in range(groups):
            self.running_mean.lerp_(mean[:, group], self.momentum)
            self.running_var.lerp_(variance[:, group] * count / (count - 1), self.momentum)
        return y.reshape(runs, samples, length, channels)

    def _native(self, x: Tensor) -> Tensor:
        """All samples of one run as one group, by PyTorch's own operators."""
        image = x.squeeze(0).transpose(1, 2).unsqueeze(2)
        y = F.batch_norm(
            image, self.running_mean.squeeze(0), self.running_var.squeeze(0),
            self.weight.squeeze(0), self.bias.squeeze(0),
            training=True, momentum=self.momentum, eps=self.eps,
        )  # fmt: skip
        y = F.leaky_relu_(y, self.slope)
        return y.squeeze(2).transpose(1, 2).unsqueeze(0)


class _SampleNorm(nn.Module):
    """Normalization of every window by itself, followed by leaky ReLU; `groups` makes no difference."""

    axis: int

    def __init__(self, channels: int, runs: int, slope: float = NEGATIVE_SLOPE, eps: float = 1e-5):
        super().__init__()
        self.slope, self.eps = slope, eps
        self.weight = nn.Parameter(torch.ones(runs, channels))
        self.bias = nn.Parameter(torch.zeros(runs, channels))

    def forward(self, x: Tensor, groups: int = 1, length: int | None = None) -> Tensor:
        """Normalize the first ``length`` time steps, all of them by default."""
        x = x[:, :, :length]
        variance, mean = torch.var_mean(x, self.axis, correction=0, keepdim=True)
        y = (x - mean) * torch.rsqrt(variance + self.eps)
        return F.leaky_relu(y * self.weight[:, None, None] + self.bias[:, None, None], self.slope)


class LayerNorm(_SampleNorm):
    """Of each time step over its channels, as `torch.nn.LayerNorm`: ``(R, N, T, C) -> (R, N, T, C)``."""

    axis = 3


class InstanceNorm(_SampleNorm):
    """Of each channel of a window over time, as `torch.nn.InstanceNorm1d` with weights."""

    axis = 2


NORMS: dict[str, type[BatchNorm | LayerNorm | InstanceNorm]] = {
    "batch": BatchNorm,
    "layer": LayerNorm,
    "instance": InstanceNorm,
}


class MLP(nn.Sequential):
    """Fully connected layers with ReLU between them, for each run."""

    def __init__(self, widths: list[int], generators: list[torch.Generator]):
        layers: list[nn.Module] = []
        for i, o in zip(widths[:-1], widths[1:], strict=True):
            layers += [Linear(i, o, generators), nn.ReLU()]
        super().__init__(*layers[:-1])
