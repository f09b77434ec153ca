"""nn.leaky_relu: x where x is positive, alpha times x elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import quantize_multiplier
from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.unary import unary


@dataclass(frozen=True, slots=True)
class LeakyReluAttrs(Attrs):
    """Input: int8, int16 or float32 data of any rank. ``alpha`` is a float32, of either sign."""

    alpha: float


def _constraint(attrs: LeakyReluAttrs, data: TensorType, output: TensorType) -> str | None:
    """The sentence for ratios of scales that the fixed point cannot hold."""
    try:
        multipliers(attrs, data, output)
    except ValueError as error:
        return f"the output's scale is too small for the input's: {error}"
    return None


def multipliers(
    attrs: LeakyReluAttrs, data: TensorType, output: TensorType
) -> tuple[tuple[int, int], tuple[int, int]]:
    """(multiplier, shift) for positive values, and for the others.

    Source: TFLite activations.cc, LeakyReluPrepare, which multiplies and divides in float32.
    """
    scale_in, scale_out = np.float32(data.scale), np.float32(output.scale)
    with np.errstate(over="ignore"):
        slope = float(scale_in * np.float32(attrs.alpha) / scale_out)
        multiplier, shift = quantize_multiplier(abs(slope))
        identity = quantize_multiplier(float(scale_in / scale_out))
    return identity, (-multiplier if slope < 0 else multiplier, shift)


def _real(attrs: LeakyReluAttrs, x: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(x > 0, x, x * np.float32(attrs.alpha))


def _quantized(attrs: LeakyReluAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/leaky_relu.h, QuantizeLeakyRelu."""
    x, output = unary.centred(operands), operands.output_types[0]
    identity, slope = multipliers(attrs, operands.input_types[0], output)
    (positive,) = unary.requantized(np.maximum(x, 0), *identity, output)
    (negative,) = unary.requantized(np.minimum(x, 0), *slope, output)
    return (np.where(x >= 0, positive, negative),)


OP = unary.define(
    "nn.leaky_relu",
    LeakyReluAttrs,
    unary.Function(
        _real,
        _quantized,
        int16=_quantized,
        constraint=_constraint,
        steepest=lambda attrs: max(1.0, abs(attrs.alpha)),
    ),
)
