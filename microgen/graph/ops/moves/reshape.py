"""reshape: the same bytes under another shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape, one_input
from microgen.graph.ops.constraints import unchanged
from microgen.graph.ops.cost import moved


@dataclass(frozen=True, slots=True)
class ReshapeAttrs(Attrs):
    """Input: data of any dtype. ``shape`` is the whole new shape, without -1."""

    shape: Shape


def infer(attrs: ReshapeAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The new shape."""
    one_input("reshape", inputs)
    size = math.prod(attrs.shape)
    if min(attrs.shape, default=1) < 0 or size != inputs[0].size:
        raise ValueError(
            f"the input {inputs[0]} has {inputs[0].size} elements; the new shape "
            f"[{','.join(map(str, attrs.shape))}] does not"
        )
    return (attrs.shape,)


def reference(attrs: ReshapeAttrs, operands: Operands) -> tuple[Array, ...]:
    """The input's elements in row-major order."""
    return (operands.inputs[0].reshape(attrs.shape),)


def parts(_attrs: ReshapeAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("reshape",)


OP = Op(
    "reshape",
    ReshapeAttrs,
    infer,
    unchanged,
    reference,
    parts,
    is_view=True,
    cost=moved,
    bound=bounds.moves(reference),
)
