"""The constraints that convolutions share, and the computation of output values from sums."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from microgen.graph.arithmetic.int8 import RELAY, requantize, scales_of_sums
from microgen.graph.arithmetic.int16 import requantize16
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import floats
from microgen.graph.ops.base import Operands
from microgen.graph.ops.constraints import (
    ALL_FAMILIES,
    accumulator_constraint,
    activation_constraint,
    activations_constraint,
    bias_constraint,
    dtype_constraint,
    first_of,
    float_weights_constraint,
    multiplier_constraint,
    plain_constraint,
    rounding_constraint,
    scale_constraint16,
    weight_constraint,
    weight_zero,
)

_BIASES = {  # for int8 and int16 activations, by the accumulators of each rounding
    DType.INT8: dict.fromkeys(
        (Rounding.DOUBLE, Rounding.PRODUCT, Rounding.SINGLE, Rounding.FLOAT, *RELAY), DType.INT32
    ),
    DType.INT16: {
        Rounding.DOUBLE: DType.INT32,
        Rounding.REDUCED: DType.INT64,
        Rounding.FLOAT: DType.INT64,
    },
}


def check_count(name: str, inputs: Types) -> None:
    """Raise ValueError unless there are data, weight and at most a bias."""
    if len(inputs) not in (2, 3):
        raise ValueError(f"{name} has {len(inputs)} inputs; data, weight and a bias are expected")


def check_bias(inputs: Types, channels: int, what: str) -> None:
    """Raise ValueError unless the bias, if there is one, has a value for each output channel, which
    the error calls ``what``."""
    if len(inputs) == 3 and inputs[2].shape != (channels,):
        raise ValueError(f"the bias is {inputs[2]}; one value per {what}, {channels}, is expected")


def terms(_attrs: Attrs, operands: Operands) -> int:
    """The number of products of a sum: the number of weights of one index of the first axis."""
    return math.prod(operands.input_types[1].shape[1:])


def constraint(
    inputs: Types,
    output: ArrayType,
    rounding: Rounding,
    *,
    axis: int,
    products: int,
    any_zero: bool = False,
) -> str | None:
    """float32 throughout; or activations of int8 or int16 with int8 weights, symmetric and per
    tensor or per index of ``axis``. With ``any_zero``, weights per tensor of int8 data may have any
    zero point, if sums are rounded PRODUCT or FLOAT, or are the output. For int8, sums of
    ``products`` terms must fit int32; they may be the output."""
    data, weight, *bias = inputs
    if output.dtype is DType.INT32:
        return sums_constraint(inputs, output, axis=axis, products=products, any_zero=any_zero)
    sentence = activations_constraint(data, output, ALL_FAMILIES, may_be_dead=True)
    if sentence or floats.is_float(data):
        return sentence or float_weights_constraint(weight, *bias)
    return (
        weight_constraint(weight, axis, any_zero=any_zero and _may_have_zero(data, rounding))
        or rounding_constraint(data, rounding, tuple(_BIASES[data.dtype]))
        or _bias_constraint(inputs, output, rounding)
        or _scale_constraint(inputs, output, rounding, products)
    )


def _may_have_zero(data: ArrayType, rounding: Rounding) -> bool:
    return data.dtype is DType.INT8 and rounding in (Rounding.PRODUCT, Rounding.FLOAT)


def sums_constraint(
    inputs: Types, output: ArrayType, *, axis: int, products: int, any_zero: bool = False
) -> str | None:
    """int8 data and weights, an int32 bias, and their sums as plain int32 numbers. With
    ``any_zero``, weights with one scale may have any zero point."""
    data, weight, *bias = inputs
    return (
        activation_constraint("input", data)
        or plain_constraint("output", output)
        or weight_constraint(weight, axis, any_zero=any_zero)
        or first_of(dtype_constraint("bias", tensor, (DType.INT32,)) for tensor in bias)
        or accumulator_constraint(data, products, np.zeros(1))
    )


def _bias_constraint(inputs: Types, output: ArrayType, rounding: Rounding) -> str | None:
    data, weight, *bias = inputs
    accepted = (_BIASES[data.dtype][rounding],)
    return first_of(bias_constraint(tensor, data, weight, output, accepted) for tensor in bias)


def _scale_constraint(
    inputs: Types, output: ArrayType, rounding: Rounding, products: int
) -> str | None:
    data, weight, *_ = inputs
    scales = scales_of_sums(data, weight, output, rounding)
    if data.dtype is DType.INT16 and rounding is not Rounding.FLOAT:
        return scale_constraint16(scales)
    if rounding is Rounding.FLOAT:
        return accumulator_constraint(data, products, np.zeros(1))
    # LiteRT's convolutions scale modulo 2**32. Networks with dead layers depend on this: the
    # outputs of such layers have scales near 0, which the next layer turns into nothing.
    if rounding in (Rounding.DOUBLE, Rounding.PRODUCT):
        unscaled = accumulator_constraint(data, products, np.zeros(1))
        return unscaled or multiplier_constraint(scales)
    return accumulator_constraint(data, products, scales)


def centred(weight: Array, kind: ArrayType) -> Array:
    """The weight minus its zero point."""
    zero = weight_zero(kind)
    # The difference of two int8 values does not fit int8.
    return weight.astype(np.int16) - np.int16(zero) if zero else weight


def finished(
    sums: Array,
    operands: Operands,
    activation: Activation,
    rounding: Rounding,
    scales: npt.NDArray[np.float64] | None = None,
) -> Arrays:
    """The only output of an op: sums of products (channels last; whole numbers if the activations
    are integers) with the bias added, scaled and clamped. ``scales`` are the scales of the sums; by
    default, the rounding's scales for convolutions.
    """
    data, weight, *_ = operands.input_types
    output = operands.output_types[0]
    bias = operands.inputs[2] if len(operands.inputs) > 2 else np.int64(0)
    if floats.is_float(output):
        return floats.activated(sums + bias, activation)
    biased = sums.astype(np.int64) + bias
    if output.dtype is DType.INT32:
        return (biased.astype(np.int32),)
    of_sums = scales_of_sums(data, weight, output, rounding) if scales is None else scales
    if output.dtype is DType.INT16:
        return (requantize16(biased, of_sums, rounding, output, activation),)
    # astype wraps, as an int32 accumulator does.
    return (requantize(biased.astype(np.int32), of_sums, rounding, output, activation),)
