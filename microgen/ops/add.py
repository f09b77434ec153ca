"""add: elementwise addition with numpy's broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.ir.graph import Array, Attrs, DType, TensorType
from microgen.ops import broadcast, floats
from microgen.ops.base import Activation, Op, Operands
from microgen.quantize import add_parameters


@dataclass(frozen=True, slots=True)
class AddAttrs(Attrs):
    """Inputs: two tensors of broadcastable shapes, int8, each with its own quantization, or
    float32."""

    activation: Activation


def check(
    _attrs: AddAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8 or float32 throughout, and scales whose ratios the fixed point can hold."""
    return broadcast.constraint(inputs, outputs, add_parameters, (DType.INT8, DType.FLOAT32))


def reference(attrs: AddAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source of the integer form: TFLite reference/integer_ops/add.h, AddFunc."""
    (lhs, rhs), output = operands.input_types, operands.output_types[0]
    if floats.is_float(output):
        return floats.activated(operands.inputs[0] + operands.inputs[1], attrs.activation)
    p = add_parameters(lhs, rhs, output)
    left, right = broadcast.scaled_operands(p, operands)
    return broadcast.stored_sum(p, left + right, output, attrs.activation)


def parts(attrs: AddAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return broadcast.parts("add", attrs.activation)


OP = Op("add", AddAttrs, broadcast.infer, check, reference, parts)
