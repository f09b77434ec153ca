"""transpose: the axes in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape, one_input
from microgen.graph.ops.constraints import unchanged
from microgen.graph.ops.cost import moved


@dataclass(frozen=True, slots=True)
class TransposeAttrs(Attrs):
    """Input: data of any dtype. Axis k of the output is axis ``axes[k]`` of the data."""

    axes: tuple[int, ...]


def infer(attrs: TransposeAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The sizes in their new order."""
    one_input("transpose", inputs)
    shape = inputs[0].shape
    if sorted(attrs.axes) != list(range(len(shape))):
        raise ValueError(f"{list(attrs.axes)} is not an order of the axes of the input {inputs[0]}")
    return (tuple(shape[axis] for axis in attrs.axes),)


def reference(attrs: TransposeAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/transpose.h, Transpose."""
    return (operands.inputs[0].transpose(attrs.axes).copy(),)


def parts(_attrs: TransposeAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("transpose",)


OP = Op(
    "transpose",
    TransposeAttrs,
    infer,
    unchanged,
    reference,
    parts,
    cost=moved,
    bound=bounds.moves(reference),
)
