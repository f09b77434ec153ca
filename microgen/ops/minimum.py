"""minimum: the lesser of each two elements, with numpy's broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs, TensorType
from microgen.ops import broadcast
from microgen.ops.base import Op, Operands


@dataclass(frozen=True, slots=True)
class MinimumAttrs(Attrs):
    """Inputs: two int8 tensors of broadcastable shapes.

    Stored values are compared whatever the quantizations, as TFLite does; a converter gives all
    three tensors the same one.
    """


def check(
    _attrs: MinimumAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8 throughout."""
    return broadcast.constraint(inputs, outputs)


def reference(_attrs: MinimumAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite maximum_minimum.cc, MinimumOp."""
    lhs, rhs = operands.inputs
    return (np.minimum(lhs, rhs),)


def parts(_attrs: MinimumAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("minimum",)


OP = Op("minimum", MinimumAttrs, broadcast.infer, check, reference, parts)
