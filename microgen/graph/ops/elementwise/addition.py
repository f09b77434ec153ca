"""Sums and differences of each pair of elements, and squares of differences."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import AddParameters, add_parameters, quantize_multiplier
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import OpDefinition, Operands, clipped
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.elementwise import broadcast

_DTYPES = (DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.FLOAT32)
_STORED = (DType.INT8, DType.INT16)  # in_float32
_MOST_SHIFTED = 15  # beyond the bits of int16, TFLite does not round correctly


@dataclass(frozen=True, slots=True)
class AdditionAttrs(Attrs):
    """Inputs: two tensors of broadcastable shapes: int8 or int16, each with its own quantization,
    float32, or plain integers (modulo 2**n; with an activation, int32).

    With ``by_shifts``, for int16 tensors of equal shapes, scales are treated as powers of two. The
    operand whose scale differs from the output's is rounded to it, then both are added. With
    ``float32_scales`` the ratios of the scales are computed in float32, not in double. With
    ``in_float32``, for int8 and int16 tensors, the numbers that are stored are added in float32.
    """

    activation: Activation
    by_shifts: bool = False
    float32_scales: bool = False
    in_float32: bool = False


def power_of_two(scale: float) -> int | None:
    """The exponent of a scale within 0.07 % of a power of two, which is treated as that power;
    otherwise None.

    Source: TFLite kernel_util.cc, CheckedLog2, which computes in float32.
    """
    exponent = np.log(np.float32(scale)) * (np.float32(1) / np.log(np.float32(2)))
    nearest = math.floor(float(exponent) + 0.5)
    return nearest if abs(exponent - np.float32(nearest)) < np.float32(1e-3) else None


def parameters(
    attrs: AdditionAttrs, lhs: ArrayType, rhs: ArrayType, output: ArrayType
) -> AddParameters:
    """The scaling of operands and sum. ValueError if TFLite has no result."""
    if not attrs.by_shifts:
        return add_parameters(lhs, rhs, output, np.float32 if attrs.float32_scales else np.float64)
    left, right = _shifts(lhs, rhs, output)
    # The multiplier 2**30 halves, so operands get one bit of headroom and the sum is doubled.
    half = 1 << 30
    return AddParameters(1, half, left, half, right, half, 1)


def _shifts(lhs: ArrayType, rhs: ArrayType, output: ArrayType) -> tuple[int, int]:
    """The shifts of both operands, 0 or less."""
    # Source: TFLite add.cc, Prepare.
    if lhs.shape != rhs.shape:
        raise ValueError(
            f"the inputs {lhs} and {rhs} differ in shape; by shifts they are not broadcast"
        )
    left, right, out = (power_of_two(tensor.scale) for tensor in (lhs, rhs, output))
    if left is not None and right is not None and out is not None:
        shifts = (left - out, right - out)
        # One operand has the scale of the output, and the other is shifted to the right.
        if max(shifts) == 0 and min(shifts) >= -_MOST_SHIFTED:
            return shifts
    raise ValueError(
        f"the inputs have the scales {lhs.scale:g} and {rhs.scale:g}, the output {output.scale:g}; "
        f"by shifts one input must have the output's and the other this or up to "
        f"2**{_MOST_SHIFTED} times less, all of them powers of two"
    )


def check(attrs: AdditionAttrs, inputs: Types, outputs: Types) -> str | None:
    """One dtype throughout, and scales whose ratios the fixed point can hold."""
    if attrs.by_shifts and outputs[0].dtype is not DType.INT16:
        return f"the output is {outputs[0]}; by shifts int16 is added"
    if attrs.in_float32:
        return broadcast.constraint(inputs, outputs, accepted=_STORED)
    scaling = functools.partial(parameters, attrs)
    sentence = broadcast.constraint(inputs, outputs, scaling, _DTYPES, INTEGERS)
    return sentence or broadcast.wide_activation(attrs.activation, outputs[0])


def computed(
    function: Callable[[Array, Array], Array], attrs: AdditionAttrs, operands: Operands
) -> Arrays:
    """``function``, a sum or a difference, of both operands.

    Source of the integer form: TFLite reference/add.h and sub.h, which scale both operands first.
    """
    (lhs, rhs), output = operands.input_types, operands.output_types[0]
    if output.quant is None:
        return broadcast.plain(function, operands, attrs.activation)
    if attrs.in_float32:
        return broadcast.in_floats(function, operands, attrs.activation)
    p = parameters(attrs, lhs, rhs, output)
    total = function(*broadcast.scaled_operands(p, operands))
    return broadcast.stored_sum(p, total, output, attrs.activation)


class AddAttrs(AdditionAttrs):
    """The attributes of an addition."""


class SubtractAttrs(AdditionAttrs):
    """The attributes of an addition."""


def _sum(name: str, attrs: type[AdditionAttrs], function: np.ufunc, what: str) -> OpDefinition:
    def reference(attrs: AdditionAttrs, operands: Operands) -> Arrays:
        # Source of the integer form: TFLite reference/integer_ops/add.h, AddFunc, and for the
        # difference measurement. ai-edge-litert 2.3.0 computes the difference of the scaled
        # operands, as reference/sub.h does. TFLite's older sub.cc negated the right multiplier,
        # which rounds halves in the other direction.
        return computed(function, attrs, operands)

    about = f"elementwise {what} with numpy's broadcasting"
    bound = bounds.sums_of_two()
    return OpDefinition(
        name, attrs, broadcast.infer, check, reference, clipped, bound=bound, about=about
    )


ADD = _sum("add", AddAttrs, np.add, "addition")
SUBTRACT = _sum("subtract", SubtractAttrs, np.subtract, "subtraction")


_SQUARED_DIFFERENCE_DTYPES = (DType.INT8, DType.INT32, DType.FLOAT32)
LEFT_SHIFT = 7  # the square of a difference of two shifted operands is under 2**30


class SquaredDifferenceAttrs(Attrs):
    """squared_difference: (lhs - rhs) squared, elementwise, with numpy's broadcasting.

    Inputs: two tensors of broadcastable shapes: int8, each with its own quantization, int32 (modulo
    2**32) or float32.
    """


def squared_difference_parameters(
    lhs: ArrayType, rhs: ArrayType, output: ArrayType
) -> AddParameters:
    """The scaling: both operands are brought to twice the larger input scale over 2**7.

    Source: TFLite squared_difference.cc, Prepare (QuantizeMultiplierSmallerThanOneExp).
    ValueError if that aborts: the square's scale must be less than the output's.
    """
    scale_lhs, scale_rhs, scale_out = lhs.scale, rhs.scale, output.scale
    twice_max = 2 * max(scale_lhs, scale_rhs)
    factor = twice_max * twice_max / ((1 << 2 * LEFT_SHIFT) * scale_out)
    if factor < 1:
        ratios = (scale_lhs / twice_max, scale_rhs / twice_max, factor)
        left, right, out = (quantize_multiplier(ratio) for ratio in ratios)
        if out[1] <= 0:
            return AddParameters(LEFT_SHIFT, *left, *right, *out)
    raise ValueError(
        f"the square of the input scale {twice_max / 2:g} is 2**12 times the output scale "
        f"{scale_out:g} or more; it must be less"
    )


def _squared_difference_check(
    _attrs: SquaredDifferenceAttrs, inputs: Types, outputs: Types
) -> str | None:
    """One dtype throughout, and scales whose ratios the fixed point can hold."""
    return broadcast.constraint(
        inputs, outputs, squared_difference_parameters, _SQUARED_DIFFERENCE_DTYPES
    )


def _squared_difference_reference(_attrs: SquaredDifferenceAttrs, operands: Operands) -> Arrays:
    # Source: TFLite squared_difference.cc, SquaredDifference.
    (lhs, rhs), output = operands.input_types, operands.output_types[0]
    if output.quant is None:
        return (_plain_squares(operands),)
    p = squared_difference_parameters(lhs, rhs, output)
    left, right = broadcast.scaled_operands(p, operands)
    return broadcast.stored_sum(p, (left - right) ** 2, output, Activation.NONE)


def _plain_squares(operands: Operands) -> Array:
    """In float32, where infinities remain infinities, or in int32 modulo 2**32."""
    lhs, rhs = operands.inputs
    with np.errstate(all="ignore"):
        difference = np.asarray(lhs - rhs)
        return np.asarray(difference * difference)


SQUARED_DIFFERENCE = OpDefinition(
    "squared_difference",
    SquaredDifferenceAttrs,
    broadcast.infer,
    _squared_difference_check,
    _squared_difference_reference,
    bound=bounds.elementwise(bounds.error_of_square, roundings=2),
)


OPS = (ADD, SUBTRACT, SQUARED_DIFFERENCE)
