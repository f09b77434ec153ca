"""What Relay's operators are, written down anew in numpy, channels first, loop by loop."""

from __future__ import annotations

import math

import numpy as np

from microgen.graph.ir.graph import Array

Pair = tuple[int, int]
Pads = tuple[int, int, int, int]


def conv2d(
    data: Array, weight: Array, strides: Pair, pads: Pads, dilation: Pair, groups: int
) -> Array:
    """NCHW data, OIHW weight with I channels per group."""
    top, left, bottom, right = pads
    padded = np.pad(data.astype(np.float64), ((0, 0), (0, 0), (top, bottom), (left, right)))
    filters, depth, kh, kw = weight.shape
    height = (padded.shape[2] - (kh - 1) * dilation[0] - 1) // strides[0] + 1
    width = (padded.shape[3] - (kw - 1) * dilation[1] - 1) // strides[1] + 1
    out = np.zeros((len(data), filters, height, width))
    for o, y, x in np.ndindex(filters, height, width):
        first = o // (filters // groups) * depth
        rows = y * strides[0] + dilation[0] * np.arange(kh)
        columns = x * strides[1] + dilation[1] * np.arange(kw)
        seen = padded[:, first : first + depth][:, :, rows][:, :, :, columns]
        out[:, o, y, x] = (seen * weight[o]).sum(axis=(1, 2, 3))
    return out.astype(np.float32)


def depthwise(data: Array, weight: Array, strides: Pair, pads: Pads, dilation: Pair) -> Array:
    """A weight [C, multiplier, KH, KW]: output c * multiplier + m sees channel c."""
    channels, multiplier = weight.shape[:2]
    flat = weight.reshape(channels * multiplier, 1, *weight.shape[2:])
    return conv2d(data, flat, strides, pads, dilation, channels)


def conv2d_transpose(data: Array, weight: Array, strides: Pair, pads: Pads, extra: Pair) -> Array:
    """A weight [I, O, KH, KW]; every pixel adds the filters times it."""
    n, channels, height, width = data.shape
    _, filters, kh, kw = weight.shape
    full = np.zeros(
        (
            n,
            filters,
            (height - 1) * strides[0] + kh + extra[0],
            (width - 1) * strides[1] + kw + extra[1],
        )
    )
    for c, y, x in np.ndindex(channels, height, width):
        top, left = y * strides[0], x * strides[1]
        full[:, :, top : top + kh, left : left + kw] += (
            data[:, c, y, x][:, None, None, None].astype(np.float64) * weight[c]
        )
    top, left, bottom, right = pads
    rows, columns = full.shape[2] - bottom, full.shape[3] - right
    return full[:, :, top:rows, left:columns].astype(np.float32)


def pool2d(
    data: Array, size: Pair, strides: Pair, pads: Pads, *, mode: str, ceil: bool = False
) -> Array:
    """``mode``: "max", "avg", or "all" where padding counts in the mean."""
    top, left, bottom, right = pads
    round_ = math.ceil if ceil else math.floor
    height = round_((data.shape[2] + top + bottom - size[0]) / strides[0]) + 1
    width = round_((data.shape[3] + left + right - size[1]) / strides[1]) + 1
    out = np.zeros((*data.shape[:2], height, width), data.dtype)
    for y, x in np.ndindex(height, width):
        y0, x0 = y * strides[0] - top, x * strides[1] - left
        seen = data[:, :, max(y0, 0) : y0 + size[0], max(x0, 0) : x0 + size[1]]
        if mode == "max":
            out[:, :, y, x] = seen.max(axis=(2, 3))
        else:
            count = math.prod(size) if mode == "all" else math.prod(seen.shape[2:])
            out[:, :, y, x] = seen.astype(np.float64).sum(axis=(2, 3)) / count
    return out


def along(vector: Array, axis: int, rank: int) -> Array:
    """One value per index of an axis, to broadcast."""
    shape = [1] * rank
    shape[axis] = len(vector)
    return vector.reshape(shape)


def batch_norm(
    data: Array, gamma: Array, beta: Array, mean: Array, variance: Array, axis: int, epsilon: float
) -> Array:
    g, b, m, v = (
        along(x.astype(np.float64), axis, data.ndim) for x in (gamma, beta, mean, variance)
    )
    return ((data - m) / np.sqrt(v + epsilon) * g + b).astype(np.float32)


def softmax(data: Array, axis: int) -> Array:
    powers = np.exp(data.astype(np.float64) - data.max(axis=axis, keepdims=True))
    return (powers / powers.sum(axis=axis, keepdims=True)).astype(np.float32)


def nearest(data: Array, height: int, width: int) -> Array:
    """Each pixel repeated, NCHW, the scale whole."""
    return data.repeat(height, axis=2).repeat(width, axis=3)


def linear(data: Array, height: int, width: int, mode: str) -> Array:
    """Between four pixels, NCHW."""

    def places(size: int, target: int) -> Array:
        x = np.arange(target)
        if mode == "align_corners":
            return x * (size - 1) / (target - 1)
        return (x + 0.5) * size / target - 0.5 if mode == "half_pixel" else x * size / target

    def along_axis(values: Array, axis: int, target: int) -> Array:
        size = values.shape[axis]
        exact = places(size, target)
        low = np.floor(exact).astype(int)
        share = along(exact - low, axis, values.ndim)
        before = values.take(np.clip(low, 0, size - 1), axis)
        after = values.take(np.clip(low + 1, 0, size - 1), axis)
        return before * (1 - share) + after * share

    return along_axis(along_axis(data.astype(np.float64), 2, height), 3, width).astype(np.float32)
