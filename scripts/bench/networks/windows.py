"""Windows of images: the numbers that convolutions and pools see."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import tflite

Array = npt.NDArray[Any]
Pair = tuple[int, int]
SAME, VALID = tflite.Padding.SAME, tflite.Padding.VALID


def pair(value: int | Pair) -> Pair:
    """Height and width, which may be given as one number."""
    return (value, value) if isinstance(value, int) else value


def of(
    reals: Array, kernel: Pair, strides: Pair, dilation: Pair, same: bool, fill: float = 0.0
) -> Array:
    """[samples, rows, columns, taps, channels] of [samples, height, width, channels], with
    ``fill`` outside the image."""
    spans = [
        _span(*each, same) for each in zip(reals.shape[1:3], kernel, strides, dilation, strict=True)
    ]
    (rows, *above), (columns, *beside) = spans
    pads = ((0, 0), tuple(above), tuple(beside), (0, 0))
    padded = np.pad(reals, pads, constant_values=fill)
    every = []
    for y in range(kernel[0]):
        for x in range(kernel[1]):
            top, left = y * dilation[0], x * dilation[1]
            down, right = top + rows * strides[0], left + columns * strides[1]
            every.append(padded[:, top : down : strides[0], left : right : strides[1]])
    return np.stack(every, 3)


def _span(size: int, kernel: int, stride: int, dilation: int, same: bool) -> tuple[int, int, int]:
    """The size of the output along an axis, and the padding before and after the image."""
    reach = (kernel - 1) * dilation + 1
    if not same:
        return (size - reach) // stride + 1, 0, 0
    out = -(-size // stride)
    both = max(0, (out - 1) * stride + reach - size)
    return out, both // 2, both - both // 2


def scattered(products: Array, strides: Pair, size: Pair, same: bool) -> Array:
    """The sums of a transposed convolution: [samples, *size, channels] of products
    [samples, rows, columns, kernel height, kernel width, channels]."""
    samples, rows, columns, high, wide, depth = products.shape
    room = ((rows - 1) * strides[0] + high, (columns - 1) * strides[1] + wide)
    sums = np.zeros((samples, *room, depth))
    for y in range(high):
        for x in range(wide):
            down, right = y + rows * strides[0], x + columns * strides[1]
            sums[:, y : down : strides[0], x : right : strides[1]] += products[:, :, :, y, x]
    cut = [max(0, r - s) // 2 if same else 0 for r, s in zip(room, size, strict=True)]
    return sums[:, cut[0] : cut[0] + size[0], cut[1] : cut[1] + size[1]]
