"""where: for each two elements the left one if a condition is true, otherwise the right one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import OpDefinition, Operands, Shapes, expect_inputs
from microgen.graph.ops.constraints import activation_constraint, all_unchanged
from microgen.graph.ops.elementwise import broadcast


@dataclass(frozen=True, slots=True)
class WhereAttrs(Attrs):
    """Inputs: a bool condition and two tensors of any one dtype, with the quantization of the
    output. All three are broadcast as in numpy."""


def infer(_attrs: WhereAttrs, inputs: Types) -> Shapes:
    """The broadcast shape."""
    expect_inputs(inputs, 3, "a condition and two")
    return (broadcast.broadcast_shape(inputs),)


def check(_attrs: WhereAttrs, inputs: Types, outputs: Types) -> str | None:
    """A bool condition, and stored values that keep their meaning."""
    condition = activation_constraint("condition", inputs[0], (DType.BOOL,))
    return condition or all_unchanged(inputs[1:], outputs[0])


def reference(_attrs: WhereAttrs, operands: Operands) -> Arrays:
    """Source: TFLite reference/select.h."""
    return (np.where(*operands.inputs),)


OP = OpDefinition(
    "where", WhereAttrs, infer, check, reference, bound=bounds.moves(reference, (1, 2))
)
