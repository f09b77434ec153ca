"""sqrt: the square root."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import clamp
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.unary import unary

_LEAST_SCALE, _MOST_SCALE = 2.0**-126, 2.0**112
_ENOUGH = 2**17  # more than the output's dtype and zero point can use


@dataclass(frozen=True, slots=True)
class SqrtAttrs(Attrs):
    """Input: int8, int16 or float32 data of any rank. Negative integers, at which LiteRT stops with
    an error, are treated as 0. Negative floats give NaN."""


def _real(_attrs: SqrtAttrs, x: Array) -> Array:
    return unary.rounded(np.sqrt, x)


def _constraint(_attrs: SqrtAttrs, data: TensorType, _output: TensorType) -> str | None:
    """For int16: the sentence for a scale whose real values are not normal float32 numbers."""
    if data.dtype is not DType.INT16 or _LEAST_SCALE <= data.scale <= _MOST_SCALE:
        return None
    return (
        f"the input's scale is {data.scale:g}; it must be from {_LEAST_SCALE:g} to {_MOST_SCALE:g}"
    )


def _quantized(_attrs: SqrtAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite elementwise.cc, SqrtEvalQuantized: float32, truncated."""
    output = operands.output_types[0]
    root = np.sqrt(np.maximum(unary.dequantized(operands), 0))
    with np.errstate(over="ignore"):
        steps = np.minimum(root / np.float32(output.scale), _ENOUGH).astype(np.int64)
    return (clamp(steps + output.zero_point, output, Activation.NONE),)


OP = unary.define(
    "sqrt", SqrtAttrs, unary.Function(_real, _quantized, int16=_quantized, constraint=_constraint)
)
