"""argmin: the position of the least value along one axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array
from microgen.ops.arg_extreme import ArgExtremeAttrs, check, infer
from microgen.ops.base import Op, Operands


@dataclass(frozen=True, slots=True)
class ArgMinAttrs(ArgExtremeAttrs):
    """Input: int8 data of one or more dimensions. Output: int32."""


def reference(attrs: ArgMinAttrs, operands: Operands) -> tuple[Array, ...]:
    """The first of equal values. Source: TFLite reference/arg_min_max.h, ArgMinMax."""
    return (np.asarray(operands.inputs[0].argmin(axis=attrs.axis), np.int32),)


def parts(_attrs: ArgMinAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("argmin",)


OP = Op("argmin", ArgMinAttrs, infer, check, reference, parts)
