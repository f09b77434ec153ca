"""where: for each two elements the left one if a condition is true, otherwise the right one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import OpDefinition, Operands, Shapes
from microgen.graph.ops.constraints import EVERY_DTYPE, activation_constraint, unchanged_constraint
from microgen.graph.ops.elementwise import broadcast


@dataclass(frozen=True, slots=True)
class WhereAttrs(Attrs):
    """Inputs: a bool condition and two tensors of any one dtype, with the quantization of the
    output. All three are broadcast as in numpy."""


def infer(_attrs: WhereAttrs, inputs: Types) -> Shapes:
    """The broadcast shape."""
    if len(inputs) != 3:
        raise ValueError(f"there are {len(inputs)} inputs; a condition and two are expected")
    return (broadcast.broadcast_shape(inputs),)


def check(_attrs: WhereAttrs, inputs: Types, outputs: Types) -> str | None:
    """A bool condition, and stored values that keep their meaning."""
    condition, lhs, rhs = inputs
    return (
        activation_constraint("condition", condition, (DType.BOOL,))
        or unchanged_constraint(lhs, outputs[0], EVERY_DTYPE)
        or unchanged_constraint(rhs, outputs[0], EVERY_DTYPE)
    )


def reference(_attrs: WhereAttrs, operands: Operands) -> Arrays:
    """Source: TFLite reference/select.h."""
    return (np.where(*operands.inputs),)


OP = OpDefinition(
    "where", WhereAttrs, infer, check, reference, bound=bounds.moves(reference, (1, 2))
)
