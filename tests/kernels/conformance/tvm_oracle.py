"""The results of TVM's qnn operators, computed from their definitions in exact rational arithmetic.

Sources: TVM v0.14, src/relay/qnn/utils.cc, GetFixedPointMultiplierShift; src/relay/qnn/op/*.cc;
src/target/intrin_rule.cc, QMultiplyShift. No code comes from microgen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
HALF = Fraction(1, 2)


def upward(x: Fraction) -> int:
    """The nearest integer; ties go upwards."""
    return math.floor(x + HALF)


def to_nearest(x: Fraction) -> int:
    """The nearest integer; ties go away from zero."""
    return math.floor(x + HALF) if x >= 0 else math.ceil(x - HALF)


ROUNDINGS: dict[str, Callable[[Fraction], int]] = {"UPWARD": upward, "TONEAREST": to_nearest}


def fixed_point(ratio: float) -> Fraction:
    """The ratio with a significand of 31 bits, in whose rounding ties go away from zero."""
    if ratio == 0:
        return Fraction(0)
    _, exponent = math.frexp(ratio)
    unit = Fraction(2) ** (exponent - 31)
    return to_nearest(Fraction(ratio) / unit) * unit


def wrap32(x: int) -> int:
    """The int32 with the same bits."""
    return (x + 2**31) % 2**32 - 2**31


def saturated(x: int, dtype: str) -> int:
    limits = np.iinfo(dtype)
    return max(int(limits.min), min(int(limits.max), x))


def quotient(scale: float, over: float) -> float:
    """The quotient of two float32 scales in double."""
    return float(np.float32(scale)) / float(np.float32(over))


def rescaled(x: int, ratio: float, rounding: str) -> int:
    """A value times a ratio of scales."""
    return wrap32(ROUNDINGS[rounding](x * fixed_point(ratio)))


def requantize(
    data: Array,
    scales: Sequence[float],
    zero_point: int,
    output: tuple[float, int],
    rounding: str,
    dtype: str,
    axis: int = 0,
) -> Array:
    """qnn.requantize. ``scales`` has one scale, or one per index of ``axis``."""
    found = np.empty(data.shape, dtype)
    for place in np.ndindex(data.shape):
        scale = scales[place[axis]] if len(scales) > 1 else scales[0]
        centred = wrap32(int(data[place]) - zero_point)
        value = rescaled(centred, quotient(scale, output[0]), rounding)
        found[place] = saturated(wrap32(value + output[1]), dtype)
    return found


Pair = tuple[float, int]  # scale and zero point


def elementwise(op: str, lhs: Array, rhs: Array, of: Sequence[Pair], rounding: str) -> Array:
    """qnn.add, qnn.subtract or qnn.mul. ``of`` is (scale, zero point) of lhs, rhs and output."""
    left, right = np.broadcast_arrays(lhs, rhs)
    found = np.empty(left.shape, np.int8)
    for place in np.ndindex(left.shape):
        a, b = int(left[place]) - of[0][1], int(right[place]) - of[1][1]
        found[place] = saturated(_combined(op, a, b, of, rounding) + of[2][1], "int8")
    return found


def _combined(op: str, a: int, b: int, of: Sequence[Pair], rounding: str) -> int:
    if op == "qnn.mul":
        product = float(np.float32(of[0][0]) * np.float32(of[1][0]))
        return rescaled(a * b, quotient(product, of[2][0]), rounding)
    left = rescaled(a, quotient(of[0][0], of[2][0]), rounding)
    right = rescaled(b, quotient(of[1][0], of[2][0]), rounding)
    return left + right if op == "qnn.add" else left - right


def quantize(data: Array, output: Pair, dtype: str) -> Array:
    """qnn.quantize: a quotient in float32, rounded by C's round, saturated."""
    quotients = (data / np.float32(output[0])).astype(np.float32)
    stored = [to_nearest(Fraction(float(q))) + output[1] for q in quotients.reshape(-1)]
    return np.array([saturated(x, dtype) for x in stored], dtype).reshape(data.shape)


def dequantize(data: Array, of: Pair) -> Array:
    """qnn.dequantize: an int32 difference, converted to float32, times the scale."""
    centred = (data.astype(np.int64) - of[1]).astype(np.int32)
    return centred.astype(np.float32) * np.float32(of[0])


def conv2d(
    data: Array, weight: Array, zero_point: int, strides: tuple[int, int], pads: Sequence[int]
) -> Array:
    """int32 sums [N, OH, OW, O] of NHWC data and OHWI weights. Padding has the zero point."""
    top, left, bottom, right = pads
    around = ((0, 0), (top, bottom), (left, right), (0, 0))
    padded = np.pad(data.astype(np.int64) - zero_point, around)
    kernel = weight.shape[1:3]
    rows = (padded.shape[1] - kernel[0]) // strides[0] + 1
    columns = (padded.shape[2] - kernel[1]) // strides[1] + 1
    found = np.zeros((data.shape[0], rows, columns, weight.shape[0]), np.int64)
    for y, x in np.ndindex(rows, columns):
        top, left = y * strides[0], x * strides[1]
        window = padded[:, top : top + kernel[0], left : left + kernel[1]]
        found[:, y, x] = np.tensordot(window, weight.astype(np.int64), ((1, 2, 3), (1, 2, 3)))
    return found.astype(np.int32)
