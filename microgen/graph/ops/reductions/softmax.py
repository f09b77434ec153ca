"""nn.softmax and nn.log_softmax."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import (
    SoftmaxParameters,
    multiply_by_quantized_multiplier,
    quantize_multiplier,
    rounding_divide_by_pot,
    rounding_doubling_high_mul,
    softmax_parameters,
)
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.balls import Ball
from microgen.graph.ops.base import Inexact, OpDefinition, Operands, like_rows
from microgen.graph.ops.constraints import (
    ALL_FAMILIES,
    activation_constraint,
    activations_constraint,
    depth_constraint,
    one_quant_constraint,
    quant_constraint,
    refused,
)
from microgen.graph.ops.elementwise.broadcast import scale
from microgen.graph.ops.fixed_point import exp_of_negative, one_over_one_plus, saturate
from microgen.graph.ops.tables import tables
from microgen.graph.ops.unary import functions

_SUM_INTEGER_BITS = 12  # kAccumulationIntegerBits: the sum of exponentials is Q12.19
_MAX_DEPTH = (1 << _SUM_INTEGER_BITS) - 1  # each exponential is at most 1
_WIDER = (DType.INT8, DType.INT16)  # the only pair of different dtypes
_STEP_16 = 10.0 / 65535.0  # of the arguments of the table of exp
_MAX_DEPTH_16 = 2**16  # of exponentials below 2**15, in an int32


@dataclass(frozen=True, slots=True)
class SoftmaxAttrs(Attrs):
    """nn.softmax: softmax over the last axis.

    Input: int8, int16 or float32 data of any rank. Output: of the same dtype; int8 with scale 1/256
    and zero point -128, int16 with scale 1/32768. Or int16 for int8 data, with scale 1/65536 and
    zero point -32768.
    """

    beta: float


def _softmax_check(attrs: SoftmaxAttrs, inputs: Types, outputs: Types) -> str | None:
    """For integers: an output in [0, 1), and few enough values for their sum to fit its fixed
    point."""
    data, output = inputs[0], outputs[0]
    if (data.dtype, output.dtype) == _WIDER:
        sentence = activation_constraint("input", data) or one_quant_constraint("output", output)
    else:
        sentence = activations_constraint(data, output, ALL_FAMILIES)
    if sentence or data.quant is None:
        return sentence
    steps, zero_point, most, parameters = _QUANTIZED[data.dtype, output.dtype]
    return (
        quant_constraint(output, steps, zero_point, tolerance=0.001)
        or depth_constraint(data, most)
        or refused(parameters, data, attrs.beta)
    )


def _softmax_reference(attrs: SoftmaxAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/softmax.h; each dtype has a form of its own.
    data = operands.input_types[0]
    if floats.is_float(data):
        return _softmax_float(attrs, operands.inputs[0])
    return (_softmax_int16 if data.dtype is DType.INT16 else _softmax_int8)(attrs, operands)


def _softmax_float(attrs: SoftmaxAttrs, x: Array) -> Arrays:
    with np.errstate(invalid="ignore", under="ignore"):
        exponential = np.exp(floats.below_largest(x) * np.float32(attrs.beta))
        quotient = exponential / exponential.sum(axis=-1, keepdims=True)
        return (quotient.astype(np.float32),)


def _softmax_ball(attrs: SoftmaxAttrs, inexact: Inexact) -> tuple[Ball, ...]:
    """The formula of ``_float``, step by step, for numbers with errors."""
    (x,) = bounds.inputs(inexact)
    scaled = floats.ball_below_largest(x) * Ball.of(np.array(attrs.beta, np.float32))
    exponential = scaled.apply(np.exp, functions.EXP_ULPS)
    return (exponential / exponential.sum(-1),)


def softmax_parameters_16(data: ArrayType, beta: float) -> tuple[int, int]:
    """(multiplier, shift) from the input's scale to steps of 10/65535 of an int16 input.

    Source: TFLite activations.cc, SoftmaxPrepare. ValueError if differences would exceed int32.
    """
    with np.errstate(over="ignore"):
        scale = float(np.float32(data.scale) * np.float32(beta))
    if scale >= 2**15 * _STEP_16:
        raise ValueError(
            f"beta times the input's scale is {scale:g}; it must be below 5 (a mask that adds huge "
            "numbers makes it so; add -100 instead)"
        )
    return quantize_multiplier(scale / _STEP_16)


def _softmax_int16(attrs: SoftmaxAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/softmax.h, SoftmaxInt16: exp and reciprocal by tables.
    data = operands.inputs[0].astype(np.int64)
    multiplier, shift = softmax_parameters_16(operands.input_types[0], attrs.beta)
    difference = data - data.max(axis=-1, keepdims=True)
    steps = multiply_by_quantized_multiplier(difference, multiplier, shift, Rounding.DOUBLE)
    # The table's last argument, 2**15 - 1, stands for exp(0).
    exponential = _softmax_looked_up(tables.exp_of_negative(), steps + np.int64(2**15 - 1))
    total = exponential.sum(axis=-1, keepdims=True)
    bits = _bits(total)  # 15 to 31
    mantissa = ((total << (31 - bits)) + (1 << 13)) >> 14  # from 2**16 on
    reciprocal = _softmax_looked_up(tables.one_over_one_plus(), mantissa - (2**15 + 2**16))
    quotient = (exponential * reciprocal + (1 << (bits - 2))) >> (bits - 1)
    # Q0.15 has no 1.
    return (np.clip(quotient, 0, 2**15 - 1).astype(np.int16),)


def _softmax_looked_up(table: Array, x: Array) -> Array:
    values = tables.interpolated(table, np.clip(x, -(2**15), 2**15 - 1))
    return values.astype(np.int64)


def _softmax_int8(attrs: SoftmaxAttrs, operands: Operands) -> Arrays:
    """Outputs of int8 or int16.

    Source: TFLite reference/softmax.h (integer version), gemmlowp fixedpoint.h.

    If the exponentials of a row sum to 512 or more, LiteRT aborts, because it would shift an int32
    by 32. The result would be 0, and so it is 0 here.
    """
    output = operands.output_types[0].dtype.numpy
    limits = np.iinfo(output)
    data = operands.inputs[0].astype(np.int64)
    parameters = softmax_parameters(operands.input_types[0], attrs.beta)
    difference = data - data.max(axis=-1, keepdims=True)
    # The left shift of smaller differences would leave int32.
    counted = difference >= parameters.diff_min
    exponential = np.where(counted, exp_of_negative(_rescale(difference, counted, parameters)), 0)
    terms = rounding_divide_by_pot(exponential, _SUM_INTEGER_BITS)
    total = terms.sum(axis=-1, keepdims=True)
    headroom = 32 - _bits(total)  # leading zeros of a word without a sign
    reciprocal = one_over_one_plus((total << headroom) - (1 << 31))
    shift = (_SUM_INTEGER_BITS - headroom) + 31 - limits.bits
    scaled = rounding_divide_by_pot(rounding_doubling_high_mul(reciprocal, exponential), shift)
    stored = np.clip(scaled + limits.min, limits.min, limits.max)
    return (np.where(counted, stored, limits.min).astype(output),)


def _rescale(difference: Array, counted: Array, parameters: SoftmaxParameters) -> Array:
    """The product beta * scale * difference as Q5.26; 0 if the difference is ignored."""
    shifted = np.where(counted, difference, 0) << parameters.input_left_shift
    return rounding_doubling_high_mul(shifted, parameters.input_multiplier)


# Number of steps in 1, zero point of the output, most values that can be summed, scaling.
_QUANTIZED: Mapping[
    tuple[DType, DType], tuple[int, int, int, Callable[[ArrayType, float], object]]
] = {
    (DType.INT8, DType.INT8): (256, -128, _MAX_DEPTH, softmax_parameters),
    _WIDER: (2**16, -(2**15), _MAX_DEPTH, softmax_parameters),
    (DType.INT16, DType.INT16): (2**15, 0, _MAX_DEPTH_16, softmax_parameters_16),
}


SOFTMAX = OpDefinition(
    "nn.softmax",
    SoftmaxAttrs,
    like_rows("nn.softmax"),
    _softmax_check,
    _softmax_reference,
    bound=bounds.balls(_softmax_ball),
)


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


class LogSoftmaxAttrs(Attrs):
    """nn.log_softmax: the logarithm of softmax over the last axis.

    Input: int8 or float32 data of any rank. Output: of the same dtype; int8 with scale 1/16 and
    zero point 127.
    """


@dataclass(frozen=True, slots=True)
class LogSoftmaxParameters(SoftmaxParameters):
    """The parameters of softmax, and in addition the parameters from Q5.26 back to steps of the
    input."""

    reverse_multiplier: int
    reverse_shift: int


def log_softmax_parameters(data: ArrayType) -> LogSoftmaxParameters:
    """The parameters. Source: TFLite quantization_util.cc, PreprocessLogSoftmaxScalingExp.

    ValueError if TFLite aborts: the input's scale must exceed 2**-26.
    """
    p = softmax_parameters(data, 1.0)
    reverse = quantize_multiplier((1 << (31 - p.input_left_shift)) / p.input_multiplier)
    return LogSoftmaxParameters(p.input_multiplier, p.input_left_shift, p.diff_min, *reverse)


def _log_softmax_check(_attrs: LogSoftmaxAttrs, inputs: Types, outputs: Types) -> str | None:
    """For int8: an output in (-16, 0], and so few values that their sum fits its fixed point."""
    data, output = inputs[0], outputs[0]
    sentence = activations_constraint(data, output, (DType.INT8, DType.FLOAT32))
    if sentence or data.quant is None:
        return sentence
    return (
        quant_constraint(output, 16, _OUTPUT_ZERO_POINT)
        or depth_constraint(data, _MAX_DEPTH)
        or refused(log_softmax_parameters, data)
    )


def _log_softmax_reference(_attrs: LogSoftmaxAttrs, operands: Operands) -> Arrays:
    # Source of the integer form: TFLite reference/integer_ops/log_softmax.h.
    if floats.is_float(operands.output_types[0]):
        return _log_softmax_float(operands.inputs[0])
    data, p = operands.inputs[0].astype(np.int64), log_softmax_parameters(operands.input_types[0])
    difference = data - data.max(axis=-1, keepdims=True)
    counted = difference >= p.diff_min
    scaled = scale(np.where(counted, difference, 0), p.input_multiplier, p.input_left_shift)
    terms = np.where(counted, rounding_divide_by_pot(exp_of_negative(scaled), _SUM_INTEGER_BITS), 0)
    log_sum = _log(terms.sum(axis=-1, keepdims=True))
    least = scale(log_sum - 2**31, p.reverse_multiplier, p.reverse_shift)
    steps = rounding_divide_by_pot(scaled - log_sum, _STEP_BITS) + _OUTPUT_ZERO_POINT
    kept = difference > np.maximum(p.diff_min - 1, least)
    return (np.where(kept, np.clip(steps, -128, 127), -128).astype(np.int8),)


def _log_softmax_float(x: Array) -> Arrays:
    difference = floats.below_largest(x)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        total = np.exp(difference).sum(axis=-1, keepdims=True)
        return ((difference - np.log(total)).astype(np.float32),)


def _log_softmax_ball(_attrs: LogSoftmaxAttrs, inexact: Inexact) -> tuple[Ball, ...]:
    """The formula of ``_float``, step by step, for numbers with errors."""
    (x,) = bounds.inputs(inexact)
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
    # Half the sum of r and 2**-0.25, which may exceed 1.
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
    # Leading zeros that do not count the sign bit.
    headroom_a, headroom_b = 31 - _bits(x), 31 - _bits(scaled)
    r_a = saturate(rounding_doubling_high_mul(x << headroom_a, _SQRT_HALF) << 1)
    r_b = saturate(x << headroom_b)
    quarter = 1 << 23
    power_a = ((_SUM_INTEGER_BITS - 1 - headroom_a) << 25) + quarter
    power_b = ((_SUM_INTEGER_BITS - headroom_b) << 25) - quarter
    # TFLite takes the reduction with the smaller r.
    return np.minimum(r_a, r_b), np.maximum(power_a, power_b)


def _bits(x: Array) -> Array:
    """The number of bits of positive int32 values, int64. frexp is exact below 2**53."""
    return np.frexp(x.astype(np.float64))[1].astype(np.int64)


LOG_SOFTMAX = OpDefinition(
    "nn.log_softmax",
    LogSoftmaxAttrs,
    like_rows("nn.log_softmax"),
    _log_softmax_check,
    _log_softmax_reference,
    bound=bounds.balls(_log_softmax_ball),
)


OPS = (SOFTMAX, LOG_SOFTMAX)
