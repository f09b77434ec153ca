"""minimum: the lesser of each two elements, with numpy's broadcasting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands
from microgen.graph.ops.elementwise import broadcast, extremum


@dataclass(frozen=True, slots=True)
class MinimumAttrs(Attrs):
    """Inputs: two tensors of broadcastable shapes, float32, plain integers, or int8 or int16 with a
    quantization. With ``keeps_nan``, for float32, the result is NaN if either element is."""

    keeps_nan: bool = False


def reference(attrs: MinimumAttrs, operands: Operands) -> tuple[Array, ...]:
    """The right element unless the left is lesser. This decides for NaN and for zeros.

    Source: TFLite maximum_minimum.cc, MinimumOp.
    """
    lhs, rhs = operands.inputs
    return (np.where((lhs < rhs) | (attrs.keeps_nan & (lhs != lhs)), lhs, rhs),)


def parts(_attrs: MinimumAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("minimum",)


OP = Op(
    "minimum",
    MinimumAttrs,
    broadcast.infer,
    extremum.check,
    reference,
    parts,
    bound=bounds.elementwise(bounds.greatest_error, roundings=0),
)
