"""The broadcasting, the constraints and the sums that elementwise ops of two operands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from microgen.graph.arithmetic import in_float32
from microgen.graph.arithmetic.int8 import (
    AddParameters,
    clamp,
    int32_range,
    multiply_by_quantized_multiplier,
    offset_and_clamp,
)
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import floats
from microgen.graph.ops.base import Operands, Shape, Shapes, expect_inputs
from microgen.graph.ops.constraints import INT8, activation_constraint, plain_constraint, refused

_CLAMPED = (DType.INT32, DType.FLOAT32)


def infer(_attrs: Attrs, inputs: Types) -> Shapes:
    """The broadcast shape."""
    expect_inputs(inputs, 2, "two")
    return (broadcast_shape(inputs),)


def broadcast_shape(inputs: Types) -> Shape:
    """The shape to which all inputs broadcast; ValueError if there is none."""
    try:
        return np.broadcast_shapes(*(tensor.shape for tensor in inputs))
    except ValueError:
        named = " and ".join(map(str, inputs))
        raise ValueError(f"the inputs {named} do not broadcast together") from None


Parameters = Callable[[ArrayType, ArrayType, ArrayType], object]  # of lhs, rhs and output


def constraint(
    inputs: Types,
    outputs: Types,
    parameters: Parameters | None = None,
    accepted: Sequence[DType] = INT8,
    plain: Sequence[DType] = (),
) -> str | None:
    """A sentence about the first violation of these rules: one accepted dtype throughout, and, if
    it is quantized, scales for which ``parameters`` does not raise ValueError. Dtypes in ``plain``
    are accepted without a quantization."""
    (lhs, rhs), output = inputs, outputs[0]
    if lhs.quant is None and lhs.dtype in plain:
        return one_plain(inputs, outputs, plain)
    sentence = (
        activation_constraint("left input", lhs, accepted)
        or activation_constraint("right input", rhs, (lhs.dtype,))
        or activation_constraint("output", output, (lhs.dtype,))
    )
    if sentence or parameters is None or output.quant is None:
        return sentence
    return refused(parameters, lhs, rhs, output)


def one_plain(inputs: Types, outputs: Types, accepted: Sequence[DType]) -> str | None:
    """A sentence about the first violation of the rule: one accepted dtype throughout, without a
    scale."""
    roles = ("left input", "right input", "output")
    for role, tensor in zip(roles, (*inputs, *outputs), strict=True):
        if tensor.dtype not in accepted or tensor.dtype is not inputs[0].dtype:
            names = " or ".join(dtype.value for dtype in accepted)
            return f"the {role} is {tensor}; all must be of one dtype: {names}"
        if tensor.quant is not None:
            return plain_constraint(role, tensor)
    return None


def wide_activation(activation: Activation, output: ArrayType) -> str | None:
    """The reason to refuse an activation of plain integers, which kernels do not clamp, except for
    int32."""
    if output.quant or output.dtype in _CLAMPED or not activation.clamps:
        return None
    sentence = f"the output is {output} with the activation {activation.value}"
    return f"{sentence}; {output.dtype.value} has none"


def plain(
    function: Callable[[Array, Array], Array], operands: Operands, activation: Activation
) -> Arrays:
    """``function`` of plain numbers, clamped. It is computed in float32, or in integers modulo 2**n
    with n the bits of the dtype."""
    lhs, rhs = operands.inputs
    with np.errstate(all="ignore"):
        values = np.asarray(function(lhs, rhs))
    if floats.is_float(operands.output_types[0]):
        return floats.activated(values, activation)
    if activation.clamps:
        values = np.clip(values, *int32_range(activation))
    return (values.astype(lhs.dtype),)


def in_floats(
    function: Callable[[Array, Array], Array], operands: Operands, activation: Activation
) -> Arrays:
    """``function`` of the numbers that are stored, in float32, divided by the output's scale,
    rounded to nearest, ties to even, and stored. Each operation rounds once."""
    output = operands.output_types[0]
    pairs = zip(operands.inputs, operands.input_types, strict=True)
    lhs, rhs = (in_float32.real(values, kind) for values, kind in pairs)
    with np.errstate(all="ignore"):
        result = function(lhs, rhs)
    return (clamp(in_float32.stored(result, output), output, activation),)


def scale(x: Array, multiplier: int, shift: int) -> Array:
    """int32 values requantized with double rounding, as int64, so that sums do not wrap."""
    scaled = multiply_by_quantized_multiplier(x, multiplier, shift, Rounding.DOUBLE)
    return scaled.astype(np.int64)


def centred(operands: Operands) -> tuple[Array, Array]:
    """Both operands without their zero points, as int64."""
    (lhs, rhs), (lhs_type, rhs_type) = operands.inputs, operands.input_types
    return lhs.astype(np.int64) - lhs_type.zero_point, rhs.astype(np.int64) - rhs_type.zero_point


def scaled_operands(p: AddParameters, operands: Operands) -> tuple[Array, Array]:
    """Both operands without their zero points, as int64 in the scale in which they are added.

    Source: TFLite reference/integer_ops/add.h, AddFunc.
    """
    left, right = centred(operands)
    # Values are shifted first, so that scaling keeps a fraction of them.
    return (
        scale(left << p.left_shift, p.lhs_multiplier, p.lhs_shift),
        scale(right << p.left_shift, p.rhs_multiplier, p.rhs_shift),
    )


def stored_sum(p: AddParameters, total: Array, output: ArrayType, activation: Activation) -> Arrays:
    """A sum of scaled operands in the stored form of the output."""
    scaled = scale(total, p.output_multiplier, p.output_shift)
    return (offset_and_clamp(scaled, output, activation),)
