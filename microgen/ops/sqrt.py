"""sqrt: the square root."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs
from microgen.ops import unary
from microgen.ops.base import Activation, Operands
from microgen.quantize import clamp


@dataclass(frozen=True, slots=True)
class SqrtAttrs(Attrs):
    """Input: int8 data of any rank. Negative values, at which LiteRT stops with an error, count
    as 0."""


def reference(_attrs: SqrtAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite elementwise.cc, SqrtEvalQuantized: float32, truncated."""
    output = operands.output_types[0]
    root = np.sqrt(np.maximum(unary.dequantized(operands), 0))
    steps = np.minimum(root / np.float32(output.scale), 1024).astype(np.int64)
    return (clamp(steps + output.zero_point, output, Activation.NONE),)


OP = unary.define("sqrt", SqrtAttrs, reference)
