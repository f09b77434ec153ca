"""exp: the exponential function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs
from microgen.ops import unary
from microgen.ops.base import Operands


@dataclass(frozen=True, slots=True)
class ExpAttrs(Attrs):
    """Input: int8 data of any rank."""


def reference(_attrs: ExpAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite exp.cc, Prepare (a table computed in float32)."""
    real = unary.rounded(np.exp, unary.dequantized(operands))
    return unary.quantized(real, operands.output_types[0])


OP = unary.define("exp", ExpAttrs, reference)
