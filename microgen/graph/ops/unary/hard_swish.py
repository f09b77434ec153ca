"""nn.hard_swish: x times relu6(x + 3) / 6."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import clamp, quantize_multiplier
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.unary import unary


@dataclass(frozen=True, slots=True)
class HardSwishAttrs(Attrs):
    """Input: int8 or float32 data of any rank."""


def _constraint(_attrs: HardSwishAttrs, data: TensorType, output: TensorType) -> str | None:
    """The sentence for ratios of scales that the fixed point cannot hold."""
    try:
        (_, exponent), _ = _multipliers(data, output)
    except ValueError as error:
        return f"the scales {data.scale:g} and {output.scale:g} are out of range: {error}"
    if exponent > 0:
        return (
            f"the input's scale {data.scale:g} is 128 times the output's {output.scale:g} or more; "
            "it must be less"
        )
    return None


def _multipliers(data: TensorType, output: TensorType) -> tuple[tuple[int, int], tuple[int, int]]:
    """(Q15 multiplier, exponent) to the output's scale, and to a scale in which 3 is 2**15.

    Source: TFLite activations.cc, HardSwishPrepare, whose arithmetic is float32.
    """
    fine = np.float32(1 / 128) * np.float32(data.scale)
    relu_scale = np.float32(3) / np.float32(32768)
    to_output = quantize_multiplier(float(fine / np.float32(output.scale)))
    to_relu = quantize_multiplier(float(fine / relu_scale))
    return _to_q15(*to_output), _to_q15(*to_relu)


def _to_q15(multiplier: int, exponent: int) -> tuple[int, int]:
    return min((multiplier + (1 << 15)) >> 16, 2**15 - 1), exponent


def _real(_attrs: HardSwishAttrs, x: Array) -> Array:
    """Source: TFLite reference/hard_swish.h, step by step in float32."""
    with np.errstate(over="ignore", invalid="ignore"):
        return x * np.clip(x + np.float32(3), 0, 6) / np.float32(6)


def _int8(_attrs: HardSwishAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/hard_swish.h, in int16 fixed point."""
    output = operands.output_types[0]
    (multiplier, exponent), to_relu = _multipliers(operands.input_types[0], output)
    fine = unary.centred(operands) << 7
    gate = (_relu_like(fine, *to_relu) + (1 << 15)) >> 1  # Q15, in [0, 1)
    product = gate * _rounding_high_mul(fine, multiplier)
    truncated = np.sign(product) * (np.abs(product) >> 15)
    stored = (_divide(truncated, -exponent) + output.zero_point).astype(np.int16)
    return (clamp(stored, output, Activation.NONE),)


def _relu_like(fine: Array, multiplier: int, exponent: int) -> Array:
    """The input as Q15 of thirds, saturated to [-1, 1). The last doubling comes after the
    multiplication, so a value that saturates earlier is also saturated in the end."""
    if exponent <= 0:
        return _divide(_rounding_high_mul(fine, multiplier), -exponent)
    shifted = _saturated(fine << (exponent - 1))
    return _saturated(_rounding_high_mul(shifted, multiplier) << 1)


def _saturated(x: Array) -> Array:
    return np.clip(x, -(2**15), 2**15 - 1)


def _rounding_high_mul(a: Array, b: int) -> Array:
    """SaturatingRoundingDoublingHighMul of gemmlowp on int16, whose division truncates."""
    product = a * b
    negative = -((-product + (1 << 14) - 1) >> 15)
    return _saturated(np.where(product >= 0, (product + (1 << 14)) >> 15, negative))


def _divide(x: Array, exponent: int) -> Array:
    """RoundingDivideByPOT of gemmlowp on int16, whose mask wraps if the exponent exceeds 15."""
    mask = np.int64(np.array((1 << exponent) - 1).astype(np.int16))
    quotient: Array = (x >> exponent) + ((x & mask) > (mask >> 1) + (x < 0))
    return quotient


OP = unary.define(
    "nn.hard_swish",
    HardSwishAttrs,
    unary.Function(_real, _int8, constraint=_constraint, steepest=lambda _attrs: 1.5),
)
