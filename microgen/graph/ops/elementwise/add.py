"""add: elementwise addition with numpy's broadcasting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands
from microgen.graph.ops.elementwise import addition, broadcast


@dataclass(frozen=True, slots=True)
class AddAttrs(addition.AdditionAttrs):
    """The attributes of an addition."""


def reference(attrs: AddAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source of the integer form: TFLite reference/integer_ops/add.h, AddFunc."""
    return addition.computed(np.add, attrs, operands)


def parts(attrs: AddAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return broadcast.parts("add", attrs.activation)


OP = Op(
    "add",
    AddAttrs,
    broadcast.infer,
    addition.check,
    reference,
    parts,
    bound=bounds.sums_of_two(),
)
