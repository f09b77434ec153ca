"""Hybrid layers: float32 activations, int8 weights. The input is quantized while the model runs,
with one scale for each of its batches, and multiplied in integers.

Source: TFLite reference/portable_tensor_utils.cc, PortableSymmetricQuantizeFloats and
PortableAsymmetricQuantizeFloats; if they leave a choice, measurement of ai-edge-litert 2.3.0
(BUILTIN_REF). Rounding makes these functions jump, so every step has the same precision as there.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from microgen.graph.arithmetic.int8 import rounded_away
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Arrays, ArrayType, DType, Types
from microgen.graph.ops import floats
from microgen.graph.ops.balls import Ball
from microgen.graph.ops.base import Operands
from microgen.graph.ops.constraints import activations_constraint, weight_constraint


def constraint(inputs: Types, output: ArrayType, *, axis: int, products: int) -> str | None:
    """float32 data, bias and output; int8 weights, symmetric and per tensor or per index of
    ``axis``; sums of ``products`` products fit int32."""
    data, weight, *bias = inputs
    sentence = activations_constraint(data, output, (DType.FLOAT32,))
    if sentence is None and bias and bias[0].dtype is not DType.FLOAT32:
        return f"the bias is {bias[0]}; of float32 data it must be float32"
    sentence = sentence or weight_constraint(weight, axis)
    # A quantized value less its zero point is at most 255 in magnitude, a weight at most 128.
    bound = products * 255 * 128
    if sentence is None and bound >= 2**31:
        return f"{products} products are summed, which may reach {bound}; int32 holds {2**31 - 1}"
    return sentence


def scales(weight: ArrayType) -> Array:
    """The weight's scales, float32: one, or one per channel."""
    assert weight.quant is not None, "weight_constraint has checked it"
    return weight.quant.scales


def finished(batches: Iterable[Array], operands: Operands, activation: Activation) -> Arrays:
    """The only output of a layer, from the float32 sums of each batch without the bias."""
    scaled = np.stack(list(batches)).reshape(operands.output_types[0].shape)
    bias = operands.inputs[2:]
    return floats.activated(scaled + bias[0] if bias else scaled, activation)


def quantized(values: Array, *, asymmetric: bool) -> tuple[Array, np.float32]:
    """One batch as int64 integers minus their zero point, and the scale that gives their values.
    NaN becomes 0."""
    quantize = _asymmetric if asymmetric else _symmetric
    with np.errstate(all="ignore"):  # infinities, and ranges whose inverse is infinite
        return quantize(_without_nan(values))


def _without_nan(values: Array) -> Array:
    return np.where(np.isnan(values), np.float32(0), values)


def _symmetric(values: Array) -> tuple[Array, np.float32]:
    largest = np.abs(values).max()
    if largest == 0:
        return np.zeros(values.shape, np.int64), np.float32(1)
    # Scale and inverse are two quotients in TFLite, each rounded to float32.
    inverse = np.float32(127) / largest
    rounded = np.clip(rounded_away(_without_nan(values * inverse)), -127, 127)
    return rounded.astype(np.int64), np.float32(largest / np.float32(127))


def _asymmetric(values: Array) -> tuple[Array, np.float32]:
    # The range contains 0, so that 0 is one of the quantized values.
    least = np.minimum(values.min(), np.float32(0))
    most = np.maximum(values.max(), np.float32(0))
    if least == most:
        return np.zeros(values.shape, np.int64), np.float32(1)
    exact = np.float64(most - least) / 255
    scale = np.float32(exact)
    zero_point = _zero_point(np.float64(least) / exact, np.float64(most) / exact)
    rounded = zero_point + rounded_away(_without_nan(values * (np.float32(1) / scale)))
    return np.clip(rounded, -128, 127).astype(np.int64) - zero_point, scale


def _zero_point(low: np.float64, high: np.float64) -> int:
    """The zero point, computed from the end of the range with the smaller error. ``low`` and
    ``high`` are the ends, in units of the scale, or NaN if the range is infinite.
    """
    exact = -128 - low if 128 - low < 127 + high else 127 - high
    if np.isnan(exact):
        return -128
    return int(np.clip(rounded_away(exact), -128, 127))


def quantized_ball(row: Ball, *, asymmetric: bool) -> tuple[Array, np.float32, Array]:
    """``quantized`` of a row of float32 values with errors, and the greatest errors of the
    dequantized values, float64.

    An error moves the scale, which depends on the range of the row, and it may move a value to the
    next integer if that value is close to a tie.
    """
    values = row.value.astype(np.float32)
    integers, scale = quantized(values, asymmetric=asymmetric)
    if not row.error.any():
        return integers, scale, np.zeros(values.shape)
    farthest = float(row.error.max())
    levels, ends = (255, 2) if asymmetric else (127, 1)
    extent = np.append(values.astype(np.float64), 0.0)
    width = np.ptp(extent) if asymmetric else np.abs(extent).max()
    largest = (width + ends * farthest) / levels  # the largest scale
    apart = ends * farthest / levels + _ROUNDED * largest  # from the scale
    least = width / levels - apart
    # Both roundings are off by half a step, and a zero point that is clamped by another one.
    anything = row.error + (1 + asymmetric) * largest
    if not least > 0 or not np.isfinite(largest):
        return integers, scale, anything
    real = np.abs(values / np.float64(scale))
    moved = (row.error + real * apart) / least + _ROUNDED * real
    is_unsure = np.abs(real - np.floor(real) - 0.5) <= moved
    if asymmetric:
        is_unsure |= _at_ends(integers, extent, np.float64(scale), (farthest, apart, least))
    return integers, scale, np.where(is_unsure, anything, np.abs(integers) * apart)


_ROUNDED = 2.0**-20  # more than the float32 roundings of a quotient and a scale


def _at_ends(
    integers: Array, extent: Array, scale: np.float64, errors: tuple[float, float, float]
) -> Array:
    """The integers that another zero point may clamp, if the zero point may be another one."""
    farthest, apart, least = errors
    low = np.abs(extent.min() / scale)
    moved = (farthest + low * apart) / least + _ROUNDED * low
    if np.abs(low - np.floor(low) - 0.5) > moved:
        return np.zeros(integers.shape, bool)
    return np.asarray((integers >= integers.max() - 1) | (integers <= integers.min() + 1))
