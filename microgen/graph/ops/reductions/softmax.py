"""nn.softmax: softmax over the last axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.balls import Ball
from microgen.graph.ops.base import Inexact, Op, Operands, Shape, rows_input
from microgen.graph.ops.constraints import (
    ALL_FAMILIES,
    activation_constraint,
    activations_constraint,
    one_quant_constraint,
)
from microgen.graph.ops.fixed_point import exp_of_negative, one_over_one_plus
from microgen.graph.ops.tables import tables
from microgen.graph.ops.unary import functions

_SUM_INTEGER_BITS = 12  # kAccumulationIntegerBits: the sum of exponentials is Q12.19
_MAX_DEPTH = (1 << _SUM_INTEGER_BITS) - 1  # each exponential is at most 1
_WIDER = (DType.INT8, DType.INT16)  # the only pair of different dtypes
_STEP_16 = 10.0 / 65535.0  # of the arguments of the table of exp
_MAX_DEPTH_16 = 2**16  # of exponentials below 2**15, in an int32


@dataclass(frozen=True, slots=True)
class SoftmaxAttrs(Attrs):
    """Input: int8, int16 or float32 data of any rank. Output: of the same dtype; int8 with scale
    1/256 and zero point -128, int16 with scale 1/32768. Or int16 for int8 data, with scale 1/65536
    and zero point -32768."""

    beta: float


def infer(_attrs: SoftmaxAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape."""
    return (rows_input("nn.softmax", inputs).shape,)


def check(
    attrs: SoftmaxAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
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
    if abs(output.scale - 1 / steps) > 0.001 / steps or output.zero_point != zero_point:
        return (
            f"the output's scale and zero point are {output.scale:g} and {output.zero_point}; "
            f"they must be 1/{steps} and {zero_point}"
        )
    if data.shape[-1] > most:
        return f"the last axis has {data.shape[-1]} values; the sum holds up to {most}"
    try:
        parameters(data, attrs.beta)
    except ValueError as error:
        return str(error)
    return None


def reference(attrs: SoftmaxAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/softmax.h; each dtype has a form of its own."""
    data = operands.input_types[0]
    if floats.is_float(data):
        return _float(attrs, operands.inputs[0])
    return (_int16 if data.dtype is DType.INT16 else _int8)(attrs, operands)


def _float(attrs: SoftmaxAttrs, x: Array) -> tuple[Array, ...]:
    with np.errstate(invalid="ignore", under="ignore"):
        exponential = np.exp(floats.below_largest(x) * np.float32(attrs.beta))
        quotient = exponential / exponential.sum(axis=-1, keepdims=True)
        return (quotient.astype(np.float32),)


def _ball(attrs: SoftmaxAttrs, given: Inexact) -> tuple[Ball, ...]:
    """``_float``, step by step, with errors."""
    (x,) = bounds.inputs(given)
    scaled = floats.ball_below_largest(x) * Ball.of(np.array(attrs.beta, np.float32))
    exponential = scaled.apply(np.exp, functions.EXP_ULPS)
    return (exponential / exponential.sum(-1),)


def parameters_16(data: TensorType, beta: float) -> tuple[int, int]:
    """(multiplier, shift) from the input's scale to steps of 10/65535 of an int16 input.

    Source: TFLite activations.cc, SoftmaxPrepare. ValueError if differences would exceed int32.
    """
    with np.errstate(over="ignore"):
        scale = float(np.float32(data.scale) * np.float32(beta))
    if scale >= 2**15 * _STEP_16:
        raise ValueError(f"beta times the input's scale is {scale:g}; it must be below 5")
    return quantize_multiplier(scale / _STEP_16)


def _int16(attrs: SoftmaxAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/softmax.h, SoftmaxInt16: exp and reciprocal by tables."""
    data = operands.inputs[0].astype(np.int64)
    multiplier, shift = parameters_16(operands.input_types[0], attrs.beta)
    difference = data - data.max(axis=-1, keepdims=True)
    steps = multiply_by_quantized_multiplier(difference, multiplier, shift, Rounding.DOUBLE)
    exponential = _looked_up(tables.exp_of_negative(), steps + np.int64(2**15 - 1))
    total = exponential.sum(axis=-1, keepdims=True)
    bits = np.frexp(total.astype(np.float64))[1].astype(np.int64)  # exact: 15 to 31
    mantissa = ((total << (31 - bits)) + (1 << 13)) >> 14  # from 2**16 on
    reciprocal = _looked_up(tables.one_over_one_plus(), mantissa - (2**15 + 2**16))
    quotient = (exponential * reciprocal + (1 << (bits - 2))) >> (bits - 1)
    return (np.clip(quotient, 0, 2**15 - 1).astype(np.int16),)


def _looked_up(table: Array, x: Array) -> Array:
    values = tables.interpolated(table, np.clip(x, -(2**15), 2**15 - 1))
    return values.astype(np.int64)


def _int8(attrs: SoftmaxAttrs, operands: Operands) -> tuple[Array, ...]:
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
    counted = difference >= parameters.diff_min
    exponential = np.where(counted, exp_of_negative(_rescale(difference, counted, parameters)), 0)
    terms = rounding_divide_by_pot(exponential, _SUM_INTEGER_BITS)
    total = terms.sum(axis=-1, keepdims=True)
    # frexp is exact: total < 2**31
    headroom = 32 - np.frexp(total.astype(np.float64))[1].astype(np.int64)
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
    tuple[DType, DType], tuple[int, int, int, Callable[[TensorType, float], object]]
] = {
    (DType.INT8, DType.INT8): (256, -128, _MAX_DEPTH, softmax_parameters),
    _WIDER: (2**16, -(2**15), _MAX_DEPTH, softmax_parameters),
    (DType.INT16, DType.INT16): (2**15, 0, _MAX_DEPTH_16, parameters_16),
}


def parts(_attrs: SoftmaxAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("nn_softmax",)


OP = Op("nn.softmax", SoftmaxAttrs, infer, check, reference, parts, bound=bounds.balls(_ball))
