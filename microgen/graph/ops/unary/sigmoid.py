"""sigmoid and tanh; for int16 both interpolate in one table."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.tables import tables
from microgen.graph.ops.unary import unary

# The int16 form is the twin of ``crt/include/microgen/unary/sigmoid_table_s16.h``. The argument of
# both functions is converted to steps of 1 / (3 * 2**12). 2**9 of these are a step of the table for
# sigmoid, 2**8 for tanh, whose argument is doubled.

_STEPS = 3 * 2**12
_LAST = 255  # beyond this entry the functions are saturated
_MULTIPLIER_LIMIT = 2**15 - 1
_MAX_MULTIPLIER = 2**16 - 1  # products with int16 must fit int32
_SATURATED = 2**31
_MOST_SHIFTS = 31


@dataclass(frozen=True, slots=True)
class SigmoidParameters:
    """A stored value times ``multiplier`` / 2**``shift``, rounded, is the argument in steps."""

    multiplier: int
    shift: int


def power_of_two(scale: float) -> int | None:
    """The exponent of a scale that is a power of two within 0.07 %, else None.

    Source: TFLite quantization_util.cc, CheckedLog2, in float32.
    """
    one_over_log_2 = np.float32(1) / np.float32(math.log(2))
    log_2 = np.float32(math.log(np.float32(scale))) * one_over_log_2
    nearest = np.round(log_2)
    return int(nearest) if abs(log_2 - nearest) < np.float32(1e-3) else None


def table_parameters(data: ArrayType, powers: tuple[int, ...]) -> SigmoidParameters:
    """The parameters. Source: TFLite activations.cc, TanhPrepare and SigmoidPrepare. ``powers`` are
    the exponents of scales that need no shift."""
    power = power_of_two(data.scale)
    if power in powers:
        assert power is not None
        return SigmoidParameters(3 << (power + 12), 0)
    multiplier, shift = float(np.float32(data.scale)) * _STEPS, 0
    # Doubled while it fits int16, for the most bits.
    while multiplier <= _MULTIPLIER_LIMIT / 2 and shift < _MOST_SHIFTS:
        multiplier, shift = multiplier * 2, shift + 1
    return SigmoidParameters(int(multiplier), shift)


def table_constraint(data: ArrayType) -> str | None:
    """The reason to refuse an input's scale whose products do not fit int32. The least scales have
    a multiplier of 0. TFLite reads it as the multiplier of a power of two, and shifts it out of
    int32.
    """
    if data.scale * _STEPS * 2**_MOST_SHIFTS < 1:
        least = 1 / (_STEPS * 2**_MOST_SHIFTS)
        return f"the input's scale is {data.scale:g}; it must be {least:g} or more"
    if data.scale * _STEPS < _MAX_MULTIPLIER + 1:
        return None
    return f"the input's scale is {data.scale:g}; it must be below {2**16 / _STEPS:g}"


def scaled(values: Array, p: SigmoidParameters) -> Array:
    """Stored values as steps, int64."""
    half = (1 << p.shift) >> 1
    return np.asarray((values.astype(np.int64) * p.multiplier + half) >> p.shift)


def interpolated(steps: Array, bits: int) -> Array:
    """The table's value at steps >= 0, times 2**``bits``, where 2**``bits`` steps lie between two
    entries. Beyond the table it is a large number."""
    table = tables.sigmoid()
    index = np.minimum(steps >> bits, _LAST - 1)
    base = table[index]
    value = (base << bits) + (steps & ((1 << bits) - 1)) * (table[index + 1] - base)
    return np.where(steps >> bits >= _LAST, _SATURATED, value)


SIGMOID_ULPS = 2  # for floats: arithmetic/float_math.h, plus half for the reference's rounding


class SigmoidAttrs(Attrs):
    """sigmoid: the logistic function 1 / (1 + exp(-x)).

    Input: int8, int16 or float32 data of any rank. The scale of an int16 output is 1/32768.
    """


def _sigmoid_constraint(_attrs: SigmoidAttrs, data: ArrayType, output: ArrayType) -> str | None:
    """For int16: a sentence if the output's scale is wrong or the input's does not fit."""
    if data.dtype is not DType.INT16:
        return None
    if output.scale != 2.0**-15:
        return f"the output's scale is {output.scale:g}; it must be 1/{2**15}"
    return table_constraint(data)


def _sigmoid_int8(_attrs: SigmoidAttrs, operands: Operands) -> Arrays:
    # Source: TFLite activations.cc, SigmoidPrepare (a table computed in float32), for an output
    # scale of 1/256. XNNPACK, with which LiteRT computes by default, has the same table for others.
    exponential = unary.rounded(np.exp, -unary.dequantized(operands))
    one = np.float32(1)
    return unary.quantized(one / (one + exponential), operands.output_types[0])


def sigmoid_parameters(data: ArrayType) -> SigmoidParameters:
    """The parameters. Source: TFLite activations.cc, SigmoidPrepare: a scale of 2**-12 is exact."""
    return table_parameters(data, powers=(-12,))


def _sigmoid_int16(_attrs: SigmoidAttrs, operands: Operands) -> Arrays:
    x = scaled(operands.inputs[0], sigmoid_parameters(operands.input_types[0]))
    return (sigmoid_of_steps(x),)


def sigmoid_of_steps(x: Array) -> Array:
    """The int16 values, with the scale 2**-15, of arguments that ``scaled`` made.

    Source: TFLite reference/integer_ops/logistic.h.
    """
    upper = np.minimum(interpolated(np.abs(x), 9), 0x7FFF << 10)
    rounded = np.where(x >= 0, upper + (1 << 9), (1 << 25) - upper + (1 << 9) - 1)
    return (rounded >> 10).astype(np.int16)


SIGMOID = unary.define(
    "sigmoid",
    SigmoidAttrs,
    unary.ValueFunction(
        unary.in_double(lambda x: 1 / (1 + np.exp(-x))),
        _sigmoid_int8,
        int16=_sigmoid_int16,
        constraint=_sigmoid_constraint,
        ulps=SIGMOID_ULPS,
    ),
)


_ONE, _TWO = np.float32(1), np.float32(2)
_LARGE = np.float32(22)  # from here on tanh is 1 in float32


TANH_ULPS = 2  # for floats: arithmetic/float_math.h, plus half for the reference's rounding


class TanhAttrs(Attrs):
    """tanh: the hyperbolic tangent.

    Input: int8, int16 or float32 data of any rank. An int16 output has scale 2**-15.
    """


def _tanh_int8(_attrs: TanhAttrs, operands: Operands) -> Arrays:
    # Source: TFLite activations.cc, TanhPrepare (a table computed in float32).
    return unary.quantized(_tanhf(unary.dequantized(operands)), operands.output_types[0])


def _tanhf(x: Array) -> Array:
    """Tanh in float32 steps from expm1, as glibc 2.36's tanhf, which LiteRT calls, computes it."""
    # Its last bit matters if an output scale that is a power of two has exact halves. With such
    # scales, a correctly rounded tanh differs from LiteRT in one value of about 2,500 tables; this
    # one differs in none.
    magnitude = np.minimum(np.abs(x), _LARGE)
    large = _ONE - _TWO / (unary.rounded(np.expm1, _TWO * magnitude) + _TWO)
    fall = unary.rounded(np.expm1, -_TWO * magnitude)
    return np.copysign(np.where(magnitude >= 1, large, -fall / (fall + _TWO)), x)


def tanh_parameters(data: ArrayType) -> SigmoidParameters:
    """The parameters. Source: TFLite activations.cc, TanhPrepare: 2**-12 and 2**-11 are exact."""
    return table_parameters(data, powers=(-12, -11))


def _tanh_int16(_attrs: TanhAttrs, operands: Operands) -> Arrays:
    x = scaled(operands.inputs[0], tanh_parameters(operands.input_types[0]))
    return (tanh_of_steps(x),)


def tanh_of_steps(x: Array) -> Array:
    """2 sigmoid(2 x) - 1 as int16 with the scale 2**-15, for arguments x that ``scaled``
    made. Source: TFLite reference/integer_ops/tanh.h."""
    magnitude = np.minimum(interpolated(np.abs(x), 8), 0xFFFF << 8) - (1 << 23)
    rounded = np.where(x >= 0, magnitude + (1 << 7), -magnitude + (1 << 7) - 1)
    return (rounded >> 8).astype(np.int16)


def _tanh_constraint(_attrs: TanhAttrs, data: ArrayType, output: ArrayType) -> str | None:
    """For int16: a sentence if the output's scale is wrong or the input's does not fit."""
    if data.dtype is not DType.INT16:
        return None
    if power_of_two(output.scale) != -15:
        return f"the output's scale is {output.scale:g}; it must be 2**-15"
    return table_constraint(data)


TANH = unary.define(
    "tanh",
    TanhAttrs,
    unary.ValueFunction(
        unary.in_double(np.tanh),
        _tanh_int8,
        int16=_tanh_int16,
        constraint=_tanh_constraint,
        ulps=TANH_ULPS,
    ),
)


OPS = (SIGMOID, TANH)
