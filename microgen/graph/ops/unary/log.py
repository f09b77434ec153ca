"""log: the natural logarithm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.tables import tables
from microgen.graph.ops.unary import unary

ULPS = 1  # for floats: arithmetic/float_math.h, plus half for the reference's rounding


@dataclass(frozen=True, slots=True)
class LogAttrs(Attrs):
    """Input: int8, int16 or float32 data of any rank. For integers, values that are not positive
    give the least output. For floats, -0 and 0 give minus infinity, and negative values NaN."""


def _real(_attrs: LogAttrs, x: Array) -> Array:
    return unary.rounded(np.log, x)


def _int8(_attrs: LogAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite elementwise.cc, LogLUTPrepare (a table computed in float32)."""
    x, output = unary.dequantized(operands), operands.output_types[0]
    positive = x > 0
    (stored,) = unary.quantized(unary.rounded(np.log, np.where(positive, x, 1)), output)
    return (np.where(positive, stored, np.int8(-128)),)


def _int16_table(_attrs: LogAttrs, data: TensorType, output: TensorType) -> Array:
    """Source: TFLite elementwise.cc, LogLUTPrepare."""
    least = np.float32(-(2**15)) * np.float32(output.scale)

    def function(x: Array) -> Array:
        return np.where(x > 0, unary.rounded(np.log, np.where(x > 0, x, 1)), least)

    return tables.of_function(function, data, output)


OP = unary.define(
    "log", LogAttrs, unary.Function(_real, _int8, int16_table=_int16_table, ulps=ULPS)
)
