"""Shared by add and subtract: attributes, and the scaling of quantized operands."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import AddParameters, add_parameters
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops.base import Operands
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
    """The exponent of a scale within 0.07 % of a power of two, which is treated as one; else None.

    Source: TFLite kernel_util.cc, CheckedLog2, which computes in float32.
    """
    exponent = np.log(np.float32(scale)) * (np.float32(1) / np.log(np.float32(2)))
    nearest = math.floor(float(exponent) + 0.5)
    return nearest if abs(exponent - np.float32(nearest)) < np.float32(1e-3) else None


def parameters(
    attrs: AdditionAttrs, lhs: TensorType, rhs: TensorType, output: TensorType
) -> AddParameters:
    """The scaling of operands and sum. ValueError if TFLite has no result."""
    if not attrs.by_shifts:
        return add_parameters(lhs, rhs, output, np.float32 if attrs.float32_scales else np.float64)
    left, right = _shifts(lhs, rhs, output)
    # The multiplier 2**30 halves, so operands get one bit of headroom and the sum is doubled.
    half = 1 << 30
    return AddParameters(1, half, left, half, right, half, 1)


def _shifts(lhs: TensorType, rhs: TensorType, output: TensorType) -> tuple[int, int]:
    """The shifts of both operands, 0 or less. Source: TFLite add.cc, Prepare."""
    if lhs.shape != rhs.shape:
        raise ValueError(
            f"the inputs {lhs} and {rhs} differ in shape; by shifts they are not broadcast"
        )
    left, right, out = (power_of_two(tensor.scale) for tensor in (lhs, rhs, output))
    if left is not None and right is not None and out is not None:
        shifts = (left - out, right - out)
        if max(shifts) == 0 and min(shifts) >= -_MOST_SHIFTED:
            return shifts
    raise ValueError(
        f"the inputs have the scales {lhs.scale:g} and {rhs.scale:g}, the output {output.scale:g}; "
        f"by shifts one input must have the output's and the other this or up to "
        f"2**{_MOST_SHIFTED} times less, all of them powers of two"
    )


def check(
    attrs: AdditionAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
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
) -> tuple[Array, ...]:
    """``function`` of both operands, which is a sum or a difference.

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
