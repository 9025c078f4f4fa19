"""Batch normalization with its activation: two Triton kernels forth, two back.

Forth, values are read twice and written once; back, values and gradients are read twice, and the result is
written once: eight passes over memory, where PyTorch's operators take some twenty.

The time steps of a group, those of all its samples, are cut into parts. The first kernel of a direction
reduces a part; the second reduces what the parts gave, again in each of its programs, and goes over a part.
How a group is cut does not depend on how many there are, so that a run's numbers are the same in any pack.

Axes: R run, G group, N sample of a group, T time step, C channel. Programs: a group, a part, some channels.
"""

from typing import Any

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import Tensor

from tsdg.learning.kernels.gradients import differentiable
from tsdg.learning.layers import BatchNorm

TILE = 2048  # values that a program holds at once
WIDEST_TILE = 32  # channels
FEWEST_TILES = 16  # of a part, where a group has as many
MOST_PARTS = 128  # of a group
KERNELS = ("_statistics", "_normalize", "_sums", "_gradient")  # that are launched


@triton.jit
def _tile(
    tile, tiles, steps, length, time,
    channels: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Time steps and channels of a tile, where its values are, and which of these exist.

    Of each sample's ``time`` steps in memory, the first ``length`` are counted.
    """
    step = (tl.program_id(1) * tiles + tile) * ROWS + tl.arange(0, ROWS)
    channel = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    place = (step // length * time + step % length)[:, None] * channels + channel[None, :]
    return step, channel, place, (step < steps)[:, None] & (channel < channels)[None, :]


@triton.jit
def _of_parts(values, parts, channels: tl.constexpr, PARTS: tl.constexpr, COLUMNS: tl.constexpr):
    """What the first kernel found of each part of this group, ``(PARTS, COLUMNS)``."""
    part, channel = tl.arange(0, PARTS), tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    place = (tl.program_id(0) * parts + part)[:, None] * channels + channel[None, :]
    return tl.load(values + place, mask=(part < parts)[:, None] & (channel < channels)[None, :], other=0.0)


@triton.jit
def _statistics(
    x, means, squares,
    steps, length, time, channels: tl.constexpr, tiles, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Mean of a part, and the sum of squares about it, tile by tile (Chan et al., 1979)."""
    group, part, parts = tl.program_id(0), tl.program_id(1), tl.num_programs(1)
    x += group.to(tl.int64) * (steps // length) * time * channels
    mean, square = tl.zeros((COLUMNS,), tl.float32), tl.zeros((COLUMNS,), tl.float32)
    before = 0.0
    for tile in range(tiles):
        step, channel, place, exists = _tile(tile, tiles, steps, length, time, channels, ROWS, COLUMNS)
        values = tl.load(x + place, mask=exists, other=0.0)
        count = tl.sum((step < steps).to(tl.float32), 0)
        own = tl.sum(values, 0) / tl.maximum(count, 1.0)
        difference = tl.where(exists, values - own[None, :], 0.0)
        share = count / tl.maximum(before + count, 1.0)
        square += tl.sum(difference * difference, 0) + (own - mean) * (own - mean) * before * share
        mean += (own - mean) * share
        before += count
    channel = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    place = (group * parts + part) * channels + channel
    tl.store(means + place, mean, mask=channel < channels)
    tl.store(squares + place, square, mask=channel < channels)


@triton.jit
def _affine(variance, weight, bias, eps, groups, channels: tl.constexpr, COLUMNS: tl.constexpr):
    """Inverse standard deviation, scale and shift of this group's channels."""
    channel = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    place = tl.program_id(0) // groups * channels + channel
    inverse = 1.0 / tl.sqrt_rn(variance + eps)
    scale = tl.load(weight + place, mask=channel < channels, other=0.0) * inverse
    return inverse, scale, tl.load(bias + place, mask=channel < channels, other=0.0)


@triton.jit
def _normalize(
    x, means, squares, weight, bias, y, mean_of_group, variance_of_group, eps, slope, groups,
    steps, length, time, channels: tl.constexpr, tiles,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """Statistics of the group, and by them the activation of a part."""
    group, part, parts = tl.program_id(0), tl.program_id(1), tl.num_programs(1)
    of_part = tl.minimum(tl.maximum(steps - tl.arange(0, PARTS) * tiles * ROWS, 0), tiles * ROWS)
    count = of_part.to(tl.float32)[:, None]
    own = _of_parts(means, parts, channels, PARTS, COLUMNS)
    mean = tl.sum(own * count, 0) / steps
    own -= mean[None, :]
    square = tl.sum(_of_parts(squares, parts, channels, PARTS, COLUMNS) + own * own * count, 0)
    variance = square / steps
    channel = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    if part == 0:
        tl.store(mean_of_group + group * channels + channel, mean, mask=channel < channels)
        tl.store(variance_of_group + group * channels + channel, variance, mask=channel < channels)
    _, scale, shift = _affine(variance, weight, bias, eps, groups, channels, COLUMNS)
    x += group.to(tl.int64) * (steps // length) * time * channels
    y += group.to(tl.int64) * steps * channels
    for tile in range(tiles):
        step, channel, place, exists = _tile(tile, tiles, steps, length, time, channels, ROWS, COLUMNS)
        z = (tl.load(x + place, mask=exists, other=0.0) - mean[None, :]) * scale[None, :] + shift[None, :]
        dense = step[:, None] * channels + channel[None, :]
        tl.store(y + dense, tl.where(z > 0, z, slope * z), mask=exists)


@triton.jit
def _before_activation(x, grad, place, dense, exists, mean, inverse, scale, shift, slope):
    """Normalized values, and the gradient by what the activation is of."""
    difference = tl.load(x + place, mask=exists, other=0.0) - mean[None, :]
    gradient = tl.load(grad + dense, mask=exists, other=0.0)
    z = difference * scale[None, :] + shift[None, :]
    return difference * inverse[None, :], tl.where(z > 0, gradient, slope * gradient)


@triton.jit
def _sums(
    x, grad, mean_of_group, variance_of_group, weight, bias, totals, products, eps, slope, groups,
    steps, length, time, channels: tl.constexpr, tiles, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Sums over a part of gradients, and of their products with normalized values."""
    group, part, parts = tl.program_id(0), tl.program_id(1), tl.num_programs(1)
    channel = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    mean = tl.load(mean_of_group + group * channels + channel, mask=channel < channels, other=0.0)
    variance = tl.load(variance_of_group + group * channels + channel, mask=channel < channels, other=0.0)
    inverse, scale, shift = _affine(variance, weight, bias, eps, groups, channels, COLUMNS)
    x += group.to(tl.int64) * (steps // length) * time * channels
    grad += group.to(tl.int64) * steps * channels
    total, product = tl.zeros((COLUMNS,), tl.float32), tl.zeros((COLUMNS,), tl.float32)
    for tile in range(tiles):
        step, channel, place, exists = _tile(tile, tiles, steps, length, time, channels, ROWS, COLUMNS)
        dense = step[:, None] * channels + channel[None, :]
        normalized, gradient = _before_activation(
            x, grad, place, dense, exists, mean, inverse, scale, shift, slope
        )
        total += tl.sum(gradient, 0)
        product += tl.sum(gradient * normalized, 0)
    channel = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    place = (group * parts + part) * channels + channel
    tl.store(totals + place, total, mask=channel < channels)
    tl.store(products + place, product, mask=channel < channels)


@triton.jit
def _gradient(
    x, grad, mean_of_group, variance_of_group, weight, bias, totals, products,
    grad_x, total_of_group, product_of_group, eps, slope, groups, parts,
    steps, length, time, channels: tl.constexpr, tiles,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """Sums over the group, and by them the gradient by a part; none by steps that are not counted."""
    group, part = tl.program_id(0), tl.program_id(1)
    channel = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.sum(_of_parts(totals, parts, channels, PARTS, COLUMNS), 0)
    product = tl.sum(_of_parts(products, parts, channels, PARTS, COLUMNS), 0)
    if part == 0:
        tl.store(total_of_group + group * channels + channel, total, mask=channel < channels)
        tl.store(product_of_group + group * channels + channel, product, mask=channel < channels)
    mean = tl.load(mean_of_group + group * channels + channel, mask=channel < channels, other=0.0)
    variance = tl.load(variance_of_group + group * channels + channel, mask=channel < channels, other=0.0)
    inverse, scale, shift = _affine(variance, weight, bias, eps, groups, channels, COLUMNS)
    samples = steps // length
    x += group.to(tl.int64) * samples * time * channels
    grad_x += group.to(tl.int64) * samples * time * channels
    grad += group.to(tl.int64) * steps * channels
    for tile in range(tiles):
        step, channel, place, exists = _tile(tile, tiles, samples * time, time, time, channels, ROWS, COLUMNS)
        counted = exists & (step % time < length)[:, None]
        dense = (step // time * length + step % time)[:, None] * channels + channel[None, :]
        normalized, gradient = _before_activation(
            x, grad, place, dense, counted, mean, inverse, scale, shift, slope
        )
        gradient -= (total[None, :] + normalized * product[None, :]) / steps
        tl.store(grad_x + place, tl.where(counted, gradient * scale[None, :], 0.0), mask=exists)


def _cut(steps: int, channels: int) -> tuple[int, int, dict[str, int]]:
    """Parts of a group, tiles of a part, and what a tile is."""
    columns = min(triton.next_power_of_2(channels), WIDEST_TILE)
    rows = TILE // columns
    needed = triton.cdiv(steps, rows)
    tiles = min(needed, max(FEWEST_TILES, triton.cdiv(needed, MOST_PARTS)))
    return triton.cdiv(needed, tiles), tiles, {"ROWS": rows, "COLUMNS": columns}


class NormalizeActivate(torch.autograd.Function):
    """Leaky ReLU of ``(R, G, N, T, C)`` normalized over the first ``length`` steps of all samples of a group.

    Returns the activation ``(R, G, N, length, C)``, and mean and biased variance ``(R, G, C)``.
    """

    @staticmethod
    def forward(ctx: Any, x, weight, bias, length, eps, slope):  # type: ignore[override]
        x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
        runs, groups, samples, time, channels = x.shape
        steps = samples * length
        parts, tiles, tile = _cut(steps, channels)
        grid = (runs * groups, parts, triton.cdiv(channels, tile["COLUMNS"]))
        means, squares = x.new_empty(2, runs, groups, parts, channels)
        mean, variance = x.new_empty(2, runs, groups, channels)
        y = x.new_empty(runs, groups, samples, length, channels)
        _statistics[grid](x, means, squares, steps, length, time, channels, tiles, **tile)
        _normalize[grid](
            x, means, squares, weight, bias, y, mean, variance, eps, slope, groups,
            steps, length, time, channels, tiles, **tile, PARTS=triton.next_power_of_2(parts),
        )  # fmt: skip
        ctx.save_for_backward(x, weight, bias, mean, variance)
        ctx.length, ctx.eps, ctx.slope = length, eps, slope
        ctx.mark_non_differentiable(mean, variance)
        return y, mean, variance

    @staticmethod
    def backward(ctx: Any, grad, _mean, _variance):  # type: ignore[override]
        x, weight, bias, mean, variance = ctx.saved_tensors
        if torch.is_grad_enabled():  # a gradient of this gradient is going to be taken

            def operators(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
                return by_operators(x[:, :, :, : ctx.length], weight, bias, ctx.eps, ctx.slope)

            needed = ctx.needs_input_grad[:3]
            return *differentiable(operators, (x, weight, bias), needed, grad), None, None, None
        runs, groups, samples, time, channels = x.shape
        steps = samples * ctx.length
        parts, tiles, tile = _cut(steps, channels)
        columns = triton.cdiv(channels, tile["COLUMNS"])
        grad, grad_x = grad.contiguous(), torch.empty_like(x)
        totals, products = x.new_empty(2, runs, groups, parts, channels)
        total, product = x.new_empty(2, runs, groups, channels)
        _sums[runs * groups, parts, columns](
            x, grad, mean, variance, weight, bias, totals, products, ctx.eps, ctx.slope, groups,
            steps, ctx.length, time, channels, tiles, **tile,
        )  # fmt: skip
        _gradient[runs * groups, triton.cdiv(samples * time, tiles * tile["ROWS"]), columns](
            x, grad, mean, variance, weight, bias, totals, products, grad_x, total, product,
            ctx.eps, ctx.slope, groups, parts, steps, ctx.length, time, channels, tiles,
            **tile, PARTS=triton.next_power_of_2(parts),
        )  # fmt: skip
        return grad_x, product.sum(1), total.sum(1), None, None, None


def by_operators(x: Tensor, weight: Tensor, bias: Tensor, eps: float, slope: float) -> Tensor:
    """The activation by PyTorch's operators."""
    variance, mean = torch.var_mean(x, (2, 3), correction=0, keepdim=True)
    weight, bias = weight[:, None, None, None], bias[:, None, None, None]
    return F.leaky_relu((x - mean) * torch.rsqrt(variance + eps) * weight + bias, slope)


class KernelBatchNorm(BatchNorm):
    """`BatchNorm` that trains by kernels."""

    def forward(self, x: Tensor, groups: int = 1, length: int | None = None) -> Tensor:
        if not self.training:
            return super().forward(x, groups, length)
        length = length or x.shape[2]
        y, mean, variance = NormalizeActivate.apply(
            x.unflatten(1, (groups, -1)), self.weight, self.bias, length, self.eps, self.slope
        )
        count = y.shape[2] * length
        for group in range(groups):
            self.running_mean.lerp_(mean[:, group], self.momentum)
            self.running_var.lerp_(variance[:, group] * count / (count - 1), self.momentum)
        return y.flatten(1, 2)
