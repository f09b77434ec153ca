"""abs: the magnitude."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import quantize_multiplier
from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.unary import unary


@dataclass(frozen=True, slots=True)
class AbsAttrs(Attrs):
    """Input: int8, int16 or float32 data of any rank."""


def _constraint(_attrs: AbsAttrs, data: TensorType, output: TensorType) -> str | None:
    """The sentence for a ratio of scales that the fixed point cannot hold."""
    try:
        multiplier(data, output)
    except ValueError as error:
        return f"the output's scale is too small for the input's: {error}"
    return None


def multiplier(data: TensorType, output: TensorType) -> tuple[int, int]:
    """(multiplier, shift); with equal scales the multiplier is 1, which changes no value."""
    return quantize_multiplier(float(np.float32(data.scale) / np.float32(output.scale)))


def _quantized(_attrs: AbsAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite elementwise.cc, AbsEvalQuantized."""
    data, output = operands.input_types[0], operands.output_types[0]
    return unary.requantized(np.abs(unary.centred(operands)), *multiplier(data, output), output)


def _real(_attrs: AbsAttrs, x: Array) -> Array:
    return np.abs(x)


OP = unary.define(
    "abs",
    AbsAttrs,
    unary.Function(
        _real, _quantized, int16=_quantized, constraint=_constraint, steepest=lambda _attrs: 1.0
    ),
)
