"""nn.elu: x where x is positive, exp(x) - 1 elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs
from microgen.graph.ops.base import Operands
from microgen.graph.ops.unary import unary

ULPS = 2  # for floats: arithmetic/float_math.h, plus half for the reference's rounding


@dataclass(frozen=True, slots=True)
class EluAttrs(Attrs):
    """Input: int8 or float32 data of any rank."""


def _real(_attrs: EluAttrs, x: Array) -> Array:
    return np.where(x < 0, unary.rounded(np.expm1, np.minimum(x, 0)), x)


def _int8(attrs: EluAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite activations.cc, EluPrepare (a table computed in float32)."""
    return unary.quantized(_real(attrs, unary.dequantized(operands)), operands.output_types[0])


OP = unary.define("nn.elu", EluAttrs, unary.Function(_real, _int8, ulps=ULPS))
