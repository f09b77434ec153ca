"""log: the natural logarithm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs
from microgen.ops import unary
from microgen.ops.base import Operands


@dataclass(frozen=True, slots=True)
class LogAttrs(Attrs):
    """Input: int8 data of any rank. What is not positive gives the least output."""


def reference(_attrs: LogAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite elementwise.cc, LogLUTPrepare (a table computed in float32)."""
    x, output = unary.dequantized(operands), operands.output_types[0]
    positive = x > 0
    (stored,) = unary.quantized(unary.rounded(np.log, np.where(positive, x, 1)), output)
    return (np.where(positive, stored, np.int8(-128)),)


OP = unary.define("log", LogAttrs, reference)
