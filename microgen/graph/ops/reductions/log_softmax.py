"""nn.log_softmax: the logarithm of softmax over the last axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import (
    quantize_multiplier,
    rounding_divide_by_pot,
    rounding_doubling_high_mul,
    softmax_parameters,
)
from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.balls import Ball
from microgen.graph.ops.base import Inexact, Op, Operands, Shape, rows_input
from microgen.graph.ops.constraints import activations_constraint
from microgen.graph.ops.elementwise.broadcast import scale
from microgen.graph.ops.fixed_point import exp_of_negative, one_over_one_plus, saturate
from microgen.graph.ops.unary import functions

_SUM_INTEGER_BITS = 12  # kAccumulationIntegerBits: the sum of exponentials is Q12.19
_MAX_DEPTH = (1 << _SUM_INTEGER_BITS) - 1  # each exponential is at most 1
_OUTPUT_ZERO_POINT = 127
_STEP_BITS = 22  # from Q5.26 to the output's steps of 1/16

# Constants of log_x_for_x_greater_than_or_equal_to_1_impl, Q0.31.
_LOG_2 = 1488522236
_SQRT_HALF = 1518500250
_SQRT_SQRT_HALF = 1805811301
_ALPHA_N = 117049297  # 11/240 * 2**0.25
_ALPHA_D = 127690142  # 1/20 * 2**0.25
_ALPHA_I = 1057819769  # 2 * 2**-0.25 - 2**0.25
_ALPHA_F = 638450708  # 1/4 * 2**0.25


@dataclass(frozen=True, slots=True)
class LogSoftmaxAttrs(Attrs):
    """Input: int8 or float32 data of any rank. Output: of the same dtype; int8 with scale 1/16 and
    zero point 127."""


@dataclass(frozen=True, slots=True)
class LogSoftmaxParameters:
    """Fixed-point parameters: to Q5.26, and back from it to steps of the input.

    Differences from the row's maximum below ``diff_min`` are treated as minus infinity.
    """

    input_multiplier: int
    input_left_shift: int
    diff_min: int
    reverse_multiplier: int
    reverse_shift: int


def parameters(data: TensorType) -> LogSoftmaxParameters:
    """The parameters. Source: TFLite quantization_util.cc, PreprocessLogSoftmaxScalingExp.

    ValueError if TFLite aborts: the input's scale must exceed 2**-26.
    """
    p = softmax_parameters(data, 1.0)
    reverse = quantize_multiplier((1 << (31 - p.input_left_shift)) / p.input_multiplier)
    return LogSoftmaxParameters(p.input_multiplier, p.input_left_shift, p.diff_min, *reverse)


def infer(_attrs: LogSoftmaxAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape."""
    return (rows_input("nn.log_softmax", inputs).shape,)


def check(
    _attrs: LogSoftmaxAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """For int8: an output in (-16, 0], and so few values that their sum fits its fixed point."""
    data, output = inputs[0], outputs[0]
    sentence = activations_constraint(data, output, (DType.INT8, DType.FLOAT32))
    if sentence or data.quant is None:
        return sentence
    if output.scale != 1 / 16 or output.zero_point != _OUTPUT_ZERO_POINT:
        return (
            f"the output's scale and zero point are {output.scale:g} and {output.zero_point}; "
            f"they must be 1/16 and {_OUTPUT_ZERO_POINT}"
        )
    if data.shape[-1] > _MAX_DEPTH:
        return f"the last axis has {data.shape[-1]} values; the sum holds up to {_MAX_DEPTH}"
    try:
        parameters(data)
    except ValueError as error:
        return str(error)
    return None


def reference(_attrs: LogSoftmaxAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source of the integer form: TFLite reference/integer_ops/log_softmax.h."""
    if floats.is_float(operands.output_types[0]):
        return _float(operands.inputs[0])
    data, p = operands.inputs[0].astype(np.int64), parameters(operands.input_types[0])
    difference = data - data.max(axis=-1, keepdims=True)
    counted = difference >= p.diff_min
    scaled = scale(np.where(counted, difference, 0), p.input_multiplier, p.input_left_shift)
    terms = np.where(counted, rounding_divide_by_pot(exp_of_negative(scaled), _SUM_INTEGER_BITS), 0)
    log_sum = _log(terms.sum(axis=-1, keepdims=True))
    least = scale(log_sum - 2**31, p.reverse_multiplier, p.reverse_shift)
    steps = rounding_divide_by_pot(scaled - log_sum, _STEP_BITS) + _OUTPUT_ZERO_POINT
    kept = difference > np.maximum(p.diff_min - 1, least)
    return (np.where(kept, np.clip(steps, -128, 127), -128).astype(np.int8),)


def _float(x: Array) -> tuple[Array, ...]:
    difference = floats.below_largest(x)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        total = np.exp(difference).sum(axis=-1, keepdims=True)
        return ((difference - np.log(total)).astype(np.float32),)


def _ball(_attrs: LogSoftmaxAttrs, given: Inexact) -> tuple[Ball, ...]:
    """``_float``, step by step, with errors."""
    (x,) = bounds.inputs(given)
    difference = floats.ball_below_largest(x)
    total = difference.apply(np.exp, functions.EXP_ULPS).sum(-1)
    return (difference - total.apply(np.log, functions.LOG_ULPS),)


def _log(x: Array) -> Array:
    """Natural logarithm of Q12.19 values from 1 on, as Q5.26: log(2**n * r), where r is about
    2**-0.25 and its logarithm is a quotient of polynomials.

    Source: TFLite internal/common.h, log_x_for_x_greater_than_or_equal_to_1_impl.
    """
    mul = rounding_doubling_high_mul
    r, power = _reduced(x)
    middle = (r + _SQRT_SQRT_HALF + 1) >> 1
    q = 2 * (r - _SQRT_SQRT_HALF)
    square = mul(q, q)
    numerator = mul(q, r) + mul(mul(q, square), _ALPHA_N)
    slope = mul(middle, _ALPHA_I + q + mul(square, _ALPHA_D))
    reciprocal = one_over_one_plus(slope + mul(q, _ALPHA_F))
    quotient = mul(rounding_divide_by_pot(numerator, 6), reciprocal)
    return saturate((mul(power, _LOG_2) + quotient) << 1)


def _reduced(x: Array) -> tuple[Array, Array]:
    """The r (Q0.31) and n (Q6.25; off an integer by a quarter) of x = 2**n * r."""
    scaled = rounding_doubling_high_mul(x, _SQRT_HALF)
    headroom_a, headroom_b = _headroom(x), _headroom(scaled)
    r_a = saturate(rounding_doubling_high_mul(x << headroom_a, _SQRT_HALF) << 1)
    r_b = saturate(x << headroom_b)
    quarter = 1 << 23
    power_a = ((_SUM_INTEGER_BITS - 1 - headroom_a) << 25) + quarter
    power_b = ((_SUM_INTEGER_BITS - headroom_b) << 25) - quarter
    return np.minimum(r_a, r_b), np.maximum(power_a, power_b)


def _headroom(x: Array) -> Array:
    """Leading zeros of positive int32 values, not counting the sign bit (frexp is exact)."""
    return 31 - np.frexp(x.astype(np.float64))[1].astype(np.int64)


def parts(_attrs: LogSoftmaxAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("nn_log_softmax",)


OP = Op(
    "nn.log_softmax", LogSoftmaxAttrs, infer, check, reference, parts, bound=bounds.balls(_ball)
)
