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
_DTYPES = (DType.INT8, DType.INT32, DType.FLOAT32)
_BITS = np.array([value.bit_length() for value in range(256)])  # of |stored - zero point|
_LEAST_SHIFT, _GREATEST_SHIFT = -24, 23
_LEAST_PLAIN_SHIFT = 7  # with it, 31 bits of headroom and 7 of the reciprocal's exponent make 31


@dataclass(frozen=True, slots=True)
class DivideAttrs(Attrs):
    """Inputs: two tensors of broadcastable shapes: int8, each with its own quantization; plain
    integers, whose quotients are truncated; or float32.

    TFLite scales quotients of int8 with a right shift that may be 32 bits or more, which C leaves
    undefined. With ``shifts_wrap`` the shift is taken modulo 32, as on the processors that run
    LiteRT. Results are then wrong by up to the whole range, but the same as LiteRT's. Without it
    the op is refused if such a shift may occur.
    """

    activation: Activation
    shifts_wrap: bool


def parameters(lhs: ArrayType, rhs: ArrayType, output: ArrayType) -> tuple[int, int]:
    """(multiplier, shift) from quotients of stored values to the output.

    Source: TFLite div.cc, Prepare, whose arithmetic is float32. ValueError if the ratio of the
    scales is outside of [2**-25, 2**23): TFLite's shifts would be negative, or over 63.
    """
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        ratio = float(np.float32(lhs.scale) / (np.float32(rhs.scale) * np.float32(output.scale)))
    if 2.0 ** (_LEAST_SHIFT - 1) <= ratio < 2.0**_GREATEST_SHIFT:
        multiplier, shift = quantize_multiplier(ratio)
        if shift <= _GREATEST_SHIFT:
            return multiplier, shift
    raise ValueError(
        f"the input scales {lhs.scale:g} and {rhs.scale:g} make quotients of {ratio:g} times the "
        f"output scale {output.scale:g}; it must be 2**{_LEAST_SHIFT - 1} or more and under "
        f"2**{_GREATEST_SHIFT}"
    )


def check(attrs: DivideAttrs, inputs: Types, outputs: Types) -> str | None:
    """One dtype throughout, and scales whose ratio the fixed point can hold."""
    sentence = broadcast.constraint(inputs, outputs, parameters, _DTYPES, INTEGERS)
    if sentence or attrs.shifts_wrap or outputs[0].quant is None:
        return sentence or broadcast.wide_activation(attrs.activation, outputs[0])
    (lhs, rhs), output = inputs, outputs[0]
    _, shift = parameters(lhs, rhs, output)
    if shift < _LEAST_PLAIN_SHIFT:
        return (
            f"the left scale over the right and the output's is under 2**{_LEAST_PLAIN_SHIFT - 1}; "
            "TFLite would shift by more than 31 bits, which C leaves undefined"
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
    headroom = 31 - _BITS[np.where(dividend < 0, ~dividend, dividend)]
    bits = _BITS[divisor]
    reciprocal = one_over_one_plus((divisor << (32 - bits)) - 2**31)
    return rounding_doubling_high_mul(dividend << headroom, reciprocal), headroom + bits - 1


def _rounding_shift_right(x: Array, exponent: Array) -> Array:
    """RoundingDivideByPOT of gemmlowp for any exponent up to 63, on a processor that takes the
    counts of 32-bit shifts modulo 32."""
    mask = np.where(exponent < 32, (np.int64(1) << np.minimum(exponent, 32)) - 1, -1)
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
