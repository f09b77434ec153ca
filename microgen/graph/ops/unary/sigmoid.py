"""sigmoid: the logistic function 1 / (1 + exp(-x))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.unary import sigmoid16, unary

ULPS = 2  # for floats: arithmetic/float_math.h, plus half for the reference's rounding


@dataclass(frozen=True, slots=True)
class SigmoidAttrs(Attrs):
    """Input: int8, int16 or float32 data of any rank. The scale of an int8 output is 1/256, that of
    an int16 output 1/32768."""


def _constraint(_attrs: SigmoidAttrs, data: TensorType, output: TensorType) -> str | None:
    """A sentence if the output's scale is wrong, or if an int16 input's scale does not fit."""
    steps = 2**15 if data.dtype is DType.INT16 else 256
    if output.scale != 1 / steps:
        return f"the output's scale is {output.scale:g}; it must be 1/{steps}"
    return sigmoid16.constraint(data) if data.dtype is DType.INT16 else None


def _real(_attrs: SigmoidAttrs, x: Array) -> Array:
    return unary.rounded(lambda wide: 1 / (1 + np.exp(-wide)), x)


def _int8(_attrs: SigmoidAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite activations.cc, SigmoidPrepare (a table computed in float32)."""
    exponential = unary.rounded(np.exp, -unary.dequantized(operands))
    one = np.float32(1)
    return unary.quantized(one / (one + exponential), operands.output_types[0])


def parameters(data: TensorType) -> sigmoid16.SigmoidParameters:
    """The parameters. Source: TFLite activations.cc, SigmoidPrepare: a scale of 2**-12 is exact."""
    return sigmoid16.parameters(data, powers=(-12,))


def _int16(_attrs: SigmoidAttrs, operands: Operands) -> tuple[Array, ...]:
    x = sigmoid16.scaled(operands.inputs[0], parameters(operands.input_types[0]))
    return (of_steps(x),)


def of_steps(x: Array) -> Array:
    """The int16 values, with the scale 2**-15, of arguments that ``sigmoid16.scaled`` made.

    Source: TFLite reference/integer_ops/logistic.h.
    """
    upper = np.minimum(sigmoid16.interpolated(np.abs(x), 9), 0x7FFF << 10)
    rounded = np.where(x >= 0, upper + (1 << 9), (1 << 25) - upper + (1 << 9) - 1)
    return (rounded >> 10).astype(np.int16)


OP = unary.define(
    "sigmoid",
    SigmoidAttrs,
    unary.Function(_real, _int8, int16=_int16, constraint=_constraint, ulps=ULPS),
)
