"""qnn.reinterpret: the same stored values under another shape, scale and zero point.

In Relay scales are arguments of the operators, so one tensor may mean different numbers to two of
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape
from microgen.graph.ops.constraints import same_dtype_constraint
from microgen.graph.ops.cost import moved
from microgen.graph.ops.moves import reshape


@dataclass(frozen=True, slots=True)
class ReinterpretAttrs(Attrs):
    """Input: data of any dtype. ``shape`` is the whole shape of the output."""

    shape: Shape


def infer(attrs: ReinterpretAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The new shape."""
    return reshape.infer(reshape.ReshapeAttrs(attrs.shape), inputs)


def check(
    _attrs: ReinterpretAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """Dtype unchanged."""
    return same_dtype_constraint(inputs[0], outputs[0])


def reference(attrs: ReinterpretAttrs, operands: Operands) -> tuple[Array, ...]:
    """The input's elements in row-major order."""
    return (operands.inputs[0].reshape(attrs.shape),)


def parts(_attrs: ReinterpretAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("qnn_reinterpret",)


OP = Op(
    "qnn.reinterpret",
    ReinterpretAttrs,
    infer,
    check,
    reference,
    parts,
    is_view=True,
    bound=bounds.moves(reference),
    cost=moved,
)
