"""argmax: the position of the greatest value along one axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.graph.ops.base import Op, Operands
from microgen.graph.ops.reductions.arg_extreme import ArgExtremeAttrs, check, first, infer


@dataclass(frozen=True, slots=True)
class ArgMaxAttrs(ArgExtremeAttrs):
    """Input: int8, int32 or float32 data of one or more dimensions. Output: int32 or int64."""


def reference(attrs: ArgMaxAttrs, operands: Operands) -> tuple[Array, ...]:
    """The first of equal values. NaN at position 0 gives 0; any other NaN is ignored.

    Source: TFLite reference/arg_min_max.h, ArgMinMax.
    """
    data = operands.inputs[0]
    positions = np.where(np.isnan(data), -np.inf, data).argmax(axis=attrs.axis)
    return (first(data, attrs, positions, operands.output_types[0]),)


def parts(_attrs: ArgMaxAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("argmax",)


OP = Op("argmax", ArgMaxAttrs, infer, check, reference, parts)
