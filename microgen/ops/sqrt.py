"""sqrt: the square root."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs
from microgen.ops import unary
from microgen.ops.base import Activation, Operands
from microgen.quantize import clamp

_ENOUGH = 2**17  # above all that the output's dtype and zero point can make use of


@dataclass(frozen=True, slots=True)
class SqrtAttrs(Attrs):
    """Input: int8, int16 or float32 data of any rank. Negative integers, at which LiteRT stops with
    an error, count as 0; negative floats give NaN."""


def _real(_attrs: SqrtAttrs, x: Array) -> Array:
    return unary.rounded(np.sqrt, x)


def _quantized(_attrs: SqrtAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite elementwise.cc, SqrtEvalQuantized: float32, truncated."""
    output = operands.output_types[0]
    root = np.sqrt(np.maximum(unary.dequantized(operands), 0))
    with np.errstate(over="ignore"):
        steps = np.minimum(root / np.float32(output.scale), _ENOUGH).astype(np.int64)
    return (clamp(steps + output.zero_point, output, Activation.NONE),)


OP = unary.define("sqrt", SqrtAttrs, unary.Function(_real, _quantized, int16=_quantized))
