"""subtract: elementwise subtraction with numpy's broadcasting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands
from microgen.graph.ops.elementwise import addition, broadcast


@dataclass(frozen=True, slots=True)
class SubtractAttrs(addition.AdditionAttrs):
    """The attributes of an addition."""


def reference(attrs: SubtractAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source of the integer form: measurement. ai-edge-litert 2.3.0 computes the difference of the
    scaled operands, as reference/sub.h does. TFLite's older sub.cc negated the right multiplier,
    which rounds halves in the other direction.
    """
    return addition.computed(np.subtract, attrs, operands)


def parts(attrs: SubtractAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return broadcast.parts("subtract", attrs.activation)


OP = Op(
    "subtract",
    SubtractAttrs,
    broadcast.infer,
    addition.check,
    reference,
    parts,
    bound=bounds.sums_of_two(),
)
