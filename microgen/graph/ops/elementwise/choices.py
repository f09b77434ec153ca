"""One of each pair of elements: the greater, the lesser, or the one that a condition chooses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import OpDefinition, Operands, Shapes, expect_inputs
from microgen.graph.ops.constraints import INTEGERS, activation_constraint, all_unchanged
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


class MaximumAttrs(ExtremumAttrs):
    """The attributes of an extremum."""


class MinimumAttrs(ExtremumAttrs):
    """The attributes of an extremum."""


def _op(name: str, attrs: type[ExtremumAttrs], is_better: np.ufunc, which: str) -> OpDefinition:
    def reference(attrs: ExtremumAttrs, operands: Operands) -> Arrays:
        """The right element unless the left element is better. So for NaN, and for zeros of
        different signs, the result is the right element.

        Source: TFLite maximum_minimum.cc, MaximumOp and MinimumOp.
        """
        lhs, rhs = operands.inputs
        return (np.where(is_better(lhs, rhs) | (attrs.keeps_nan & (lhs != lhs)), lhs, rhs),)

    bound = bounds.elementwise(bounds.greatest_error, roundings=0)
    about = f"the {which} of each two elements, with numpy's broadcasting"
    return OpDefinition(name, attrs, broadcast.infer, check, reference, bound=bound, about=about)


class WhereAttrs(Attrs):
    """where: for each two elements the left one if a condition is true, otherwise the right one.

    Inputs: a bool condition and two tensors of any one dtype, with the quantization of the output.
    All three are broadcast as in numpy.
    """


def _where_infer(_attrs: WhereAttrs, inputs: Types) -> Shapes:
    """The broadcast shape."""
    expect_inputs(inputs, 3, "a condition and two")
    return (broadcast.broadcast_shape(inputs),)


def _where_check(_attrs: WhereAttrs, inputs: Types, outputs: Types) -> str | None:
    """A bool condition, and stored values that keep their meaning."""
    condition = activation_constraint("condition", inputs[0], (DType.BOOL,))
    return condition or all_unchanged(inputs[1:], outputs[0])


def _where_reference(_attrs: WhereAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/select.h.
    return (np.where(*operands.inputs),)


WHERE = OpDefinition(
    "where",
    WhereAttrs,
    _where_infer,
    _where_check,
    _where_reference,
    bound=bounds.moves(_where_reference, (1, 2)),
)


OPS = (
    _op("maximum", MaximumAttrs, np.greater, "greater"),
    _op("minimum", MinimumAttrs, np.less, "lesser"),
    WHERE,
)
