"""nn.elu: x where x is positive, exp(x) - 1 elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs
from microgen.ops import unary
from microgen.ops.base import Operands


@dataclass(frozen=True, slots=True)
class EluAttrs(Attrs):
    """Input: int8 data of any rank."""


def reference(_attrs: EluAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite activations.cc, EluPrepare (a table computed in float32)."""
    x = unary.dequantized(operands)
    real = np.where(x < 0, unary.rounded(np.expm1, np.minimum(x, 0)), x)
    return unary.quantized(real, operands.output_types[0])


OP = unary.define("nn.elu", EluAttrs, reference)
