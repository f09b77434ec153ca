"""Products, powers, and products with the slopes of nn.prelu."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import offset_and_clamp, quantize_multiplier
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.base import Inexact, OpDefinition, Operands, Shapes, clipped
from microgen.graph.ops.constraints import (
    ALL_FAMILIES,
    INTEGERS,
    activation_constraint,
    activations_constraint,
    refused,
)
from microgen.graph.ops.elementwise import broadcast

_MULTIPLY_DTYPES = (DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.FLOAT32)
_STORED = (DType.INT8, DType.INT16)  # in_float32


@dataclass(frozen=True, slots=True)
class MultiplyAttrs(Attrs):
    """multiply: elementwise multiplication with numpy's broadcasting.

    Inputs: two tensors of broadcastable shapes: int8 or int16, each with its own quantization,
    float32, or plain integers (modulo 2**n; with an activation, int32).

    With ``double_scales`` the ratio of the scales is computed in double, otherwise in float32. With
    ``in_float32``, for int8 and int16 tensors, the numbers that are stored are multiplied in
    float32.
    """

    activation: Activation
    double_scales: bool = False
    in_float32: bool = False


def multiply_parameters(
    attrs: MultiplyAttrs, lhs: ArrayType, rhs: ArrayType, output: ArrayType
) -> tuple[int, int]:
    """(multiplier, shift) from products to the output.

    Source: TFLite mul.cc, Prepare, whose arithmetic is float32, and TFLite Micro mul_common.cc,
    CalculateOpDataMul, whose is double. ValueError if the scales' product is 2**30 times the
    output's scale or more.
    """
    width = np.float64 if attrs.double_scales else np.float32
    left, right, out = (width(np.float32(tensor.scale)) for tensor in (lhs, rhs, output))
    with np.errstate(over="ignore", under="ignore"):
        # An overflow gives infinity, which is refused.
        ratio = float(left * right / out)
    if ratio >= 2**30:
        raise ValueError(
            f"the input scales {lhs.scale:g} and {rhs.scale:g} make products of 2**30 times the "
            f"output scale {output.scale:g} or more; they must be less"
        )
    return quantize_multiplier(ratio)


def _multiply_check(attrs: MultiplyAttrs, inputs: Types, outputs: Types) -> str | None:
    """One dtype throughout, and scales whose ratio the fixed point can hold."""
    if attrs.in_float32:
        return broadcast.constraint(inputs, outputs, accepted=_STORED)
    scaling = functools.partial(multiply_parameters, attrs)
    sentence = broadcast.constraint(inputs, outputs, scaling, _MULTIPLY_DTYPES, INTEGERS)
    return sentence or broadcast.wide_activation(attrs.activation, outputs[0])


def _multiply_reference(attrs: MultiplyAttrs, operands: Operands) -> Arrays:
    # Source of the integer form: TFLite reference/integer_ops/mul.h, MulElementwise.
    (lhs, rhs), output = operands.input_types, operands.output_types[0]
    if output.quant is None:
        return broadcast.plain(np.multiply, operands, attrs.activation)
    if attrs.in_float32:
        return broadcast.in_floats(np.multiply, operands, attrs.activation)
    left, right = broadcast.centred(operands)
    scaled = broadcast.scale(left * right, *multiply_parameters(attrs, lhs, rhs, output))
    return (offset_and_clamp(scaled, output, attrs.activation),)


MULTIPLY = OpDefinition(
    "multiply",
    MultiplyAttrs,
    broadcast.infer,
    _multiply_check,
    _multiply_reference,
    clipped,
    bound=bounds.elementwise(bounds.error_of_product),
)


POWER_ULPS = 1  # of floats: arithmetic/float_power.h, plus half for the reference's rounding
_POWER_DTYPES = (DType.INT32, DType.INT64, DType.FLOAT32)


class PowerAttrs(Attrs):
    """power: each element of the left operand to the power of the right one's, with numpy's
    broadcasting.

    Inputs: two tensors of broadcastable shapes, float32, int32 or int64. Powers of integers are
    modulo 2**n. Powers with negative exponents are truncated, and are 0 if the base is 0.
    """


def _power_check(_attrs: PowerAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32, int32 or int64 throughout."""
    return broadcast.one_plain(inputs, outputs, _POWER_DTYPES)


def _power_reference(_attrs: PowerAttrs, operands: Operands) -> Arrays:
    # Source: C99, F.9.4.4, for floats, which are computed in double and rounded.
    lhs, rhs = operands.inputs
    with np.errstate(all="ignore"):
        if lhs.dtype.kind == "f":
            return (_power_real(lhs, rhs).astype(np.float32),)
        return (_power_whole(lhs, rhs).astype(lhs.dtype),)


def _power_real(lhs: Array, rhs: Array) -> Array:
    x, y = lhs.astype(np.float64), rhs.astype(np.float64)
    # For the exponent 1/2 of several elements numpy takes the square root, which differs for -inf
    # and -0.
    is_apart = (y == 0.5) & ((x == 0) | (x == -np.inf))
    return np.where(is_apart, np.abs(x), np.power(x, y))


def _power_whole(lhs: Array, rhs: Array) -> Array:
    # The magnitude of -2**63 exists only without a sign.
    base, left = lhs.astype(np.int64), np.abs(rhs.astype(np.int64)).view(np.uint64)
    base, left = (np.array(each) for each in np.broadcast_arrays(base, left))
    power = np.ones(base.shape, np.int64)
    # Square and multiply, modulo 2**64, with one step for each bit of the exponent.
    for _ in range(64):
        power = np.where(left & np.uint64(1), power * base, power)
        base, left = base * base, left >> np.uint64(1)
    # 1 / x is truncated: 0 except for 1 and -1.
    is_kept = (rhs >= 0) | (lhs == 1) | (lhs == -1)
    return np.where(is_kept, power, 0)


def _power_grown(_attrs: PowerAttrs, inexact: Inexact, expected: Array) -> Array:
    """The greatest distance at the corners of both operands' errors. It is infinite if the base may
    be negative or 0."""
    (x, y), (left, right) = inexact.operands.inputs, inexact.errors
    corners = [_power_real(x + i * left, y + j * right) for i in (-1, 1) for j in (-1, 1)]
    grown = np.max([np.abs(corner - expected) for corner in corners], axis=0)
    return np.where((x > left) & ~np.isnan(grown), grown, np.inf)


POWER = OpDefinition(
    "power",
    PowerAttrs,
    broadcast.infer,
    _power_check,
    _power_reference,
    bound=bounds.within_ulps(POWER_ULPS, _power_grown),
)


class PReluAttrs(Attrs):
    """nn.prelu: x where x is positive, alpha times x elsewhere, with alpha a tensor.

    Inputs: data, int8, int16 or float32; alpha of a shape that broadcasts to the data's. Alpha has
    the data's dtype, except that it is int8 with int16 data.
    """


@dataclass(frozen=True, slots=True)
class PReluParameters:
    """Multipliers and shifts to the output's scale, for the data and for products with alpha."""

    multiplier: int
    shift: int
    alpha_multiplier: int
    alpha_shift: int


def prelu_parameters(data: ArrayType, alpha: ArrayType, output: ArrayType) -> PReluParameters:
    """The parameters. Source: TFLite activations.cc, PreluPrepare, which computes in float32.

    ValueError if a scale is 2**30 times the output's or more.
    """
    scale_in, scale_alpha, scale_out = (np.float32(t.scale) for t in (data, alpha, output))
    with np.errstate(over="ignore"):
        identity = quantize_multiplier(float(scale_in / scale_out))
        slope = quantize_multiplier(float(scale_in * scale_alpha / scale_out))
    return PReluParameters(*identity, *slope)


def _prelu_infer(attrs: PReluAttrs, inputs: Types) -> Shapes:
    """The data's shape."""
    (shape,) = broadcast.infer(attrs, inputs)
    if shape != inputs[0].shape:
        raise ValueError(f"alpha is {inputs[1]}; it must broadcast to the data, {inputs[0]}")
    return (shape,)


def _prelu_check(_attrs: PReluAttrs, inputs: Types, outputs: Types) -> str | None:
    """A valid pair of dtypes, and ratios of scales that the fixed point can hold.

    LiteRT would read an int16 alpha as an int8 one.
    """
    (data, alpha), output = inputs, outputs[0]
    alphas = (DType.INT8 if data.dtype is DType.INT16 else data.dtype,)
    sentence = activations_constraint(data, output, ALL_FAMILIES)
    sentence = sentence or activation_constraint("alpha", alpha, alphas)
    if sentence or data.quant is None:
        return sentence
    return refused(prelu_parameters, data, alpha, output)


def _prelu_reference(_attrs: PReluAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/prelu.h, BroadcastPrelu4DSlow; int16 and floats are like int8.
    output = operands.output_types[0]
    if floats.is_float(output):
        return _prelu_float(*operands.inputs)
    data_type, alpha_type = operands.input_types
    p = prelu_parameters(data_type, alpha_type, output)
    data, alpha = broadcast.centred(operands)
    positive = broadcast.scale(data, p.multiplier, p.shift)
    negative = broadcast.scale(data * alpha, p.alpha_multiplier, p.alpha_shift)
    return (offset_and_clamp(np.where(data >= 0, positive, negative), output, Activation.NONE),)


def _prelu_float(data: Array, alpha: Array) -> Arrays:
    with np.errstate(over="ignore", invalid="ignore"):
        return (np.where(data >= 0, data, data * alpha),)


def _prelu_grown(_attrs: PReluAttrs, inexact: Inexact) -> Array:
    """The error of the output, from the errors of the data and of its product with alpha."""
    return np.asarray(np.maximum(inexact.errors[0], bounds.error_of_product(_attrs, inexact)))


PRELU = OpDefinition(
    "nn.prelu",
    PReluAttrs,
    _prelu_infer,
    _prelu_check,
    _prelu_reference,
    bound=bounds.elementwise(_prelu_grown),
)


OPS = (MULTIPLY, POWER, PRELU)
