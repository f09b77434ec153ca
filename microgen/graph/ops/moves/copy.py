"""copy: the same bytes in another buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape, one_input
from microgen.graph.ops.constraints import unchanged
from microgen.graph.ops.cost import moved


@dataclass(frozen=True, slots=True)
class CopyAttrs(Attrs):
    """Input: data of any dtype and rank."""


def infer(_attrs: CopyAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape."""
    one_input("copy", inputs)
    return (inputs[0].shape,)


def reference(_attrs: CopyAttrs, operands: Operands) -> tuple[Array, ...]:
    """A copy of the input."""
    return (operands.inputs[0].copy(),)


def parts(_attrs: CopyAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("copy",)


OP = Op(
    "copy", CopyAttrs, infer, unchanged, reference, parts, cost=moved, bound=bounds.moves(reference)
)
