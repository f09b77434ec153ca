"""nn.leaky_relu: x where x is positive, alpha times x elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs, TensorType
from microgen.ops import unary
from microgen.ops.base import Operands
from microgen.quantize import quantize_multiplier


@dataclass(frozen=True, slots=True)
class LeakyReluAttrs(Attrs):
    """Input: int8 data of any rank. ``alpha`` is a float32, of either sign."""

    alpha: float


def check(
    attrs: LeakyReluAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8, and ratios of scales that the fixed point can hold."""
    sentence = unary.check(attrs, inputs, outputs)
    if sentence:
        return sentence
    try:
        _multipliers(attrs, inputs[0], outputs[0])
    except ValueError as error:
        return f"the output's scale is too small for the input's: {error}"
    return None


def _multipliers(
    attrs: LeakyReluAttrs, data: TensorType, output: TensorType
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Of positive values and of the others. Source: TFLite activations.cc, LeakyReluPrepare,
    which multiplies and divides in float32."""
    scale_in, scale_out = np.float32(data.scale), np.float32(output.scale)
    with np.errstate(over="ignore"):
        slope = float(scale_in * np.float32(attrs.alpha) / scale_out)
        multiplier, shift = quantize_multiplier(abs(slope))
        identity = quantize_multiplier(float(scale_in / scale_out))
    return identity, (-multiplier if slope < 0 else multiplier, shift)


def reference(attrs: LeakyReluAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/leaky_relu.h, QuantizeLeakyRelu."""
    x, output = unary.centred(operands), operands.output_types[0]
    identity, slope = _multipliers(attrs, operands.input_types[0], output)
    (positive,) = unary.requantized(np.maximum(x, 0), *identity, output)
    (negative,) = unary.requantized(np.minimum(x, 0), *slope, output)
    return (np.where(x >= 0, positive, negative),)


OP = unary.define("nn.leaky_relu", LeakyReluAttrs, reference, check)
