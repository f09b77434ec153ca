"""The greater or the lesser of each two elements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import OpDefinition, Operands
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.elementwise import broadcast

_DTYPES = (DType.INT8, DType.INT16, DType.INT32, DType.FLOAT32)


def check(_attrs: Attrs, inputs: Types, outputs: Types) -> str | None:
    """One dtype throughout. Stored values are compared whatever the quantizations, as in TFLite; a
    converter gives all three tensors the same one."""
    return broadcast.constraint(inputs, outputs, accepted=_DTYPES, plain=INTEGERS)


@dataclass(frozen=True, slots=True)
class ExtremumAttrs(Attrs):
    """Inputs: two tensors of broadcastable shapes, float32, plain integers, or int8 or int16 with a
    quantization. With ``keeps_nan``, for float32, the result is NaN if either element is."""

    keeps_nan: bool = False


@dataclass(frozen=True, slots=True)
class MaximumAttrs(ExtremumAttrs):
    """The attributes of an extremum."""


@dataclass(frozen=True, slots=True)
class MinimumAttrs(ExtremumAttrs):
    """The attributes of an extremum."""


def _op(name: str, attrs: type[ExtremumAttrs], is_better: np.ufunc, which: str) -> OpDefinition:
    def reference(attrs: ExtremumAttrs, operands: Operands) -> Arrays:
        """The right element unless the left is better. This decides for NaN and for zeros.

        Source: TFLite maximum_minimum.cc, MaximumOp and MinimumOp.
        """
        lhs, rhs = operands.inputs
        return (np.where(is_better(lhs, rhs) | (attrs.keeps_nan & (lhs != lhs)), lhs, rhs),)

    bound = bounds.elementwise(bounds.greatest_error, roundings=0)
    about = f"the {which} of each two elements, with numpy's broadcasting"
    return OpDefinition(name, attrs, broadcast.infer, check, reference, bound=bound, about=about)


OPS = (
    _op("maximum", MaximumAttrs, np.greater, "greater"),
    _op("minimum", MinimumAttrs, np.less, "lesser"),
)
