"""divide: elementwise division with numpy's broadcasting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import (
    offset_and_clamp,
    quantize_multiplier,
    rounding_doubling_high_mul,
)
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import OpDefinition, Operands, StatusError, clipped
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.elementwise import broadcast
from microgen.graph.ops.fixed_point import one_over_one_plus

_INVALID_ARG = 0x0803  # kTvmErrorFunctionCallInvalidArg
_DTYPES = (DType.INT8, DType.INT16, DType.INT32, DType.FLOAT32)
_LEAST_SHIFT = {DType.INT8: -24, DType.INT16: -17}
_GREATEST_SHIFT = 23
# The least shift with which 31 bits of headroom and the reciprocal's exponent, of 7 or 15 bits,
# make 31; and the greatest one with which the headroom of a dividend of 8 or 16 bits makes 0.
_PLAIN_SHIFTS = {DType.INT8: (7, 23), DType.INT16: (15, 15)}


@dataclass(frozen=True, slots=True)
class DivideAttrs(Attrs):
    """Inputs: two tensors of broadcastable shapes: int8 or int16, each with its own quantization;
    plain integers, whose quotients are truncated; or float32.

    TFLite scales stored quotients with a right shift that may be 32 bits or more, or for int16
    negative, which C leaves undefined. With ``shifts_wrap`` the shift is taken modulo 32, as on the
    processors that run LiteRT. Results are then wrong by up to the whole range, but the same as
    LiteRT's. Without it the op is refused if such a shift may occur.
    """

    activation: Activation
    shifts_wrap: bool


def parameters(lhs: ArrayType, rhs: ArrayType, output: ArrayType) -> tuple[int, int]:
    """(multiplier, shift) from quotients of stored values to the output.

    Source: TFLite div.cc, Prepare, whose arithmetic is float32. ValueError if the ratio of the
    scales is outside of [2**-25, 2**23), for int16 of [2**-18, 2**23): TFLite's shifts would be
    under -8, or over 63.
    """
    least = _LEAST_SHIFT[output.dtype]
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        ratio = float(np.float32(lhs.scale) / (np.float32(rhs.scale) * np.float32(output.scale)))
    if 2.0 ** (least - 1) <= ratio < 2.0**_GREATEST_SHIFT:
        multiplier, shift = quantize_multiplier(ratio)
        if shift <= _GREATEST_SHIFT:
            return multiplier, shift
    raise ValueError(
        f"the input scales {lhs.scale:g} and {rhs.scale:g} make quotients of {ratio:g} times the "
        f"output scale {output.scale:g}; it must be 2**{least - 1} or more and under "
        f"2**{_GREATEST_SHIFT}"
    )


def check(attrs: DivideAttrs, inputs: Types, outputs: Types) -> str | None:
    """One dtype throughout, and scales whose ratio the fixed point can hold."""
    sentence = broadcast.constraint(inputs, outputs, parameters, _DTYPES, INTEGERS)
    if sentence or attrs.shifts_wrap or outputs[0].quant is None:
        return sentence or broadcast.wide_activation(attrs.activation, outputs[0])
    (lhs, rhs), output = inputs, outputs[0]
    _, shift = parameters(lhs, rhs, output)
    least, greatest = _PLAIN_SHIFTS[output.dtype]
    if shift < least:
        return (
            f"the left scale over the right and the output's is under 2**{least - 1}; "
            "TFLite would shift by more than 31 bits, which C leaves undefined"
        )
    if shift > greatest:
        return (
            f"the left scale over the right and the output's is 2**{greatest} or more; "
            "TFLite would shift by less than 0 bits, which C leaves undefined"
        )
    return None


def divides_by_zero(divisor: Array, rhs: ArrayType) -> bool:
    """Whether an integer of the divisor means zero. (Floats are divided by zero as in IEEE 754.)"""
    return rhs.dtype is not DType.FLOAT32 and bool((divisor == rhs.zero).any())


def reference(attrs: DivideAttrs, operands: Operands) -> Arrays:
    """Source: TFLite reference/div.h, DivElementwise. StatusError if a divisor is zero."""
    (lhs, rhs), output = operands.input_types, operands.output_types[0]
    if divides_by_zero(operands.inputs[1], rhs):
        raise StatusError(
            f"the divisor {rhs} has elements that mean 0 (stored as {rhs.zero})",
            _INVALID_ARG,
            position=1,
            among=operands.inputs[1],
            wrong=operands.inputs[1] == rhs.zero,
            allowed="other than 0" if not rhs.zero else f"other than {rhs.zero}, which means 0",
        )
    if output.quant is None:
        return broadcast.plain(_divided, operands, attrs.activation)
    multiplier, shift = parameters(lhs, rhs, output)
    left, right = broadcast.centred(operands)
    # The reciprocal is of a positive number, so the dividend gets the sign.
    quotient, exponent = _quotient(np.where(right < 0, -left, left), np.abs(right))
    scaled = rounding_doubling_high_mul(quotient, multiplier)
    scaled = _rounding_shift_right(scaled, exponent - shift)
    return (offset_and_clamp(scaled, output, attrs.activation),)


def _divided(lhs: Array, rhs: Array) -> Array:
    """Plain quotients of float32, or of integers, which are truncated. The only quotient that
    exceeds its dtype is saturated in int32, and wraps in other dtypes.

    Source of the saturation: measurement.
    """
    if lhs.dtype.kind == "f":
        return np.asarray(lhs / rhs)
    quotient = lhs // rhs + ((lhs % rhs != 0) & ((lhs < 0) != (rhs < 0)))
    if lhs.dtype != np.int32:
        return np.asarray(quotient)
    return np.where((rhs == -1) & (lhs == np.iinfo(np.int32).min), np.iinfo(np.int32).max, quotient)


def _quotient(dividend: Array, divisor: Array) -> tuple[Array, Array]:
    """(quotient, exponent): dividend / divisor is about quotient * 2**-exponent. divisor > 0.

    Source: TFLite common.h, GetReciprocal and MultiplyByQuantizedMultiplierGreaterThanOne.
    """
    headroom = 31 - _bits(np.where(dividend < 0, ~dividend, dividend))
    bits = _bits(divisor)
    reciprocal = one_over_one_plus((divisor << (32 - bits)) - 2**31)
    return rounding_doubling_high_mul(dividend << headroom, reciprocal), headroom + bits - 1


def _bits(x: Array) -> Array:
    """The number of bits of values of 0 and more."""
    return np.frexp(x.astype(np.float64))[1].astype(np.int64)


def _rounding_shift_right(x: Array, exponent: Array) -> Array:
    """RoundingDivideByPOT of gemmlowp for any exponent up to 63, on a processor that takes the
    counts of 32-bit shifts modulo 32, and those of 64-bit shifts modulo 64."""
    is_plain = (exponent >= 0) & (exponent < 32)
    mask = np.where(is_plain, (np.int64(1) << np.where(is_plain, exponent, 0)) - 1, -1)
    remainder, threshold = x & mask, (mask >> 1) + (x < 0)
    return np.asarray((x >> (exponent & 31)) + (remainder > threshold))


OP = OpDefinition(
    "divide",
    DivideAttrs,
    broadcast.infer,
    check,
    reference,
    clipped,
    bound=bounds.elementwise(bounds.error_of_quotient),
)
