"""add: elementwise addition with numpy's broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs, TensorType
from microgen.ops.base import Activation, Op, Operands, Rounding, Shape
from microgen.quantize import (
    activation_constraint,
    add_parameters,
    multiply_by_quantized_multiplier,
    offset_and_clamp,
)


@dataclass(frozen=True, slots=True)
class AddAttrs(Attrs):
    """Inputs: two int8 tensors of broadcastable shapes, each with its own quantization."""

    activation: Activation


def infer(_attrs: AddAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The broadcast shape."""
    if len(inputs) != 2:
        raise ValueError(f"add has {len(inputs)} inputs; two are expected")
    lhs, rhs = inputs
    try:
        return (np.broadcast_shapes(lhs.shape, rhs.shape),)
    except ValueError:
        raise ValueError(f"the inputs {lhs} and {rhs} do not broadcast together") from None


def check(
    _attrs: AddAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8 throughout, and scales whose ratios the fixed point can hold."""
    lhs, rhs = inputs
    sentence = (
        activation_constraint("left input", lhs)
        or activation_constraint("right input", rhs)
        or activation_constraint("output", outputs[0])
    )
    if sentence:
        return sentence
    try:
        add_parameters(lhs, rhs, outputs[0])
    except ValueError as error:
        return str(error)
    return None


def reference(attrs: AddAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/integer_ops/add.h, AddFunc."""
    (lhs, rhs), (lhs_type, rhs_type) = operands.inputs, operands.input_types
    output = operands.output_types[0]
    p = add_parameters(lhs_type, rhs_type, output)
    left = (lhs.astype(np.int64) - lhs_type.zero_point) << p.left_shift
    right = (rhs.astype(np.int64) - rhs_type.zero_point) << p.left_shift
    total = _scale(left, p.lhs_multiplier, p.lhs_shift).astype(np.int64)
    total = total + _scale(right, p.rhs_multiplier, p.rhs_shift)
    scaled = _scale(total, p.output_multiplier, p.output_shift)
    return (offset_and_clamp(scaled, output, attrs.activation),)


def _scale(x: Array, multiplier: int, shift: int) -> Array:
    return multiply_by_quantized_multiplier(x, multiplier, shift, Rounding.DOUBLE)


def parts(attrs: AddAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("add",) if attrs.activation is Activation.NONE else ("add", "clip")


OP = Op("add", AddAttrs, infer, check, reference, parts)
