"""exp: the exponential function."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.tables import tables
from microgen.graph.ops.unary import unary

ULPS = 1  # for floats: arithmetic/float_math.h, plus half for the reference's rounding


@dataclass(frozen=True, slots=True)
class ExpAttrs(Attrs):
    """Input: int8, int16 or float32 data of any rank."""


def _real(_attrs: ExpAttrs, x: Array) -> Array:
    return unary.rounded(np.exp, x)


def _int8(attrs: ExpAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite exp.cc, Prepare (a table computed in float32)."""
    real = _real(attrs, unary.dequantized(operands))
    return unary.quantized(real, operands.output_types[0])


def _int16_table(attrs: ExpAttrs, data: TensorType, output: TensorType) -> Array:
    """Source: TFLite exp.cc, Prepare."""
    return tables.of_function(partial(_real, attrs), data, output)


OP = unary.define(
    "exp", ExpAttrs, unary.Function(_real, _int8, int16_table=_int16_table, ulps=ULPS)
)
