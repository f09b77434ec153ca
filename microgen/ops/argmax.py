"""argmax: the position of the greatest value along one axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array
from microgen.ops.arg_extreme import ArgExtremeAttrs, check, infer
from microgen.ops.base import Op, Operands


@dataclass(frozen=True, slots=True)
class ArgMaxAttrs(ArgExtremeAttrs):
    """Input: int8 data of one or more dimensions. Output: int32."""


def reference(attrs: ArgMaxAttrs, operands: Operands) -> tuple[Array, ...]:
    """The first of equal values. Source: TFLite reference/arg_min_max.h, ArgMinMax."""
    return (np.asarray(operands.inputs[0].argmax(axis=attrs.axis), np.int32),)


def parts(_attrs: ArgMaxAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("argmax",)


OP = Op("argmax", ArgMaxAttrs, infer, check, reference, parts)
