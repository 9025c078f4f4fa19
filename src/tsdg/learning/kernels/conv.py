"""Convolution of few channels in Triton kernels: forth, back to the input, back to the weights.

Each is a product of matrices, one of which holds windows of a signal. They are read from the signal itself,
where a window of ``kernel`` time steps lies in one piece: nothing that overlaps is written to memory.

Axes: R run, N sample, T time step, L time step that comes out, C channel, O channel that comes out.
"""

from typing import Any

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import Tensor

from tsdg.learning.kernels.gradients import differentiable
from tsdg.learning.layers import Conv1d

ROWS = 128  # time steps that a program holds at once
DEPTH = 64  # values of a window, the same
COLUMNS = 32  # channels that come out, the same
SMALLEST = 16  # side of a product
MOST_PARTS = 128  # of a run's time steps, where sums over them are taken
KERNELS = ("_convolve", "_to_input", "_to_weight")  # that are launched


@triton.jit
def _windows(x, step, value, exists, length, time, channels, kernel, stride, padding):
    """Of the window that gives a time step, the values of these numbers: ``(steps, values)``."""
    start = (step % length * stride - padding)[:, None]
    at = start + (value // channels)[None, :]
    inside = exists & (value < kernel * channels)[None, :] & (at >= 0) & (at < time)
    place = ((step // length * time)[:, None] + start) * channels + value[None, :]
    return tl.load(x + place, mask=inside, other=0.0)


@triton.jit
def _convolve(
    x, weight, bias, y, steps, length, time, channels: tl.constexpr, outputs: tl.constexpr,
    kernel: tl.constexpr, stride: tl.constexpr, padding: tl.constexpr,
    ROWS: tl.constexpr, DEPTH: tl.constexpr, COLUMNS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Some time steps and channels of what comes out."""
    run = tl.program_id(0).to(tl.int64)
    step = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    output = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    x += run * (steps // length) * time * channels
    weight += run * outputs * channels * kernel
    exists, known = (step < steps)[:, None], (output < outputs)[None, :]
    product = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(0, kernel * channels, DEPTH):
        value = first + tl.arange(0, DEPTH)
        windows = _windows(x, step, value, exists, length, time, channels, kernel, stride, padding)
        place = (value % channels * kernel + value // channels)[:, None] + output[None, :] * channels * kernel
        filters = tl.load(weight + place, mask=(value < kernel * channels)[:, None] & known, other=0.0)
        product = tl.dot(windows, filters, product, input_precision=PRECISION)
    product += tl.load(bias + run * outputs + output[None, :], mask=known, other=0.0)
    place = run * steps * outputs + step[:, None] * outputs + output[None, :]
    tl.store(y + place, product, mask=exists & known)


@triton.jit
def _to_input(
    grad, weight, grad_x, steps, length, time, channels: tl.constexpr, outputs: tl.constexpr,
    kernel: tl.constexpr, stride: tl.constexpr, padding: tl.constexpr,
    ROWS: tl.constexpr, DEPTH: tl.constexpr, COLUMNS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Gradient by some time steps: each is in the windows of ``kernel / stride`` of those that come out."""
    run = tl.program_id(0).to(tl.int64)
    samples = steps // length
    step = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    channel = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    grad += run * steps * outputs
    weight += run * outputs * channels * kernel
    exists, known = (step < samples * time)[:, None], (channel < channels)[None, :]
    product = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(0, kernel * outputs, DEPTH):
        value = first + tl.arange(0, DEPTH)
        tap, output = value // outputs, value % outputs
        ahead = (step % time + padding)[:, None] - tap[None, :]
        at = ahead // stride
        inside = exists & (tap < kernel)[None, :] & (ahead >= 0) & (ahead % stride == 0) & (at < length)
        place = ((step // time * length)[:, None] + at) * outputs + output[None, :]
        gradients = tl.load(grad + place, mask=inside, other=0.0)
        place = (output * channels * kernel + tap)[:, None] + channel[None, :] * kernel
        filters = tl.load(weight + place, mask=(tap < kernel)[:, None] & known, other=0.0)
        product = tl.dot(gradients, filters, product, input_precision=PRECISION)
    place = run * samples * time * channels + step[:, None] * channels + channel[None, :]
    tl.store(grad_x + place, product, mask=exists & known)


@triton.jit
def _to_weight(
    x, grad, products, sums, steps, length, time, channels: tl.constexpr, outputs: tl.constexpr,
    kernel: tl.constexpr, stride: tl.constexpr, padding: tl.constexpr, tiles,
    ROWS: tl.constexpr, DEPTH: tl.constexpr, COLUMNS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Of a part of the time steps, sums over gradients, and over their products with values of a window."""
    run, part, parts = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.num_programs(1)
    values = tl.cdiv(kernel * channels, DEPTH)
    value = tl.program_id(2) % values * DEPTH + tl.arange(0, DEPTH)
    output = tl.program_id(2) // values * COLUMNS + tl.arange(0, COLUMNS)
    known = (output < outputs)[None, :]
    x += run * (steps // length) * time * channels
    grad += run * steps * outputs
    product, total = tl.zeros((DEPTH, COLUMNS), tl.float32), tl.zeros((COLUMNS,), tl.float32)
    for tile in range(tiles):
        step = (part * tiles + tile) * ROWS + tl.arange(0, ROWS)
        exists = (step < steps)[:, None]
        windows = _windows(x, step, value, exists, length, time, channels, kernel, stride, padding)
        place = step[:, None] * outputs + output[None, :]
        gradients = tl.load(grad + place, mask=exists & known, other=0.0)
        product = tl.dot(tl.trans(windows), gradients, product, input_precision=PRECISION)
        total += tl.sum(gradients, 0)
    place = (run * parts + part) * kernel * channels + value
    known &= (value < kernel * channels)[:, None]
    tl.store(products + place[:, None] * outputs + output[None, :], product, mask=known)
    first = tl.program_id(2) % values == 0
    tl.store(sums + (run * parts + part) * outputs + output, total, mask=(output < outputs) & first)


def _side(size: int, largest: int) -> int:
    """Of a product's tile, for so many values."""
    return min(largest, max(SMALLEST, triton.next_power_of_2(size)))


def _precision() -> str:
    """That of PyTorch's own products of matrices."""
    return "ieee" if torch.get_float32_matmul_precision() == "highest" else "tf32"


class Convolve(torch.autograd.Function):
    """``(R, N, T, C)`` by weights ``(R, O, C, kernel)`` and bias ``(R, O)`` to ``(R, N, L, O)``."""

    @staticmethod
    def forward(ctx: Any, x, weight, bias, stride, padding):  # type: ignore[override]
        x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
        runs, samples, time, channels = x.shape
        outputs, kernel = weight.shape[1], weight.shape[3]
        length = (time + 2 * padding - kernel) // stride + 1
        columns = _side(outputs, COLUMNS)
        y = x.new_empty(runs, samples, length, outputs)
        _convolve[runs, triton.cdiv(samples * length, ROWS), triton.cdiv(outputs, columns)](
            x, weight, bias, y, samples * length, length, time, channels, outputs, kernel, stride, padding,
            ROWS=ROWS, DEPTH=_side(kernel * channels, DEPTH), COLUMNS=columns, PRECISION=_precision(),
        )  # fmt: skip
        ctx.save_for_backward(x, weight, bias)
        ctx.stride, ctx.padding = stride, padding
        return y

    @staticmethod
    def backward(ctx: Any, grad):  # type: ignore[override]
        x, weight, bias = ctx.saved_tensors
        stride, padding = ctx.stride, ctx.padding
        if torch.is_grad_enabled():  # a gradient of this gradient is going to be taken

            def operators(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
                return by_operators(x, weight, bias, stride, padding)

            needed = ctx.needs_input_grad[:3]
            return *differentiable(operators, (x, weight, bias), needed, grad), None, None
        runs, samples, time, channels = x.shape
        outputs, kernel = weight.shape[1], weight.shape[3]
        grad, length = grad.contiguous(), grad.shape[2]
        steps = samples * length
        shape = (steps, length, time, channels, outputs, kernel, stride, padding)
        grad_x = None
        if ctx.needs_input_grad[0]:
            grad_x, columns = torch.empty_like(x), _side(channels, COLUMNS)
            _to_input[runs, triton.cdiv(samples * time, ROWS), triton.cdiv(channels, columns)](
                grad, weight, grad_x, *shape,
                ROWS=ROWS, DEPTH=_side(kernel * outputs, DEPTH), COLUMNS=columns, PRECISION=_precision(),
            )  # fmt: skip
        tiles = triton.cdiv(steps, ROWS * MOST_PARTS)
        parts = triton.cdiv(steps, ROWS * tiles)
        depth, columns = _side(kernel * channels, DEPTH), _side(outputs, COLUMNS)
        products = x.new_empty(runs, parts, kernel, channels, outputs)
        sums = x.new_empty(runs, parts, outputs)
        _to_weight[runs, parts, triton.cdiv(kernel * channels, depth) * triton.cdiv(outputs, columns)](
            x, grad, products, sums, *shape, tiles,
            ROWS=ROWS, DEPTH=depth, COLUMNS=columns, PRECISION=_precision(),
        )  # fmt: skip
        return grad_x, products.sum(1).permute(0, 3, 2, 1), sums.sum(1), None, None


def by_operators(x: Tensor, weight: Tensor, bias: Tensor, stride: int, padding: int) -> Tensor:
    """The convolution by PyTorch's operator, a group a run."""
    runs = x.shape[0]
    signal = x.permute(1, 0, 3, 2).flatten(1, 2)
    y = F.conv1d(signal, weight.flatten(0, 1), bias.flatten(), stride, padding, groups=runs)
    return y.unflatten(1, (runs, -1)).permute(1, 0, 3, 2)


class KernelConv1d(Conv1d):
    """`Conv1d` by kernels; no time steps follow that are not of the convolution."""

    def forward(self, x: Tensor, trim: bool = True) -> Tensor:
        return Convolve.apply(x, self.weight, self.bias, self.stride, self.padding)
